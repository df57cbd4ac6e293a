//! The packages of the workspace, from `cargo metadata`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;
use serde_json::Value;

/// One package of the workspace.
#[derive(Debug, Clone)]
pub(crate) struct Package {
    /// Its name.
    pub(crate) name: String,
    /// Its folder from the root, with slashes: `crates/mempool-core`.
    pub(crate) folder: String,
    /// What it depends on, ours and others'.
    pub(crate) dependencies: Vec<Dependency>,
    /// `description` of the manifest.
    pub(crate) description: Option<String>,
    /// `license` of the manifest.
    pub(crate) licence: Option<String>,
    /// `readme` of the manifest.
    pub(crate) readme: Option<String>,
    /// False where the manifest says `publish = false`.
    pub(crate) published: bool,
    /// Root files of its libraries and binaries, from the root of the repository.
    pub(crate) crate_roots: Vec<String>,
    /// Names of its bench targets.
    pub(crate) benches: Vec<String>,
}

/// One dependency of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dependency {
    /// The package depended on.
    pub(crate) name: String,
    /// Whether only tests, examples and benches use it.
    pub(crate) dev: bool,
}

impl Package {
    /// The path of the manifest from the root of the repository.
    pub(crate) fn manifest(&self) -> String {
        format!("{}/Cargo.toml", self.folder)
    }

    /// A package in `crates/` that keeps every rule, for tests.
    #[cfg(test)]
    pub(crate) fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            folder: format!("crates/{name}"),
            dependencies: Vec::new(),
            description: Some("What it is".to_owned()),
            licence: Some("MIT".to_owned()),
            readme: Some("README.md".to_owned()),
            published: true,
            crate_roots: vec![format!("crates/{name}/src/lib.rs")],
            benches: Vec::new(),
        }
    }
}

/// The packages of the workspace at `root`, sorted by name. Needs no network and no lock file.
///
/// # Errors
///
/// When cargo could not be run, does not accept the workspace, or answers in a form not known here.
pub(crate) fn read(root: &Path) -> anyhow::Result<Vec<Package>> {
    parse(&metadata(root)?)
}

/// Where cargo builds the workspace at `root`.
///
/// # Errors
///
/// As [`read`].
pub(crate) fn target_directory(root: &Path) -> anyhow::Result<PathBuf> {
    let metadata: Value = serde_json::from_str(&metadata(root)?).context("the output of `cargo metadata`")?;
    let folder =
        metadata["target_directory"].as_str().context("`cargo metadata` names no target_directory")?;
    Ok(folder.into())
}

/// The output of `cargo metadata`.
fn metadata(root: &Path) -> anyhow::Result<String> {
    let output = Command::new("cargo")
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root)
        .output()
        .context("`cargo metadata` could not be started; is cargo on the PATH?")?;
    anyhow::ensure!(
        output.status.success(),
        "`cargo metadata` does not accept the workspace: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(String::from_utf8(output.stdout)?)
}

/// Reads the output of `cargo metadata --format-version 1 --no-deps`.
fn parse(json: &str) -> anyhow::Result<Vec<Package>> {
    let metadata: Value = serde_json::from_str(json).context("the output of `cargo metadata`")?;
    let root = metadata["workspace_root"].as_str().context("`cargo metadata` names no workspace_root")?;
    let packages = metadata["packages"].as_array().context("`cargo metadata` lists no packages")?;
    let mut packages =
        packages.iter().map(|value| package(root, value)).collect::<anyhow::Result<Vec<_>>>()?;
    packages.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(packages)
}

fn package(root: &str, value: &Value) -> anyhow::Result<Package> {
    let name = value["name"].as_str().context("a package has no name")?.to_owned();
    let manifest = value["manifest_path"].as_str().with_context(|| format!("{name} has no manifest_path"))?;
    let folder = Path::new(manifest).parent().map(|folder| relative(root, folder));
    let targets = || value["targets"].as_array().into_iter().flatten();
    let dependencies = value["dependencies"].as_array().into_iter().flatten();
    Ok(Package {
        folder: folder.with_context(|| format!("{name}: {manifest} has no folder"))?,
        dependencies: dependencies.filter_map(dependency).collect(),
        description: text(&value["description"]),
        licence: text(&value["license"]),
        readme: text(&value["readme"]),
        published: value["publish"].as_array().is_none_or(|registries| !registries.is_empty()),
        crate_roots: targets()
            .filter(|target| {
                !["test", "bench", "example", "custom-build"].iter().any(|kind| is_kind(target, kind))
            })
            .filter_map(|target| Some(relative(root, Path::new(target["src_path"].as_str()?))))
            .collect(),
        benches: targets()
            .filter(|target| is_kind(target, "bench"))
            .filter_map(|target| text(&target["name"]))
            .collect(),
        name,
    })
}

fn dependency(value: &Value) -> Option<Dependency> {
    Some(Dependency { name: text(&value["name"])?, dev: value["kind"].as_str() == Some("dev") })
}

fn is_kind(target: &Value, kind: &str) -> bool {
    target["kind"].as_array().into_iter().flatten().any(|value| value.as_str() == Some(kind))
}

/// A string that says something.
fn text(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

/// `path` from `root`, with slashes; unchanged where it does not lie under it.
fn relative(root: &str, path: &Path) -> String {
    let path = path.strip_prefix(root).unwrap_or(path);
    path.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    const METADATA: &str = r#"{
        "workspace_root": "/r", "packages": [
            {"name": "testkit", "manifest_path": "/r/crates/testkit/Cargo.toml", "description": " ",
             "license": "MIT", "readme": null, "publish": [],
             "dependencies": [{"name": "core", "kind": null}, {"name": "fastrand", "kind": "dev"}],
             "targets": [{"kind": ["lib"], "name": "testkit", "src_path": "/r/crates/testkit/src/lib.rs"},
                         {"kind": ["bench"], "name": "quick", "src_path": "/r/crates/testkit/benches/quick.rs"}]},
            {"name": "core", "manifest_path": "/r/crates/core/Cargo.toml", "description": "A core",
             "license": null, "readme": "../../README.md", "publish": null, "dependencies": [], "targets": []}
        ]}"#;

    #[test]
    fn metadata_is_read_into_packages_sorted_by_name() {
        let packages = parse(METADATA).expect("the metadata is valid");
        assert_eq!(
            packages.iter().map(|package| package.name.as_str()).collect::<Vec<_>>(),
            ["core", "testkit"]
        );
        let [core, testkit] = &packages[..] else { panic!("there are two packages") };
        assert_eq!((core.published, testkit.published), (true, false));
        assert_eq!((core.licence.is_none(), testkit.description.is_none()), (true, true));
        assert_eq!(testkit.manifest(), "crates/testkit/Cargo.toml");
        assert_eq!(testkit.crate_roots, ["crates/testkit/src/lib.rs"]);
        assert_eq!(testkit.benches, ["quick"]);
        assert_eq!(
            testkit.dependencies,
            [
                Dependency { name: "core".to_owned(), dev: false },
                Dependency { name: "fastrand".to_owned(), dev: true }
            ]
        );
    }

    #[test]
    fn output_that_is_not_metadata_is_an_error() {
        parse("{}").expect_err("there is no workspace_root");
        parse("not json").expect_err("this is not JSON");
    }
}
