//! What was done to an identity file undone, also after a crash, and nothing of anybody else's.

#![allow(clippy::unwrap_used)]

mod support;

use std::sync::mpsc;

use compozy_resolver::files::Step;
use compozy_resolver::identity::{self, Found, encode, with_durable_id};
use compozy_resolver::{ContentHash, Disk, Files};
use support::{FILE, ID1, ID2, Place, durable, file, identity};

fn found(place: &Place, below: &str) -> Found {
    let root = Disk::new().directory(&place.at(below)).unwrap();
    identity::read(&Disk::new(), &root).unwrap().unwrap()
}

#[test]
fn an_undo_removes_the_file_and_the_directory_that_were_made_and_only_those() {
    let place = Place::new();
    let root = place.make("a");
    place.write("b/.compozy/config.toml", "broken");
    let with_config = place.make("b");
    for root in [&root, &with_config] {
        let there = identity::has_directory(&Disk::new(), root).unwrap();
        let created = identity::create(&Disk::new(), root, &identity(ID1, &root.path)).unwrap();
        assert_eq!(created.made_directory, !there);
        let written = ContentHash::of(&created.found.bytes);
        assert!(identity::undo_create(&Disk::new(), root, &written, created.made_directory).unwrap());
    }
    assert!(place.names("a").is_empty());
    assert_eq!(place.names("b/.compozy"), ["config.toml"]);
}

#[test]
fn a_directory_that_got_something_else_stays() {
    let place = Place::new();
    let root = place.make("a");
    let created = identity::create(&Disk::new(), &root, &identity(ID1, &root.path)).unwrap();
    place.write("a/.compozy/config.toml", "");
    let written = ContentHash::of(&created.found.bytes);
    assert!(identity::undo_create(&Disk::new(), &root, &written, true).unwrap());
    assert_eq!(place.names("a/.compozy"), ["config.toml"]);
}

#[test]
fn an_undo_leaves_what_it_did_not_write() {
    let place = Place::new();
    let root = place.make("a");
    let created = identity::create(&Disk::new(), &root, &identity(ID1, &root.path)).unwrap();
    let mut edited = created.found.bytes.clone();
    edited.extend(b"team = \"x\"\n");
    place.write(&format!("a/{FILE}"), &edited);
    let written = ContentHash::of(&created.found.bytes);
    assert!(!identity::undo_create(&Disk::new(), &root, &written, true).unwrap());
    assert_eq!(place.read(&format!("a/{FILE}")), edited);
    assert_eq!(found(&place, "a").identity.durable_id, durable(ID1));
}

/// Lets a write stand still before a step, as a killed process does, until the undo is through.
fn cut_off_before(cut_off: Step, write: impl FnOnce(&Disk) + Send + 'static, undo: impl FnOnce()) {
    let (reached, at_step) = mpsc::channel();
    let (go_on, resumed) = mpsc::channel::<()>();
    let resumed = std::sync::Mutex::new(resumed);
    let disk = Disk::with_hook(move |step| {
        if step == cut_off {
            let _ = reached.send(());
            let _ = resumed.lock().unwrap().recv();
        }
        Ok(())
    });
    let dead = std::thread::spawn(move || write(&disk));
    at_step.recv().unwrap();
    undo();
    drop(go_on);
    dead.join().unwrap();
}

#[test]
fn an_undo_clears_away_a_creation_that_was_cut_off() {
    let place = Place::new();
    let root = place.make("a");
    let new = identity(ID1, &root.path);
    let written = ContentHash::of(&encode(&new));
    for cut_off in [Step::Write, Step::Flush, Step::Link, Step::FlushDirectory] {
        let (root_of_dead, new) = (root.clone(), new.clone());
        let write = move |disk: &Disk| {
            let _ = identity::create(disk, &root_of_dead, &new);
        };
        cut_off_before(cut_off, write, || {
            assert!(!place.names("a/.compozy").is_empty());
            let removed = identity::undo_create(&Disk::new(), &root, &written, true).unwrap();
            assert_eq!(removed, cut_off == Step::FlushDirectory);
            assert!(place.names("a").is_empty(), "{cut_off:?}");
        });
        assert!(place.names("a").is_empty(), "{cut_off:?}");
    }
}

#[test]
fn an_undo_clears_away_a_fork_that_was_cut_off() {
    for cut_off in [Step::Write, Step::Flush, Step::Rename, Step::FlushDirectory] {
        let place = Place::new();
        let root = place.make_with("b", file(ID1));
        let old = found(&place, "b");
        let forked = with_durable_id(&old.bytes, &durable(ID2), Some(&durable(ID1))).unwrap();
        let (root_of_dead, old_of_dead) = (root.clone(), old.clone());
        let write = move |disk: &Disk| {
            let _ = identity::fork(disk, &root_of_dead, &old_of_dead, &durable(ID2));
        };
        cut_off_before(cut_off, write, || {
            let written = ContentHash::of(&forked);
            let undone = identity::undo_replace(&Disk::new(), &root, &written, &old.bytes).unwrap();
            assert_eq!(undone, cut_off == Step::FlushDirectory);
            assert_eq!(found(&place, "b"), old);
            assert_eq!(place.names("b/.compozy"), ["workspace.toml"], "{cut_off:?}");
        });
    }
}

#[test]
fn an_undo_that_was_cut_off_is_done_again() {
    for cut_off in [Step::Write, Step::Flush, Step::Rename, Step::FlushDirectory] {
        let place = Place::new();
        let root = place.make_with("b", file(ID1));
        let old = found(&place, "b");
        let forked = identity::fork(&Disk::new(), &root, &old, &durable(ID2)).unwrap();
        let written = ContentHash::of(&forked.found.bytes);
        let (root_of_dead, old_of_dead) = (root.clone(), old.clone());
        let undo = move |disk: &Disk| {
            let _ = identity::undo_replace(disk, &root_of_dead, &written, &old_of_dead.bytes);
        };
        cut_off_before(cut_off, undo, || {
            identity::undo_replace(&Disk::new(), &root, &written, &old.bytes).unwrap();
            assert_eq!(found(&place, "b"), old);
            assert_eq!(place.names("b/.compozy"), ["workspace.toml"], "{cut_off:?}");
        });
        assert_eq!(found(&place, "b"), old);
    }
}

#[test]
fn an_undo_of_a_root_that_is_gone_is_done() {
    let place = Place::new();
    let root = place.make("a");
    std::fs::remove_dir(place.at("a")).unwrap();
    let written = ContentHash::of(b"x");
    assert!(!identity::undo_create(&Disk::new(), &root, &written, true).unwrap());
    place.write("a", "a file now");
    assert!(!identity::undo_create(&Disk::new(), &root, &written, true).unwrap());
}

#[test]
fn an_undone_fork_brings_the_old_bytes_back() {
    let place = Place::new();
    let root = place.make_with("b", file(ID1));
    let old = found(&place, "b");
    let forked = identity::fork(&Disk::new(), &root, &old, &durable(ID2)).unwrap();
    let written = ContentHash::of(&forked.found.bytes);
    assert!(identity::undo_replace(&Disk::new(), &root, &written, &old.bytes).unwrap());
    assert_eq!(place.read(&format!("b/{FILE}")), file(ID1).into_bytes());
    assert!(!identity::undo_replace(&Disk::new(), &root, &written, b"other").unwrap());
    assert_eq!(place.read(&format!("b/{FILE}")), file(ID1).into_bytes());
}
