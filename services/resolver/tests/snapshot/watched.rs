//! What is remembered of the disk, and whether a change of it is seen.

use std::os::unix::fs::MetadataExt;
use std::time::{Duration, SystemTime};

use compozy_resolver::files::faulty::{Failure, Faulty, Operation};
use compozy_resolver::watched::{Reader, Watched};
use compozy_resolver::{Disk, Files};

use crate::support::Place;

const LIMIT: usize = 1024;
const LONG: Duration = Duration::from_secs(3600);

/// Reads a directory as a scan does: lists everything below, reads the files called `a` and `b`, looks for a `c`.
fn read_all(files: &dyn Files, path: &str) -> (Vec<String>, Watched) {
    let reader = Reader::new(files);
    let mut found = Vec::new();
    if let Ok(Some(directory)) = reader.open(path) {
        walk(&directory, &mut found);
    }
    (found, reader.into_watched())
}

fn walk(directory: &compozy_resolver::watched::ReadDirectory<'_, '_>, found: &mut Vec<String>) {
    let Ok(names) = directory.names() else {
        found.push(format!("{} can't be listed", directory.path()));
        return;
    };
    for entry in names.entries {
        found.push(directory.child(&entry.name));
        if let Ok(Some(below)) = directory.enter(&entry.name) {
            walk(&below, found);
        }
    }
    for name in ["a", "b"] {
        match directory.read(name, LIMIT) {
            Ok(Some(bytes)) => found.push(String::from_utf8_lossy(&bytes).into_owned()),
            Ok(None) => {}
            Err(fault) => found.push(fault.to_string()),
        }
    }
    let _ = directory.look("c");
}

/// A place with two levels of directories and three files, none of which looks recent.
fn place() -> (Place, Faulty) {
    let place = Place::new();
    place.write("w/a", "one");
    place.write("w/g/b", "two");
    place.write("w/g/h/a", "three");
    let files = Faulty::over(Disk::new());
    files.age(LONG);
    (place, files)
}

fn sees(change: impl FnOnce(&Place)) {
    let (place, files) = place();
    let (before, mut watched) = read_all(&files, &place.at("w"));
    assert!(watched.is_unchanged(&files));
    change(&place);
    let (after, _) = read_all(&files, &place.at("w"));
    assert!(!watched.is_unchanged(&files), "{before:?} became {after:?}");
}

#[test]
fn r198_what_is_at_rest_is_looked_at_once_and_not_opened() {
    let (place, files) = place();
    let (_, mut watched) = read_all(&files, &place.at("w"));
    files.forget_calls();
    assert!(watched.is_unchanged(&files));
    assert_eq!(files.calls(Operation::Stamp), watched.len() as u64);
    assert_eq!(files.all_calls(), watched.len() as u64);
    let mut looked_at = files.paths(Operation::Stamp);
    looked_at.dedup();
    assert_eq!(looked_at.len(), watched.len(), "each path once");
}

#[test]
fn r199_r205_an_edit_is_seen_at_any_depth() {
    sees(|place| place.write("w/a", "other"));
    sees(|place| place.write("w/g/h/a", "other"));
}

#[test]
fn r200_r201_r206_what_comes_and_goes_is_seen() {
    sees(|place| place.write("w/b", "new"));
    sees(|place| place.write("w/new/a", "new"));
    sees(|place| place.write("w/g/h/i/a", "new"));
    sees(|place| std::fs::remove_file(place.at("w/a")).unwrap());
    sees(|place| std::fs::rename(place.at("w/g"), place.at("w/other")).unwrap());
    sees(|place| std::fs::remove_dir_all(place.at("w")).unwrap());
}

#[test]
fn r200_a_place_where_nothing_was_is_watched() {
    let (place, files) = place();
    for absent in ["w/x", "x/y/z"] {
        let (found, mut watched) = read_all(&files, &place.at(absent));
        assert!(found.is_empty());
        assert!(watched.is_unchanged(&files));
        place.write(&format!("{absent}/a"), "first");
        assert!(!watched.is_unchanged(&files), "{absent}");
    }
}

#[test]
fn r202_a_change_of_the_mode_is_seen() {
    let (place, files) = place();
    let (_, mut watched) = read_all(&files, &place.at("w"));
    let _mode = place.set_mode("w/a", 0o000);
    assert!(!watched.is_unchanged(&files));
}

#[test]
fn r203_a_file_of_equal_size_and_time_in_its_place_is_seen() {
    sees(|place| {
        let old = std::fs::metadata(place.at("w/a")).unwrap();
        place.write("w/g/new", "eno");
        let new = std::fs::File::options()
            .write(true)
            .open(place.at("w/g/new"))
            .unwrap();
        new.set_modified(old.modified().unwrap()).unwrap();
        std::fs::rename(place.at("w/g/new"), place.at("w/a")).unwrap();
        assert_eq!(std::fs::metadata(place.at("w/a")).unwrap().mtime(), old.mtime());
    });
    sees(|place| {
        // In place, and with its time set back.
        let file = std::fs::File::options()
            .write(true)
            .open(place.at("w/a"))
            .unwrap();
        let old: SystemTime = file.metadata().unwrap().modified().unwrap();
        std::io::Write::write_all(&mut &file, b"eno").unwrap();
        file.set_modified(old).unwrap();
    });
}

