//! Rules about `unsafe`: it stands only in the files that SAFETY.md lists, and every other crate forbids it.

use std::path::Path;

use super::code::Code;
use super::tree::Tree;
use super::violation::Violation;
use super::workspace::Package;

/// The page that lists the files.
const PAGE: &str = "SAFETY.md";
/// The heading over the list.
const HEADING: &str = "## Files with unsafe code";
/// What a crate without unsafe code says.
const FORBID: &str = "#![forbid(unsafe_code)]";

/// A file that SAFETY.md lists.
#[derive(Debug, PartialEq, Eq)]
struct Listed {
    path: String,
    line: usize,
}

/// Applies the rules of this file.
pub(super) fn check(tree: &Tree, packages: &[Package]) -> Vec<Violation> {
    let Some(page) = tree.text(PAGE) else {
        let message = format!("missing; write it, with a section `{HEADING}` that lists them");
        return vec![Violation::of_file(PAGE, message)];
    };
    if !page.lines().any(|line| line.trim_end() == HEADING) {
        return vec![Violation::of_file(
            PAGE,
            format!("no section `{HEADING}`; add it, even if the list is empty"),
        )];
    }
    let listed = parse_list(page);
    let mut found = unlisted(tree, &listed);
    found.extend(stale(tree, &listed));
    found.extend(forbidden(tree, packages, &listed));
    found
}

/// The list under [`HEADING`]: items of the form ``- `path/to/file.rs`: why``.
fn parse_list(page: &str) -> Vec<Listed> {
    page.lines()
        .enumerate()
        .skip_while(|(_, line)| line.trim_end() != HEADING)
        .skip(1)
        .take_while(|(_, line)| !line.starts_with('#'))
        .filter_map(|(index, line)| {
            let (path, _) = line.strip_prefix("- `")?.split_once('`')?;
            Some(Listed { path: path.to_owned(), line: index + 1 })
        })
        .collect()
}

fn rust_files(tree: &Tree) -> impl Iterator<Item = (&str, &str)> {
    tree.texts().filter(|(path, _)| path.rsplit_once('.').is_some_and(|(_, extension)| extension == "rs"))
}

/// No `unsafe` outside the list.
fn unlisted(tree: &Tree, listed: &[Listed]) -> Vec<Violation> {
    let is_listed = |path: &str| listed.iter().any(|listed| listed.path == path);
    let mut found = Vec::new();
    for (path, source) in rust_files(tree).filter(|(path, _)| !is_listed(path)) {
        for line in Code::of(source).lines_with("unsafe") {
            let message =
                format!("`unsafe` in a file that {PAGE} does not list; do without, or list the file there");
            found.push(Violation::at(path, line, message));
        }
    }
    found
}

/// No entry of the list without a file that has `unsafe`.
fn stale(tree: &Tree, listed: &[Listed]) -> Vec<Violation> {
    let has_unsafe =
        |path: &str| tree.text(path).is_some_and(|source| Code::of(source).lines_with("unsafe").count() > 0);
    listed
        .iter()
        .filter(|listed| !has_unsafe(&listed.path))
        .map(|Listed { path, line }| {
            Violation::at(
                PAGE,
                *line,
                format!("{path} is not there or has no unsafe code; take it off the list"),
            )
        })
        .collect()
}

/// Roots of libraries and binaries forbid unsafe code, except where the list has a file beside or below them.
fn forbidden(tree: &Tree, packages: &[Package], listed: &[Listed]) -> Vec<Violation> {
    let mut found = Vec::new();
    for package in packages {
        for root in &package.crate_roots {
            // A benchmark or test with unsafe code is a crate of its own; it does not open the library beside it.
            let folder = root.rsplit_once('/').map_or("", |(folder, _)| folder);
            if listed.iter().any(|listed| Path::new(&listed.path).starts_with(folder)) {
                continue;
            }
            let forbids =
                tree.text(root).is_some_and(|source| Code::of(source).contains_ignoring_spaces(FORBID));
            if !forbids {
                found.push(Violation::of_file(
                    root,
                    format!("the crate has no unsafe code to list; add `{FORBID}`"),
                ));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::violation::assert_found;
    use super::*;

    const LIB: &str = "crates/a/src/lib.rs";
    const MMAP: &str = "crates/a/src/mmap.rs";

    fn page(items: &str) -> String {
        format!("# Safety\n\n- `not/this.rs`: x\n\n{HEADING}\n\n{items}\n## More\n\n- `nor/this.rs`: y\n")
    }

    #[test]
    fn the_list_is_what_stands_under_its_heading() {
        let found = parse_list(&page("- `x/y.rs`: maps pages\n  and more\n- z.rs without ticks\n"));
        assert_eq!(found, [Listed { path: "x/y.rs".to_owned(), line: 7 }]);
    }

    #[test]
    fn a_missing_page_or_section_is_found() {
        assert_found(&check(&Tree::of(&[]), &[]), &[("SAFETY.md:1", "missing")]);
        assert_found(&check(&Tree::of(&[(PAGE, "# Safety\n")]), &[]), &[("SAFETY.md:1", "no section")]);
    }

    #[test]
    fn unsafe_code_outside_the_list_is_found_at_its_lines() {
        let source = "//! unsafe\nfn f() {\n    unsafe { g() }\n}\nunsafe impl Send for X {}\n";
        let tree = Tree::of(&[(PAGE, &page("")), (MMAP, source)]);
        assert_found(
            &check(&tree, &[]),
            &[(&format!("{MMAP}:3"), "does not list"), (&format!("{MMAP}:5"), "list")],
        );
        let tree = Tree::of(&[(PAGE, &page(&format!("- `{MMAP}`: pages\n"))), (MMAP, source)]);
        assert_found(&check(&tree, &[]), &[]);
    }

    #[test]
    fn an_entry_that_is_no_longer_needed_is_found() {
        let list = page(&format!("- `{MMAP}`: pages\n- `{LIB}`: no more\n"));
        let tree = Tree::of(&[(PAGE, &list), (LIB, "//! unsafe\n")]);
        assert_found(&check(&tree, &[]), &[("SAFETY.md:7", MMAP), ("SAFETY.md:8", LIB)]);
    }

    #[test]
    fn a_crate_without_an_entry_forbids_unsafe_code() {
        let packages = [Package::named("a")];
        let tree = Tree::of(&[(PAGE, &page("")), (LIB, "//! X.\n// #![forbid(unsafe_code)]\n")]);
        assert_found(&check(&tree, &packages), &[(&format!("{LIB}:1"), "add `#![forbid(unsafe_code)]`")]);
        let tree = Tree::of(&[(PAGE, &page("")), (LIB, "//! X.\n#![forbid(unsafe_code)]\n")]);
        assert_found(&check(&tree, &packages), &[]);
        let list = page(&format!("- `{MMAP}`: pages\n"));
        let tree = Tree::of(&[(PAGE, &list), (LIB, "//! X.\n"), (MMAP, "unsafe {}")]);
        assert_found(&check(&tree, &packages), &[]);
    }

    #[test]
    fn a_benchmark_in_the_list_does_not_open_the_library_beside_it() {
        let bench = "crates/a/benches/quick.rs";
        let list = page(&format!("- `{bench}`: calls a peer\n"));
        let tree = Tree::of(&[(PAGE, &list), (LIB, "//! X.\n"), (bench, "unsafe {}")]);
        assert_found(&check(&tree, &[Package::named("a")]), &[(&format!("{LIB}:1"), "add `#![forbid")]);
    }
}
