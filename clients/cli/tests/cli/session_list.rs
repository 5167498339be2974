//! `session list`: which sessions, in which form.

use compozy_client::proto::session::v1::*;
use compozy_client::proto::workspace::v1::workspace_ref::Form;
use prost_types::Timestamp;
use serde_json::{Value, json};
use tonic::Code;

use crate::fake::{Fake, failed, sessions};

/// One session in A, one in B and one in none.
pub fn with_three() -> (Fake, [String; 3]) {
    let fake = Fake::with_two();
    let ids = [Some("a"), Some("b"), None].map(|workspace| fake.add_session(workspace));
    (fake, ids)
}

fn ids(json: &Value) -> Vec<&str> {
    let rows = json["sessions"].as_array().unwrap();
    rows.iter().map(|row| row["id"].as_str().unwrap()).collect()
}

fn filter(fake: &Fake) -> SessionFilter {
    fake.last::<ListSessionsRequest>("ListSessions").filter.unwrap()
}

#[test]
fn c174_all_workspaces_unless_one_is_named_or_asked_for() {
    let (fake, all) = with_three();
    let json = fake.run("a", &["session", "list"]).done().json();
    assert_eq!(ids(&json), all);
    assert!(json.get("resolution_source").is_none());

    let done = fake.run("a", &["session", "list", "--here"]).done();
    let json = done.json();
    assert_eq!(ids(&json), [all[0].as_str()]);
    assert_eq!(json["resolution_source"], "cwd");
    assert!(
        done.stdout.starts_with("{\n  \"resolution_source\""),
        "{}",
        done.stdout
    );

    for here in [&["session", "list"][..], &["session", "list", "--here"]] {
        let run = fake.run("a", here).env("COMPOZY_WORKSPACE", "b");
        let json = run.done().json();
        assert_eq!(
            (ids(&json), &json["resolution_source"]),
            (vec![all[1].as_str()], &"env".into())
        );
    }
    let json = fake
        .run("b", &["session", "list", "--workspace", "a"])
        .done()
        .json();
    assert_eq!(
        (ids(&json), &json["resolution_source"]),
        (vec![all[0].as_str()], &"flag".into())
    );
    let json = fake.run("a", &["session", "list", "--ungrouped"]).done().json();
    assert_eq!(ids(&json), [all[2].as_str()]);
}

#[test]
fn c036_whole_numbers_keep_all_their_digits() {
    let (fake, all) = with_three();
    fake.change_session(&all[0], |session| session.last_sequence = (1 << 53) - 1);
    for form in ["json", "jsonl", "toon"] {
        let done = fake.run_form(form, "", &["session", "show", &all[0]]).done();
        let text = done.stdout.replace(": ", ":");
        assert!(
            text.contains("last_sequence:9007199254740991")
                || text.contains("\"last_sequence\":9007199254740991"),
            "{text}"
        );
        let done = fake.run_form(form, "", &["session", "list"]).done();
        assert!(done.stdout.contains("9007199254740991"), "{}", done.stdout);
        assert!(!done.stdout.contains("\"9007199254740991\""), "{}", done.stdout);
    }
}

#[test]
fn a_list_has_rows_and_a_page_in_every_form() {
    let (fake, all) = with_three();
    let json = fake.run("", &["session", "list"]).done().json();
    assert_eq!(
        json.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["sessions", "page"]
    );
    assert_eq!(
        json["page"],
        json!({"total": 3, "limit": 50, "has_more": false, "revision": "r7"})
    );
    let row = &json["sessions"][0];
    assert_eq!(
        (
            &row["state"],
            &row["type"],
            &row["permission_mode"],
            &row["badge"]
        ),
        (
            &"ACTIVE".into(),
            &"USER".into(),
            &"APPROVE_READS".into(),
            &"UNKNOWN".into()
        )
    );
    assert_eq!(row["labels"], json!({}));
    assert!(
        row.get("stop").is_none() && !row.to_string().contains("null"),
        "{row}"
    );

    let lines = fake
        .run_form("jsonl", "a", &["session", "list", "--here"])
        .done()
        .lines();
    assert_eq!((lines.len(), &lines[0]["resolution_source"]), (2, &"cwd".into()));
    assert_eq!(lines[1]["page"]["total"], 1);

    let done = fake.run_form("toon", "", &["session", "list"]).done();
    assert!(done.stdout.starts_with("sessions[3]{id,"), "{}", done.stdout);
    let read: Value = toon_format::decode_default(&done.stdout).unwrap();
    assert_eq!(read["sessions"][1]["id"], all[1]);
    let done = fake.run_form("toon", "a", &["session", "list", "--here"]).done();
    assert_eq!(done.stdout.lines().next(), Some("resolution_source: cwd"));
}

