//! Section 2: the forms of output.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::fake::Fake;

#[test]
fn c032_one_object_with_the_source_first() {
    let fake = Fake::with_two();
    let done = fake.run("", &["workspace", "info", "a"]).done();
    let keys: Vec<String> = done.json().as_object().unwrap().keys().cloned().collect();
    assert_eq!(
        keys,
        [
            "resolution_source",
            "workspace",
            "revision",
            "sessions",
            "snapshot"
        ]
    );
    assert!(
        done.stdout
            .starts_with("{\n  \"resolution_source\": \"positional\",\n  \"workspace\": {\n    \"id\"")
    );
    assert!(done.stdout.ends_with("}\n"));
    assert_eq!(done.json()["workspace"]["created_at"], "2026-05-04T14:30:00Z");
}

#[test]
fn c033_a_list_has_rows_and_a_page_and_no_source() {
    let fake = Fake::with_two();
    let json = fake.run("", &["workspace", "list"]).done().json();
    assert_eq!(
        json.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["workspaces", "page"]
    );
    assert_eq!(json["workspaces"].as_array().unwrap().len(), 2);
    assert_eq!(
        json["page"],
        json!({"total": 2, "limit": 50, "has_more": false, "revision": "r7"})
    );
}

#[test]
fn c034_an_empty_catalog_has_an_empty_list() {
    let fake = Fake::start();
    let done = fake.run("", &["workspace", "list"]).done();
    let json = done.json();
    assert!(
        done.stdout.contains("\"workspaces\": []") && done.stdout.contains("\"total\": 0"),
        "{}",
        done.stdout
    );
    assert_eq!(json["page"]["has_more"], false);
    assert!(json["page"].get("next_cursor").is_none());
}

#[test]
fn c035_an_empty_list_is_never_null() {
    let fake = Fake::with_two();
    let done = fake.run("", &["workspace", "info", "a"]).done();
    assert_eq!(done.json()["workspace"]["additional_dirs"], json!([]));
    assert!(!done.stdout.contains("null"), "{}", done.stdout);
}

#[test]
fn whole_numbers_keep_all_their_digits() {
    let fake = Fake::with_two();
    fake.change("a", |workspace| workspace.version = (1 << 53) - 1);
    let done = fake.run("", &["workspace", "info", "a"]).done();
    assert!(
        done.stdout.contains("\"version\": 9007199254740991,"),
        "{}",
        done.stdout
    );
}

#[test]
fn c037_c038_jsonl_is_a_record_a_line_and_the_page() {
    let fake = Fake::with_two();
    fake.add("c");
    let lines = fake.run_form("jsonl", "", &["workspace", "list"]).done().lines();
    let names: Vec<&Value> = lines[..3].iter().map(|line| &line["name"]).collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert_eq!(
        (lines.len(), &lines[3]["type"], &lines[3]["page"]["total"]),
        (4, &json!("page"), &json!(3))
    );

    let lines = Fake::start()
        .run_form("jsonl", "", &["workspace", "list"])
        .done()
        .lines();
    let page = json!({"total": 0, "limit": 50, "has_more": false, "revision": "r7"});
    assert_eq!(lines, [json!({"type": "page", "page": page})]);
}

#[test]
fn c039_all_pages_are_walked() {
    let fake = Fake::start();
    (0..205).for_each(|number| fake.add(&format!("w{number:03}")));
    let json = fake.run("", &["workspace", "list", "--all"]).done().json();
    assert_eq!(json["workspaces"].as_array().unwrap().len(), 205);
    assert_eq!(
        (&json["page"]["total"], &json["page"]["has_more"]),
        (&json!(205), &json!(false))
    );
    let calls = fake.calls().len();
    let lines = fake
        .run_form("jsonl", "", &["workspace", "list", "--all", "--limit", "50"])
        .done()
        .lines();
    assert_eq!((lines.len(), &lines[205]["page"]["total"]), (206, &json!(205)));
    assert_eq!(fake.calls().len() - calls, 5);
}

