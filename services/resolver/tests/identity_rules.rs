//! Which files are valid: read from a real disk, with the line of the fault, and never touched.

#![allow(clippy::unwrap_used)]

mod support;

use compozy_domain::{CatalogError, IdentityFault, Reason};
use compozy_resolver::identity::{self, FILE_BYTES_MAX};
use compozy_resolver::{Disk, observe};
use support::{FILE, ID1, NOW, Place, durable, file, make_pipe};

/// Reads the content as the file of a root; answers line, problem and remedy of its fault.
fn refused(content: impl AsRef<[u8]>) -> (Option<u32>, String, String) {
    let place = Place::new();
    let root = place.make_with("a", content);
    let name = format!("a/{FILE}");
    let before = place.state(&name);
    let error = identity::read(&Disk::new(), &root).unwrap_err();
    assert_eq!(place.state(&name), before);
    let CatalogError::Identity {
        path,
        fault: IdentityFault::Invalid { line, problem },
        remedy,
    } = error
    else {
        panic!("{error:?}");
    };
    assert_eq!(path, place.at(&name));
    let command = format!("compozy workspace identity repair --force {}", root.path);
    assert!(remedy.contains(&command), "{remedy}");
    (line, problem, remedy)
}

fn accepted(content: impl AsRef<[u8]>) -> identity::Identity {
    let place = Place::new();
    let root = place.make_with("a", content);
    let name = format!("a/{FILE}");
    let before = place.state(&name);
    let found = identity::read(&Disk::new(), &root).unwrap().unwrap();
    assert_eq!(place.state(&name), before);
    assert_eq!(found.bytes, before.0);
    found.identity
}

/// A valid file with one line changed.
fn with_line(number: usize, line: &str) -> String {
    let mut lines: Vec<String> = file(ID1).lines().map(str::to_owned).collect();
    line.clone_into(&mut lines[number - 1]);
    lines.join("\n") + "\n"
}

fn line_of(content: impl AsRef<[u8]>) -> Option<u32> {
    refused(content).0
}

#[test]
fn w005_a_valid_file_counts_as_it_is() {
    let content = with_line(2, "created_at = \"2020-01-01T00:00:00Z\"");
    let found = accepted(content);
    assert_eq!(found.durable_id, durable(ID1));
    assert!(found.created_at < NOW);
}

#[test]
fn w007_a_fraction_and_a_zone_are_kept_as_utc() {
    let found = accepted(with_line(2, "created_at = \"2026-05-04T16:30:00.25+02:00\""));
    assert_eq!(found.created_at.nanos() - NOW.nanos(), 250_000_000);
}

#[test]
fn w008_a_time_without_seconds_and_zone_is_refused_with_its_line() {
    let (line, problem, _) = refused(with_line(2, "created_at = \"2026-05-04 14:30\""));
    assert_eq!(line, Some(2));
    assert!(problem.starts_with("created_at must be"), "{problem}");
    assert_eq!(
        line_of(with_line(2, "created_at = 2026-05-04T14:30:00Z")),
        Some(2)
    );
}

#[test]
fn w009_w010_w011_w012_w013_only_a_ulid_in_upper_case_is_an_id() {
    let with_id = |id: &str| with_line(1, &format!("workspace_id = {id}"));
    for bad in [
        format!("\"{}\"", ID1.to_lowercase()),
        format!("\"{}\"", &ID1[1..]),
        format!("\"{ID1}0\""),
        format!("\" {ID1} \""),
        format!("\"{}I\"", &ID1[..25]),
        format!("\"{}L\"", &ID1[..25]),
        format!("\"{}O\"", &ID1[..25]),
        format!("\"{}U\"", &ID1[..25]),
        format!("\"8{}\"", &ID1[1..]),
        "17".to_owned(),
        "\"\"".to_owned(),
    ] {
        let (line, problem, _) = refused(with_id(&bad));
        assert_eq!(line, Some(1), "{bad}");
        assert!(problem.starts_with("workspace_id "), "{problem}");
    }
    let (line, problem, _) = refused(with_line(1, ""));
    assert_eq!((line, problem.as_str()), (None, "workspace_id is missing"));
}

