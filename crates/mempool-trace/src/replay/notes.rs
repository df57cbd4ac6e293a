//! What is passed over when a trace is read leniently.

use std::fmt;

use crate::live_check::Finding;
use crate::rmm::RowError;

/// What to do with a row that is bad or makes no sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strictness {
    /// Stop: it is an error.
    #[default]
    Strict,
    /// Skip what cannot be read, do what [`LiveCheck`](crate::LiveCheck) advises with what makes no sense, and take note.
    Lenient,
}

/// How many notes are remembered; all are counted.
pub const REMEMBERED_NOTES: usize = 8;

/// Something that was passed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// A row that cannot be understood.
    BadRow(RowError),
    /// A row that makes no sense after those before it.
    Finding(Finding),
}

impl Note {
    /// Line in the file, from 1.
    pub fn line(&self) -> u64 {
        match self {
            Self::BadRow(row) => row.line,
            Self::Finding(finding) => finding.line,
        }
    }
}

impl fmt::Display for Note {
    /// What is wrong, without the place.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadRow(row) => {
                if let Some(column) = row.column {
                    write!(f, "column {column}: ")?;
                }
                write!(f, "{} in {:?}", row.reason, row.excerpt)
            }
            Self::Finding(finding) => write!(f, "pointer {:#x}: {}", finding.pointer, finding.kind),
        }
    }
}

/// All that was passed over in a trace: counted, and the first few remembered.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Notes {
    bad_rows: u64,
    findings: u64,
    first: Vec<Note>,
}

impl Notes {
    pub(super) fn add(&mut self, note: Note) {
        match note {
            Note::BadRow(_) => self.bad_rows += 1,
            Note::Finding(_) => self.findings += 1,
        }
        if self.first.len() < REMEMBERED_NOTES {
            self.first.push(note);
        }
    }

    /// Rows that could not be understood and were skipped.
    pub fn bad_rows(&self) -> u64 {
        self.bad_rows
    }

    /// Rows that make no sense after those before them.
    pub fn findings(&self) -> u64 {
        self.findings
    }

    /// Whether there is nothing to tell.
    pub fn is_empty(&self) -> bool {
        self.bad_rows + self.findings == 0
    }

    /// The first notes, at most [`REMEMBERED_NOTES`], in the order of the file.
    pub fn first(&self) -> &[Note] {
        &self.first
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live_check::FindingKind;

    #[test]
    fn all_notes_are_counted_and_the_first_ones_kept() {
        let mut notes = Notes::default();
        assert!(notes.is_empty());
        for line in 1..=20 {
            notes.add(Note::Finding(Finding {
                row: line,
                line,
                pointer: 0x10,
                kind: FindingKind::UnknownFree,
            }));
        }
        assert_eq!((notes.findings(), notes.bad_rows(), notes.first().len()), (20, 0, REMEMBERED_NOTES));
        assert!(notes.first()[0].to_string().starts_with("pointer 0x10: freed but never allocated"));
    }
}
