//! From a path in any spelling to a directory, and what may be told about it.

#![allow(clippy::unwrap_used)]

mod support;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixListener;

use compozy_domain::{AbsolutePath, CatalogError, PathFault, Reason, WorkspaceStatus};
use compozy_resolver::files::{DirectoryFault, RootPresence};
use compozy_resolver::{AllowedRoots, Disk, Files, observe};
use support::{ID1, Place, durable, file, make_pipe};

fn resolved(path: &str) -> Result<String, DirectoryFault> {
    Disk::new().directory(path).map(|directory| directory.path)
}

fn reason(path: &str) -> Reason {
    let fault = Disk::new().directory(path).unwrap_err();
    fault.into_error("path", path).reason()
}

#[test]
fn w072_every_spelling_gives_the_canonical_path() {
    let place = Place::new();
    let a = place.make("a");
    place.make("x");
    assert_eq!(Disk::new().directory(&place.at("x/../a//./")), Ok(a));
}

#[test]
fn w073_links_are_resolved_before_the_dots_behind_them() {
    let place = Place::new();
    place.make("a");
    place.make("other/deep/dir");
    place.make("other/deep/a");
    place.link(&place.at("other/deep/dir"), "l");
    assert_eq!(resolved(&place.at("l/../a")), Ok(place.at("other/deep/a")));
}

#[test]
fn the_top_is_the_top_in_every_spelling() {
    let place = Place::new();
    place.link("/", "top");
    for path in ["/", "//", "/tmp/..", &place.at("top")] {
        assert_eq!(resolved(path).as_deref(), Ok("/"), "{path}");
    }
}

#[test]
fn w076_w077_w078_w079_what_is_no_directory_says_why() {
    let place = Place::new();
    place.write("file", "");
    let _socket = UnixListener::bind(place.at("socket")).unwrap();
    place.link("file", "to-file");
    place.link("gone", "dangling");
    place.link("itself", "itself");
    place.link("b", "a");
    place.link("a", "b");
    let cases = [
        ("none", Reason::PathNotFound),
        ("file", Reason::PathNotDirectory),
        ("socket", Reason::PathNotDirectory),
        ("to-file", Reason::PathNotDirectory),
        ("dangling", Reason::PathNotFound),
        ("itself", Reason::PathLoop),
        ("a", Reason::PathLoop),
    ];
    for (path, expected) in cases {
        assert_eq!(reason(&place.at(path)), expected, "{path}");
    }
    assert!(!place.exists("none"));
}

#[test]
fn w080_a_name_that_is_too_long_is_a_bad_field() {
    assert_eq!(reason(&format!("/{}", "x".repeat(256))), Reason::InvalidField);
}

#[test]
fn w082_a_path_that_is_no_text_is_refused_and_shown_escaped() {
    let place = Place::new();
    std::fs::create_dir(std::path::Path::new(&place.path).join(OsStr::from_bytes(b"caf\xe9"))).unwrap();
    std::os::unix::fs::symlink(OsStr::from_bytes(b"caf\xe9"), place.at("l")).unwrap();
    std::fs::create_dir(place.at("line\nbreak")).unwrap();
    place.link("line\nbreak", "m");
    for (link, shown) in [("l", "/caf\\xe9'"), ("m", "/line\\nbreak'")] {
        let fault = Disk::new().directory(&place.at(link)).unwrap_err();
        let error = fault.into_error("path", &place.at(link));
        assert_eq!(error.reason(), Reason::InvalidField);
        assert!(error.to_string().contains(shown), "{error}");
    }
}

#[test]
fn a_directory_with_an_odd_name_is_not_taken_for_a_removed_one() {
    let place = Place::new();
    place.make("a (deleted)");
    assert_eq!(resolved(&place.at("a (deleted)")), Ok(place.at("a (deleted)")));
}

#[test]
fn case_is_the_file_system_s_business() {
    let place = Place::new();
    let upper = place.make("Foo");
    let lower = place.make("foo");
    assert_ne!(upper.file, lower.file);
    assert_ne!(upper.path, lower.path);
}

#[test]
fn ancestors_lead_from_the_inside_to_the_top() {
    let place = Place::new();
    let inside = place.make("a/b");
    let ancestors = Disk::new().ancestors(&inside.path);
    assert_eq!(ancestors[0], inside);
    assert_eq!(ancestors[1].path, place.at("a"));
    assert_eq!(ancestors.last().unwrap().path, "/");
    assert_eq!(ancestors.len(), inside.path.split('/').count());
}

#[test]
fn w222_each_state_of_a_root_has_its_status() {
    let place = Place::new();
    place.make_with("good", file(ID1));
    make_pipe(&place.at("pipe"));
    place.write("file", "");
    place.link("gone", "dangling");
    place.link("itself", "itself");
    for (root, expected) in [
        ("good", WorkspaceStatus::Ok),
        ("none", WorkspaceStatus::RootMissing),
        ("pipe", WorkspaceStatus::RootNotDirectory),
        ("file", WorkspaceStatus::RootNotDirectory),
        ("dangling", WorkspaceStatus::RootMissing),
        ("itself", WorkspaceStatus::RootUnreadable),
    ] {
        let seen = observe(&Disk::new(), &place.at(root), &durable(ID1));
        assert_eq!(seen.status, expected, "{root}");
    }
}

