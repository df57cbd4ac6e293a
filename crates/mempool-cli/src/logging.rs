//! Log lines on stderr, as loud as CANN's own variable says.

use std::io::{self, IsTerminal};

use anyhow::bail;
use mempool_core::environment::LOG_LEVEL;
use tracing_subscriber::filter::LevelFilter;

const VARIABLE: &str = LOG_LEVEL.name;
const ALLOWED: &str = LOG_LEVEL.allowed;

/// Starts logging.
pub(crate) fn start() -> anyhow::Result<()> {
    let value = std::env::var_os(VARIABLE).map(|value| value.to_string_lossy().into_owned());
    let level = level(value.as_deref())?;
    let colours = io::stderr().is_terminal();
    tracing_subscriber::fmt().with_max_level(level).with_writer(io::stderr).with_ansi(colours).init();
    Ok(())
}

fn level(value: Option<&str>) -> anyhow::Result<LevelFilter> {
    Ok(match value.unwrap_or_default().trim() {
        "0" => LevelFilter::DEBUG,
        "1" => LevelFilter::INFO,
        "2" => LevelFilter::WARN,
        "" | "3" => LevelFilter::ERROR,
        "4" => LevelFilter::OFF,
        other => {
            bail!("environment variable {VARIABLE} is {other:?}, which is no log level; allowed: {ALLOWED}")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_those_of_cann() {
        let levels: Vec<_> = ["0", "1", " 2 ", "3", "4"].map(|text| level(Some(text)).unwrap()).to_vec();
        let expected =
            [LevelFilter::DEBUG, LevelFilter::INFO, LevelFilter::WARN, LevelFilter::ERROR, LevelFilter::OFF];
        assert_eq!(levels, expected);
        assert_eq!(level(None).unwrap(), LevelFilter::ERROR);
        assert_eq!(level(Some("")).unwrap(), LevelFilter::ERROR);
    }

    #[test]
    fn a_wrong_level_names_the_variable_and_what_is_allowed() {
        for wrong in ["5", "-1", "debug"] {
            let text = level(Some(wrong)).unwrap_err().to_string();
            assert!(text.contains(VARIABLE) && text.contains(wrong) && text.contains(ALLOWED), "{text}");
        }
    }
}
