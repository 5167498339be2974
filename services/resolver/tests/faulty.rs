//! The files that fail on demand do so, and nothing else.

#![allow(clippy::unwrap_used)]

mod support;

use std::sync::mpsc;
use std::time::Duration;

use compozy_domain::{CatalogError, Reason, WorkspaceStatus};
use compozy_resolver::files::faulty::{Failure, Faulty, Operation};
use compozy_resolver::{Disk, Files, identity, observe};
use support::{FILE, ID1, ID2, Place, durable, file, identity as identity_of};

#[test]
fn calls_are_counted_and_failures_come_before_any_effect() {
    let place = Place::new();
    let root = place.make("a");
    let files = Faulty::over(Disk::new());
    let new = identity_of(ID1, &root.path);
    files.fail(Operation::Create, Failure::DiskFull);
    assert_eq!(identity::create(&files, &root, &new), Err(CatalogError::DiskFull));
    files.fail(Operation::Create, Failure::Refused);
    let error = identity::create(&files, &root, &new).unwrap_err();
    assert_eq!(error.reason(), Reason::IdentityUnwritable);
    assert!(place.names("a").is_empty());
    files.heal(Operation::Create);
    assert!(identity::create(&files, &root, &new).unwrap().made_file);
    assert_eq!(files.calls(Operation::Create), 3);
    assert_eq!(files.all_calls(), 3);
    files.fail(Operation::Read, Failure::Refused);
    let seen = observe(&files, &root.path, &durable(ID1));
    assert_eq!(seen.status, WorkspaceStatus::IdentityUnreadable);
}

#[test]
fn something_can_happen_just_before_an_operation_once() {
    let place = Place::new();
    let root = place.make("a");
    let files = Faulty::over(Disk::new());
    let theirs = place.at(&format!("a/{FILE}"));
    files.before(Operation::Create, move || {
        std::fs::create_dir(theirs.trim_end_matches("/workspace.toml")).unwrap();
        std::fs::write(theirs, file(ID1)).unwrap();
    });
    for _ in 0..2 {
        let created = identity::create(&files, &root, &identity_of(ID2, &root.path)).unwrap();
        assert!(!created.made_file);
        assert_eq!(created.found.identity.durable_id, durable(ID1));
    }
}

#[test]
fn a_path_that_is_held_back_answers_when_it_is_let_go_and_others_at_once() {
    let place = Place::new();
    place.make_with("slow/a", file(ID1));
    place.make_with("fast", file(ID1));
    let files = Faulty::over(Disk::new());
    let held = files.hold(place.at("slow"));
    let (answer, answers) = mpsc::channel();
    let (slow, waiting) = (place.at("slow/a"), files.clone());
    let looking = std::thread::spawn(move || {
        answer
            .send(observe(&waiting, &slow, &durable(ID1)).status)
            .unwrap();
    });
    let fast = observe(&files, &place.at("fast"), &durable(ID1));
    assert_eq!(fast.status, WorkspaceStatus::Ok);
    assert!(answers.try_recv().is_err());
    drop(held);
    assert_eq!(
        answers.recv_timeout(Duration::from_secs(30)),
        Ok(WorkspaceStatus::Ok)
    );
    looking.join().unwrap();
    assert!(files.directory(&place.at("slow")).is_ok());
}
