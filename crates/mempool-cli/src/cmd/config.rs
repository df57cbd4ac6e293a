//! `mempool config`: the effective configuration and where each value comes from.

use std::io::Write;

use mempool_core::PoolConfig;
use mempool_core::environment::VARIABLES;

use crate::args::ConfigArgs;
use crate::outcome::Outcome;
use crate::render::plain_table;
use crate::settings::{Overrides, settings};

const NOT_SET: &str = "not set";

pub(crate) fn run(args: &ConfigArgs, out: &mut impl Write) -> anyhow::Result<Outcome> {
    let ConfigArgs { policy, max_size, initial_size, arena_size, arena_kind } = *args;
    let overrides = Overrides { policy, max_size, initial_size, arena_size, arena_kind };
    let environment = PoolConfig::from_variables(variable)?;
    let config = overrides.apply(&environment.config)?;

    let mut table = plain_table(&["setting", "value", "from"]);
    for setting in settings(&config, &environment, &overrides) {
        table.add_row([setting.name.to_owned(), setting.value, setting.origin.to_string()]);
    }
    writeln!(out, "{}\n", table.trim_fmt())?;

    let mut table = plain_table(&["environment variable", "setting", "allowed", "now"]);
    for entry in VARIABLES {
        let value = variable(entry.name).filter(|value| !value.trim().is_empty());
        let now = match value {
            None => NOT_SET.to_owned(),
            Some(value) if entry.in_effect => format!("{value:?}"),
            Some(value) => format!("{value:?}, WITHOUT EFFECT in this release"),
        };
        table.add_row([entry.name, entry.setting, entry.allowed, &now]);
    }
    writeln!(out, "{}", table.trim_fmt())?;

    let idle: Vec<_> = VARIABLES.iter().filter(|entry| !entry.in_effect).map(|entry| entry.name).collect();
    writeln!(out, "\nKnown, but without effect in this release: {}.", idle.join(", "))?;
    Ok(Outcome::Fine)
}

fn variable(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}