#[test]
fn w014_an_empty_file_is_refused_and_stays_empty() {
    assert_eq!(line_of(""), None);
}

#[test]
fn w015_the_path_at_creation_must_not_be_blank_or_missing() {
    assert_eq!(line_of(with_line(3, "realpath_at_creation = \"  \"")), Some(3));
    assert_eq!(line_of(with_line(3, "")), None);
}

#[test]
fn w016_a_key_that_comes_twice_is_refused_with_the_line_of_the_second() {
    let content = format!("{}# a remark\nworkspace_id = \"{ID1}\"\n", file(ID1));
    assert_eq!(line_of(content), Some(5));
}

#[test]
fn w017_a_missing_quote_is_refused_with_its_line() {
    assert_eq!(line_of(with_line(3, "realpath_at_creation = \"/home")), Some(3));
    let more = with_line(3, "realpath_at_creation = \"/home\n[note]\nby = \"x\"");
    assert_eq!(line_of(more), Some(3));
}

#[test]
fn w018_a_byte_that_is_no_text_is_refused() {
    let mut content = format!("{}# ", file(ID1)).into_bytes();
    content.extend(b"\xff\n");
    assert_eq!(line_of(content), Some(4));
}

#[test]
fn w019_w020_w021_w045_line_ends_other_keys_comments_and_foreign_paths_are_fine() {
    accepted(file(ID1).replace('\n', "\r\n"));
    accepted(format!("{}team = \"x\"\n\n[note]\nby = \"y\"\n", file(ID1)));
    accepted(with_line(3, "realpath_at_creation = \"/elsewhere/x\""));
    let place = Place::new();
    let spaced = format!("# ours\n{}", file(ID1).replace(" = ", "   =   "));
    let root = place.make_with("a", spaced);
    let seen = observe(&Disk::new(), &root.path, &durable(ID1));
    assert_eq!(seen.status, compozy_domain::WorkspaceStatus::Ok);
}

#[test]
fn w022_what_is_no_regular_file_is_refused_and_a_pipe_is_never_waited_for() {
    let place = Place::new();
    let root = place.make("a");
    std::fs::create_dir_all(place.at("a/.compozy/workspace.toml")).unwrap();
    let piped = place.make("b");
    std::fs::create_dir(place.at("b/.compozy")).unwrap();
    make_pipe(&place.at("b/.compozy/workspace.toml"));
    let linked = place.make("c");
    place.write("elsewhere.toml", file(ID1));
    std::fs::create_dir(place.at("c/.compozy")).unwrap();
    place.link("../../elsewhere.toml", "c/.compozy/workspace.toml");
    for root in [root, piped, linked] {
        let error = identity::read(&Disk::new(), &root).unwrap_err();
        assert_eq!(error.reason(), Reason::IdentityInvalid, "{}", root.path);
        assert!(
            error.to_string().contains(&identity::file_path(&root.path)),
            "{error}"
        );
        let seen = observe(&Disk::new(), &root.path, &durable(ID1));
        assert_eq!(seen.status, compozy_domain::WorkspaceStatus::IdentityInvalid);
    }
}

#[test]
fn w336_the_size_is_bounded() {
    let head = file(ID1) + "#";
    let content = format!("{head}{}\n", "x".repeat(FILE_BYTES_MAX - head.len() - 1));
    assert_eq!(content.len(), 65_536);
    accepted(&content);
    let (line, problem, _) = refused(content + "\n");
    assert_eq!((line, problem.as_str()), (None, "must have at most 65536 bytes"));
}

#[test]
fn what_is_said_never_quotes_the_file() {
    let secret = "hunter2";
    for content in [
        with_line(1, &format!("workspace_id = \"{secret}\"")),
        with_line(2, &format!("created_at = \"{secret}\"")),
        with_line(3, &format!("realpath_at_creation = {secret}")),
        with_line(3, &format!("{secret} {secret}")),
        with_line(3, &format!("realpath_at_creation = \"\\{secret}\"")),
        format!("{}\n[{secret}]\n[{secret}]\n", file(ID1)),
    ] {
        let (_, problem, remedy) = refused(&content);
        assert!(!problem.contains(secret) && !remedy.contains(secret), "{problem}");
    }
}
