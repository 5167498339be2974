//! `session new`: where a session comes to be.

use compozy_client::proto::session::v1::*;

use crate::fake::Fake;
use crate::run::text;

fn created(fake: &Fake) -> CreateSessionRequest {
    fake.last("CreateSession")
}

fn workspaces(fake: &Fake) -> usize {
    fake.state.workspaces.lock().unwrap().len()
}

#[test]
fn c030_workspace_and_directory_exclude_each_other_before_any_request() {
    let fake = Fake::with_two();
    let directory = text(fake.path("a"));
    let done = fake
        .run("", &["session", "new", "--workspace", "a", "--cwd", &directory])
        .done();
    assert_eq!((done.exit, done.stdout.as_str()), (64, ""));
    assert!(done.stderr.contains("--cwd"), "{}", done.stderr);
    assert!(fake.calls().is_empty());
}

#[test]
fn c110_a_directory_outside_every_workspace_becomes_one_once() {
    let fake = Fake::with_two();
    let directory = text(fake.directory("c"));
    let arguments = ["session", "new", "--cwd", &directory, "--agent", "general"];
    for is_first in [true, false] {
        let json = fake.run("", &arguments).done().json();
        assert_eq!(json["workspace_registered"], is_first);
        assert_eq!(json["session"]["workspace_name"], "c");
        assert_eq!(json["session"]["cwd"], directory);
        // The chain has not told it: the option has.
        assert!(json.get("resolution_source").is_none());
    }
    assert_eq!(workspaces(&fake), 3);
    assert_eq!(fake.state.sessions.lock().unwrap().len(), 2);
}

#[test]
fn c111_a_directory_within_a_workspace_makes_no_other_one() {
    let fake = Fake::with_two();
    let directory = text(fake.directory("a/sub"));
    let arguments = ["session", "new", "--cwd", "./a/sub", "--agent", "general"];
    let json = fake.run("", &arguments).done().json();
    assert_eq!(json["session"]["workspace_name"], "a");
    assert_eq!(
        (workspaces(&fake), created(&fake).cwd.as_deref()),
        (2, Some(directory.as_str()))
    );
}

#[test]
fn c112_a_directory_that_is_not_there_is_refused_and_not_made() {
    let fake = Fake::with_two();
    let directory = text(fake.path("none"));
    let error = fake
        .run("", &["session", "new", "--cwd", &directory])
        .done()
        .error(66);
    assert_eq!(error["reason"], "PATH_NOT_FOUND");
    assert!(!fake.path("none").exists());
    assert_eq!(workspaces(&fake), 2);
}

#[test]
fn c170_without_anything_the_current_directory_is_the_workspace_or_becomes_it() {
    let fake = Fake::with_two();
    let directory = text(fake.directory("n"));
    let done = fake.run("n", &["session", "new", "--agent", "general"]).done();
    let json = done.json();
    assert_eq!(
        json.as_object().unwrap().keys().next().unwrap(),
        "resolution_source"
    );
    assert_eq!(
        (&json["resolution_source"], &json["session"]["workspace_name"]),
        (&"cwd".into(), &"n".into())
    );
    assert_eq!(
        (created(&fake).workspace_path, created(&fake).cwd),
        (directory, None)
    );
    assert_eq!(workspaces(&fake), 3);

    let json = fake
        .run("a/sub", &["session", "new", "--agent", "general"])
        .done()
        .json();
    assert_eq!(
        (&json["resolution_source"], &json["session"]["workspace_name"]),
        (&"cwd".into(), &"a".into())
    );
    assert_eq!(workspaces(&fake), 3);
}

#[test]
fn a_workspace_that_is_named_and_not_there_registers_nothing() {
    let fake = Fake::with_two();
    let done = fake
        .run("n", &["session", "new"])
        .env("COMPOZY_WORKSPACE", "none")
        .done();
    let error = done.error(66);
    assert!(
        error["message"].as_str().unwrap().contains("COMPOZY_WORKSPACE"),
        "{error}"
    );
    assert_eq!(
        (error["metadata"]["resolution_source"].as_str(), workspaces(&fake)),
        (Some("env"), 2)
    );
    assert!(fake.state.sessions.lock().unwrap().is_empty());
}

#[test]
fn a_directory_that_is_given_goes_before_the_variable() {
    let fake = Fake::with_two();
    let directory = text(fake.path("a"));
    let done = fake
        .run("b", &["session", "new", "--cwd", &directory])
        .env("COMPOZY_WORKSPACE", "b")
        .done();
    assert_eq!(done.json()["session"]["workspace_name"], "a");
}

