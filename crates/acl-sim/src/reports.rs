//! Reports of misused memory: into the file that was asked for, and to the thread that comes by next.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use parking_lot::Mutex;

/// Where reports go.
#[derive(Debug, Default)]
pub(crate) struct Reports {
    file: Option<Mutex<File>>,
    /// Of accesses that the engine does not see.
    waiting: Mutex<Vec<String>>,
}

impl Reports {
    /// Opens the file, if there is to be one.
    pub(crate) fn new(path: Option<&Path>) -> Result<Self, std::io::Error> {
        let file = path.map(|path| OpenOptions::new().create(true).append(true).open(path)).transpose()?;
        Ok(Self { file: file.map(Mutex::new), waiting: Mutex::default() })
    }

    /// Keeps a report until somebody takes it.
    pub(crate) fn add(&self, text: String) {
        self.waiting.lock().push(text);
    }

    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.waiting.lock())
    }

    /// Appends a line to the file. A file that cannot be written (a full disk) is no reason to fail a call.
    pub(crate) fn write(&self, text: &str) {
        if let Some(file) = &self.file {
            let line = format!("{}\n", text.replace('\n', " "));
            let _no_place_to_tell = file.lock().write_all(line.as_bytes());
        }
    }
}
