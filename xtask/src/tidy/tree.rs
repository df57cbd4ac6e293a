//! The files of the repository, read into memory.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Context as _;

/// The files that belong to the repository: what git tracks and what it would track, so that a new file is judged
/// before it is committed.
#[derive(Debug)]
pub(crate) struct Tree {
    /// Sorted by path.
    pub(crate) files: Vec<TreeFile>,
}

/// One file.
#[derive(Debug)]
pub(crate) struct TreeFile {
    /// Path from the root, with slashes.
    pub(crate) path: String,
    /// Length in bytes.
    pub(crate) size_bytes: u64,
    /// The content, when it is text: UTF-8 without NUL.
    pub(crate) text: Option<String>,
}

impl Tree {
    /// Reads the tree at `root`. Without git, walks the folders and leaves out what the top-level `.gitignore` names.
    ///
    /// # Errors
    ///
    /// When a file or a folder could not be read.
    pub(crate) fn read(root: &Path) -> anyhow::Result<Self> {
        let mut paths = match list_with_git(root) {
            Some(paths) => paths,
            None => list_by_walking(root)?,
        };
        paths.sort();
        paths.dedup();
        let mut files = Vec::with_capacity(paths.len());
        for path in paths {
            let full = root.join(&path);
            // Tracked but deleted in the working tree: nothing to judge.
            if !full.is_file() {
                continue;
            }
            let content = fs::read(&full).with_context(|| format!("{path} could not be read"))?;
            let size_bytes = content.len() as u64;
            let text = String::from_utf8(content).ok().filter(|text| !text.contains('\0'));
            files.push(TreeFile { path, size_bytes, text });
        }
        Ok(Self { files })
    }

    /// The text of the file at `path`; `None` when there is no such text file.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.iter().find(|file| file.path == path)?.text.as_deref()
    }

    /// Every text file as (path, text).
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|file| Some((file.path.as_str(), file.text.as_deref()?)))
    }

    /// A tree of text files, for tests.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let file = |(path, text): &(&str, &str)| TreeFile {
            path: (*path).to_owned(),
            size_bytes: text.len() as u64,
            text: Some((*text).to_owned()),
        };
        Self { files: files.iter().map(file).collect() }
    }
}

impl TreeFile {
    /// The name without its folders.
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// What follows the last dot of the name; `None` for `LICENSE-MIT` and for `.gitignore`.
    pub(crate) fn extension(&self) -> Option<&str> {
        Path::new(self.name()).extension()?.to_str()
    }
}

/// What git tracks or would track; `None` when git is absent or `root` is not in a repository.
fn list_with_git(root: &Path) -> Option<Vec<String>> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let listing = String::from_utf8(output.stdout).ok()?;
    Some(listing.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
}

fn list_by_walking(root: &Path) -> anyhow::Result<Vec<String>> {
    let ignore_file = fs::read_to_string(root.join(".gitignore")).unwrap_or_default();
    let ignored = ignored_paths(&ignore_file);
    let mut paths = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(root.join(&folder))
            .with_context(|| format!("folder `{folder}` could not be read"))?;
        for entry in entries {
            let entry = entry.with_context(|| format!("folder `{folder}` could not be read"))?;
            let name = entry.file_name();
            let name = name
                .to_str()
                .with_context(|| format!("the name {} in `{folder}` is not UTF-8", name.display()))?;
            let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
            if ignored.contains(&path.as_str()) {
                continue;
            }
            if entry.file_type().with_context(|| path.clone())?.is_dir() {
                folders.push(path);
            } else {
                paths.push(path);
            }
        }
    }
    Ok(paths)
}

/// The anchored entries (`/target`) of a `.gitignore`, and git's own folder.
fn ignored_paths(ignore_file: &str) -> Vec<&str> {
    let entries = ignore_file.lines().filter_map(|line| line.trim().strip_prefix('/'));
    std::iter::once(".git").chain(entries.map(|entry| entry.trim_end_matches('/'))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_and_names_ignore_folders_and_leading_dots() {
        let tree = Tree::of(&[("a.b/LICENSE-MIT", ""), (".gitignore", ""), ("x/y.tar.gz", "")]);
        assert_eq!(tree.files.iter().map(TreeFile::extension).collect::<Vec<_>>(), [None, None, Some("gz")]);
        assert_eq!(tree.files[0].name(), "LICENSE-MIT");
    }

    #[test]
    fn a_walk_leaves_out_git_and_what_the_ignore_file_anchors() {
        assert_eq!(ignored_paths("/target\n*.tmp\n/ci/out/\n"), [".git", "target", "ci/out"]);
    }

    #[test]
    fn the_walk_and_git_agree_on_the_sources_of_this_crate() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace is above");
        let is_own_source = |path: &String| path.starts_with("xtask/src/");
        let mut walked: Vec<_> =
            list_by_walking(root).expect("the tree is readable").into_iter().filter(is_own_source).collect();
        walked.sort();
        assert!(walked.iter().any(|path| path == "xtask/src/tidy/tree.rs"), "{walked:?}");
        if let Some(listed) = list_with_git(root) {
            let mut listed: Vec<_> = listed.into_iter().filter(is_own_source).collect();
            listed.sort();
            assert_eq!(walked, listed);
        }
    }
}
