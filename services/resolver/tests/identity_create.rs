//! The identity file made on a real disk: whole or not at all, and by whoever is first.

#![allow(clippy::unwrap_used)]

mod support;

use std::sync::{Arc, Barrier};

use compozy_domain::{CatalogError, Reason, WorkspaceStatus};
use compozy_resolver::files::Step;
use compozy_resolver::identity::{self, Found, Identity};
use compozy_resolver::{Disk, Files, observe};
use support::{FILE, ID1, ID2, NOW, NoRandom, Ones, Place, durable, file, identity};

fn status(place: &Place, below: &str, id: &str) -> WorkspaceStatus {
    observe(&Disk::new(), &place.at(below), &durable(id)).status
}

fn found(place: &Place, below: &str) -> Found {
    let root = Disk::new().directory(&place.at(below)).unwrap();
    identity::read(&Disk::new(), &root).unwrap().unwrap()
}

#[test]
fn w003_any_base_name_gives_a_valid_file() {
    let place = Place::new();
    let root = place.make("q\"x\\y");
    identity::create(&Disk::new(), &root, &identity(ID1, &root.path)).unwrap();
    assert_eq!(found(&place, "q\"x\\y").identity.realpath_at_creation, root.path);
    assert_eq!(status(&place, "q\"x\\y", ID1), WorkspaceStatus::Ok);
}

#[test]
fn w004_a_link_is_resolved_before_the_file_is_made() {
    let place = Place::new();
    place.make("a");
    place.link("a", "l");
    let root = Disk::new().directory(&place.at("l/")).unwrap();
    assert_eq!(root.path, place.at("a"));
    let new = Identity::generate(&root.path, NOW, &Ones).unwrap();
    identity::create(&Disk::new(), &root, &new).unwrap();
    assert_eq!(found(&place, "a").identity.realpath_at_creation, place.at("a"));
    assert_eq!(place.names(""), ["a", "l"]);
}

#[test]
fn looking_touches_nothing() {
    let place = Place::new();
    let root = place.make_with("a", file(ID1));
    let before = place.state(&format!("a/{FILE}"));
    for _ in 0..2 {
        assert_eq!(status(&place, "a", ID1), WorkspaceStatus::Ok);
        identity::read(&Disk::new(), &root).unwrap();
        identity::has_directory(&Disk::new(), &root).unwrap();
    }
    assert_eq!(place.state(&format!("a/{FILE}")), before);
}

#[test]
fn w025_w026_something_in_the_place_of_the_directory_is_told_and_left_alone() {
    let place = Place::new();
    let blocked = place.make("a");
    place.write("a/.compozy", "abc");
    let dangling = place.make("b");
    place.link("/nowhere", "b/.compozy");
    let outside = place.make("outside");
    let led_out = place.make("c");
    place.link(&outside.path, "c/.compozy");
    for (root, what) in [
        (blocked, "a file"),
        (dangling, "a symbolic link"),
        (led_out, "a symbolic link"),
    ] {
        assert_eq!(identity::read(&Disk::new(), &root).unwrap(), None);
        assert!(!identity::has_directory(&Disk::new(), &root).unwrap());
        let error = identity::create(&Disk::new(), &root, &identity(ID1, &root.path)).unwrap_err();
        assert_eq!(error.reason(), Reason::IdentityUnwritable);
        assert!(
            error.to_string().contains(&format!("'.compozy' is {what}")),
            "{error}"
        );
    }
    assert_eq!(place.read("a/.compozy"), b"abc");
    assert!(!std::path::Path::new("/nowhere").exists());
    assert!(place.names("outside").is_empty());
}

/// Lets one step of a write fail, and answers what was told and what is left in the root.
fn failed_at(failing: Step, occurrence: usize, problem: rustix::io::Errno) -> (CatalogError, Vec<String>) {
    let place = Place::new();
    let root = place.make("a");
    let seen = std::sync::atomic::AtomicUsize::new(0);
    let disk = Disk::with_hook(move |step| {
        let hit = step == failing && seen.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == occurrence;
        if hit { Err(problem.into()) } else { Ok(()) }
    });
    let error = identity::create(&disk, &root, &identity(ID1, &root.path)).unwrap_err();
    (error, place.names("a"))
}

