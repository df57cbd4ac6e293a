//! The C compiler: which names some headers have, and which assertions do not hold with them.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use anyhow::Context as _;

use super::assertions::{FILE, INCLUDES, Source};

/// The compiler that the crate `cc` finds: `$CC`, or `cc`.
#[derive(Debug)]
pub(super) struct Compiler(cc::Tool);

/// Every word of some headers after the preprocessor, names of macros included.
#[derive(Debug)]
pub(super) struct Words {
    words: BTreeSet<String>,
    /// The version that the headers give themselves, if they do.
    pub(super) version: Option<String>,
}

impl Words {
    /// The words of a preprocessed C text.
    pub(super) fn of(text: &str) -> Self {
        let words = text.split(|c: char| c != '_' && !c.is_alphanumeric());
        let words = words.filter(|word| !word.is_empty()).map(str::to_owned).collect();
        let number = |name: &str| {
            let define = format!("#define {name} ");
            text.lines().find_map(|line| line.strip_prefix(&define)).map(str::trim)
        };
        let version = number("ACL_MAJOR_VERSION").zip(number("ACL_MINOR_VERSION"));
        Self { words, version: version.map(|(major, minor)| format!("{major}.{minor}")) }
    }

    /// Whether the headers have this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.words.contains(name)
    }

    /// Whether the headers have every name in a declared type.
    pub(super) fn has_all_of(&self, declared: &str) -> bool {
        let is_name = |word: &&str| word.starts_with(|c: char| c == '_' || c.is_alphabetic());
        declared.split(|c: char| c != '_' && !c.is_alphanumeric()).filter(is_name).all(|word| self.has(word))
    }
}

impl Compiler {
    /// Finds the compiler.
    pub(super) fn find() -> anyhow::Result<Self> {
        let host = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
        let mut build = cc::Build::new();
        build.cargo_metadata(false).cargo_warnings(false).opt_level(1).host(&host).target(&host);
        let tool =
            build.try_get_compiler().context("no C compiler was found; install one, or name it in CC")?;
        Ok(Self(tool))
    }

    /// The words of the headers in `include`.
    pub(super) fn words(&self, include: &Path) -> anyhow::Result<Words> {
        let output = self.run(include, INCLUDES, &["-E", "-dD", "-P"])?;
        anyhow::ensure!(
            output.status.success(),
            "the headers in {} cannot be read:\n{}",
            include.display(),
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(Words::of(&String::from_utf8_lossy(&output.stdout)))
    }

    /// The facts that do not hold with the headers in `include`, in the order of `source`.
    pub(super) fn compile(&self, include: &Path, source: &Source) -> anyhow::Result<Vec<String>> {
        let output = self.run(include, &source.text, &["-S", "-o", "/dev/null"])?;
        let errors = String::from_utf8_lossy(&output.stderr);
        let (ours, theirs): (Vec<_>, Vec<_>) =
            errors.lines().filter(|line| line.contains("error:")).partition(|line| line.starts_with(FILE));
        // An error of the headers themselves could hide any number of ours.
        anyhow::ensure!(
            theirs.is_empty() && output.status.success() == ours.is_empty(),
            "the headers in {} do not compile:\n{errors}",
            include.display()
        );
        let failed: BTreeSet<usize> = ours.into_iter().filter_map(failed_assertion).collect();
        Ok(failed.into_iter().filter_map(|number| source.facts.get(number).cloned()).collect())
    }

    /// Runs the compiler over a text.
    fn run(&self, include: &Path, text: &str, arguments: &[&str]) -> anyhow::Result<Output> {
        let mut command: Command = self.0.to_command();
        command.args(["-std=gnu11", "-O1", "-w", "-x", "c", "-I"]).arg(include).args(arguments).arg("-");
        command.env("LC_ALL", "C").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child =
            command.spawn().with_context(|| format!("{} could not be started", self.0.path().display()))?;
        let mut input = child.stdin.take().context("the compiler has no input")?;
        let text = text.to_owned();
        // In a thread of its own: the compiler may fill its output before it has read all input.
        let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
        let output = child.wait_with_output().context("the compiler did not end")?;
        // A compiler that has given up does not read to the end; its own message says why.
        let _ = writer.join();
        Ok(output)
    }
}

/// The index of the assertion in an error of the form `acl_assertions:17:1: error: ...`.
fn failed_assertion(line: &str) -> Option<usize> {
    let (number, rest) = line.strip_prefix(FILE)?.strip_prefix(':')?.split_once(':')?;
    rest.contains("error:").then(|| number.parse::<usize>().ok()?.checked_sub(1)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_whole_and_include_macros() {
        let words =
            Words::of("#define ACL_MAJOR_VERSION 1\n#define ACL_MINOR_VERSION 17\nint aclOpen(void);\n");
        assert!(words.has("aclOpen") && words.has("ACL_MINOR_VERSION") && !words.has("aclOp"));
        assert_eq!(words.version.as_deref(), Some("1.17"));
        assert!(words.has_all_of("int[4]") && words.has_all_of("int[ACL_MINOR_VERSION]"));
        assert!(!words.has_all_of("aclClose *") && !words.has_all_of("int[ACL_PATCH_VERSION]"));
    }

    #[test]
    fn an_error_leads_to_its_assertion_and_a_note_does_not() {
        assert_eq!(failed_assertion("acl_assertions:17:1: error: static assertion failed"), Some(16));
        assert_eq!(failed_assertion("acl_assertions:17:1: note: declared here"), None);
        assert_eq!(failed_assertion("acl/acl.h:17:1: error: expected ';'"), None);
    }
}
