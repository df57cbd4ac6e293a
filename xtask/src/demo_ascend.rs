//! `cargo xtask demo-ascend`: three models on one card, with all their memory from one pool.
//!
//! Without models it takes those of the example, which are texts that only the simulator can run; with models of yours it
//! runs on the card.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::card_program::{self, Card};

const EXAMPLE: &str = "multi_model";
/// The models of the example, from the root.
const MODELS: &str = "crates/backend-ascend/examples/multi_model/models";

/// What to show.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DemoOptions {
    /// Whether the simulator is wanted although models are named.
    pub(crate) simulated: bool,
    /// Files of models; empty for those of the example.
    pub(crate) models: Vec<PathBuf>,
    /// Number of the card.
    pub(crate) device: Option<String>,
}

/// Shows it and answers the exit code: 0 fine, 1 a result is wrong, 2 there is no card or a model cannot be loaded.
///
/// # Errors
///
/// As [`card_program::run`], or when the models of the example cannot be listed.
pub(crate) fn run(root: &Path, options: &DemoOptions) -> anyhow::Result<u8> {
    let folder = std::env::current_dir()?;
    let own = options.models.is_empty();
    let models = if own { models_of_the_example(root)? } else { options.models.clone() };
    let card = if own || options.simulated { Card::Simulated } else { Card::Real };
    let device = options.device.iter().flat_map(|device| ["--device".into(), device.into()]);
    let models = models.into_iter().map(|model| folder.join(model).into_os_string());
    let arguments: Vec<OsString> = device.chain(models).collect();
    card_program::run(root, EXAMPLE, card, &arguments)
}

/// In the order of their names.
fn models_of_the_example(root: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let folder = root.join(MODELS);
    let entries = fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let mut models = entries.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<Vec<_>>>()?;
    models.sort();
    Ok(models)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_has_three_models() -> anyhow::Result<()> {
        let models = models_of_the_example(&crate::root::find()?)?;
        let names: Vec<_> = models.iter().filter_map(|model| model.file_stem()).collect();
        assert_eq!(names, ["bert_base", "resnet50", "yolov8"]);
        Ok(())
    }
}