#[test]
fn w029_a_full_disk_leaves_nothing_whichever_step_it_meets() {
    use rustix::io::Errno;
    let steps = [
        (Step::Write, 0),
        (Step::Flush, 0),
        (Step::Link, 0),
        // Of `.compozy`, then of the root.
        (Step::FlushDirectory, 0),
        (Step::FlushDirectory, 1),
    ];
    for (step, occurrence) in steps {
        for (errno, reason) in [
            (Errno::NOSPC, Reason::DiskFull),
            (Errno::DQUOT, Reason::DiskFull),
            (Errno::IO, Reason::IdentityUnwritable),
        ] {
            let (error, left) = failed_at(step, occurrence, errno);
            assert_eq!(error.reason(), reason, "{step:?}");
            assert!(left.is_empty(), "{step:?}: {left:?}");
        }
    }
}

#[test]
fn w030_without_randomness_nothing_is_made() {
    let place = Place::new();
    let root = place.make("a");
    let error: CatalogError = Identity::generate(&root.path, NOW, &NoRandom).unwrap_err().into();
    assert_eq!(error.reason(), Reason::Defect);
    assert!(place.names("a").is_empty());
}

#[test]
fn w031_a_file_that_comes_just_before_the_link_counts_even_if_it_is_invalid() {
    let place = Place::new();
    let root = place.make("a");
    let theirs = place.at(&format!("a/{FILE}"));
    let write = move |content: &'static str| {
        let theirs = theirs.clone();
        Disk::with_hook(move |step| match step {
            Step::Link => std::fs::write(&theirs, content),
            _ => Ok(()),
        })
    };
    let new = identity(ID2, &root.path);
    let error = identity::create(&write("mine\n"), &root, &new).unwrap_err();
    assert_eq!(error.reason(), Reason::IdentityInvalid);
    assert_eq!(place.read(&format!("a/{FILE}")), b"mine\n");
    assert_eq!(place.names("a/.compozy"), ["workspace.toml"]);

    std::fs::remove_file(place.at(&format!("a/{FILE}"))).unwrap();
    let valid: &'static str = file(ID1).leak();
    let created = identity::create(&write(valid), &root, &new).unwrap();
    assert!(!created.made_file && !created.made_directory);
    assert_eq!(created.found.identity.durable_id, durable(ID1));
    assert_eq!(place.names("a/.compozy"), ["workspace.toml"]);
}

#[test]
fn racing_creators_agree_on_one_file() {
    let place = Place::new();
    let root = place.make("a");
    let start = Arc::new(Barrier::new(8));
    let creators: Vec<_> = (0..8_u8)
        .map(|number| {
            let (root, start) = (root.clone(), Arc::clone(&start));
            std::thread::spawn(move || {
                let id = format!("{}{number}", &ID1[..25]);
                start.wait();
                identity::create(&Disk::new(), &root, &identity(&id, &root.path)).unwrap()
            })
        })
        .collect();
    let created: Vec<_> = creators
        .into_iter()
        .map(|creator| creator.join().unwrap())
        .collect();
    assert_eq!(created.iter().filter(|one| one.made_file).count(), 1);
    let on_disk = found(&place, "a");
    assert!(created.iter().all(|one| one.found == on_disk));
    assert_eq!(place.names("a/.compozy"), ["workspace.toml"]);
}

#[test]
fn a_root_that_was_exchanged_is_not_written_to() {
    let place = Place::new();
    let root = place.make("a");
    std::fs::rename(place.at("a"), place.at("b")).unwrap();
    place.make("a");
    let error = identity::create(&Disk::new(), &root, &identity(ID1, &root.path)).unwrap_err();
    assert_eq!(error.reason(), Reason::PathNotFound);
    assert!(place.names("a").is_empty() && place.names("b").is_empty());
}

#[test]
fn w247_a_directory_that_was_there_keeps_its_mode() {
    let place = Place::new();
    let root = place.make("home");
    std::fs::create_dir(place.at("home/.compozy")).unwrap();
    let _mode = place.set_mode("home/.compozy", 0o700);
    let created = identity::create(&Disk::new(), &root, &identity(ID1, &root.path)).unwrap();
    assert!(created.made_file && !created.made_directory);
    assert_eq!(place.mode("home/.compozy"), 0o700);
}