#[test]
fn c040_toon_is_a_table_that_a_reader_gives_back() {
    let fake = Fake::with_two();
    let titles = ["one, \"two\": three", "  leading"];
    fake.change("a", |workspace| workspace.title = Some(titles[0].to_owned()));
    fake.change("b", |workspace| {
        workspace.title = Some(titles[1].to_owned());
        workspace.additional_dirs = vec!["/x".to_owned(), "/y".to_owned()];
    });
    let done = fake.run_form("toon", "", &["workspace", "list"]).done();
    let lines: Vec<&str> = done.stdout.lines().collect();
    assert!(
        lines[0].starts_with("workspaces[2]{id,durable_id,") && lines[0].ends_with("}:"),
        "{}",
        lines[0]
    );
    assert!(lines[1].starts_with("  ws_") && lines[2].starts_with("  ws_") && !lines[3].starts_with(' '));
    let read: Value = toon_format::decode_default(&done.stdout).unwrap();
    assert_eq!(read["workspaces"][0]["title"], titles[0]);
    assert_eq!(read["workspaces"][1]["title"], titles[1]);
    assert_eq!(read["workspaces"][1]["additional_dirs"], "/x\n/y");
    assert_eq!(read["page"]["total"], 2);

    let done = fake.run_form("toon", "", &["workspace", "info", "a"]).done();
    assert_eq!(done.stdout.lines().next(), Some("resolution_source: positional"));
    let read: Value = toon_format::decode_default(&done.stdout).unwrap();
    assert_eq!(read["workspace"]["title"], titles[0]);
}

#[test]
fn c041_json_is_a_shorter_name() {
    let fake = Fake::with_two();
    let short = crate::run::Run::new(fake.home(), &fake.path(""), &["--json", "workspace", "list"]).done();
    assert_eq!(short.stdout, fake.run("", &["workspace", "list"]).done().stdout);
    assert_eq!(short.exit, 0);
}

#[test]
fn c042_c043_contradicting_and_unknown_forms_are_refused() {
    let fake = Fake::with_two();
    let run = |arguments: &[&str]| crate::run::Run::new(fake.home(), &fake.path(""), arguments).done();
    for forms in [
        &["--json", "-o", "toon"][..],
        &["-o", "json", "--json", "-o", "jsonl"],
    ] {
        let done = run(&[forms, &["workspace", "list"]].concat());
        assert_eq!((done.exit, done.stdout.as_str()), (64, ""), "{}", done.stderr);
    }
    let done = run(&["-o", "xml", "workspace", "list"]);
    assert_eq!(done.exit, 64);
    for form in ["human", "json", "jsonl", "toon"] {
        assert!(done.stderr.contains(form), "{}", done.stderr);
    }
    assert!(fake.calls().is_empty());
}

#[test]
fn c046_people_get_local_time_with_age() {
    let fake = Fake::with_two();
    let done = fake
        .run_form("human", "", &["workspace", "info", "a"])
        .env("TZ", "JST-9")
        .done();
    let created = done
        .stdout
        .lines()
        .find(|line| line.starts_with("created:"))
        .unwrap();
    assert!(
        created.contains("2026-05-04 23:30:00 (") && created.ends_with(" ago)"),
        "{created}"
    );
}

#[test]
fn c048_no_spinner_without_a_terminal() {
    let fake = Fake::with_two();
    let gate = fake.hold();
    let mut command = fake.run("", &["workspace", "list"]).command();
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let held = std::time::Instant::now();
    // Longer than the patience of the spinner.
    crate::run::until("the call", || {
        !fake.calls().is_empty() && held.elapsed().as_millis() > 800
    });
    drop(gate);
    let done = crate::run::Done::from(child.wait_with_output().unwrap());
    assert_eq!((done.exit, done.stderr.as_str()), (0, ""));
}

#[test]
fn c049_a_reader_that_goes_away_is_no_error() {
    let fake = Fake::start();
    (0..205).for_each(|number| fake.add(&format!("w{number:03}")));
    fake.change("w000", |workspace| workspace.title = Some("t".repeat(200)));
    let mut command = fake
        .run_form("jsonl", "", &["workspace", "list", "--all", "--limit", "1"])
        .command();
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    BufReader::with_capacity(64, child.stdout.take().unwrap())
        .read_line(&mut first)
        .unwrap();
    let done = crate::run::Done::from(child.wait_with_output().unwrap());
    assert_eq!((done.exit, done.stderr.as_str()), (0, ""));
    assert!(serde_json::from_str::<Value>(&first).is_ok());
}

#[test]
fn c051_every_letter_survives() {
    let fake = Fake::with_two();
    let title = "a \"quoted\" \\ back, Zażółć 漢";
    fake.change("a", |workspace| workspace.title = Some(title.to_owned()));
    assert_eq!(
        fake.run("", &["workspace", "info", "a"]).done().json()["workspace"]["title"],
        title
    );
    let human = fake.run_form("human", "", &["workspace", "info", "a"]).done();
    assert!(human.stdout.contains(title), "{}", human.stdout);
}

