//! Section 4: the workspace commands.

use compozy_client::proto::workspace::v1::update_identity_request::Target;
use compozy_client::proto::workspace::v1::workspace_ref::Form;
use compozy_client::proto::workspace::v1::*;
use serde_json::{Value, json};

use crate::fake::Fake;
use crate::run::text;

fn names(list: &Value) -> Vec<&str> {
    list["workspaces"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["name"].as_str().unwrap())
        .collect()
}

fn listed(fake: &Fake, arguments: &[&str]) -> Value {
    fake.run("", &[&["workspace", "list"], arguments].concat())
        .done()
        .json()
}

#[test]
fn c076_a_relative_path_is_sent_absolute() {
    let fake = Fake::start();
    let root = text(fake.directory("c"));
    let json = fake.run("", &["workspace", "add", "./c"]).done().json();
    let request: RegisterWorkspaceRequest = fake.last("RegisterWorkspace");
    assert_eq!(request.path, root);
    assert_eq!(request.request_id.len(), 26, "the client fills in a request id");
    assert_eq!(
        (&json["created"], &json["workspace"]["root_dir"]),
        (&json!(true), &json!(root))
    );
}

#[test]
fn c077_a_second_registration_finds_the_first() {
    let fake = Fake::with_two();
    let root = text(fake.path("a"));
    let json = fake.run("", &["workspace", "add", &root]).done().json();
    assert_eq!(
        (&json["created"], &json["workspace"]["name"]),
        (&json!(false), &json!("a"))
    );
    let human = fake.run_form("human", "", &["workspace", "add", &root]).done();
    assert!(
        human.stdout.starts_with(&format!("{root} is registered as a\n")),
        "{}",
        human.stdout
    );
}

#[test]
fn c078_a_path_is_needed() {
    let fake = Fake::start();
    for arguments in [
        &["workspace", "add", ""][..],
        &["workspace", "add"],
        &["workspace", "add", " "],
    ] {
        assert_eq!(fake.run("", arguments).done().exit, 64);
    }
    assert!(fake.calls().is_empty());
}

#[test]
fn c079_a_dry_run_writes_nothing() {
    let fake = Fake::with_two();
    let root = fake.directory("c");
    let json = fake
        .run("", &["workspace", "add", "c", "--dry-run"])
        .done()
        .json();
    assert_eq!(
        (&json["created"], &json["workspace"]["id"]),
        (&json!(true), &json!(""))
    );
    assert!(
        fake.last::<RegisterWorkspaceRequest>("RegisterWorkspace")
            .validate_only
    );
    assert_eq!(listed(&fake, &[])["page"]["total"], 2);
    assert!(!root.join(".compozy").exists());
    let human = fake
        .run_form("human", "", &["workspace", "add", "c", "--dry-run"])
        .done();
    assert!(human.stdout.starts_with("would register "), "{}", human.stdout);
}

#[test]
fn c080_additional_directories_keep_their_order() {
    let fake = Fake::start();
    fake.directory("c");
    fake.directory("x");
    let y = text(fake.directory("y"));
    fake.run("", &["workspace", "add", "c", "--add-dir", "x", "--add-dir", &y])
        .done()
        .json();
    let request: RegisterWorkspaceRequest = fake.last("RegisterWorkspace");
    assert_eq!(request.additional_dirs, [text(fake.path("x")), y]);
}

#[test]
fn c081_identity_policies_are_named() {
    let fake = Fake::start();
    fake.directory("c");
    let done = fake
        .run("", &["workspace", "add", "c", "--identity", "keep"])
        .done();
    assert_eq!(done.exit, 64);
    for policy in ["share", "fork", "reject"] {
        assert!(done.stderr.contains(policy), "{}", done.stderr);
    }
    assert!(fake.calls().is_empty());
    fake.run("", &["workspace", "add", "c", "--identity", "fork"])
        .done()
        .json();
    let request: RegisterWorkspaceRequest = fake.last("RegisterWorkspace");
    assert_eq!(request.identity_policy(), IdentityPolicy::Fork);
}

