//! Section 3: errors and exit codes.

use std::collections::HashMap;
use std::process::Stdio;
use std::time::Duration;

use serde_json::json;
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

use crate::fake::{Fake, failed};
use crate::run::{Run, text, until};

#[test]
fn c053_people_get_two_sentences_on_stderr() {
    let fake = Fake::with_two();
    let done = fake.run_form("human", "", &["workspace", "info", "none"]).done();
    assert_eq!((done.exit, done.stdout.as_str()), (66, ""));
    let lines: Vec<&str> = done.stderr.lines().collect();
    assert_eq!(lines.len(), 2, "{}", done.stderr);
    assert_eq!(lines[0], "error: No workspace matches \"none\".");
    assert!(lines[1].starts_with("hint: "), "{}", lines[1]);
}

#[test]
fn c054_programs_get_an_object_on_stdout() {
    let fake = Fake::with_two();
    let done = fake.run("", &["workspace", "info", "none"]).done();
    let error = done.error(66);
    let keys: Vec<&String> = error.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["code", "reason", "message", "metadata", "hint"]);
    assert_eq!(
        (&error["code"], &error["reason"]),
        (&json!("NOT_FOUND"), &json!("WORKSPACE_NOT_FOUND"))
    );
    assert_eq!(done.stderr, "");
    // One line each for the other two forms.
    let line = fake.run_form("jsonl", "", &["workspace", "info", "none"]).done();
    assert_eq!((line.exit, line.stdout.lines().count()), (66, 1));
    let toon = fake.run_form("toon", "", &["workspace", "info", "none"]).done();
    let read: serde_json::Value = toon_format::decode_default(&toon.stdout).unwrap();
    assert_eq!(
        (toon.exit, &read["error"]["reason"]),
        (66, &json!("WORKSPACE_NOT_FOUND"))
    );
}

#[test]
fn c055_what_the_parser_refuses_shows_the_usage() {
    let fake = Fake::with_two();
    let refused: [(&[&str], &str); 4] = [
        (&["frobnicate"], "Usage: compozy "),
        (
            &["workspace", "list", "--frobnicate"],
            "Usage: compozy workspace list",
        ),
        (&["workspace", "add"], "Usage: compozy workspace add"),
        (
            &["workspace", "list", "--limit", "x"],
            "Usage: compozy workspace list",
        ),
    ];
    for (arguments, usage) in refused {
        let done = fake.run("", arguments).done();
        assert_eq!((done.exit, done.stdout.as_str()), (64, ""), "{arguments:?}");
        assert!(done.stderr.contains(usage), "{arguments:?}: {}", done.stderr);
        assert_eq!(
            done.stderr.matches(usage).count(),
            1,
            "{arguments:?}: {}",
            done.stderr
        );
    }
    assert!(fake.calls().is_empty());
}

#[test]
fn c056_c057_c059_registrations_that_are_refused() {
    let fake = Fake::with_two();
    fake.directory("c");
    let error = fake
        .run("", &["workspace", "add", "c", "--name", "a"])
        .done()
        .error(73);
    assert_eq!(error["reason"], "WORKSPACE_NAME_CONFLICT");
    let error = fake
        .run("", &["workspace", "add", "a", "--title", "other"])
        .done()
        .error(73);
    assert_eq!(error["reason"], "WORKSPACE_PATH_CONFLICT");
    assert_eq!(
        fake.run("", &["workspace", "info", "a"]).done().json()["workspace"]["title"],
        "a"
    );
    let error = fake.run("", &["workspace", "add", "none"]).done().error(66);
    assert_eq!(error["reason"], "PATH_NOT_FOUND");
}

#[test]
fn c060_c061_what_is_wrong_with_a_file_is_in_the_object() {
    let fake = Fake::with_two();
    let root = fake.directory("c/.compozy");
    let file = root.join("workspace.toml");
    std::fs::write(&file, "workspace_id = 1\n").unwrap();
    let path = text(&file);
    let about = [
        ("path", path.as_str()),
        ("line", "1"),
        ("remedy", "Correct the id in line 1."),
    ];
    let add = || fake.run("", &["workspace", "add", "c"]).done();

    fake.fail(
        "RegisterWorkspace",
        failed(
            Code::InvalidArgument,
            "CONFIG_INVALID",
            "It does not parse.",
            &about,
        ),
    );
    let error = add().error(65);
    assert_eq!(
        (&error["reason"], &error["metadata"]["line"]),
        (&json!("CONFIG_INVALID"), &json!("1"))
    );
    assert_eq!(error["metadata"]["path"], json!(path));

    fake.fail(
        "RegisterWorkspace",
        failed(
            Code::PermissionDenied,
            "IDENTITY_UNREADABLE",
            "No leave.",
            &about[..1],
        ),
    );
    assert_eq!(add().error(77)["reason"], "IDENTITY_UNREADABLE");

    fake.fail(
        "RegisterWorkspace",
        failed(
            Code::FailedPrecondition,
            "IDENTITY_INVALID",
            "It is not valid.",
            &about,
        ),
    );
    let error = add().error(65);
    assert_eq!(
        (&error["reason"], &error["metadata"]["path"]),
        (&json!("IDENTITY_INVALID"), &json!(path))
    );
    assert_eq!(
        (&error["hint"], &error["metadata"]["line"]),
        (&json!("Correct the id in line 1."), &json!("1"))
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "workspace_id = 1\n");
}

