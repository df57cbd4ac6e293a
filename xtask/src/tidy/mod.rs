//! `cargo xtask tidy`: rules of the tree that neither the compiler nor clippy knows.
//!
//! Every rule is a function from what was read ([`tree::Tree`], [`workspace::Package`]) to a list of [`Violation`]s,
//! so that each can be shown to fire on a few lines in memory. All violations are printed, one a line.

pub(crate) mod workspace;

mod code;
mod crates_and_edges;
mod documents;
mod rust_source;
mod stray;
mod text;
mod tree;
mod unsafe_files;
mod violation;

use std::path::Path;

use tree::Tree;
use violation::Violation;
use workspace::Package;

use crate::output::say;

/// Everything that the rules look at.
#[derive(Debug)]
struct Subject {
    tree: Tree,
    packages: Vec<Package>,
}

/// The rules, in the order in which they are applied.
const RULES: &[fn(&Subject) -> Vec<Violation>] = &[
    |subject| crates_and_edges::check(&subject.packages, &subject.tree),
    |subject| rust_source::check(&subject.tree),
    |subject| unsafe_files::check(&subject.tree, &subject.packages),
    |subject| stray::check(&subject.tree),
    |subject| text::check(&subject.tree),
    |subject| documents::check(&subject.tree, &subject.packages),
];

/// Applies every rule to the tree at `root` and prints what they say; false when there is a violation.
///
/// # Errors
///
/// When the tree or the output of `cargo metadata` could not be read.
pub(crate) fn run(root: &Path) -> anyhow::Result<bool> {
    let subject = Subject { tree: Tree::read(root)?, packages: workspace::read(root)? };
    let violations = apply(&subject);
    for violation in &violations {
        say(violation);
    }
    let (files, packages) = (subject.tree.files.len(), subject.packages.len());
    if violations.is_empty() {
        say(format_args!("tidy: {files} files in {packages} packages, no violation"));
    } else {
        say(format_args!("tidy: {} violations in {files} files of {packages} packages", violations.len()));
    }
    Ok(violations.is_empty())
}

/// Every violation, sorted by place.
fn apply(subject: &Subject) -> Vec<Violation> {
    let mut violations: Vec<_> = RULES.iter().flat_map(|rule| rule(subject)).collect();
    violations.sort();
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn violations_of_all_rules_are_listed_and_sorted_by_place() {
        let tree = Tree::of(&[
            ("crates/mempool-core/src/lib.rs", "fn x() {}\n"),
            ("crates/mempool-core/Cargo.toml", "[package]\n"),
            ("notes.doc", "x"),
        ]);
        let violations = apply(&Subject { tree, packages: vec![Package::named("mempool-core")] });
        let lines: Vec<_> = violations.iter().map(ToString::to_string).collect();
        assert!(
            lines.iter().any(|line| line.starts_with("crates/mempool-core/src/lib.rs:1: ")),
            "{lines:#?}"
        );
        assert!(
            lines.iter().any(|line| line.starts_with("crates/mempool-core/Cargo.toml:1: ")),
            "{lines:#?}"
        );
        assert!(lines.iter().any(|line| line.starts_with("notes.doc:1: ")), "{lines:#?}");
        assert!(lines.iter().any(|line| line.starts_with("README.md:1: ")), "{lines:#?}");
        assert!(lines.is_sorted_by_key(|line| line.split(':').next()), "{lines:#?}");
    }
}
