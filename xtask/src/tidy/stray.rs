//! Rules about which files may be in the repository at all.

use super::tree::{Tree, TreeFile};
use super::violation::Violation;

/// What may stand at the top.
const TOP_LEVEL: &[&str] = &[
    ".cargo",
    ".ci",
    ".config",
    ".gitattributes",
    ".github",
    ".gitignore",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "SAFETY.md",
    "ci",
    "clippy.toml",
    "crates",
    "deny.toml",
    "docs",
    "rust-toolchain.toml",
    "rustfmt.toml",
    "typos.toml",
    "xtask",
];
/// Extensions that a file may have: sources, texts, scripts, and test data.
const EXTENSIONS: &[&str] =
    &["rs", "toml", "lock", "md", "sh", "yml", "c", "h", "csv", "zst", "gz", "json", "txt", "svg"];
/// Files without an extension that belong here.
const WITHOUT_EXTENSION: &[&str] =
    &[".ci/run", ".gitattributes", ".gitignore", "LICENSE-APACHE", "LICENSE-MIT"];
/// No file is longer: test data can be made by a generator, and pictures drawn small.
const MAX_BYTES: u64 = 600_000;

/// Applies the rules of this file.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    tree.files.iter().flat_map(|file| place(file).into_iter().chain(kind(file)).chain(size(file))).collect()
}

/// The first part of the path is one of [`TOP_LEVEL`].
fn place(file: &TreeFile) -> Option<Violation> {
    let top = file.path.split('/').next().unwrap_or_default();
    let message =
        format!("`{top}` does not belong at the top; move it, or add it to TOP_LEVEL in {}", file!());
    (!TOP_LEVEL.contains(&top)).then(|| Violation::of_file(&file.path, message))
}

/// The extension is one of [`EXTENSIONS`].
fn kind(file: &TreeFile) -> Option<Violation> {
    let message = match file.extension() {
        Some(extension) if EXTENSIONS.contains(&extension) => return None,
        None if WITHOUT_EXTENSION.iter().any(|&known| known == file.path || known == file.name()) => {
            return None;
        }
        Some(extension) => format!("a `.{extension}` file; remove it, or add the extension to {}", file!()),
        None => {
            format!("a file without an extension; remove it, or add it to WITHOUT_EXTENSION in {}", file!())
        }
    };
    Some(Violation::of_file(&file.path, message))
}

/// The file is not longer than [`MAX_BYTES`].
fn size(file: &TreeFile) -> Option<Violation> {
    (file.size_bytes > MAX_BYTES).then(|| {
        let message = format!("{} bytes, more than {MAX_BYTES}; shorten or compress it", file.size_bytes);
        Violation::of_file(&file.path, message)
    })
}

#[cfg(test)]
mod tests {
    use super::super::violation::assert_found;
    use super::*;

    #[test]
    fn known_places_and_kinds_are_allowed() {
        let tree = Tree::of(&[
            (".ci/run", "x"),
            ("crates/a/src/lib.rs", "x"),
            ("crates/a/.gitignore", "x"),
            ("LICENSE-MIT", "x"),
        ]);
        assert_found(&check(&tree), &[]);
    }

    #[test]
    fn stray_files_are_found() {
        let tree = Tree::of(&[
            ("notes.md", "x"),
            ("crates/a/core.1234", "x"),
            ("ci/Makefile", "x"),
            (".ci/.run", "x"),
        ]);
        assert_found(
            &check(&tree),
            &[
                ("notes.md:1", "does not belong at the top"),
                ("crates/a/core.1234:1", "a `.1234` file"),
                ("ci/Makefile:1", "without an extension"),
                (".ci/.run:1", "without an extension"),
            ],
        );
    }

    #[test]
    fn a_large_file_is_found_whatever_it_holds() {
        let file = |size_bytes| TreeFile { path: "docs/a.svg".to_owned(), size_bytes, text: None };
        let tree = Tree { files: vec![file(MAX_BYTES), file(MAX_BYTES + 1)] };
        assert_found(&check(&tree), &[("docs/a.svg:1", "600001 bytes")]);
    }
}