#[test]
fn c062_nobody_listens() {
    let fake = Fake::start();
    let done = fake
        .run("", &["--server", "http://127.0.0.1:1", "workspace", "list"])
        .done();
    assert_eq!(done.error(69)["reason"], "NO_DAEMON");
}

#[test]
fn c063_c064_a_server_that_is_not_available() {
    let fake = Fake::start();
    for reason in ["STORE_UNAVAILABLE", "DRAINING"] {
        fake.fail(
            "ListWorkspaces",
            failed(Code::Unavailable, reason, "Not now.", &[]),
        );
        let before = fake.calls().len();
        assert_eq!(
            fake.run("", &["workspace", "list"]).done().error(69)["reason"],
            reason
        );
        assert_eq!(fake.calls().len() - before, 4, "the client repeats a read");
    }
}

#[test]
fn c066_a_token_without_the_scope() {
    let fake = Fake::start();
    fake.fail(
        "RegisterWorkspace",
        failed(Code::PermissionDenied, "SCOPE_DENIED", "It needs write.", &[]),
    );
    assert_eq!(
        fake.run("", &["workspace", "add", "."]).done().error(77)["reason"],
        "SCOPE_DENIED"
    );
}

#[test]
fn c067_the_hint_names_the_servers_delay() {
    let fake = Fake::start();
    let mut details = ErrorDetails::with_error_info("RATE_LIMITED", "compozy.dev", HashMap::new());
    details.set_retry_info(Some(Duration::from_secs(7)));
    let status = Status::with_error_details(Code::ResourceExhausted, "Too many calls.", details);
    fake.fail("ListWorkspaces", status);
    let error = fake.run("", &["workspace", "list"]).done().error(75);
    assert_eq!(
        (&error["reason"], &error["hint"]),
        (&json!("RATE_LIMITED"), &json!("try again in 7 s"))
    );
}

#[test]
fn a_refused_field_is_told_once() {
    let fake = Fake::start();
    let told = |message: &str, description: &str| {
        let mut details = ErrorDetails::with_error_info("INVALID_FIELD", "compozy.dev", HashMap::new());
        details.add_bad_request_violation("order_by", description);
        let status = Status::with_error_details(Code::InvalidArgument, message, details);
        fake.fail("ListWorkspaces", status);
        let error = fake.run("", &["workspace", "list"]).done().error(65);
        error["message"].as_str().unwrap().to_owned()
    };
    assert_eq!(told("No such order.", "No such order."), "No such order.");
    assert_eq!(
        told("Refused.", "no such order"),
        "Refused. (order_by: no such order)"
    );
}

#[test]
fn c070_a_defect_names_its_trace() {
    let fake = Fake::start();
    let message = "A defect of the server; trace 4bf92f3577b34da6.";
    fake.fail(
        "ListWorkspaces",
        failed(
            Code::Internal,
            "DEFECT",
            message,
            &[("trace_id", "4bf92f3577b34da6")],
        ),
    );
    let error = fake.run("", &["workspace", "list"]).done().error(70);
    assert!(error["message"].as_str().unwrap().contains("4bf92f3577b34da6"));
}

/// The other half of C071 is in `watch.rs`.
#[test]
fn c071_an_interrupt_ends_a_long_list_without_half_a_line() {
    let fake = Fake::with_two();
    let gate = fake.hold();
    let mut command = fake
        .run_form("jsonl", "", &["workspace", "list", "--all"])
        .command();
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    until("the call", || !fake.calls().is_empty());
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let done = crate::run::Done::from(child.wait_with_output().unwrap());
    assert_eq!(
        (done.exit, done.stdout.as_str(), done.stderr.as_str()),
        (130, "", "")
    );
    drop(gate);
}

#[test]
fn c075_version_needs_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let run = Run::new(directory.path(), directory.path(), &["version", "-o", "json"]);
    let done = run.without("COMPOZY_HOME").without("HOME").done();
    assert_eq!(done.json()["version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn c175_every_code_has_its_exit_code() {
    let fake = Fake::start();
    let exits = [
        (Code::InvalidArgument, 65),
        (Code::FailedPrecondition, 65),
        (Code::NotFound, 66),
        (Code::OutOfRange, 66),
        (Code::Unavailable, 69),
        (Code::Internal, 70),
        (Code::Unknown, 70),
        (Code::DataLoss, 70),
        (Code::AlreadyExists, 73),
        (Code::Aborted, 73),
        (Code::DeadlineExceeded, 75),
        (Code::ResourceExhausted, 75),
        (Code::PermissionDenied, 77),
        (Code::Unauthenticated, 77),
    ];
    for (code, exit) in exits {
        fake.fail("ListWorkspaces", Status::new(code, "It failed."));
        let error = fake.run("", &["workspace", "list"]).done().error(exit);
        assert_eq!(error["message"], "It failed.");
    }
}
