//! Rules about crates: which may depend on which, and what each manifest must hold.

use super::tree::Tree;
use super::violation::Violation;
use super::workspace::Package;

/// What a package may use of the others.
struct Row {
    name: &'static str,
    /// Edges of the library or binary.
    uses: &'static [&'static str],
    /// Edges that only its tests, examples and benches have, beside `uses` and [`DEV_ANYWHERE`].
    dev_uses: &'static [&'static str],
}

/// The layers, as ARCHITECTURE.md has them: an edge that is not here does not exist. A new crate gets one row.
const ROWS: &[Row] = &[
    Row { name: "ascend-acl-sys", uses: &[], dev_uses: &[] },
    Row { name: "acl-sim", uses: &["ascend-acl-sys", "host-device"], dev_uses: &[] },
    Row { name: "ascend-acl", uses: &["ascend-acl-sys"], dev_uses: &["acl-sim"] },
    Row { name: "mempool-core", uses: &[], dev_uses: &[] },
    Row { name: "host-device", uses: &[], dev_uses: &[] },
    Row { name: "backend-host", uses: &["mempool-core", "host-device"], dev_uses: &[] },
    Row {
        name: "backend-ascend",
        uses: &["mempool-core", "ascend-acl"],
        dev_uses: &["acl-sim", "backend-host"],
    },
    Row { name: "mempool-trace", uses: &["mempool-core"], dev_uses: &[] },
    Row {
        name: "mempool-cli",
        uses: &["backend-host", "host-device", "mempool-trace", "mempool-core"],
        dev_uses: &[],
    },
    Row {
        name: "testkit",
        uses: &["mempool-core", "mempool-trace"],
        dev_uses: &["backend-host", "host-device"],
    },
    Row { name: "xtask", uses: &[], dev_uses: &[] },
];

/// The packages that the tests of every crate may use.
const DEV_ANYWHERE: &[&str] = &["testkit"];

/// Applies the rules of this file.
pub(super) fn check(packages: &[Package], tree: &Tree) -> Vec<Violation> {
    let mut found = edges(ROWS, packages, tree);
    for package in packages {
        let manifest = tree.text(&package.manifest()).unwrap_or_default();
        found.extend(manifest_fields(package));
        found.extend(manifest_lines(package, manifest));
    }
    found
}

/// Only the edges of `rows`; every package has a row and every row a package.
fn edges(rows: &[Row], packages: &[Package], tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for package in packages {
        let path = package.manifest();
        let Some(row) = rows.iter().find(|row| row.name == package.name) else {
            let message =
                format!("crate {} has no row in the table of edges in {}; add one", package.name, file!());
            found.push(Violation::of_file(&path, message));
            continue;
        };
        for dependency in &package.dependencies {
            let name = dependency.name.as_str();
            let is_ours = packages.iter().any(|package| package.name == name);
            let dev_allowed =
                dependency.dev && (row.dev_uses.contains(&name) || DEV_ANYWHERE.contains(&name));
            if is_ours && !row.uses.contains(&name) && !dev_allowed {
                let kind = if dependency.dev { "dev-dependency" } else { "dependency" };
                let line = line_of_key(tree.text(&path).unwrap_or_default(), name);
                let message = format!(
                    "{kind} {} -> {name} is not an edge of the layers; move the code to where it may use {name}, or \
                     change the table in {} and ARCHITECTURE.md",
                    package.name,
                    file!()
                );
                found.push(Violation::at(&path, line, message));
            }
        }
    }
    for row in rows {
        if !packages.iter().any(|package| package.name == row.name) {
            let message =
                format!("the table of edges has a row for {}, which does not exist; remove it", row.name);
            found.push(Violation::of_file(file!(), message));
        }
    }
    found
}

/// The line of a manifest on which the key `name` stands, 1 when it is not found.
fn line_of_key(manifest: &str, name: &str) -> usize {
    let is_key = |line: &str| {
        line.trim_start().strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with(['.', '=']))
    };
    manifest.lines().position(is_key).map_or(1, |index| index + 1)
}

/// A description, a licence, and a readme or `publish = false`.
fn manifest_fields(package: &Package) -> Vec<Violation> {
    let path = package.manifest();
    let mut found = Vec::new();
    if package.description.is_none() {
        found.push(Violation::of_file(&path, "no description; say in one line what the crate is"));
    }
    if package.licence.is_none() {
        found.push(Violation::of_file(&path, "no licence; add `license.workspace = true`"));
    }
    if package.readme.is_none() && package.published {
        found.push(Violation::of_file(&path, "no readme; name one, or add `publish = false`"));
    }
    found
}

