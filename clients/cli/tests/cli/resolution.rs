//! Sections 4 and 5: what a session in a workspace would see.

use compozy_client::proto::workspace::v1::*;
use serde_json::{Value, json};

use crate::fake::Fake;
use crate::run::{Done, text};

/// With the profiles `p` and `q`.
pub(crate) fn with_profiles() -> Fake {
    let fake = Fake::with_two();
    for name in ["p", "q"] {
        fake.run("", &["profile", "create", name]).done().json();
    }
    fake
}

pub(crate) fn human(fake: &Fake, arguments: &[&str]) -> Done {
    let done = fake.run_form("human", "", arguments).done();
    assert_eq!(done.exit, 0, "{}", done.stderr);
    done
}

/// The lines of a table whose head begins with this word, without the head.
pub(crate) fn rows<'a>(done: &'a Done, head: &str) -> Vec<&'a str> {
    let lines = done.stdout.lines().skip_while(|line| !line.starts_with(head));
    lines.skip(1).take_while(|line| !line.is_empty()).collect()
}

#[test]
fn the_snapshot_is_the_message_of_the_api() {
    let fake = Fake::with_two();
    let done = fake.run("a", &["resolve"]).done();
    let json = done.json();
    let keys: Vec<&String> = json.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["resolution_source", "not_modified", "snapshot"]);
    let snapshot = &json["snapshot"];
    assert_eq!(snapshot["workspace"]["name"], "a");
    assert_eq!(snapshot["root"], json!(text(fake.path("a"))));
    assert_eq!(
        (&snapshot["agent_count"], &snapshot["skill_names"]),
        (&json!(2), &json!(["notes", "release"]))
    );
    assert_eq!(
        snapshot["config"],
        json!({"defaults": {"agent": "reviewer"}, "permissions": {"mode": "approve-all"}})
    );
    let leaf = &snapshot["config_leaves"][0];
    assert_eq!(
        (&leaf["winner"]["layer"], &leaf["winner"]["line"]),
        (&json!("WORKSPACE"), &json!(2))
    );
    assert_eq!(
        leaf["losers"][1],
        json!({"layer": "DEFAULT", "path": "", "line": 0, "column": 0, "value": "general"})
    );
    // Numbers are numbers, enums are names without their prefix, free-form trees are JSON.
    assert_eq!(snapshot["config_leaves"][1]["winner"]["value"], 4);
    assert_eq!(snapshot["mcp_servers"][0]["transport"], "STDIO");
    assert_eq!(
        snapshot["mcp_servers"][0]["env"],
        json!({"API_TOKEN": "<redacted>"})
    );
    assert_eq!(snapshot["agents"][1]["hooks"], json!([{"event": "stop"}]));
    assert_eq!(snapshot["agents"][0]["diagnostics"][0]["severity"], "ERROR");
    assert_eq!(snapshot["resolved_at"], "2026-05-04T14:30:00Z");
    assert!(!done.stdout.contains("null"), "{}", done.stdout);
    assert_eq!(
        fake.last::<ResolveWorkspaceRequest>("ResolveWorkspace").view(),
        ResolveView::Full
    );
}

#[test]
fn c101_a_fresh_resolve_reads_again() {
    let fake = Fake::with_two();
    let resolve = |arguments: &[&str]| {
        fake.run("", &[&["resolve", "a"], arguments].concat())
            .done()
            .json()
    };
    let (first, second, fresh) = (resolve(&[]), resolve(&[]), resolve(&["--fresh"]));
    assert!(
        fake.last::<ResolveWorkspaceRequest>("ResolveWorkspace")
            .bypass_cache
    );
    assert_eq!(first, second);
    assert_ne!(fresh["snapshot"]["resolved_at"], first["snapshot"]["resolved_at"]);
    assert_eq!(fresh["snapshot"]["fingerprint"], first["snapshot"]["fingerprint"]);
    assert_eq!(fresh["snapshot"]["agents"], first["snapshot"]["agents"]);
}

#[test]
fn c102_an_unknown_profile_is_not_found() {
    let fake = Fake::with_two();
    let error = fake
        .run("", &["resolve", "a", "--profile", "nope"])
        .done()
        .error(66);
    assert_eq!(error["reason"], "PROFILE_NOT_FOUND");
    assert!(
        error["hint"].as_str().unwrap().contains("compozy profile list"),
        "{error}"
    );
    // The workspace is not to blame, however it was named.
    let run = fake
        .run("", &["agent", "list"])
        .env("COMPOZY_WORKSPACE", "a")
        .env("COMPOZY_PROFILE", "nope");
    let error = run.done().error(66);
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("COMPOZY_PROFILE") && !message.contains("COMPOZY_WORKSPACE"),
        "{message}"
    );
}

