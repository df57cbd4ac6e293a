//! What was found, for people.

use std::fmt;

use super::abi::{Abi, Kind, Missing};

/// The result for the headers of one folder.
#[derive(Debug)]
pub(super) struct Report {
    version: Option<String>,
    constants: usize,
    layouts: usize,
    other_types: usize,
    functions: usize,
    missing: Missing,
    /// The facts that do not hold.
    failures: Vec<String>,
}

impl Report {
    /// The result of compiling the assertions for `present`.
    pub(super) fn new(
        version: Option<String>,
        present: &Abi,
        missing: Missing,
        failures: Vec<String>,
    ) -> Self {
        let layouts = present.types.iter().filter(|t| matches!(t.kind, Kind::Layout { .. })).count();
        Self {
            version,
            constants: present.constants.len(),
            layouts,
            other_types: present.types.len() - layouts,
            functions: present.functions.len(),
            missing,
            failures,
        }
    }

    /// Nothing differs, and no required function is missing.
    pub(super) fn is_clean(&self) -> bool {
        self.failures.is_empty() && self.missing.required_functions.is_empty()
    }

    /// Clean, and nothing at all is missing.
    pub(super) fn is_complete(&self) -> bool {
        self.failures.is_empty() && self.missing == Missing::default()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(version) = &self.version {
            writeln!(f, "version of the ACL interface: {version}")?;
        }
        writeln!(
            f,
            "compared: {} constants, {} structs and unions, {} other types, {} functions",
            self.constants, self.layouts, self.other_types, self.functions
        )?;
        let missing = [
            ("constants", &self.missing.constants),
            ("types", &self.missing.types),
            ("fields", &self.missing.fields),
            ("functions", &self.missing.functions),
            ("REQUIRED functions", &self.missing.required_functions),
        ];
        for (what, names) in missing {
            if !names.is_empty() {
                writeln!(f, "not in this version: {} {what}: {}", names.len(), names.join(", "))?;
            }
        }
        write!(f, "differences: {}", self.failures.len())?;
        self.failures.iter().try_for_each(|fact| write!(f, "\n  ours, but not theirs: {fact}"))
    }
}
