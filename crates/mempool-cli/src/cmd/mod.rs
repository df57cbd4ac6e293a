//! One module for each subcommand.

pub(crate) mod config;
pub(crate) mod demo;
pub(crate) mod replay;
