//! A test of its own, because the umask belongs to the whole process.

#![allow(clippy::unwrap_used)]

mod support;

use compozy_resolver::identity::{self, Identity};
use compozy_resolver::{Disk, observe};
use rustix::fs::Mode;
use support::{FILE, NOW, Ones, Place};

#[test]
fn w001_w002_a_new_file_has_three_keys_and_open_modes_whatever_the_umask_is() {
    let place = Place::new();
    let root = place.make("a");
    rustix::process::umask(Mode::from_raw_mode(0o077));
    let new = Identity::generate(&root.path, NOW, &Ones).unwrap();
    let created = identity::create(&Disk::new(), &root, &new).unwrap();
    assert!(created.made_file && created.made_directory);
    let text = String::from_utf8(place.read(&format!("a/{FILE}"))).unwrap();
    let keys: Vec<&str> = text
        .lines()
        .map(|line| line.split(" = ").next().unwrap())
        .collect();
    assert_eq!(keys, ["workspace_id", "created_at", "realpath_at_creation"]);
    assert_eq!(place.mode(&format!("a/{FILE}")), 0o644);
    assert_eq!(place.mode("a/.compozy"), 0o755);
    let found = created.found.identity;
    assert_eq!(found.created_at, NOW);
    assert!(text.contains("created_at = \"2026-05-04T14:30:00Z\""), "{text}");
    assert_eq!(found.realpath_at_creation, place.at("a"));
    assert!(compozy_domain::id::is_ulid(found.durable_id.as_str()));
    let seen = observe(&Disk::new(), &root.path, &found.durable_id);
    assert_eq!(seen.status, compozy_domain::WorkspaceStatus::Ok);
    assert_eq!(place.names("a/.compozy"), ["workspace.toml"]);
}