#[test]
fn every_page_is_walked_and_streamed() {
    let fake = Fake::with_two();
    (0..205).for_each(|_| drop(fake.add_session(Some("a"))));
    let json = fake.run("", &["session", "list", "--all"]).done().json();
    assert_eq!(
        (ids(&json).len(), &json["page"]["has_more"]),
        (205, &json!(false))
    );
    let lines = fake
        .run_form("jsonl", "a", &["session", "list", "--all", "--here"])
        .done()
        .lines();
    assert_eq!(
        (lines.len(), &lines[204]["resolution_source"]),
        (206, &"cwd".into())
    );
    assert_eq!(lines[205]["page"]["total"], 205);

    let done = fake
        .run_form("human", "", &["session", "list", "--limit", "2"])
        .done();
    assert_eq!(done.stdout.lines().count(), 3);
    assert!(
        done.stderr.contains("2 of 205 shown; go on with --cursor 2"),
        "{}",
        done.stderr
    );
    let json = fake
        .run("", &["session", "list", "--limit", "2", "--cursor", "2"])
        .done()
        .json();
    assert_eq!(ids(&json), ["sess-0000000000000002", "sess-0000000000000003"]);
}

#[test]
fn every_filter_reaches_the_request() {
    let fake = Fake::with_two();
    let arguments = [
        "session",
        "list",
        "--workspace",
        "a",
        "--agent",
        "x",
        "--agent",
        "y",
        "--state",
        "active",
        "--state",
        "STOPPED",
        "--type",
        "user",
        "--resumable",
        "--attachable=false",
        "--runtime",
        "bound",
        "--provider",
        "p",
        "--badge",
        "waiting-for-input",
        "--badge",
        "WAITING_FOR_AUTH",
        "--parent",
        "sess-1",
        "--root",
        "sess-2",
        "--label",
        "team=web",
        "--label",
        "team=web",
        "--label",
        "k=",
        "--origin",
        "native",
        "--query",
        "50%",
        "--archived",
        "--include-internal",
        "--include-health",
        "--created-after",
        "2026-05-04T14:30:00.5Z",
        "--created-before",
        "1h",
        "--sort",
        "attention",
        "--limit",
        "7",
    ];
    let done = fake.run("", &arguments).done();
    assert_eq!(done.exit, 0, "{}", done.stdout);
    let request = fake.last::<ListSessionsRequest>("ListSessions");
    assert_eq!(
        (request.sort(), request.limit, request.include_health),
        (SessionSort::Attention, 7, true)
    );
    let filter = request.filter.unwrap();
    assert_eq!(filter.workspace.unwrap().form, Some(Form::Any("a".to_owned())));
    assert_eq!(
        (filter.agents, filter.providers),
        (vec!["x".to_owned(), "y".to_owned()], vec!["p".to_owned()])
    );
    assert_eq!(
        filter.states,
        [SessionState::Active as i32, SessionState::Stopped as i32]
    );
    assert_eq!(filter.types, [SessionType::User as i32]);
    assert_eq!(
        filter.badges,
        [
            SessionBadge::WaitingForInput as i32,
            SessionBadge::WaitingForAuth as i32
        ]
    );
    assert_eq!(filter.runtimes, [RuntimeState::Bound as i32]);
    assert_eq!((filter.resumable, filter.attachable), (Some(true), Some(false)));
    assert_eq!(
        (filter.parent.as_str(), filter.root.as_str()),
        ("sess-1", "sess-2")
    );
    assert_eq!((filter.labels.len(), filter.labels["k"].as_str()), (2, ""));
    assert_eq!((filter.origin.as_str(), filter.query.as_str()), ("native", "50%"));
    assert_eq!(filter.archive, ArchiveFilter::Only as i32);
    assert!(filter.include_internal);
    let after = Timestamp {
        seconds: 1_777_905_000,
        nanos: 500_000_000,
    };
    assert_eq!(filter.created_after, Some(after));
    assert!(filter.created_before.unwrap().seconds > 1_777_905_000);
}

#[test]
fn every_word_of_the_api_and_of_people_is_taken() {
    let fake = Fake::with_two();
    let words = [
        ("--state", "starting active stopping stopped orphaned"),
        ("--type", "user system coordinator spawned dream"),
        ("--runtime", "none bound lost"),
        (
            "--badge",
            "failed waiting-for-auth waiting-for-input stopped hung unhealthy running done idle unknown",
        ),
        ("--sort", "recent last_activity attention"),
    ];
    for (flag, words) in words {
        for word in words.split(' ') {
            let of_api = word.to_uppercase().replace('-', "_");
            for word in [word, &of_api] {
                let done = fake.run("", &["session", "list", flag, word]).done();
                assert_eq!(done.exit, 0, "{flag} {word}: {}", done.stderr);
            }
        }
        let done = fake.run("", &["session", "list", flag, "nonsense"]).done();
        assert_eq!(done.exit, 64);
        for word in words.split(' ') {
            assert!(done.stderr.contains(word), "{flag} {word}: {}", done.stderr);
        }
    }
}

