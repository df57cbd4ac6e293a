//! `cargo xtask check-headers DIR`: whether our headers of ACL say what the vendor's say.
//!
//! Every constant, struct and function of ours becomes a static assertion in a C file, which the compiler then reads with
//! the vendor's headers in place of ours. Nothing is run, so the headers may be of another processor's CANN. Before that,
//! the same file is compiled with our own headers, to see that it says what it means to say.

mod abi;
mod assertions;
mod compiler;
mod report;

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::{bindgen, output};
use abi::Abi;
use compiler::Compiler;
use report::Report;

/// How deep below the given folder the headers may lie: `torch_npu/include/third_party/acl/inc` is five.
const MAX_DEPTH: usize = 8;

/// Compares; false when something differs, or a required function is missing.
///
/// # Errors
///
/// When there are no headers below `folder`, no C compiler, or our own headers do not pass.
pub(crate) fn run(root: &Path, folder: &Path) -> anyhow::Result<bool> {
    let theirs = find_include_folder(folder)?;
    let ours = bindgen::headers(root);
    let abi = abi::read(root)?;
    let compiler = Compiler::find()?;

    let own = compare(&abi, &compiler, &ours)?;
    anyhow::ensure!(own.is_complete(), "our own headers do not pass, so the check itself is wrong:\n{own}");
    let report = compare(&abi, &compiler, &theirs)?;
    output::say(format_args!("{}\n{report}", theirs.display()));
    Ok(report.is_clean())
}

/// Compiles the assertions with the headers of one folder.
fn compare(abi: &Abi, compiler: &Compiler, include: &Path) -> anyhow::Result<Report> {
    let words = compiler.words(include)?;
    let (present, missing) = abi.split(&words);
    let mut failures = Vec::new();
    for part in present.parts() {
        failures.extend(compiler.compile(include, &assertions::write(&part))?);
    }
    Ok(Report::new(words.version, &present, missing, failures))
}

/// The folder from which `acl/acl.h` can be included: `folder` or the nearest one below it.
fn find_include_folder(folder: &Path) -> anyhow::Result<PathBuf> {
    let mut level = vec![folder.to_path_buf()];
    for _ in 0..=MAX_DEPTH {
        if let Some(found) = level.iter().find(|folder| folder.join("acl/acl.h").is_file()) {
            return Ok(found.clone());
        }
        level = level.iter().flat_map(|folder| subfolders(folder)).collect();
    }
    anyhow::bail!(
        "no acl/acl.h below {}; give the folder of an installed CANN, or of an unpacked torch_npu wheel",
        folder.display()
    )
}

/// The folders in a folder, in order; none when it cannot be read.
fn subfolders(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<_> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

/// Reads a file, and names it when that fails.
fn read(path: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("{} could not be read", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_headers_is_an_error_that_says_what_is_wanted() {
        let error =
            find_include_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).expect_err("no headers");
        assert!(error.to_string().contains("torch_npu"), "{error}");
    }

    #[test]
    fn our_own_headers_are_found_and_pass() {
        let root = crate::root::find().expect("inside a checkout");
        let ours = bindgen::headers(&root);
        assert_eq!(find_include_folder(ours.parent().expect("a crate")).expect("ours"), ours);
        let report =
            compare(&abi::read(&root).expect("ours"), &Compiler::find().expect("a C compiler"), &ours)
                .expect("runs");
        assert!(report.is_complete(), "{report}");
    }

    #[test]
    fn a_wrong_number_is_found_beside_a_wrong_function() {
        let root = crate::root::find().expect("inside a checkout");
        let mut abi = abi::read(&root).expect("ours");
        let constant =
            abi.constants.iter_mut().find(|constant| constant.name == "ACL_ERROR_RT_MEMORY_ALLOCATION");
        constant.expect("it is declared").value += 1;
        let function = abi.functions.iter_mut().find(|function| function.name == "aclrtFree");
        function.expect("it is declared").parameters.push_str(", size_t size");
        let compiler = Compiler::find().expect("a C compiler");
        let report = compare(&abi, &compiler, &bindgen::headers(&root)).expect("runs");
        assert!(!report.is_clean());
        let text = report.to_string();
        assert!(text.contains("differences: 2"), "{text}");
        assert!(text.contains("ALLOCATION is 207002"), "{text}");
        assert!(text.contains("aclrtFree(void *address, size_t size)"), "{text}");
    }
}