#[test]
fn presence_tells_what_is_gone_from_what_is_not_known() {
    let place = Place::new();
    let root = place.make("a");
    place.write("file", "");
    place.link("gone", "dangling");
    place.link("itself", "itself");
    let presence = |below: &str| Disk::new().root_presence(&place.at(below));
    let missing = RootPresence::Missing {
        ancestor_device: root.file.device,
    };
    assert_eq!(presence("a"), RootPresence::Present(root.file));
    assert_eq!(presence("none"), missing);
    assert_eq!(presence("none/deep/down"), missing);
    assert_eq!(presence("dangling"), missing);
    assert_eq!(presence("file"), RootPresence::NotDirectory);
    assert_eq!(presence("file/below"), RootPresence::NotDirectory);
    assert_eq!(presence("itself"), RootPresence::Unreadable);
}

#[test]
fn a_moved_root_is_absent_and_one_that_was_replaced_is_not() {
    let place = Place::new();
    let root = place.make("a");
    std::fs::rename(place.at("a"), place.at("b")).unwrap();
    let moved = Disk::new().directory(&place.at("b")).unwrap();
    assert_eq!(moved.file, root.file);
    assert!(
        Disk::new()
            .root_presence(&root.path)
            .is_absent(root.file, moved.file)
    );
    place.make("a");
    assert!(
        !Disk::new()
            .root_presence(&root.path)
            .is_absent(root.file, moved.file)
    );
}

#[test]
fn a_retargeted_root_is_seen_at_its_new_place() {
    let place = Place::new();
    place.make_with("private/v/a", file(ID1));
    place.link(&place.at("private/v"), "v");
    let seen = observe(&Disk::new(), &place.at("v/a"), &durable(ID1));
    assert_eq!(seen.status, WorkspaceStatus::Ok);
    assert_eq!(seen.directory.unwrap().path, place.at("private/v/a"));
    assert_eq!(seen.identity.unwrap().durable_id, durable(ID1));
}

/// The answer to a caller who may name `$T/ok` only.
fn allowed(place: &Place, below: &str) -> Result<String, PathFault> {
    let roots = AllowedRoots::Only(vec![place.at("ok")]);
    let path = AbsolutePath::parse(&place.at(below), "path").unwrap();
    match roots.directory(&Disk::new(), &path, "path") {
        Ok(directory) => Ok(directory.path),
        Err(CatalogError::Path {
            fault, path: told, ..
        }) => {
            assert_eq!(told, path.as_str(), "only the caller's own spelling is told");
            Err(fault)
        }
        Err(error) => panic!("{error:?}"),
    }
}

#[test]
fn w110_w282_outside_the_allowed_roots_nothing_is_told() {
    let place = Place::new();
    place.make("ok/a");
    place.make("ok-2");
    place.make("other/x");
    place.write("other/file", "");
    place.write("ok/file", "");
    place.link(&place.at("other"), "ok/link");
    place.link(&place.at("other/gone"), "ok/dangling");
    place.link(&place.at("ok/a"), "other/in");
    assert_eq!(allowed(&place, "ok/a"), Ok(place.at("ok/a")));
    assert_eq!(allowed(&place, "other/in"), Ok(place.at("ok/a")));
    assert_eq!(allowed(&place, "ok/none"), Err(PathFault::NotFound));
    assert_eq!(allowed(&place, "ok/none/deeper"), Err(PathFault::NotFound));
    assert_eq!(allowed(&place, "ok/file"), Err(PathFault::NotDirectory));
    for outside in [
        "",
        "other",
        "other/x",
        "other/none",
        "other/file",
        "none",
        "ok-2",
        "ok-2/none",
        "ok/..",
        "ok/../none",
        "ok/none/../../other",
        "ok/link",
        "ok/link/x",
        "ok/link/none",
        "ok/link/file",
        "ok/dangling",
        "ok/dangling/x",
    ] {
        // A way through a name that is not there breaks off inside.
        let expected = if outside == "ok/none/../../other" {
            PathFault::NotFound
        } else {
            PathFault::NotAllowed
        };
        assert_eq!(allowed(&place, outside), Err(expected), "{outside}");
    }
}

#[test]
fn a_caller_without_roots_may_name_nothing() {
    let place = Place::new();
    let path = AbsolutePath::parse(&place.path, "path").unwrap();
    let error = AllowedRoots::Only(Vec::new())
        .directory(&Disk::new(), &path, "path")
        .unwrap_err();
    assert_eq!(error.reason(), Reason::PathNotAllowed);
    assert!(
        AllowedRoots::Everything
            .directory(&Disk::new(), &path, "path")
            .is_ok()
    );
}
