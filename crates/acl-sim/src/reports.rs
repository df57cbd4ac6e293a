//! Reports of misused memory: into the file that was asked for, and to the thread that comes by next.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use parking_lot::Mutex;

/// A file to which lines are appended.
#[derive(Debug)]
pub(crate) struct File(Mutex<std::fs::File>);

impl File {
    /// Opens the file, if there is to be one.
    pub(crate) fn open(path: Option<&Path>) -> Result<Option<Self>, std::io::Error> {
        let file = path.map(|path| OpenOptions::new().create(true).append(true).open(path)).transpose()?;
        Ok(file.map(|file| Self(Mutex::new(file))))
    }

    /// Appends a line. A file that cannot be written (a full disk) is no reason to fail a call.
    pub(crate) fn append(&self, text: &str) {
        let line = format!("{}\n", text.replace('\n', " "));
        let _no_place_to_tell = self.0.lock().write_all(line.as_bytes());
    }
}

/// Where reports go.
#[derive(Debug, Default)]
pub(crate) struct Reports {
    file: Option<File>,
    /// Of accesses that the engine does not see.
    waiting: Mutex<Vec<String>>,
}

impl Reports {
    pub(crate) fn new(file: Option<File>) -> Self {
        Self { file, waiting: Mutex::default() }
    }

    /// Keeps a report until somebody takes it.
    pub(crate) fn add(&self, text: String) {
        self.waiting.lock().push(text);
    }

    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.waiting.lock())
    }

    /// Appends a line to the file.
    pub(crate) fn write(&self, text: &str) {
        if let Some(file) = &self.file {
            file.append(text);
        }
    }
}