/// Puts content into a file so that its stamp stays what it was: what a second write within a tick does. The clock of
/// the disk can't be held, so the same inode and times are read back through a stamp that is replaced.
#[test]
fn r204_what_is_recent_is_compared_by_content_until_it_has_come_to_rest() {
    let place = Place::new();
    place.write("w/a", "one");
    let files = Faulty::over(Disk::new());
    let (_, mut watched) = read_all(&files, &place.at("w"));
    files.keep_stamps();
    assert!(watched.is_unchanged(&files));
    place.write("w/a", "eno");
    assert!(
        !watched.is_unchanged(&files),
        "an equal-size edit in the same tick"
    );

    place.write("w/a", "one");
    assert!(watched.is_unchanged(&files));
    files.forget_calls();
    files.age(LONG);
    assert!(
        watched.is_unchanged(&files),
        "compared by content for the last time"
    );
    assert!(files.calls(Operation::ReadFile) > 0);
    files.forget_calls();
    assert!(watched.is_unchanged(&files));
    assert_eq!(
        files.calls(Operation::ReadFile) + files.calls(Operation::Names),
        0
    );
}

#[test]
fn r204_a_name_that_comes_in_the_same_tick_as_the_listing_is_seen() {
    let place = Place::new();
    place.write("w/a", "one");
    let files = Faulty::over(Disk::new());
    let (_, mut watched) = read_all(&files, &place.at("w"));
    files.keep_stamps();
    assert!(watched.is_unchanged(&files));
    place.write("w/z", "new");
    assert!(!watched.is_unchanged(&files));
}

#[test]
fn r213_what_changes_while_it_is_read_makes_a_mixture_that_is_known() {
    for operation in [
        Operation::Open,
        Operation::Names,
        Operation::Enter,
        Operation::ReadFile,
    ] {
        for path in ["w", "w/g", "w/g/h", "w/a", "w/g/b", "w/g/h/a"] {
            for victim in ["w/a", "w/g/b", "w/g/h/a", "w/c", "w/g/c", "w/new"] {
                let (place, files) = place();
                let changed = place.at(victim);
                files.before_on(operation, place.at(path), move || {
                    std::fs::write(changed, "later").unwrap();
                });
                let (found, mut watched) = read_all(&files, &place.at("w"));
                let (fresh, _) = read_all(&files, &place.at("w"));
                assert!(
                    found == fresh || !watched.is_unchanged(&files),
                    "{victim} before {operation:?} of {path}"
                );
            }
        }
    }
}

#[test]
fn a_link_counts_with_everything_that_it_leads_through() {
    let (place, files) = place();
    place.link("second", "first");
    place.link("w", "second");
    place.write("other/a", "other");
    let (found, mut watched) = read_all(&files, &place.at("first"));
    assert!(found.contains(&place.at("w/a")), "{found:?}");
    assert!(watched.is_unchanged(&files));
    std::fs::remove_file(place.at("second")).unwrap();
    place.link("other", "second");
    assert!(!watched.is_unchanged(&files));

    place.link("nothing", "dangling");
    let (_, mut watched) = read_all(&files, &place.at("dangling"));
    assert!(watched.is_unchanged(&files));
    place.write("nothing/a", "something");
    assert!(!watched.is_unchanged(&files));
}

#[test]
fn w180_a_directory_that_moved_behind_a_link_is_seen_although_every_file_is_the_same() {
    let (place, files) = place();
    place.write("v/x/a", "one");
    let (_, mut watched) = read_all(&files, &place.at("v/x"));
    assert!(watched.is_unchanged(&files));
    std::fs::rename(place.at("v"), place.at("private")).unwrap();
    place.link("private", "v");
    assert!(!watched.is_unchanged(&files));
}

#[test]
fn what_is_beside_the_files_that_matter_is_no_change() {
    let (place, files) = place();
    let reader = Reader::new(&files);
    let directory = reader.open(&place.at("w")).unwrap().unwrap();
    assert!(directory.read("a", LIMIT).unwrap().is_some());
    assert!(directory.read("nothing", LIMIT).unwrap().is_none());
    drop(directory);
    let mut watched = reader.into_watched();
    place.write("w/unrelated", "x");
    assert!(watched.is_unchanged(&files));
    place.write("w/nothing", "x");
    assert!(!watched.is_unchanged(&files));
}

#[test]
fn a_failure_lasts_as_long_as_it_lasts() {
    for (operation, path) in [
        (Operation::ReadFile, "w/a"),
        (Operation::Names, "w/g"),
        (Operation::Enter, "w/g"),
        (Operation::Open, "w"),
    ] {
        let (place, files) = place();
        files.fail_on(operation, place.at(path), Failure::Refused);
        // What is compared opens by path what was entered.
        files.fail_on(Operation::Open, place.at(path), Failure::Refused);
        let (_, mut watched) = read_all(&files, &place.at("w"));
        assert!(watched.is_unchanged(&files), "{operation:?}");
        files.heal(operation);
        files.heal(Operation::Open);
        assert!(!watched.is_unchanged(&files), "{operation:?} works again");
    }
}

#[test]
fn something_else_than_a_file_is_told_by_its_state() {
    let (place, files) = place();
    std::fs::remove_file(place.at("w/a")).unwrap();
    std::fs::create_dir(place.at("w/a")).unwrap();
    place.write("w/g/b", "x".repeat(LIMIT + 1));
    let (_, mut watched) = read_all(&files, &place.at("w"));
    files.forget_calls();
    assert!(watched.is_unchanged(&files));
    assert_eq!(files.all_calls(), files.calls(Operation::Stamp));
    place.write("w/g/b", "x".repeat(LIMIT));
    assert!(!watched.is_unchanged(&files));
}
