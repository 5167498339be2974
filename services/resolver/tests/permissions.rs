//! What a daemon that is not root may not do. Each test gives root's privileges over files up for its own
//! thread.

#![allow(clippy::unwrap_used)]

mod support;

use compozy_domain::{CatalogError, IdentityFault, Reason, WorkspaceStatus};
use compozy_resolver::files::{CreateFault, DirectoryFault, RootPresence};
use compozy_resolver::identity::{self, Found};
use compozy_resolver::testing::drop_file_privileges;
use compozy_resolver::{Disk, Files, observe};
use support::{FILE, ID1, ID2, Place, durable, file, identity};

#[test]
fn w023_w024_w039_a_file_that_can_t_be_read_is_told_and_left_alone() {
    drop_file_privileges();
    let place = Place::new();
    let root = place.make_with("a", file(ID1));
    let closed = place.make_with("b", file(ID1));
    let _file = place.set_mode(&format!("a/{FILE}"), 0o000);
    let _directory = place.set_mode("b/.compozy", 0o000);
    for root in [&root, &closed] {
        for result in [
            identity::read(&Disk::new(), root).map(|_| ()),
            identity::repair(&Disk::new(), root, &identity(ID2, &root.path), true).map(|_| ()),
        ] {
            let error = result.unwrap_err();
            assert_eq!(error.reason(), Reason::IdentityUnreadable);
            assert!(
                error.to_string().contains(&identity::file_path(&root.path)),
                "{error}"
            );
        }
        let seen = observe(&Disk::new(), &root.path, &durable(ID1));
        assert_eq!(seen.status, WorkspaceStatus::IdentityUnreadable);
    }
    assert_eq!(place.mode(&format!("a/{FILE}")), 0o000);
    assert_eq!(place.mode("b/.compozy"), 0o000);
}

#[test]
fn w027_a_root_that_can_t_be_written_stays_empty() {
    drop_file_privileges();
    let place = Place::new();
    let root = place.make("a");
    let _mode = place.set_mode("a", 0o555);
    assert_eq!(identity::read(&Disk::new(), &root).unwrap(), None);
    let error = identity::create(&Disk::new(), &root, &identity(ID1, &root.path)).unwrap_err();
    let CatalogError::Identity { fault, .. } = error else {
        panic!("{error:?}")
    };
    assert_eq!(
        fault,
        IdentityFault::Unwritable {
            problem: "permission denied".to_owned()
        }
    );
    assert!(place.names("a").is_empty());
}

#[test]
fn w060_a_fork_in_a_directory_that_can_t_be_written_changes_nothing() {
    drop_file_privileges();
    let place = Place::new();
    let root = place.make_with("b", file(ID1));
    let _mode = place.set_mode("b/.compozy", 0o555);
    let old: Found = identity::read(&Disk::new(), &root).unwrap().unwrap();
    let error = identity::fork(&Disk::new(), &root, &old, &durable(ID2)).unwrap_err();
    assert_eq!(error.reason(), Reason::IdentityUnwritable);
    assert_eq!(place.read(&format!("b/{FILE}")), file(ID1).into_bytes());
    assert_eq!(place.names("b/.compozy"), ["workspace.toml"]);
}

#[test]
fn w083_a_closed_parent_makes_a_path_unreadable() {
    drop_file_privileges();
    let place = Place::new();
    place.make("p/a");
    let _mode = place.set_mode("p", 0o000);
    let path = place.at("p/a");
    let fault = Disk::new().directory(&path).unwrap_err();
    assert_eq!(fault, DirectoryFault::Unreadable);
    assert_eq!(fault.into_error("path", &path).reason(), Reason::PathUnreadable);
}

#[test]
fn w311_below_a_closed_parent_nothing_is_known_to_be_absent() {
    drop_file_privileges();
    let place = Place::new();
    let root = place.make("p/a");
    let copy = place.make("c");
    let _mode = place.set_mode("p", 0o000);
    let presence = Disk::new().root_presence(&root.path);
    assert_eq!(presence, RootPresence::Unreadable);
    assert!(!presence.is_absent(root.file, copy.file));
}

#[test]
fn w222_a_closed_root_is_unreadable_but_present() {
    drop_file_privileges();
    let place = Place::new();
    let root = place.make_with("a", file(ID1));
    let _mode = place.set_mode("a", 0o000);
    let seen = observe(&Disk::new(), &root.path, &durable(ID1));
    assert_eq!(seen.status, WorkspaceStatus::RootUnreadable);
    assert_eq!(Disk::new().directory(&root.path), Ok(root.clone()));
    assert_eq!(
        Disk::new().root_presence(&root.path),
        RootPresence::Present(root.file)
    );
    let error = identity::read(&Disk::new(), &root).unwrap_err();
    assert_eq!(error.reason(), Reason::PathUnreadable);
}

#[test]
fn w275_an_unreadable_directory_is_not_listed() {
    drop_file_privileges();
    let place = Place::new();
    let directory = place.make("a");
    let _mode = place.set_mode("a", 0o311);
    let fault = Disk::new().list_directories(&directory, 10).unwrap_err();
    let error = fault.into_error("path", &directory.path);
    assert_eq!(error.reason(), Reason::PathUnreadable);
    assert!(error.to_string().contains(&directory.path));
}

#[test]
fn a_directory_is_not_made_where_nothing_may_be_written() {
    drop_file_privileges();
    let place = Place::new();
    let parent = place.make("a");
    {
        let _mode = place.set_mode("a", 0o555);
        let fault = Disk::new().create_directory(&parent, "new").unwrap_err();
        assert!(matches!(fault, CreateFault::Unwritable { .. }));
    }
    let _mode = place.set_mode("a", 0o311);
    Disk::new().create_directory(&parent, "new").unwrap();
}