#[test]
fn archived_ones_are_asked_for_or_not() {
    let (fake, all) = with_three();
    fake.change_session(&all[0], |session| session.archived_at = session.updated_at);
    let count = |options: &[&str]| {
        let json = fake
            .run("", &[&["session", "list"], options].concat())
            .done()
            .json();
        ids(&json).len()
    };
    assert_eq!(
        (count(&[]), count(&["--archived"]), count(&["--include-archived"])),
        (2, 1, 3)
    );
    let both = ["session", "list", "--archived", "--include-archived"];
    assert_eq!(fake.run("", &both).done().exit, 64);
}

#[test]
fn a_profile_is_named_and_asked_for_by_its_id() {
    let fake = Fake::with_two();
    let made = fake.run("", &["profile", "create", "work"]).done().json();
    fake.run("", &["session", "list", "--profile", "work"])
        .done()
        .json();
    assert_eq!(filter(&fake).profile, made["profile"]["id"]);
    // One that is gone left its id with its sessions.
    let gone = "01HXJ9YR4QZ0V7M3T5B8N2C6KD";
    fake.run("", &["session", "list", "--profile", gone])
        .done()
        .json();
    assert_eq!(filter(&fake).profile, gone);
    let error = fake
        .run("", &["session", "list", "--profile", "none"])
        .done()
        .error(66);
    assert_eq!(error["reason"], "PROFILE_NOT_FOUND");
}

#[test]
fn what_cannot_be_meant_is_refused_before_any_request() {
    let fake = Fake::with_two();
    let refused: [&[&str]; 9] = [
        &["--label", "team"],
        &["--label", "a=1", "--label", "a=2"],
        &["--created-after", "soon"],
        &["--resumable=maybe"],
        &["--ungrouped", "--workspace", "a"],
        &["--ungrouped", "--here"],
        &["--watch", "--all"],
        &["--workspace="],
        &["--watch", "-o", "toon"],
    ];
    for options in refused {
        let arguments = [&["session", "list"], options].concat();
        let done = crate::run::Run::new(fake.home(), &fake.path(""), &arguments).done();
        assert_eq!(done.exit, 64, "{options:?}: {}", done.stderr);
    }
    assert!(fake.calls().is_empty());
}

#[test]
fn a_refusal_is_blamed_on_what_is_wrong() {
    let fake = Fake::with_two();
    let refusal = failed(
        Code::InvalidArgument,
        "INVALID_FIELD",
        "limit has to be 1 to 100.",
        &[("field", "limit")],
    );
    fake.fail("ListSessions", refusal);
    let done = fake
        .run("", &["session", "list", "--limit", "101"])
        .env("COMPOZY_WORKSPACE", "a")
        .done();
    let error = done.error(65);
    assert!(
        !error["message"].as_str().unwrap().contains("COMPOZY_WORKSPACE"),
        "{error}"
    );
}

#[test]
fn an_empty_list_says_why_it_is_empty() {
    let fake = Fake::with_two();
    let list = |options: &[&str]| {
        let arguments = [&["session", "list"], options].concat();
        fake.run_form("human", "", &arguments).done().stderr
    };
    assert!(list(&[]).contains("compozy session new"));
    let filtered = list(&["--agent", "x"]);
    assert!(
        filtered.contains("nothing matches") && !filtered.contains("session new"),
        "{filtered}"
    );
}

#[test]
fn people_see_who_needs_them() {
    let (fake, all) = with_three();
    fake.change_session(&all[0], |session| {
        session.name = "parser".to_owned();
        session.set_badge(SessionBadge::WaitingForInput);
    });
    fake.change_session(&all[1], sessions::stopped);
    let done = fake.run_form("human", "", &["session", "list"]).done();
    let lines: Vec<&str> = done.stdout.lines().collect();
    assert!(
        lines[1].starts_with('!')
            && lines[1].contains("parser")
            && lines[1].contains("active, waiting for input"),
        "{}",
        done.stdout
    );
    assert!(lines[2].starts_with(' ') && lines[2].contains("general") && lines[2].contains("stopped"));
    assert!(lines[1].contains(" ago") && lines[1].ends_with(&all[0]));
}