#[test]
fn c103_the_source_of_the_profile_is_named_in_every_output() {
    let fake = with_profiles();
    let asked = |form: &str, arguments: &[&str], variable: Option<&str>| {
        let mut run = fake.run_form(form, "", &[&["resolve", "a"], arguments].concat());
        if let Some(variable) = variable {
            run = run.env("COMPOZY_PROFILE", variable);
        }
        run.done()
    };
    let told = |done: &Done| {
        let json = done.json();
        let snapshot = &json["snapshot"];
        (
            snapshot["profile"]["name"].clone(),
            snapshot["profile_source"].clone(),
        )
    };
    assert_eq!(
        told(&asked("json", &[], Some("p"))),
        (json!("p"), json!("ENVIRONMENT"))
    );
    assert_eq!(
        told(&asked("json", &["--profile", "q"], Some("p"))),
        (json!("q"), json!("REQUEST"))
    );
    assert_eq!(
        told(&asked("json", &[], Some("  "))),
        (json!("default"), json!("DEFAULT"))
    );
    let human = asked("human", &[], Some("p")).stdout;
    assert!(human.contains("p (chosen by COMPOZY_PROFILE)"), "{human}");
    let human = asked("human", &["--profile", "q"], Some("p")).stdout;
    assert!(human.contains("q (chosen by --profile)"), "{human}");
    let line = &asked("jsonl", &[], Some("p")).lines()[0];
    assert_eq!(line["snapshot"]["profile_source"], "ENVIRONMENT");
    let toon: Value = toon_format::decode_default(&asked("toon", &[], Some("p")).stdout).unwrap();
    assert_eq!(toon["snapshot"]["profile_source"], "ENVIRONMENT");

    // The lists name it as well, in jsonl on every record.
    for arguments in [
        &["agent", "list", "a"][..],
        &["skill", "list", "a"],
        &["config", "explain", "--workspace", "a"],
    ] {
        for line in fake
            .run_form("jsonl", "", arguments)
            .env("COMPOZY_PROFILE", "p")
            .done()
            .lines()
        {
            let told = (
                line["resolution_source"] != Value::Null,
                &line["profile_name"],
                &line["profile_source"],
            );
            assert_eq!(told, (true, &json!("p"), &json!("ENVIRONMENT")));
        }
    }
}

#[test]
fn c002_c009_c010_resolve_goes_by_the_chain() {
    let fake = Fake::with_two();
    let run = fake
        .run("b", &["resolve", "--workspace", "a"])
        .env("COMPOZY_WORKSPACE", "b");
    let json = run.done().json();
    assert_eq!(
        (&json["resolution_source"], &json["snapshot"]["workspace"]["name"]),
        (&json!("flag"), &json!("a"))
    );
    let calls = fake.calls().len();
    for flag in ["--workspace=", "--workspace=   "] {
        let run = fake.run("b", &["resolve", flag]).env("COMPOZY_WORKSPACE", "a");
        assert_eq!(run.done().error(64)["reason"], "USAGE");
    }
    assert_eq!(fake.calls().len(), calls);
}

#[test]
fn c021_nothing_given_is_one_error_for_every_command() {
    let fake = Fake::with_two();
    let directory = text(fake.directory("x"));
    let told = |arguments: &[&str]| {
        let error = fake.run("x", arguments).done().error(66);
        (error["message"].clone(), error["hint"].clone())
    };
    let expected = told(&["workspace", "info"]);
    assert!(expected.0.as_str().unwrap().contains(&directory));
    let commands: [&[&str]; 10] = [
        &["resolve"],
        &["agent", "list"],
        &["skill", "list"],
        &["config", "show"],
        &["config", "explain"],
        &["agent", "show", "reviewer"],
        &["skill", "show", "notes"],
        &["profile", "current"],
        &["profile", "use", "default"],
        &["config", "set", "defaults.agent", "x", "--workspace-file"],
    ];
    for command in commands {
        assert_eq!(told(command), expected, "{command:?}");
    }
    // Reads never register.
    assert_eq!(
        fake.run("x", &["workspace", "list"]).done().json()["page"]["total"],
        2
    );
    assert!(!fake.calls().contains(&"RegisterWorkspace") && !fake.calls().contains(&"SelectProfile"));
}

