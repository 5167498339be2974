//! What the real daemon refuses, as the caller of a command meets it: exit code, reason, and nothing changed.

use std::fs;

use compozy_e2e::{Daemon, Environment, Run, fingerprint, identity_path, list_all, register, utf8};
use serde_json::Value;

struct Refusal {
    arguments: Vec<String>,
    exit: i32,
    reason: &'static str,
}

fn refusal(arguments: &[&str], exit: i32, reason: &'static str) -> Refusal {
    Refusal {
        arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
        exit,
        reason,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn c054_c056_c057_c059_c061_c085_c096_a_refusal_keeps_its_reason_and_changes_nothing() {
    let environment = Environment::new();
    let daemon = Daemon::start(&environment).await;
    let (a, c) = (environment.make("a"), environment.make("c"));
    register(daemon.client(), &a).await.unwrap();
    let broken = environment.make("broken");
    fs::create_dir(broken.join(".compozy")).unwrap();
    fs::write(identity_path(&broken), "workspace_id = 1\n").unwrap();
    let (a, c, broken) = (utf8(a), utf8(c), utf8(broken));
    let none = format!("{c}/none");

    let (rows, files) = (list_all(daemon.client()).await, fingerprint(&environment.work));
    for refused in [
        refusal(&["workspace", "info", "none"], 66, "WORKSPACE_NOT_FOUND"),
        refusal(
            &["workspace", "add", &c, "--name", "a"],
            73,
            "WORKSPACE_NAME_CONFLICT",
        ),
        refusal(
            &["workspace", "add", &a, "--title", "other"],
            73,
            "WORKSPACE_PATH_CONFLICT",
        ),
        refusal(&["workspace", "add", &none], 66, "PATH_NOT_FOUND"),
        refusal(&["workspace", "add", &broken], 65, "IDENTITY_INVALID"),
        refusal(
            &["workspace", "edit", "a", "--remove-dir", &c],
            65,
            "INVALID_FIELD",
        ),
        refusal(&["workspace", "list", "--limit", "101"], 65, "INVALID_FIELD"),
    ] {
        let Refusal {
            arguments,
            exit,
            reason,
        } = refused;
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let error = Run::compozy(&environment, &words).done().error(exit);
        assert_eq!(error["reason"], reason, "{arguments:?}: {error}");
        for field in ["code", "message", "hint"] {
            let text = error[field].as_str().unwrap_or_default();
            assert!(!text.is_empty(), "{field}: {error}");
        }
        if reason == "IDENTITY_INVALID" {
            assert_line_and_remedy(&error, &utf8(identity_path(&broken)));
        }
    }
    assert_eq!(list_all(daemon.client()).await, rows);
    assert_eq!(fingerprint(&environment.work), files);
}

fn assert_line_and_remedy(error: &Value, path: &str) {
    let metadata = &error["metadata"];
    assert_eq!(
        (&metadata["path"], &metadata["line"]),
        (&path.into(), &"1".into())
    );
    let remedy = metadata["remedy"].as_str().unwrap();
    assert!(remedy.contains("compozy workspace identity repair"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn c092_the_status_of_a_root_that_was_moved_away() {
    let environment = Environment::new();
    let daemon = Daemon::start(&environment).await;
    let a = environment.make("a");
    register(daemon.client(), &a).await.unwrap();
    let rows = list_all(daemon.client()).await;
    fs::rename(&a, a.with_file_name("z")).unwrap();
    let told = Run::compozy(&environment, &["workspace", "status", "a"])
        .done()
        .json();
    assert_eq!(told["workspace"]["status"], "ROOT_MISSING");
    assert_eq!(told["workspace"]["root_dir"], utf8(&a));
    assert_eq!(list_all(daemon.client()).await, rows);
}