#[test]
fn c082_an_edit_needs_something_to_change() {
    let fake = Fake::with_two();
    let error = fake.run("", &["workspace", "edit", "a"]).done().error(64);
    assert!(error["hint"].as_str().unwrap().contains("--title"), "{error}");
    assert!(fake.calls().is_empty());
}

#[test]
fn c083_c084_empty_values_clear() {
    let fake = Fake::with_two();
    fake.change("a", |workspace| {
        workspace.default_agent = Some("general".to_owned());
    });
    let json = fake
        .run("", &["workspace", "edit", "a", "--default-agent", ""])
        .done()
        .json();
    assert_eq!(
        (&json["workspace"]["default_agent"], &json["workspace"]["title"]),
        (&json!(""), &json!("a"))
    );
    let json = fake
        .run("", &["workspace", "edit", "a", "--title", ""])
        .done()
        .json();
    assert_eq!(json["workspace"]["title"], "");
    let request: UpdateWorkspaceRequest = fake.last("UpdateWorkspace");
    assert_eq!(request.update_mask.unwrap().paths, ["title"]);
}

#[test]
fn c085_a_directory_that_is_not_there_cannot_be_taken_away() {
    let fake = Fake::with_two();
    let path = text(fake.path("not-there"));
    let error = fake
        .run("", &["workspace", "edit", "a", "--remove-dir", &path])
        .done()
        .error(65);
    assert_eq!(error["reason"], "INVALID_FIELD");
    assert!(error["message"].as_str().unwrap().contains(&path), "{error}");
    // Deltas go without a mask, so that nothing else is touched.
    let request: UpdateWorkspaceRequest = fake.last("UpdateWorkspace");
    assert_eq!(
        (request.remove_dirs, request.update_mask.unwrap().paths.len()),
        (vec![path], 0)
    );
}

#[test]
fn c086_c087_the_manual_order() {
    let fake = Fake::with_two();
    fake.add("c");
    fake.run("", &["workspace", "move", "c", "--before", "b"])
        .done()
        .json();
    assert_eq!(names(&listed(&fake, &[])), ["a", "c", "b"]);
    let json = fake.run("", &["workspace", "move", "a"]).done().json();
    assert_eq!((&json["moved"], &json["next_id"]), (&json!(true), &json!("")));
    assert_eq!(names(&listed(&fake, &[])), ["c", "b", "a"]);
    let json = fake
        .run("", &["workspace", "move", "a", "--before", "a"])
        .done()
        .json();
    assert_eq!(json["moved"], false);
    assert_eq!(names(&listed(&fake, &[])), ["c", "b", "a"]);
}

#[test]
fn c090_c091_pruning() {
    let fake = Fake::with_two();
    for name in ["a", "b"] {
        fake.change(name, |workspace| {
            workspace.set_status(WorkspaceStatus::RootMissing);
        });
    }
    let json = fake
        .run("", &["workspace", "prune", "--missing-for", "30d", "--dry-run"])
        .done()
        .json();
    assert_eq!(names(&json), ["a"]);
    let request: PruneWorkspacesRequest = fake.last("PruneWorkspaces");
    assert_eq!(
        (request.missing_for.unwrap().seconds, request.validate_only),
        (30 * 86_400, true)
    );
    assert_eq!(listed(&fake, &[])["page"]["total"], 2);

    // Without the dry run until nothing is due.
    let json = fake
        .run("", &["workspace", "prune", "--missing-for", "1h30m"])
        .done()
        .json();
    assert_eq!((names(&json), &json["has_more"]), (vec!["a", "b"], &json!(false)));
    assert_eq!(listed(&fake, &[])["page"]["total"], 0);

    let calls = fake.calls().len();
    assert_eq!(
        fake.run("", &["workspace", "prune", "--missing-for", "soon"])
            .done()
            .exit,
        64
    );
    assert_eq!(fake.calls().len(), calls);
}

