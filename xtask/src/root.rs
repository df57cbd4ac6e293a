//! Where the repository is.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

/// The root of the workspace: the folder above this crate.
///
/// `cargo run` names the crate's folder in the environment; the folder of the build serves when the binary is started
/// by hand.
pub(crate) fn find() -> anyhow::Result<PathBuf> {
    let manifest_dir =
        std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    let root = Path::new(&manifest_dir)
        .parent()
        .with_context(|| format!("{} has no parent folder", Path::new(&manifest_dir).display()))?;
    anyhow::ensure!(
        root.join("Cargo.toml").is_file(),
        "{} holds no Cargo.toml; run `cargo xtask` inside a checkout",
        root.display()
    );
    Ok(root.to_path_buf())
}
