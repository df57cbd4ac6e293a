//! The columns of a log.

use std::fmt;

/// A column that the log must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Column {
    /// `Thread`
    Thread,
    /// `Time`
    Time,
    /// `Action`
    Action,
    /// `Pointer`
    Pointer,
    /// `Size`
    Size,
    /// `Stream`
    Stream,
}

impl Column {
    /// All six, in RMM's order.
    pub const ALL: [Self; 6] =
        [Self::Thread, Self::Time, Self::Action, Self::Pointer, Self::Size, Self::Stream];

    /// The name in the header.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Thread => "Thread",
            Self::Time => "Time",
            Self::Action => "Action",
            Self::Pointer => "Pointer",
            Self::Size => "Size",
            Self::Stream => "Stream",
        }
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Which field of a line is which column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    /// One entry a field; `None` is a column that nobody reads.
    pub(super) fields: Vec<Option<Column>>,
    /// Whether a header named the fields, so that a line must have as many. Two rows run together by a torn write show
    /// up that way.
    pub(super) exact: bool,
}

impl Layout {
    /// RMM's own order, for a log without a header.
    pub(super) fn without_header() -> Self {
        Self { fields: Column::ALL.map(Some).to_vec(), exact: false }
    }

    /// Reads a header.
    ///
    /// # Errors
    ///
    /// The first of the six columns that is not named.
    pub(super) fn from_header(line: &[u8]) -> Result<Self, Column> {
        let mut fields: Vec<Option<Column>> = Vec::with_capacity(Column::ALL.len());
        for name in line.split(|&byte| byte == b',') {
            let name = name.trim_ascii();
            let known = Column::ALL.into_iter().find(|column| name == column.name().as_bytes());
            // A name that comes twice: the first one counts.
            fields.push(known.filter(|column| !fields.contains(&Some(*column))));
        }
        match Column::ALL.into_iter().find(|column| !fields.contains(&Some(*column))) {
            Some(missing) => Err(missing),
            None => Ok(Self { fields, exact: true }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_may_come_in_any_order_with_others_between() {
        let layout = Layout::from_header(b"Size, Device,Action,Stream,Pointer,Time ,Thread").unwrap();
        assert_eq!(layout.fields[0], Some(Column::Size));
        assert_eq!(layout.fields[1], None);
        assert_eq!(layout.fields[6], Some(Column::Thread));
        assert!(layout.exact);
    }

    #[test]
    fn the_first_missing_name_is_told() {
        assert_eq!(Layout::from_header(b"Thread,Time,Action,Pointer,Stream"), Err(Column::Size));
        assert_eq!(Layout::from_header(b""), Err(Column::Thread));
    }

    #[test]
    fn of_a_repeated_name_the_first_counts() {
        let layout = Layout::from_header(b"Thread,Time,Action,Pointer,Size,Size,Stream").unwrap();
        assert_eq!(layout.fields[4], Some(Column::Size));
        assert_eq!(layout.fields[5], None);
    }
}
