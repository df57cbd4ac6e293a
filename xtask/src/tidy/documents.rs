//! Rules that keep the documents in step with the code: they exist, name every crate, and explain every variable.

use std::collections::BTreeSet;

use super::tree::Tree;
use super::violation::Violation;
use super::workspace::Package;

/// Documents that every reader expects.
const REQUIRED: &[&str] = &["README.md", "ARCHITECTURE.md", "CHANGELOG.md"];
/// Every environment variable of ours starts so.
const VARIABLE_PREFIX: &str = "ASCEND_";

/// Applies the rules of this file.
pub(super) fn check(tree: &Tree, packages: &[Package]) -> Vec<Violation> {
    let mut found = missing(tree);
    found.extend(unnamed_crates(tree, packages));
    found.extend(undocumented_variables(tree));
    found
}

fn missing(tree: &Tree) -> Vec<Violation> {
    let is_missing = |path: &&&str| tree.text(path).is_none_or(|text| text.trim().is_empty());
    REQUIRED
        .iter()
        .filter(is_missing)
        .map(|path| Violation::of_file(path, "missing or empty; write it"))
        .collect()
}

/// The README names every crate under `crates/`.
fn unnamed_crates(tree: &Tree, packages: &[Package]) -> Vec<Violation> {
    let Some(readme) = tree.text("README.md") else { return Vec::new() };
    let words: BTreeSet<_> = readme.split(|c: char| c != '-' && c != '_' && !c.is_alphanumeric()).collect();
    packages
        .iter()
        .filter(|package| package.folder.starts_with("crates/") && !words.contains(package.name.as_str()))
        .map(|package| {
            let message = format!("crate {} is not mentioned; say in one line what it is for", package.name);
            Violation::of_file("README.md", message)
        })
        .collect()
}

/// Every variable that the sources name is explained in the README or in `docs/`.
fn undocumented_variables(tree: &Tree) -> Vec<Violation> {
    let is_document = |path: &str| path == "README.md" || path.starts_with("docs/");
    let explained: BTreeSet<_> = tree
        .texts()
        .filter(|(path, _)| is_document(path))
        .flat_map(|(_, text)| text.lines().flat_map(variables))
        .collect();
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for (path, text) in tree.texts().filter(|(path, _)| is_crate_source(path)) {
        for (index, line) in before_tests(text).enumerate() {
            for name in variables(line) {
                if !explained.contains(name) && seen.insert(name) {
                    let message =
                        format!("variable {name} is not explained; add it to README.md or to docs/");
                    found.push(Violation::at(path, index + 1, message));
                }
            }
        }
    }
    found
}

/// Whether the path is `crates/NAME/src/...`.
fn is_crate_source(path: &str) -> bool {
    path.strip_prefix("crates/")
        .and_then(|rest| rest.split_once('/'))
        .is_some_and(|(_, rest)| rest.starts_with("src/"))
}

/// The lines above the unit tests, which may name variables that do not exist.
fn before_tests(text: &str) -> impl Iterator<Item = &str> {
    text.lines().take_while(|line| *line != "#[cfg(test)]")
}

/// The names of variables of ours in a line. A bare prefix (`ASCEND_MEMPOOL_`) is no name.
fn variables(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| c != '_' && !c.is_alphanumeric())
        .filter(|word| word.starts_with(VARIABLE_PREFIX) && !word.ends_with('_'))
        .filter(|word| word.chars().all(|c| c == '_' || c.is_ascii_uppercase() || c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::super::violation::assert_found;
    use super::*;

    #[test]
    fn missing_and_empty_documents_are_found() {
        let tree = Tree::of(&[("README.md", "# X\n"), ("CHANGELOG.md", "\n")]);
        assert_found(
            &missing(&tree),
            &[("ARCHITECTURE.md:1", "missing"), ("CHANGELOG.md:1", "missing or empty")],
        );
    }

    #[test]
    fn a_crate_that_the_readme_does_not_name_is_found() {
        let packages = [Package::named("mempool"), Package::named("mempool-core")];
        let outside = Package { folder: "xtask".to_owned(), ..Package::named("xtask") };
        let tree = Tree::of(&[("README.md", "| `mempool-core` | the pool |\n")]);
        let found = unnamed_crates(&tree, &[&packages[..], &[outside]].concat());
        assert_found(&found, &[("README.md:1", "crate mempool is not mentioned")]);
    }

    #[test]
    fn a_variable_without_an_explanation_is_found_once() {
        let source = "//! Reads `ASCEND_A_B`.\nconst C: &str = \"ASCEND_C\"; // ASCEND_A_B, ASCEND_\n";
        let tree = Tree::of(&[("crates/x/src/env.rs", source), ("README.md", "`ASCEND_C=1`\n")]);
        assert_found(&undocumented_variables(&tree), &[("crates/x/src/env.rs:1", "ASCEND_A_B")]);
        let tree = Tree::of(&[
            ("crates/x/src/env.rs", source),
            ("README.md", "`ASCEND_C=1`\n"),
            ("docs/variables.md", "| `ASCEND_A_B` | x |\n"),
        ]);
        assert_found(&undocumented_variables(&tree), &[]);
    }

    #[test]
    fn tests_may_name_variables_that_do_not_exist() {
        let source = "//! X.\n#[cfg(test)]\nmod tests { const X: &str = \"ASCEND_X\"; }\n";
        let tree = Tree::of(&[
            ("crates/x/src/env.rs", source),
            ("crates/x/tests/a.rs", "ASCEND_Y"),
            ("ci/x.sh", "ASCEND_Z"),
        ]);
        assert_found(&undocumented_variables(&tree), &[]);
    }
}