#[test]
fn c092_the_status_of_a_root_that_is_gone() {
    let fake = Fake::with_two();
    std::fs::rename(fake.path("a"), fake.path("z")).unwrap();
    let json = fake.run("", &["workspace", "status", "a"]).done().json();
    assert_eq!(json["workspace"]["status"], "ROOT_MISSING");
    assert_eq!(json["workspace"]["root_dir"], json!(text(fake.path("a"))));
    let human = fake.run_form("human", "", &["workspace", "status", "a"]).done();
    assert!(human.stdout.contains("ROOT_MISSING"), "{}", human.stdout);
}

#[test]
fn c093_the_identity_file_and_who_shares_it() {
    let fake = Fake::with_two();
    fake.change("a", |workspace| {
        workspace.shares_identity_with = vec!["ws_0000000000000001".to_owned()];
    });
    let json = fake
        .run("", &["workspace", "identity", "show", "a"])
        .done()
        .json();
    assert_eq!(json["resolution_source"], "positional");
    assert_eq!(json["identity"]["created_at"], "2026-05-04T14:30:00Z");
    assert!(
        json["identity"]["path"]
            .as_str()
            .unwrap()
            .ends_with("/a/.compozy/workspace.toml")
    );
    assert_eq!(
        json["workspace"]["shares_identity_with"],
        json!(["ws_0000000000000001"])
    );
    assert_eq!(fake.calls(), ["GetIdentity"]);
}

#[test]
fn c094_a_fork_gets_an_identity_of_its_own() {
    let fake = Fake::with_two();
    for (name, other) in [("a", "ws_0000000000000001"), ("b", "ws_0000000000000000")] {
        fake.change(name, |workspace| {
            workspace.durable_id = "01HXJ9YR4QZ0V7M3T5B8N2C6KD".to_owned();
            workspace.shares_identity_with = vec![other.to_owned()];
        });
    }
    let json = fake
        .run("", &["workspace", "identity", "fork", "b"])
        .done()
        .json();
    assert_eq!(json["identity"]["forked_from"], "01HXJ9YR4QZ0V7M3T5B8N2C6KD");
    assert_ne!(json["identity"]["durable_id"], "01HXJ9YR4QZ0V7M3T5B8N2C6KD");
    assert_eq!(json["file_written"], true);
    for row in listed(&fake, &[])["workspaces"].as_array().unwrap() {
        assert_eq!(row["shares_identity_with"], json!([]));
    }
}

#[test]
fn the_other_identity_verbs_ask_for_what_they_say() {
    let fake = Fake::with_two();
    let asked = |arguments: &[&str]| {
        fake.run("a", &[&["workspace", "identity"], arguments].concat())
            .done()
            .json();
        let request: UpdateIdentityRequest = fake.last("UpdateIdentity");
        (request.action(), request.force, request.target.unwrap())
    };
    let by_name = |name: &str| {
        Target::Ref(WorkspaceRef {
            form: Some(Form::Any(name.to_owned())),
        })
    };
    let by_id = |id: &str| {
        Target::Ref(WorkspaceRef {
            form: Some(Form::Id(id.to_owned())),
        })
    };
    assert_eq!(
        asked(&["accept", "a"]),
        (IdentityAction::Accept, false, by_name("a"))
    );
    assert_eq!(
        asked(&["restore"]),
        (IdentityAction::Restore, false, by_id("ws_0000000000000000"))
    );
    assert_eq!(
        asked(&["repair", "b", "--force"]),
        (IdentityAction::Repair, true, by_name("b"))
    );
    // A path is this very directory, not the workspace around it.
    let path = Target::Path(text(fake.directory("a/deep")));
    assert_eq!(
        asked(&["repair", "./deep"]),
        (IdentityAction::Repair, false, path)
    );
}

