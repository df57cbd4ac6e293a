//! Rules about the form of Rust files: head, white space, markers of unfinished work, length, names.

use std::path::Path;

use super::code::Code;
use super::tree::Tree;
use super::violation::Violation;

/// A file above this is split, or says in its head why it is not.
const MAX_LINES: usize = 600;
/// What the head of a longer file says.
const LONG_FILE_REASON: &str = "Longer than 600 lines because";
/// Macros that mark unfinished work or debugging.
const UNFINISHED_MACROS: &[&str] = &["todo", "unimplemented", "dbg"];
/// Names that say nothing about what is in a file.
const EMPTY_NAMES: &[&str] = &["utils", "util", "helpers", "helper", "common", "misc"];

/// Applies the rules of this file.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let is_rust = |path: &str| Path::new(path).extension().is_some_and(|extension| extension == "rs");
    tree.texts()
        .filter(|(path, _)| is_rust(path))
        .flat_map(|(path, source)| check_file(path, source))
        .collect()
}

fn check_file(path: &str, source: &str) -> Vec<Violation> {
    let mut found = file_name(path);
    // What a generator writes is its business.
    if is_generated(source) {
        return found;
    }
    let code = Code::of(source);
    found.extend(head(path, source));
    found.extend(length(path, source));
    found.extend(unfinished(path, &code));
    found.extend(module_names(path, &code));
    found
}

/// Generators write this word into the first lines of what they make.
fn is_generated(source: &str) -> bool {
    source.lines().take(5).any(|line| line.contains(concat!("@", "generated")))
}

/// The file starts with a module doc; a build script needs none.
fn head(path: &str, source: &str) -> Vec<Violation> {
    let is_build_script = path.ends_with("/build.rs");
    let has_head =
        source.strip_prefix("//!").is_some_and(|rest| !rest.lines().next().unwrap_or("").trim().is_empty());
    if is_build_script || has_head {
        return Vec::new();
    }
    vec![Violation::of_file(path, "no file head; start the file with `//!` and say what it is for")]
}

/// The file is not too long, or its head says why.
fn length(path: &str, source: &str) -> Vec<Violation> {
    let lines = source.lines().count();
    let head: Vec<_> = source.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim).collect();
    if lines <= MAX_LINES || head.join(" ").contains(LONG_FILE_REASON) {
        return Vec::new();
    }
    let message = format!("{lines} lines; split the file, or write in its head `{LONG_FILE_REASON} ...`");
    vec![Violation::at(path, MAX_LINES + 1, message)]
}

/// No macro that marks unfinished work.
fn unfinished(path: &str, code: &Code) -> Vec<Violation> {
    code.words()
        .filter(|&(_, word, rest)| UNFINISHED_MACROS.contains(&word) && rest.starts_with('!'))
        .map(|(line, word, _)| {
            let message =
                format!("`{word}!` in a committed file; finish the code, or return an error that says so");
            Violation::at(path, line, message)
        })
        .collect()
}

/// No file or folder with a name that says nothing.
fn file_name(path: &str) -> Vec<Violation> {
    let parts = path.split('/').map(|part| part.strip_suffix(".rs").unwrap_or(part));
    parts
        .filter(|part| EMPTY_NAMES.contains(part))
        .map(|part| Violation::of_file(path, empty_name(part)))
        .collect()
}

/// No module, inline ones included, with a name that says nothing.
fn module_names(path: &str, code: &Code) -> Vec<Violation> {
    code.words()
        .filter(|&(_, word, _)| word == "mod")
        .filter_map(|(line, _, rest)| {
            let name = rest.trim_start().split(|c: char| c != '_' && !c.is_alphanumeric()).next()?;
            EMPTY_NAMES.contains(&name).then(|| Violation::at(path, line, empty_name(name)))
        })
        .collect()
}

fn empty_name(name: &str) -> String {
    format!(
        "the name `{name}` says nothing; name it after what is in it, or move the parts to where they belong"
    )
}

#[cfg(test)]
mod tests {
    use super::super::violation::assert_found;
    use super::*;

    #[test]
    fn a_file_in_order_has_no_violation() {
        assert_found(
            &check(&Tree::of(&[("a/src/lib.rs", "//! What it is.\n\nfn f() {}\n"), ("a.md", "x")])),
            &[],
        );
    }

    #[test]
    fn a_file_without_a_head_is_found() {
        assert_found(&check_file("a.rs", "use std::fmt;\n"), &[("a.rs:1", "no file head")]);
        assert_found(&check_file("a.rs", "//!\nuse std::fmt;\n"), &[("a.rs:1", "no file head")]);
        assert_found(&check_file("a.rs", ""), &[("a.rs:1", "no file head")]);
    }

    #[test]
    fn build_scripts_and_generated_files_need_no_head() {
        assert_found(&check_file("crates/a/build.rs", "fn main() {}\n"), &[]);
        assert_found(
            &check_file("a.rs", concat!("/* automatically @", "generated */\nfn x() { todo!() }\n")),
            &[],
        );
    }

    #[test]
    fn a_long_file_is_found_unless_its_head_says_why() {
        let lines = "\n".repeat(MAX_LINES);
        assert_found(&check_file("a.rs", &format!("//! X.\n{lines}")), &[("a.rs:601", "601 lines")]);
        assert_found(&check_file("a.rs", &format!("//! X.\n{}", &lines[1..])), &[]);
        let head = "//! X. Longer than 600 lines\n//! because it is a table.\n";
        assert_found(&check_file("a.rs", &format!("{head}{lines}")), &[]);
        let elsewhere = "//! X.\nfn f() {}\n//! Longer than 600 lines because of that.\n";
        assert_found(&check_file("a.rs", &format!("{elsewhere}{lines}")), &[("a.rs:601", "lines")]);
    }

    #[test]
    fn macros_of_unfinished_work_are_found_in_code_only() {
        let source =
            "//! todo!()\nfn f() { todo!() }\nfn g() { std::dbg!(1); unimplemented!(\"x\") }\nfn todo() {}\n";
        assert_found(
            &check_file("a.rs", source),
            &[("a.rs:2", "`todo!`"), ("a.rs:3", "`dbg!`"), ("a.rs:3", "`unimplemented!`")],
        );
    }

    #[test]
    fn names_that_say_nothing_are_found() {
        assert_found(&check_file("a/utils.rs", "//! X.\n"), &[("a/utils.rs:1", "`utils` says nothing")]);
        assert_found(&check_file("a/common/mod.rs", "//! X.\n"), &[("a/common/mod.rs:1", "`common`")]);
        assert_found(&check_file("a.rs", "//! X.\npub(crate) mod misc {}\n"), &[("a.rs:2", "`misc`")]);
        assert_found(&check_file("a/helpers_of_x.rs", "//! X.\nmod utilities;\n"), &[]);
    }
}
