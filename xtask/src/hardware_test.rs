//! `cargo xtask hardware-test`: conformance, timings and open questions on a card, or on the simulator to see what it is like.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::card_program::{self, Card};

const EXAMPLE: &str = "hardware_test";

/// What to test, and where the report goes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct HardwareTestOptions {
    /// On what.
    pub(crate) card: Card,
    /// The file for the JSON report.
    pub(crate) report: Option<PathBuf>,
    /// Number of the card.
    pub(crate) device: Option<String>,
}

impl HardwareTestOptions {
    /// The arguments of the example. `folder` is where the command was typed, to which a path is relative.
    fn arguments(&self, folder: &Path) -> Vec<OsString> {
        let mut arguments = Vec::new();
        if self.card == Card::Simulated {
            arguments.push("--simulated".into());
        }
        if let Some(report) = &self.report {
            arguments.extend(["--report".into(), folder.join(report).into_os_string()]);
        }
        if let Some(device) = &self.device {
            arguments.extend(["--device".into(), device.into()]);
        }
        arguments
    }
}

/// Runs the test and answers its exit code: 0 fine, 1 a check does not hold, 2 there is no card.
///
/// # Errors
///
/// As [`card_program::run`].
pub(crate) fn run(root: &Path, options: &HardwareTestOptions) -> anyhow::Result<u8> {
    let folder = std::env::current_dir()?;
    card_program::run(root, EXAMPLE, options.card, &options.arguments(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_become_arguments_of_the_example() {
        let all = HardwareTestOptions {
            card: Card::Simulated,
            report: Some("a.json".into()),
            device: Some("3".to_owned()),
        };
        let arguments = ["--simulated", "--report", "/here/a.json", "--device", "3"];
        assert_eq!(all.arguments(Path::new("/here")), arguments.map(OsString::from));
        let none = HardwareTestOptions { card: Card::Real, report: None, device: None };
        assert_eq!(none.arguments(Path::new("/here")), Vec::<OsString>::new());
    }
}
