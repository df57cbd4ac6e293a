//! What was typed.

use std::ffi::OsString;
use std::path::PathBuf;

/// The arguments.
#[derive(Debug, PartialEq, Eq, Default)]
pub(crate) struct Arguments {
    /// Number of the card.
    pub(crate) device: i32,
    /// Where the JSON goes.
    pub(crate) report: Option<PathBuf>,
    /// Whether the library is the simulator, which looks like a card.
    pub(crate) simulated: bool,
}

impl Arguments {
    pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, String> {
        let mut parsed = Self::default();
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            match argument.to_str() {
                Some("--simulated") => parsed.simulated = true,
                Some("--device") => {
                    let number = arguments.next().unwrap_or_default();
                    let number = number.to_string_lossy();
                    parsed.device = number.parse().map_err(|_| {
                        format!("--device is {number:?}; give the number of a card, such as 0")
                    })?;
                }
                Some("--report") => {
                    let path = arguments.next().filter(|path| !path.is_empty());
                    let path = path.ok_or("--report needs the name of a file after it")?;
                    parsed.report = Some(PathBuf::from(path));
                }
                _ => {
                    let argument = argument.to_string_lossy();
                    return Err(format!(
                        "{argument:?} is not known; it takes --device N, --report FILE and --simulated"
                    ));
                }
            }
        }
        Ok(parsed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Arguments, String> {
        Arguments::parse(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn arguments_are_read() {
        let all = Arguments { device: 3, report: Some("a.json".into()), simulated: true };
        assert_eq!(parse("--report a.json --simulated --device 3"), Ok(all));
        assert_eq!(parse(""), Ok(Arguments::default()));
    }

    #[test]
    fn wrong_ones_are_named() {
        for (line, word) in [("--device x", "\"x\""), ("--report", "--report"), ("--fast", "--fast")] {
            assert!(parse(line).unwrap_err().contains(word), "{line}");
        }
    }
}
