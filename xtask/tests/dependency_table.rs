//! Proves the table of crates in ARCHITECTURE.md: which crate may know which.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// One row of the table.
struct Row {
    krate: &'static str,
    /// Crates of this repository that it may depend on. Those it only tests with are free, but for
    /// the last column.
    may_depend_on: &'static [&'static str],
    /// What must not appear anywhere in its `cargo tree`, tests of its own included.
    keeps_out: &'static [&'static str],
}

const TABLE: &[Row] = &[
    Row {
        krate: "compozy-domain",
        may_depend_on: &[],
        keeps_out: &["tokio", "tonic", "prost", "sqlx", "sqlx-core", "rusqlite"],
    },
    Row {
        krate: "compozy-resolver",
        may_depend_on: &["compozy-domain"],
        keeps_out: &["tonic", "prost", "sqlx", "sqlx-core", "rusqlite"],
    },
    Row {
        krate: "compozy-store",
        may_depend_on: &["compozy-domain"],
        keeps_out: &["tonic", "prost"],
    },
    Row {
        krate: "compozy-proto",
        may_depend_on: &[],
        keeps_out: &[
            "compozy-domain",
            "compozy-resolver",
            "compozy-store",
            "compozy-server",
            "compozy-client",
            "compozy-cli",
        ],
    },
    Row {
        krate: "compozy-server",
        may_depend_on: &[
            "compozy-domain",
            "compozy-resolver",
            "compozy-store",
            "compozy-proto",
        ],
        keeps_out: &["compozy-client"],
    },
    Row {
        krate: "compozy-client",
        may_depend_on: &["compozy-proto"],
        keeps_out: &["compozy-domain", "compozy-store", "compozy-server"],
    },
    Row {
        krate: "compozy-cli",
        may_depend_on: &["compozy-client"],
        keeps_out: &[
            "compozy-domain",
            "compozy-resolver",
            "compozy-store",
            "compozy-server",
            "sqlx",
            "sqlx-core",
            "rusqlite",
        ],
    },
    Row {
        krate: "compozy-e2e",
        may_depend_on: &["compozy-client", "compozy-proto"],
        keeps_out: &["compozy-server", "compozy-store", "compozy-domain"],
    },
    Row {
        krate: "compozy-bench",
        may_depend_on: &["compozy-client", "compozy-e2e", "compozy-proto"],
        keeps_out: &["compozy-server", "compozy-store", "compozy-domain"],
    },
    Row {
        krate: "xtask",
        may_depend_on: &[],
        keeps_out: &[],
    },
];

#[test]
fn every_crate_has_a_row() {
    let members: BTreeSet<String> = members().into_iter().map(|member| member.name).collect();
    let rows: BTreeSet<String> = TABLE.iter().map(|row| row.krate.to_owned()).collect();
    assert_eq!(
        members, rows,
        "a new crate gets a row here and a paragraph in ARCHITECTURE.md"
    );
}

#[test]
fn crates_depend_only_on_what_the_table_allows() {
    let members = members();
    let local: BTreeSet<&str> = members.iter().map(|member| member.name.as_str()).collect();
    let mut wrong = Vec::new();
    for member in &members {
        let row = TABLE.iter().find(|row| row.krate == member.name).unwrap();
        for dependency in &member.dependencies {
            if local.contains(dependency.as_str()) && !row.may_depend_on.contains(&dependency.as_str()) {
                wrong.push(format!("{} depends on {dependency}", member.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn crates_keep_out_what_the_table_names() {
    let mut wrong = Vec::new();
    for row in TABLE {
        let tree = tree(row.krate);
        for name in row.keeps_out.iter().filter(|name| tree.contains(**name)) {
            wrong.push(format!(
                "{name} is in the tree of {} (cargo tree -p {} -i {name})",
                row.krate, row.krate
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_tree_shows_what_is_far_below() {
    let tree = tree("compozy-client");
    for name in ["compozy-proto", "tonic", "prost", "tokio"] {
        assert!(
            tree.contains(name),
            "{name} is missing: the other tests would prove nothing"
        );
    }
}

/// A member of the workspace and what its manifest names, but for what only its tests use.
struct Member {
    name: String,
    dependencies: Vec<String>,
}

fn members() -> Vec<Member> {
    let text = cargo(&["metadata", "--no-deps", "--format-version", "1"]);
    let metadata: serde_json::Value = serde_json::from_str(&text).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    packages.iter().map(member).collect()
}

fn member(package: &serde_json::Value) -> Member {
    let mut dependencies = Vec::new();
    for dependency in package["dependencies"].as_array().unwrap() {
        if dependency["kind"] != "dev" {
            dependencies.push(dependency["name"].as_str().unwrap().to_owned());
        }
    }
    Member {
        name: package["name"].as_str().unwrap().to_owned(),
        dependencies,
    }
}

/// The names in a crate's own tree. Not from `cargo metadata`, which joins the features of all
/// members and so shows every crate what only its neighbours switched on.
fn tree(krate: &str) -> BTreeSet<String> {
    let text = cargo(&["tree", "--package", krate, "--prefix", "none", "--format", "{p}"]);
    let names = text.lines().filter_map(|line| line.split_whitespace().next());
    names.map(str::to_owned).collect()
}

fn cargo(arguments: &[&str]) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .current_dir(root)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}