#[test]
fn a_daemon_of_another_host_registers_no_directory_of_this_one() {
    let fake = Fake::with_two();
    *fake.state.host_id.lock().unwrap() = "01OTHER".to_owned();
    std::fs::write(fake.home().join("host.toml"), "host_id = \"01HOST\"\n").unwrap();
    let server = format!("http://{}", fake.listen(None));
    let error = fake
        .run("a", &["--server", &server, "session", "new"])
        .done()
        .error(66);
    assert!(
        error["message"].as_str().unwrap().contains("was not tried"),
        "{error}"
    );
    assert_eq!(fake.calls(), ["GetServerInfo"]);
}

#[test]
fn every_option_reaches_the_request() {
    let fake = Fake::with_two();
    let arguments = [
        "session",
        "new",
        "--workspace",
        "a",
        "--agent",
        "reviewer",
        "--name",
        "parser",
        "--type",
        "spawned",
        "--parent",
        "sess-0000000000000001",
        "--spawn-role",
        "critic",
        "--label",
        "team=web",
        "--label",
        "x=",
        "--permission-mode",
        "deny-all",
        "--provider",
        "p",
        "--model",
        "m",
        "--start-cause",
        "asked",
        "--starting",
        "--id",
        "sess-00000000000000aa",
        "--profile",
        "work",
    ];
    let done = fake.run("", &arguments).env("COMPOZY_PROFILE", "other").done();
    assert_eq!(
        done.json()["session"]["labels"],
        serde_json::json!({"team": "web", "x": ""})
    );
    let request = created(&fake);
    assert_eq!(
        (request.r#type(), request.permission_mode()),
        (SessionType::Spawned, PermissionMode::DenyAll)
    );
    assert_eq!(request.initial_state(), SessionState::Starting);
    let texts = [
        &request.id,
        &request.name,
        &request.parent_session_id,
        &request.spawn_role,
        &request.start_cause,
    ];
    assert_eq!(
        texts,
        [
            "sess-00000000000000aa",
            "parser",
            "sess-0000000000000001",
            "critic",
            "asked"
        ]
    );
    let chosen = [
        &request.agent,
        &request.provider,
        &request.model,
        &request.profile,
        &request.environment_profile,
    ];
    let chosen: Vec<Option<&str>> = chosen.iter().map(|text| text.as_deref()).collect();
    assert_eq!(
        chosen,
        [
            Some("reviewer"),
            Some("p"),
            Some("m"),
            Some("work"),
            Some("other")
        ]
    );
    assert_eq!(request.request_id.len(), 26);
    assert!(request.bind.is_none());
}

#[test]
fn what_cannot_be_meant_is_refused_before_any_request() {
    let fake = Fake::with_two();
    let refused: [&[&str]; 8] = [
        &["--label", "team"],
        &["--label", "=web"],
        &["--label", "a=1", "--label", "a=2"],
        &["--type", "person"],
        &["--permission-mode", "all"],
        &["--agent", " "],
        &["--spawn-role", "critic"],
        &["--cwd", ""],
    ];
    for options in refused {
        let done = fake.run("a", &[&["session", "new"], options].concat()).done();
        assert_eq!(done.exit, 64, "{options:?}");
    }
    let done = fake.run("a", &["session", "new", "--type", "person"]).done();
    for word in ["user", "system", "coordinator", "spawned", "dream"] {
        assert!(done.stderr.contains(word), "{}", done.stderr);
    }
    assert!(fake.calls().is_empty());
}

#[test]
fn an_id_that_is_taken_says_what_to_do() {
    let fake = Fake::with_two();
    let taken = fake.add_session(Some("a"));
    let error = fake
        .run("a", &["session", "new", "--id", &taken])
        .done()
        .error(73);
    assert_eq!(error["reason"], "SESSION_ID_CONFLICT");
    assert!(error["hint"].as_str().unwrap().contains("--id"), "{error}");
}

#[test]
fn a_person_reads_what_was_made() {
    let fake = Fake::with_two();
    let done = fake
        .run_form("human", "n", &["session", "new", "--name", "parser"])
        .done();
    assert_eq!(done.exit, 0, "{}", done.stderr);
    assert!(
        done.stdout.starts_with("created sess-") && done.stdout.contains("parser"),
        "{}",
        done.stdout
    );
    assert!(done.stderr.contains("registered as n"), "{}", done.stderr);
}
