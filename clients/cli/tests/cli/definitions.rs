//! `agent` and `skill`: lists, and one of them.

use compozy_client::proto::workspace::v1::*;
use serde_json::json;

use crate::fake::Fake;
use crate::fake::resolution::TEXT;
use crate::resolution::human;
use crate::run::text;

#[test]
fn c107_lists_have_layer_path_and_shadowed_ones() {
    let fake = Fake::with_two();
    let (root, home) = (text(fake.path("a")), text(fake.home()));
    let json = fake.run("a", &["agent", "list"]).done().json();
    let keys: Vec<&String> = json.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        ["resolution_source", "profile_name", "profile_source", "agents"]
    );
    let agent = &json["agents"][1];
    assert_eq!(
        (&agent["layer"], &agent["usable"]),
        (&json!("WORKSPACE"), &json!(true))
    );
    assert_eq!(
        agent["path"],
        json!(format!("{root}/.compozy/agents/reviewer/AGENT.md"))
    );
    let loser = json!([{"layer": "USER", "path": format!("{home}/agents/reviewer/AGENT.md")}]);
    assert_eq!(agent["shadowed"], loser);
    let json = fake.run("a", &["skill", "list"]).done().json();
    let skill = &json["skills"][0];
    assert_eq!(
        (&skill["layer"], &skill["source"]),
        (&json!("WORKSPACE"), &json!("compozy"))
    );
    assert_eq!(skill["shadowed"][0]["layer"], "PROFILE");
    assert_eq!(json["skill_sources"][0]["readable"], true);

    let done = human(&fake, &["agent", "list", "a"]);
    let lines: Vec<&str> = done.stdout.lines().collect();
    assert_eq!(lines.len(), 4, "{}", done.stdout);
    assert!(
        lines[2].contains("workspace")
            && lines[2].contains(&format!("{root}/.compozy/agents/reviewer/AGENT.md"))
    );
    assert!(lines[3].contains("user") && lines[3].ends_with(&format!("{home}/agents/reviewer/AGENT.md")));
    // The table is the data; what is wrong is told beside it.
    assert!(
        done.stderr.starts_with("error: ") && done.stderr.contains("\nhint: keep one"),
        "{}",
        done.stderr
    );
    let done = human(&fake, &["skill", "list", "a"]);
    assert!(
        done.stdout
            .lines()
            .any(|line| line.trim_start().starts_with("shadowed  profile")),
        "{}",
        done.stdout
    );
    assert_eq!(
        fake.run_form("jsonl", "", &["skill", "list", "a"])
            .done()
            .lines()
            .len(),
        2
    );
}

#[test]
fn one_definition_with_its_text() {
    let fake = Fake::with_two();
    let json = fake
        .run("", &["agent", "show", "reviewer", "--workspace", "a"])
        .done()
        .json();
    assert_eq!(
        (&json["resolution_source"], &json["agent"]["prompt_size"]),
        (&json!("flag"), &json!(29))
    );
    let done = human(&fake, &["agent", "show", "reviewer", "--workspace", "a"]);
    assert!(done.stderr.contains("with --text it prints"), "{}", done.stderr);
    let done = human(&fake, &["agent", "show", "broken", "--workspace", "a"]);
    assert!(
        !done.stderr.contains("--text"),
        "nothing to print: {}",
        done.stderr
    );
    assert!(
        done.stdout.contains("state:   broken") && done.stdout.contains("\nerror: "),
        "{}",
        done.stdout
    );
    for arguments in [["agent", "show", "reviewer"], ["skill", "show", "notes"]] {
        let with_text = [&arguments[..], &["--workspace", "a", "--text"]].concat();
        assert_eq!(human(&fake, &with_text).stdout, TEXT);
        assert_eq!(fake.run("", &with_text).done().json()["text"], TEXT);
    }
    let request: GetDefinitionRequest = fake.last("GetDefinition");
    assert_eq!(
        (request.kind(), request.name.as_str()),
        (DefinitionKind::Skill, "notes")
    );
    assert_eq!(request.fingerprint, "f-e1");
    // Everything does not fit into an answer where there is much; the names always do.
    let request: ResolveWorkspaceRequest = fake.last("ResolveWorkspace");
    assert_eq!(request.view(), ResolveView::Basic);
}

#[test]
fn a_text_is_asked_for_again_when_the_files_have_changed() {
    let fake = Fake::with_two();
    let reads = std::sync::atomic::AtomicUsize::new(0);
    // Every second look finds other files: the snapshot, then the text.
    fake.snapshots(move |snapshot| {
        let read = reads.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        if read >= 1 {
            snapshot.fingerprint = "later".to_owned();
        }
    });
    let done = human(
        &fake,
        &["agent", "show", "reviewer", "--workspace", "a", "--text"],
    );
    assert_eq!(done.stdout, TEXT);
    let asked: Vec<&str> = fake
        .calls()
        .into_iter()
        .filter(|call| *call == "GetDefinition")
        .collect();
    assert_eq!(asked.len(), 2);

    // Files that never come to rest end it.
    let reads = std::sync::atomic::AtomicUsize::new(0);
    fake.snapshots(move |snapshot| {
        let read = reads.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        snapshot.fingerprint = format!("f{read}");
    });
    let show = ["skill", "show", "notes", "--workspace", "a", "--text"];
    assert_eq!(
        fake.run("", &show).done().error(65)["reason"],
        "FINGERPRINT_STALE"
    );
}

#[test]
fn a_name_that_is_not_there_says_which_one_was_meant() {
    let fake = Fake::with_two();
    let error = fake.run("a", &["agent", "show", "reviwer"]).done().error(66);
    assert_eq!(error["reason"], "AGENT_NOT_FOUND");
    assert!(
        error["hint"]
            .as_str()
            .unwrap()
            .starts_with("did you mean reviewer?"),
        "{error}"
    );
    let error = fake
        .run("a", &["skill", "show", "zzz", "--text"])
        .done()
        .error(66);
    assert_eq!(
        (&error["reason"], &error["metadata"]["skill"]),
        (&json!("DEFINITION_NOT_FOUND"), &json!("zzz"))
    );
    assert!(
        !error["hint"].as_str().unwrap().contains("did you mean"),
        "{error}"
    );
    let hidden = ["skill", "show", "zzz", "--agent", "reviewer"];
    let error = fake.run("a", &hidden).done().error(66);
    assert_eq!(
        error["message"], "the agent \"reviewer\" sees no skill \"zzz\"",
        "it may be there"
    );
    assert!(
        error["hint"]
            .as_str()
            .unwrap()
            .contains("`compozy skill list --agent reviewer`"),
        "{error}"
    );
}