#[test]
fn c052_stdout_of_every_command_is_of_its_form() {
    const ID: &str = "sess-00000000000000aa";
    let commands: [&[&str]; 57] = [
        &["workspace", "add", "c"],
        &["workspace", "list"],
        &["workspace", "list", "--all"],
        &["workspace", "info", "a"],
        &["workspace", "status", "a"],
        &["resolve", "a"],
        &["resolve", "a", "--basic"],
        &["config", "show", "a"],
        &["config", "explain", "--workspace", "a"],
        &["config", "explain", "defaults.agent", "--workspace", "a"],
        &["config", "set", "defaults.agent", "x"],
        &["agent", "list", "a"],
        &["agent", "show", "reviewer", "--workspace", "a"],
        &["agent", "show", "reviewer", "--workspace", "a", "--text"],
        &["skill", "list", "a"],
        &["skill", "show", "notes", "--workspace", "a"],
        &["skill", "show", "notes", "--workspace", "a", "--text"],
        &["profile", "list"],
        &["profile", "create", "p"],
        &["profile", "list", "--all"],
        &["profile", "update", "p", "--icon", "x"],
        &["profile", "use", "p", "--workspace", "a"],
        &["profile", "use", "p", "--global"],
        &["profile", "current", "a"],
        &["profile", "rename", "p", "q"],
        &["profile", "archive", "q"],
        &["profile", "unarchive", "q"],
        &["profile", "delete", "q"],
        &["workspace", "edit", "a", "--title", "t"],
        &["workspace", "move", "a"],
        &["workspace", "relink", "a", "c"],
        &["workspace", "identity", "show", "a"],
        &["workspace", "identity", "fork", "a"],
        &["workspace", "prune"],
        &["workspace", "browse"],
        &["session", "new", "--workspace", "a", "--id", ID],
        &["session", "list"],
        &["session", "list", "--all"],
        &["session", "show", ID],
        &["session", "inspect", ID],
        &["session", "health", ID],
        &["session", "history", ID],
        &["session", "rename", ID, "n"],
        &["session", "attach", ID],
        &["session", "detach", ID],
        &["session", "wait", ID, "--until", "active"],
        &["workspace", "attach", ID, "--workspace", "a"],
        &["workspace", "move-session", ID],
        &["workspace", "detach", ID],
        &["session", "stop", ID],
        &["session", "archive", ID],
        &["session", "unarchive", ID],
        &["session", "remove", ID],
        &["workspace", "remove", "b"],
        &["daemon", "status"],
        &["daemon", "backup", "bk"],
        &["version"],
    ];
    for form in ["json", "jsonl", "toon"] {
        let fake = Fake::with_two();
        fake.directory("c");
        for command in commands {
            let done = fake.run_form(form, "", command).done();
            assert_eq!(
                done.exit, 0,
                "{form} {command:?}: {} {}",
                done.stdout, done.stderr
            );
            // Selected and gone again: later commands see the workspace as before.
            fake.state.profiles.lock().unwrap().selected.clear();
            match form {
                "json" => drop(done.json()),
                "jsonl" => assert!(!done.lines().is_empty()),
                _ => drop(toon_format::decode_default::<Value>(&done.stdout).unwrap()),
            }
        }
    }
}

#[test]
fn notes_for_people_are_on_stderr() {
    let fake = Fake::with_two();
    let done = fake
        .run_form("human", "", &["workspace", "list", "--limit", "1"])
        .done();
    assert_eq!(done.stdout.lines().count(), 2, "{}", done.stdout);
    assert!(
        done.stderr.contains("1 of 2 shown") && done.stderr.contains("--cursor 1"),
        "{}",
        done.stderr
    );
}

#[test]
fn an_empty_list_says_why_it_is_empty() {
    let fake = Fake::start();
    let all = fake.run_form("human", "", &["workspace", "list"]).done();
    assert!(
        all.stderr.contains("compozy workspace add <path>"),
        "{}",
        all.stderr
    );
    let some = fake
        .run_form("human", "", &["workspace", "list", "--query", "zzz"])
        .done();
    assert!(
        some.stderr.contains("nothing matches") && !some.stderr.contains("workspace add"),
        "{}",
        some.stderr
    );
}
