//! A resolve writes nothing, and needs no place to write to.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use compozy_resolver::testing::private_mounts;
use rustix::mount::{MountFlags, UnmountFlags, mount_bind, mount_remount, unmount};

use crate::world::{World, agents, content, skills};

/// Everything that tells whether something below a directory was touched; not when it was last read.
fn state(directory: &Path, all: &mut BTreeMap<String, (u64, u32, i64, i64, Vec<u8>)>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let found = std::fs::symlink_metadata(&path).unwrap();
        let bytes = if found.is_file() {
            std::fs::read(&path).unwrap()
        } else {
            Vec::new()
        };
        let times = (
            found.mtime_nsec(),
            found.ctime() * 1_000_000_000 + found.ctime_nsec(),
        );
        let name = path.to_str().unwrap().to_owned();
        all.insert(name, (found.ino(), found.mode(), times.0, times.1, bytes));
        if found.is_dir() {
            state(&path, all);
        }
    }
}

fn world() -> World {
    let mut world = World::new();
    world.agent("r/.compozy", "a", "prompt");
    world.write("r/.compozy/agents/b/AGENT.md", "broken");
    world.skill("h/skills", "s", "text");
    world.write("h/profiles/ghost/config.toml", "");
    world.write("r/.env", "COMPOZY_HOME=/nowhere\n");
    world.request.additional_dirs = vec![world.at("gone")];
    world
}

#[test]
fn r009_a_hundred_resolves_touch_nothing() {
    let world = world();
    let (mut before, mut after) = (BTreeMap::new(), BTreeMap::new());
    state(Path::new(&world.place.path), &mut before);
    let first = world.resolve();
    for _ in 0..99 {
        assert_eq!(content(&world.resolve()), content(&first));
    }
    state(Path::new(&world.place.path), &mut after);
    assert_eq!(before, after);
}

#[test]
fn r007_a_read_only_disk_is_no_obstacle() {
    if !private_mounts() {
        // Only root may mount, and not in every container.
        return;
    }
    let world = world();
    let path = world.place.path.clone();
    mount_bind(&path, path.as_str()).unwrap();
    mount_remount(&path, MountFlags::BIND | MountFlags::RDONLY, "").unwrap();
    let outcome = world.try_resolve();
    let refused = std::fs::write(world.at("r/new"), "").is_err();
    unmount(path.as_str(), UnmountFlags::DETACH).unwrap();
    assert!(refused, "the disk was read-only");
    let snapshot = outcome.unwrap();
    assert_eq!(
        (agents(&snapshot), skills(&snapshot)),
        (vec!["a", "b"], vec!["s"])
    );
}
