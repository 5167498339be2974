//! The directory picker on a real disk.

#![allow(clippy::unwrap_used)]

mod support;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::{Arc, Barrier};

use compozy_domain::Reason;
use compozy_resolver::files::CreateFault;
use compozy_resolver::picker::LISTED_MAX;
use compozy_resolver::{Disk, Files};
use support::Place;

fn listed(place: &Place, below: &str, limit: usize) -> (Vec<(String, bool)>, bool) {
    let directory = place.make(below);
    let listing = Disk::new().list_directories(&directory, limit).unwrap();
    let rows = listing
        .entries
        .into_iter()
        .map(|entry| (entry.name, entry.hidden));
    (rows.collect(), listing.truncated)
}

#[test]
fn w271_w272_directories_and_links_to_them_in_the_order_of_their_bytes() {
    let place = Place::new();
    for directory in ["d/b", "d/a", "d/.h", "d/B", "d/é", "other"] {
        place.make(directory);
    }
    place.write("d/file", "");
    place.link("../other", "d/z-link");
    place.link("file", "d/to-file");
    place.link("nothing", "d/dangling");
    place.link("itself", "d/itself");
    std::fs::create_dir(place.at("d/line\nbreak")).unwrap();
    let unprintable = std::path::Path::new(&place.at("d")).join(OsStr::from_bytes(b"caf\xe9"));
    std::fs::create_dir(unprintable).unwrap();
    let (rows, truncated) = listed(&place, "d", LISTED_MAX);
    let row = |name: &str| (name.to_owned(), name == ".h");
    assert_eq!(rows, [".h", "B", "a", "b", "z-link", "é"].map(row));
    assert!(!truncated);
}

#[test]
fn w273_at_most_a_thousand_rows() {
    let place = Place::new();
    for number in 0..1_000 {
        place.make(&format!("d/{number:04}"));
    }
    let (rows, truncated) = listed(&place, "d", LISTED_MAX);
    assert_eq!((rows.len(), truncated), (1_000, false));
    place.make("d/.first");
    let (rows, truncated) = listed(&place, "d", LISTED_MAX);
    assert_eq!((rows.len(), truncated), (1_000, true));
    assert_eq!(rows[0].0, ".first");
    assert_eq!(rows[999].0, "0998");
}

#[test]
fn w276_an_empty_directory_has_no_rows() {
    let place = Place::new();
    place.write("d/file", "");
    assert_eq!(listed(&place, "d", LISTED_MAX), (Vec::new(), false));
    assert_eq!(listed(&place, "e", LISTED_MAX), (Vec::new(), false));
}

#[test]
fn w277_w278_a_directory_is_made_once() {
    let place = Place::new();
    let parent = place.make("d");
    place.write("d/file", "x");
    Disk::new().create_directory(&parent, "new").unwrap();
    assert_eq!(place.names("d"), ["file", "new"]);
    assert!(place.names("d/new").is_empty());
    for name in ["new", "file"] {
        let fault = Disk::new().create_directory(&parent, name).unwrap_err();
        let error = fault.into_error(&parent.path, name);
        assert_eq!(error.reason(), Reason::DirectoryExists);
        assert!(
            error.to_string().contains(&place.at(&format!("d/{name}"))),
            "{error}"
        );
    }
    assert_eq!(place.read("d/file"), b"x");
}

#[test]
fn w279_a_name_that_leads_elsewhere_makes_nothing() {
    let place = Place::new();
    let parent = place.make("d");
    for name in ["a/b", "..", ".", "", "a\0"] {
        let fault = Disk::new().create_directory(&parent, name);
        assert_eq!(fault, Err(CreateFault::BadName), "{name:?}");
    }
    let long = Disk::new().create_directory(&parent, &"x".repeat(256));
    assert_eq!(long, Err(CreateFault::NameTooLong));
    assert_eq!(place.names(""), ["d"]);
    assert!(place.names("d").is_empty());
}

#[test]
fn w280_a_parent_that_is_gone_is_not_made() {
    let place = Place::new();
    let parent = place.make("d");
    std::fs::remove_dir(&parent.path).unwrap();
    let fault = Disk::new().create_directory(&parent, "new").unwrap_err();
    assert_eq!(
        fault.into_error(&parent.path, "new").reason(),
        Reason::PathNotFound
    );
    assert!(place.names("").is_empty());
}

#[test]
fn w281_of_two_creations_at_once_one_succeeds() {
    let place = Place::new();
    let parent = place.make("d");
    let start = Arc::new(Barrier::new(2));
    let creators = [(); 2].map(|()| {
        let (parent, start) = (parent.clone(), Arc::clone(&start));
        std::thread::spawn(move || {
            start.wait();
            Disk::new().create_directory(&parent, "new")
        })
    });
    let mut results = creators.map(|creator| creator.join().unwrap());
    results.sort_by_key(Result::is_err);
    assert_eq!(results, [Ok(()), Err(CreateFault::Exists)]);
}