#[test]
fn c095_pages_follow_each_other() {
    let fake = Fake::with_two();
    ["c", "d", "e"].iter().for_each(|name| fake.add(name));
    let first = listed(&fake, &["--limit", "2"]);
    let cursor = first["page"]["next_cursor"].as_str().unwrap();
    let second = listed(&fake, &["--limit", "2", "--cursor", cursor]);
    assert_eq!((names(&first), names(&second)), (vec!["a", "b"], vec!["c", "d"]));
    assert_eq!(
        (&first["page"]["total"], &second["page"]["total"]),
        (&json!(5), &json!(5))
    );
    let rest = listed(&fake, &["--all", "--cursor", cursor]);
    assert_eq!(names(&rest), ["c", "d", "e"]);
}

#[test]
fn c096_limits() {
    let fake = Fake::with_two();
    assert_eq!(listed(&fake, &["--limit", "0"])["page"]["limit"], 50);
    for limit in ["101", "-1"] {
        let error = fake
            .run("", &["workspace", "list", "--limit", limit])
            .done()
            .error(65);
        assert_eq!(error["reason"], "INVALID_FIELD");
    }
}

#[test]
fn c097_orders_and_filters() {
    let fake = Fake::start();
    ["b", "a", "c"].iter().for_each(|name| fake.add(name));
    fake.change("c", |workspace| {
        workspace.set_status(WorkspaceStatus::RootMissing);
    });
    assert_eq!(names(&listed(&fake, &["--order", "name"])), ["a", "b", "c"]);
    let json = listed(&fake, &["--status", "ROOT_MISSING"]);
    assert_eq!(
        (names(&json), &json["workspaces"][0]["status"]),
        (vec!["c"], &json!("ROOT_MISSING"))
    );
    listed(
        &fake,
        &[
            "--status",
            "not_observed",
            "--status",
            "OK",
            "--include-status",
            "--query",
            "x",
        ],
    );
    let request: ListWorkspacesRequest = fake.last("ListWorkspaces");
    assert!(request.not_observed && request.include_status);
    assert_eq!(
        (request.statuses, request.query.as_str()),
        (vec![WorkspaceStatus::Ok.into()], "x")
    );
}

#[test]
fn c099_the_directory_picker() {
    let fake = Fake::start();
    let json = fake.run("", &["workspace", "browse"]).done().json();
    assert_eq!(
        (&json["path"], &json["entries"][0]["name"]),
        (&json!("/home/operator"), &json!("child"))
    );
    fake.run("", &["workspace", "browse", "x"]).done().json();
    assert_eq!(
        fake.last::<ListDirectoryRequest>("ListDirectory").path,
        text(fake.path("x"))
    );
}

#[test]
fn relinking_and_removing() {
    let fake = Fake::with_two();
    let before = text(fake.path("a"));
    let place = text(fake.directory("moved"));
    let json = fake
        .run("", &["workspace", "relink", "a", "moved", "--force"])
        .done()
        .json();
    assert_eq!(
        (&json["relinked_from"], &json["workspace"]["root_dir"]),
        (&json!(before), &json!(place))
    );
    assert!(fake.last::<RelinkWorkspaceRequest>("RelinkWorkspace").force);
    let json = fake
        .run("", &["workspace", "remove", "a", "--delete-sessions"])
        .done()
        .json();
    assert_eq!(json["id"], "ws_0000000000000000");
    let request: RemoveWorkspaceRequest = fake.last("RemoveWorkspace");
    assert_eq!(
        (request.sessions(), request.live()),
        (RemovedSessions::Delete, LiveSessions::Refuse)
    );
    assert_eq!(
        fake.run("", &["workspace", "remove", "a"]).done().error(66)["reason"],
        "WORKSPACE_NOT_FOUND"
    );
}

#[test]
fn every_call_says_who_calls_and_until_when() {
    let fake = Fake::start();
    listed(&fake, &[]);
    let metadata = fake.last_metadata();
    assert_eq!(metadata.get("compozy-client-name").unwrap(), "compozy-cli");
    assert_eq!(
        metadata.get("compozy-client-version").unwrap(),
        env!("CARGO_PKG_VERSION")
    );
    assert!(metadata.contains_key("grpc-timeout"));
}
