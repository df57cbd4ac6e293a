//! Rules about the text of files of every kind: white space, and paths of somebody's machine.

use std::path::Path;

use super::tree::Tree;
use super::violation::Violation;

/// Kinds of files that people write, whose white space is judged.
const WRITTEN: &[&str] = &["rs", "toml", "md", "sh", "yml", "c", "h"];
/// Folders that exist on one machine only.
const MACHINE_FOLDERS: &[&str] = &["/home/", "/root/", "/mnt/", "/Users/"];
/// Files that may name such folders, each with the reason.
const PATH_EXCEPTIONS: &[(&str, &str)] =
    &[("xtask/src/tidy/text.rs", "holds the list of folders and the tests of this rule")];

/// Applies the rules of this file.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    tree.texts()
        .flat_map(|(path, text)| {
            let mut found = white_space(path, text);
            found.extend(machine_paths(path, text));
            found
        })
        .collect()
}

/// A newline at the end, no spaces at the ends of lines, no tabs.
fn white_space(path: &str, text: &str) -> Vec<Violation> {
    let extension = Path::new(path).extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    if !WRITTEN.contains(&extension) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (index, line) in text.split('\n').enumerate() {
        if line.ends_with([' ', '\t', '\r']) {
            found.push(Violation::at(path, index + 1, "white space at the end of the line; remove it"));
        }
        if line.contains('\t') {
            found.push(Violation::at(
                path,
                index + 1,
                "a tab; indent with spaces, and write \\t in a literal",
            ));
        }
    }
    if !text.is_empty() && !text.ends_with('\n') {
        let last = text.split('\n').count();
        found.push(Violation::at(path, last, "the last line has no newline; end it with one"));
    }
    found
}

/// No absolute path that only one machine has.
fn machine_paths(path: &str, text: &str) -> Vec<Violation> {
    if PATH_EXCEPTIONS.iter().any(|&(exception, _)| exception == path) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if let Some(folder) = MACHINE_FOLDERS.iter().find(|folder| names_folder(line, folder)) {
            let message = format!(
                "a path under {folder} exists on one machine only; write it from the root of the repository, or take \
                 it from an argument"
            );
            found.push(Violation::at(path, index + 1, message));
        }
    }
    found
}

/// Whether `line` names `folder` as an absolute path, so not as a part of a longer path or of a URL.
fn names_folder(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || ['_', '-', '.', '/', '}', '~', '*'].contains(&c))
    })
}

#[cfg(test)]
mod tests {
    use super::super::violation::assert_found;
    use super::*;

    #[test]
    fn white_space_is_judged_in_files_that_people_write() {
        let tree =
            Tree::of(&[("a.rs", "a \n\tb\nc"), ("a.csv", "a \n\tb\nc"), ("b.toml", "a\n"), ("c.rs", "")]);
        assert_found(
            &check(&tree),
            &[("a.rs:1", "end of the line"), ("a.rs:2", "a tab"), ("a.rs:3", "no newline")],
        );
        assert_found(&white_space("a.sh", "a\r\n"), &[("a.sh:1", "end of the line")]);
    }

    #[test]
    fn paths_of_one_machine_are_found_in_every_text() {
        let tree = Tree::of(&[
            ("a.csv", "1\nx,/home/me/file\n"),
            ("b.md", "see `/mnt/x`\n"),
            (".ci/run", "/root/x"),
        ]);
        assert_found(
            &check(&tree),
            &[("a.csv:2", "under /home/"), ("b.md:1", "under /mnt/"), (".ci/run:1", "under /root/")],
        );
    }

    #[test]
    fn parts_of_longer_paths_and_urls_are_no_paths_of_a_machine() {
        for line in
            ["https://example.org/mnt/x", "src/mnt/x", "./home/x", "$DIR/root/x", "/homework/x", "${A}/mnt/"]
        {
            assert_found(&machine_paths("a.md", line), &[]);
        }
    }

    #[test]
    fn an_exception_may_name_such_folders() {
        assert_found(&machine_paths(PATH_EXCEPTIONS[0].0, "/home/x"), &[]);
    }
}