/// The lints of the workspace, and the versions of the workspace.
fn manifest_lines(package: &Package, manifest: &str) -> Vec<Violation> {
    let path = package.manifest();
    let mut found = Vec::new();
    let mut section = "";
    let mut has_lints = false;
    for (index, line) in manifest.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_matches(['[', ']']);
            continue;
        }
        let squeezed: String = line.split_whitespace().collect();
        has_lints |= squeezed == "lints.workspace=true" || section == "lints" && squeezed == "workspace=true";
        let in_dependencies = section.rsplit('.').next().is_some_and(|last| last.ends_with("dependencies"));
        if in_dependencies && !squeezed.is_empty() && !squeezed.contains("workspace=true") {
            let message = "dependency with a version or path of its own; put it into [workspace.dependencies] of the \
                           root and write `name.workspace = true` here";
            found.push(Violation::at(&path, index + 1, message));
        }
    }
    if !has_lints {
        found.push(Violation::of_file(
            &path,
            "the lints of the workspace do not apply; add [lints] workspace = true",
        ));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::violation::assert_found;
    use super::super::workspace::Dependency;
    use super::*;

    const TABLE: &[Row] = &[
        Row { name: "low", uses: &[], dev_uses: &[] },
        Row { name: "high", uses: &["low"], dev_uses: &[] },
        Row { name: "testkit", uses: &["low"], dev_uses: &["high"] },
    ];

    fn package(name: &str, dependencies: &[(&str, bool)]) -> Package {
        let dependency = |&(name, dev): &(&str, bool)| Dependency { name: name.to_owned(), dev };
        Package { dependencies: dependencies.iter().map(dependency).collect(), ..Package::named(name) }
    }

    #[test]
    fn edges_of_the_table_and_crates_of_others_are_allowed() {
        let packages = [
            package("low", &[("serde", false), ("testkit", true)]),
            package("high", &[("low", false), ("low", true)]),
            package("testkit", &[("low", false), ("high", true)]),
        ];
        assert_found(&edges(TABLE, &packages, &Tree::of(&[])), &[]);
    }

    #[test]
    fn any_other_edge_is_found_at_its_line() {
        let packages = [
            package("low", &[("high", false)]),
            package("high", &[("testkit", false)]),
            package("testkit", &[("high", false)]),
        ];
        let tree =
            Tree::of(&[("crates/low/Cargo.toml", "[dependencies]\nhigher = 1\nhigh.workspace = true\n")]);
        assert_found(
            &edges(TABLE, &packages, &tree),
            &[
                ("crates/low/Cargo.toml:3", "dependency low -> high"),
                ("crates/high/Cargo.toml:1", "dependency high -> testkit"),
                ("crates/testkit/Cargo.toml:1", "dependency testkit -> high"),
            ],
        );
        let packages = [package("low", &[("high", true)]), package("high", &[]), package("testkit", &[])];
        let found = edges(TABLE, &packages, &Tree::of(&[]));
        assert_found(&found, &[("crates/low/Cargo.toml:1", "dev-dependency low -> high")]);
    }

    #[test]
    fn a_crate_without_a_row_and_a_row_without_a_crate_are_found() {
        let packages = [package("low", &[]), package("high", &[]), package("new", &[])];
        let place = format!("{}:1", file!());
        assert_found(
            &edges(TABLE, &packages, &Tree::of(&[])),
            &[("crates/new/Cargo.toml:1", "no row"), (&place, "testkit, which does not exist")],
        );
    }

    #[test]
    fn the_table_of_the_workspace_has_no_cycle() {
        // Each row uses only rows that stand before it in some order: take away rows whose uses are all gone.
        let mut left: Vec<&Row> = ROWS.iter().collect();
        while !left.is_empty() {
            let names: Vec<_> = left.iter().map(|row| row.name).collect();
            left.retain(|row| row.uses.iter().any(|name| names.contains(name)));
            assert!(left.len() < names.len(), "a cycle among {names:?}");
        }
    }

    #[test]
    fn missing_fields_of_a_manifest_are_found() {
        assert_found(&manifest_fields(&Package::named("good")), &[]);
        let unpublished = Package { readme: None, published: false, ..Package::named("good") };
        assert_found(&manifest_fields(&unpublished), &[]);
        let bare = Package { description: None, licence: None, readme: None, ..Package::named("bare") };
        assert_found(
            &manifest_fields(&bare),
            &[
                ("crates/bare/Cargo.toml:1", "no description"),
                ("crates/bare/Cargo.toml:1", "no licence"),
                ("crates/bare/Cargo.toml:1", "no readme"),
            ],
        );
    }

    #[test]
    fn lints_of_the_workspace_are_required_in_either_spelling() {
        let package = Package::named("x");
        assert_found(&manifest_lines(&package, "[lints]\nworkspace = true\n"), &[]);
        assert_found(&manifest_lines(&package, "lints.workspace = true\n"), &[]);
        let elsewhere = "[lints]\n# workspace = true\n[other]\nworkspace = true\n";
        assert_found(
            &manifest_lines(&package, elsewhere),
            &[("crates/x/Cargo.toml:1", "[lints] workspace = true")],
        );
    }

    #[test]
    fn a_version_outside_the_workspace_table_is_found() {
        let manifest = "[lints]\nworkspace = true\n\n[dependencies]\na.workspace = true\nb = \"1\"\n\
                        [target.'cfg(unix)'.dev-dependencies]\nc = { path = \"../c\" }\n";
        assert_found(
            &manifest_lines(&Package::named("x"), manifest),
            &[
                ("crates/x/Cargo.toml:6", "workspace.dependencies"),
                ("crates/x/Cargo.toml:8", "workspace.dependencies"),
            ],
        );
    }
}
