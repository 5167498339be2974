//! `daemon backup`, as far as the command line has to do with it.

use compozy_client::proto::admin::v1::BackupRequest;
use serde_json::{Value, json};
use tonic::Code;

use crate::fake::{Fake, failed};
use crate::run::text;

#[test]
fn a_backup_is_asked_for_with_an_absolute_path_and_time_enough() {
    let fake = Fake::start();
    let json = fake.run("sub", &["daemon", "backup", "bk"]).done().json();
    let wanted = text(fake.path("sub/bk"));
    assert_eq!(fake.last::<BackupRequest>("Backup").directory, wanted);
    assert_eq!(
        json.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["directory", "files", "dump_command"]
    );
    assert_eq!(json["directory"], wanted);
    assert_eq!(json["files"][0]["path"], "compozy.db");
    assert_eq!(json["files"][0]["size_bytes"], json!(4_096));
    let timeout = fake
        .last_metadata()
        .get("grpc-timeout")
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned();
    // An hour, in the unit that still takes eight digits.
    let (number, unit) = timeout.split_at(timeout.len() - 1);
    let number: u64 = number.parse().unwrap();
    let seconds = match unit {
        "m" => number / 1_000,
        "S" => number,
        other => panic!("{number} {other}"),
    };
    assert!((3_500..=3_600).contains(&seconds), "{timeout}");

    let human = fake.run_form("human", "", &["daemon", "backup", "/bk"]).done();
    assert_eq!((human.exit, human.stderr.as_str()), (0, ""));
    assert_eq!(human.stdout, "written: /bk\n  compozy.db, 4096 bytes\n");
    let lines = fake
        .run_form("jsonl", "", &["daemon", "backup", "/bk"])
        .done()
        .lines();
    assert_eq!((lines.len(), &lines[0]["directory"]), (1, &json!("/bk")));
    let toon = fake.run_form("toon", "", &["daemon", "backup", "/bk"]).done();
    let read: Value = toon_format::decode_default(&toon.stdout).unwrap();
    assert_eq!(read["files"][0]["path"], "compozy.db");
}

#[test]
fn c180_on_postgres_the_command_is_printed_as_it_is() {
    let fake = Fake::start();
    let command = format!(
        "pg_dump --format=directory --file='/{}' 'postgres://db/catalog'",
        "x".repeat(200)
    );
    *fake.state.dump_command.lock().unwrap() = command.clone();
    let human = fake.run_form("human", "", &["daemon", "backup", "/bk"]).done();
    assert_eq!((human.exit, human.stdout), (0, format!("{command}\n")));
    assert!(
        human.stderr.contains("nothing was written") && human.stderr.contains("new-epoch"),
        "{}",
        human.stderr
    );
    let json = fake.run("", &["daemon", "backup", "/bk"]).done().json();
    assert_eq!(
        json,
        json!({"directory": "", "files": [], "dump_command": command})
    );
}

#[test]
fn a_refused_backup_is_told_like_any_other_failure() {
    let fake = Fake::start();
    let there = failed(
        Code::AlreadyExists,
        "DIRECTORY_EXISTS",
        "'/bk' exists: choose another name.",
        &[],
    );
    fake.fail("Backup", there);
    let error = fake.run("", &["daemon", "backup", "/bk"]).done().error(73);
    assert_eq!(error["reason"], "DIRECTORY_EXISTS");
    assert_eq!(fake.calls(), ["Backup"], "sent once");
    let usage = fake.run("", &["daemon", "backup"]).done();
    assert_eq!(usage.exit, 64);
}