#[test]
fn people_see_what_is_there_what_is_broken_and_what_to_do() {
    let fake = Fake::with_two();
    let done = human(&fake, &["resolve", "a"]);
    let field = |name: &str| {
        let line = done
            .stdout
            .lines()
            .find(|line| line.starts_with(&format!("{name}:")));
        line.unwrap_or_default()
            .split_once(':')
            .unwrap_or_default()
            .1
            .trim()
            .to_owned()
    };
    assert_eq!(field("workspace"), "a (ws_0000000000000000)");
    assert_eq!(field("root"), text(fake.path("a")));
    assert_eq!(field("profile"), "default (nobody has chosen one)");
    assert_eq!(field("agents"), "1 usable, 1 broken, 1 shadowed");
    assert_eq!(field("skills"), "2 usable, 1 shadowed");
    assert_eq!(field("findings"), "1 error, 3 warnings");
    let agents = rows(&done, "AGENT");
    assert_eq!(agents.len(), 3, "{}", done.stdout);
    assert!(
        agents[0].starts_with("broken    broken    workspace"),
        "{agents:?}"
    );
    assert!(
        agents[1].starts_with("reviewer  ok        workspace  /")
            && agents[1].ends_with("  Reads every change"),
        "{agents:?}"
    );
    assert!(agents[2].trim_start().starts_with("shadowed  user"), "{agents:?}");
    assert!(
        rows(&done, "SKILL")[0].starts_with("notes    warning"),
        "{}",
        done.stdout
    );
    assert!(
        rows(&done, "MCP SERVER")[0].contains("github-mcp --read-only"),
        "{}",
        done.stdout
    );
    // What is wrong with the configuration comes before the tables, the rest behind them.
    let path = text(fake.path("a/.compozy"));
    let places = [
        format!("warning: {path}/config.toml:4:1: unknown key"),
        "hint: correct the key".to_owned(),
        "AGENT".to_owned(),
        format!("error: {path}/agents/broken/AGENT.md:3:7: the front matter"),
        "hint: keep one of the two".to_owned(),
        format!("warning: {path}/skills/notes/SKILL.md:3:14: a plain value"),
    ];
    let places: Vec<usize> = places
        .iter()
        .map(|what| done.stdout.find(&format!("\n{what}")).expect(what))
        .collect();
    assert!(places.is_sorted(), "{}", done.stdout);
    let last = done.stderr.lines().last().unwrap();
    assert!(
        last.contains("compozy config explain") && last.contains("compozy agent show"),
        "{last}"
    );
}

#[test]
fn a_workspace_without_faults_says_so() {
    let fake = Fake::with_two();
    fake.snapshots(|snapshot| {
        snapshot.diagnostics.clear();
        snapshot.agents.clear();
        snapshot.agent_names.clear();
        snapshot.agent_count = 0;
    });
    let done = human(&fake, &["resolve", "a"]);
    assert!(
        done.stdout.contains("findings:    nothing is wrong"),
        "{}",
        done.stdout
    );
    assert!(
        done.stderr
            .contains("/a/.compozy/agents/<name>/AGENT.md would be one"),
        "{}",
        done.stderr
    );
}

#[test]
fn who_has_skills_of_another_tool_is_told_how_they_are_read() {
    let fake = Fake::with_two();
    fake.snapshots(|snapshot| {
        snapshot.skills.clear();
        snapshot.skill_sources.clear();
    });
    let done = human(&fake, &["skill", "list", "--workspace", "a"]);
    let command = "`compozy config set --workspace-file skills.sources '[\"agents\", \"claude\"]'`";
    assert!(
        done.stderr.contains(".claude/skills") && done.stderr.contains(command),
        "{}",
        done.stderr
    );
}

#[test]
fn a_basic_view_has_names_and_counts() {
    let fake = Fake::with_two();
    let json = fake.run("", &["resolve", "a", "--basic"]).done().json();
    assert_eq!(json["snapshot"]["agents"], json!([]));
    assert_eq!(json["snapshot"]["agent_names"], json!(["broken", "reviewer"]));
    assert!(json["snapshot"].get("config").is_none());
    let done = human(&fake, &["resolve", "a", "--basic"]);
    assert!(done.stdout.contains("2: broken, reviewer"), "{}", done.stdout);
}

#[test]
fn an_unchanged_snapshot_is_not_sent_again() {
    let fake = Fake::with_two();
    let fingerprint = fake.run("", &["resolve", "a"]).done().json()["snapshot"]["fingerprint"].clone();
    let again = ["resolve", "a", "--if-fingerprint", fingerprint.as_str().unwrap()];
    let json = fake.run("", &again).done().json();
    assert_eq!(
        json,
        json!({"resolution_source": "positional", "not_modified": true})
    );
    assert_eq!(human(&fake, &again).stdout, "unchanged since that fingerprint\n");
}

#[test]
fn an_agent_that_is_not_there_is_not_found() {
    let fake = Fake::with_two();
    let error = fake
        .run("", &["resolve", "a", "--agent", "none"])
        .done()
        .error(66);
    assert_eq!(error["reason"], "AGENT_NOT_FOUND");
    let json = fake
        .run("", &["resolve", "a", "--agent", "reviewer"])
        .done()
        .json();
    assert_eq!(json["snapshot"]["agent"], "reviewer");
}

#[test]
fn foreign_words_do_nothing_to_a_terminal() {
    let fake = Fake::with_two();
    fake.snapshots(|snapshot| {
        snapshot.agents[1].description = "a\u{1b}[31mb".to_owned();
        snapshot.diagnostics[0].message = "c\u{1b}]0;d".to_owned();
    });
    let done = human(&fake, &["resolve", "a"]);
    assert!(
        !done.stdout.contains('\u{1b}') && !done.stderr.contains('\u{1b}'),
        "{}",
        done.stdout
    );
}
