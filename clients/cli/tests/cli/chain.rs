//! Section 1: which workspace.

use compozy_client::proto::workspace::v1::workspace_ref::Form;
use compozy_client::proto::workspace::v1::{GetWorkspaceRequest, RegisterWorkspaceRequest};

use crate::fake::Fake;
use crate::run::{Done, Run, text};

/// Name of the workspace and `resolution_source`.
#[track_caller]
fn told(done: &Done) -> (String, String) {
    let json = done.json();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    (text(&json["workspace"]["name"]), text(&json["resolution_source"]))
}

#[track_caller]
fn tells(done: &Done, name: &str, source: &str) {
    assert_eq!(told(done), (name.to_owned(), source.to_owned()));
}

fn form(fake: &Fake) -> Form {
    fake.last::<GetWorkspaceRequest>("GetWorkspace")
        .r#ref
        .unwrap()
        .form
        .unwrap()
}

#[test]
fn c001_positional_beats_flag_and_variable() {
    let fake = Fake::with_two();
    let run = fake
        .run("a", &["workspace", "info", "b", "--workspace", "a"])
        .env("COMPOZY_WORKSPACE", "a");
    tells(&run.done(), "b", "positional");
}

#[test]
fn c002_c003_flag_beats_variable_and_variable_beats_directory() {
    let fake = Fake::with_two();
    let run = fake
        .run("b", &["workspace", "info", "--workspace", "a"])
        .env("COMPOZY_WORKSPACE", "b");
    tells(&run.done(), "a", "flag");
    tells(
        &fake
            .run("b", &["workspace", "info"])
            .env("COMPOZY_WORKSPACE", "a")
            .done(),
        "a",
        "env",
    );
}

#[test]
fn c005_the_directory_decides_last() {
    let fake = Fake::with_two();
    tells(&fake.run("a/deep/er", &["workspace", "info"]).done(), "a", "cwd");
}

#[test]
fn c007_a_failing_variable_is_named_and_final() {
    let fake = Fake::with_two();
    let done = fake
        .run("a", &["workspace", "info"])
        .env("COMPOZY_WORKSPACE", "none")
        .done();
    let error = done.error(66);
    assert!(
        error["message"].as_str().unwrap().contains("COMPOZY_WORKSPACE"),
        "{error}"
    );
    assert_eq!(error["metadata"]["resolution_source"], "env");
    assert_eq!(fake.calls(), ["GetWorkspace"]);
}

#[test]
fn c008_a_failing_reference_does_not_fall_through() {
    let fake = Fake::with_two();
    let error = fake
        .run("a", &["workspace", "info", "none", "--workspace", "a"])
        .done()
        .error(66);
    assert_eq!(
        (&error["metadata"]["ref"], &error["reason"]),
        (&"none".into(), &"WORKSPACE_NOT_FOUND".into())
    );
    assert_eq!(fake.calls(), ["GetWorkspace"]);
}

#[test]
fn c009_c010_a_blank_flag_is_refused_before_any_request() {
    let fake = Fake::with_two();
    for flag in ["--workspace=", "--workspace=   "] {
        let done = fake
            .run("a", &["workspace", "info", flag])
            .env("COMPOZY_WORKSPACE", "a")
            .done();
        assert_eq!(done.error(64)["reason"], "USAGE");
    }
    assert!(fake.calls().is_empty());
}

#[test]
fn c011_a_blank_variable_is_unset() {
    let fake = Fake::with_two();
    tells(
        &fake
            .run("a", &["workspace", "info"])
            .env("COMPOZY_WORKSPACE", "  ")
            .done(),
        "a",
        "cwd",
    );
}

#[test]
fn c014_session_variables_do_not_disturb_a_named_workspace() {
    let fake = Fake::with_two();
    let run = fake.run("b", &["workspace", "info", "--workspace", "a"]);
    let done = run
        .env("COMPOZY_SESSION_ID", "sess-0123456789abcdef")
        .env("COMPOZY_AGENT", "general")
        .done();
    tells(&done, "a", "flag");
    assert_eq!(done.stderr, "");
}

#[test]
fn c015_c016_half_of_the_session_variables_is_noted_and_passed_over() {
    let fake = Fake::with_two();
    for (set, other) in [
        ("COMPOZY_SESSION_ID", "COMPOZY_AGENT"),
        ("COMPOZY_AGENT", "COMPOZY_SESSION_ID"),
    ] {
        let done = fake.run("b", &["workspace", "info"]).env(set, "value").done();
        tells(&done, "b", "cwd");
        assert_eq!(done.stderr.lines().count(), 1, "{}", done.stderr);
        assert!(
            done.stderr.contains(set) && done.stderr.contains(other),
            "{}",
            done.stderr
        );
    }
}

#[test]
fn c019_an_unreachable_daemon_is_not_a_missing_workspace() {
    let fake = Fake::with_two();
    let run = fake.run("b", &["--server", "unix:///nowhere.sock", "workspace", "info"]);
    let done = run
        .env("COMPOZY_SESSION_ID", "sess-0123456789abcdef")
        .env("COMPOZY_AGENT", "general")
        .done();
    let error = done.error(69);
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("cannot be reached") && !message.contains("no workspace"),
        "{message}"
    );
}

#[test]
fn c020_nothing_given_names_all_that_was_tried_and_what_to_do() {
    let fake = Fake::with_two();
    let directory = text(fake.directory("x"));
    for verb in [
        &["workspace", "info"][..],
        &["workspace", "status"],
        &["workspace", "identity", "show"],
    ] {
        let error = fake.run("x", verb).done().error(66);
        let message = error["message"].as_str().unwrap();
        let tried = [
            "positional",
            "--workspace",
            "COMPOZY_WORKSPACE",
            "session",
            &directory,
        ];
        let places: Vec<usize> = tried.iter().map(|what| message.find(what).expect(what)).collect();
        assert!(places.is_sorted(), "{message}");
        let hint = error["hint"].as_str().unwrap();
        assert!(
            hint.contains(&format!("compozy workspace add {directory}")) && hint.contains("--workspace"),
            "{hint}"
        );
    }
    assert_eq!(
        fake.run("x", &["workspace", "list"]).done().json()["page"]["total"],
        2
    );
}

#[test]
fn c022_a_name_is_a_name_also_where_a_directory_has_it() {
    let fake = Fake::with_two();
    fake.directory("elsewhere/a");
    tells(
        &fake.run("elsewhere", &["workspace", "info", "a"]).done(),
        "a",
        "positional",
    );
    assert_eq!(form(&fake), Form::Any("a".to_owned()));
}

#[test]
fn c023_paths_are_sent_absolute() {
    let fake = Fake::with_two();
    fake.directory("a/deep");
    fake.directory("x");
    for reference in ["./a", "a/", "a/deep", "./x/../a", "path:a"] {
        tells(
            &fake.run("", &["workspace", "info", reference]).done(),
            "a",
            "positional",
        );
        assert!(matches!(form(&fake), Form::Path(path) if path.starts_with(&text(fake.path("")))));
    }
}

#[test]
fn c024_a_dot_is_the_current_directory() {
    let fake = Fake::with_two();
    tells(
        &fake.run("a/deep", &["workspace", "info", "."]).done(),
        "a",
        "positional",
    );
}

#[test]
fn c025_an_absolute_path_goes_as_it_is() {
    let fake = Fake::with_two();
    fake.directory("a/deep");
    std::os::unix::fs::symlink(fake.path("a/deep"), fake.path("link")).unwrap();
    let reference = text(fake.path("b/../link/.."));
    tells(
        &fake.run("", &["workspace", "info", &reference]).done(),
        "a",
        "positional",
    );
    assert_eq!(form(&fake), Form::Path(reference));
}

#[test]
fn c026_paths_that_lead_nowhere_keep_their_reasons() {
    let fake = Fake::with_two();
    std::fs::write(fake.path("file"), "").unwrap();
    assert_eq!(
        fake.run("", &["workspace", "info", "./none"]).done().error(66)["reason"],
        "PATH_NOT_FOUND"
    );
    assert_eq!(
        fake.run("", &["workspace", "info", "./file"]).done().error(65)["reason"],
        "PATH_NOT_DIRECTORY"
    );
}

#[test]
fn c027_a_blank_reference_is_not_given() {
    let fake = Fake::with_two();
    tells(&fake.run("a", &["workspace", "info", ""]).done(), "a", "cwd");
    tells(
        &fake
            .run("a", &["workspace", "info", " ", "--workspace", "b"])
            .done(),
        "b",
        "flag",
    );
}

/// Runs in a directory that is gone by the time.
fn in_deleted_directory(fake: &Fake, arguments: &str) -> Done {
    let directory = fake.directory("gone");
    let script = format!(
        "rmdir \"$PWD\" && exec {} -o json {arguments}",
        env!("CARGO_BIN_EXE_compozy")
    );
    let mut command = std::process::Command::new("sh");
    command
        .args(["-c", &script])
        .current_dir(directory)
        .env_clear()
        .env("PATH", "/usr/bin:/bin");
    Done::from(command.env("COMPOZY_HOME", fake.home()).output().unwrap())
}

#[test]
fn c028_a_deleted_directory_does_not_matter_where_it_is_not_asked() {
    let fake = Fake::with_two();
    tells(
        &in_deleted_directory(&fake, "workspace info --workspace a"),
        "a",
        "flag",
    );
}

#[test]
fn c029_a_deleted_directory_ends_in_the_error_of_the_five_tiers() {
    let fake = Fake::with_two();
    let error = in_deleted_directory(&fake, "workspace info").error(66);
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("COMPOZY_WORKSPACE") && message.contains("gone"),
        "{message}"
    );
}

#[test]
fn c173_a_daemon_of_another_host_gets_no_path_of_this_one() {
    let fake = Fake::with_two();
    *fake.state.host_id.lock().unwrap() = "01OTHER".to_owned();
    std::fs::write(fake.home().join("host.toml"), "host_id = \"01HOST\"\n").unwrap();
    let server = format!("http://{}", fake.listen(None));
    let run = |arguments: &[&str]| {
        let all: Vec<&str> = ["--server", &server]
            .into_iter()
            .chain(arguments.iter().copied())
            .collect();
        fake.run("a", &all).done()
    };
    let error = run(&["workspace", "info"]).error(66);
    assert!(
        error["message"].as_str().unwrap().contains("was not tried"),
        "{error}"
    );
    let error = run(&["workspace", "info", "./a"]).error(66);
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("need a daemon on this host"),
        "{error}"
    );
    assert!(
        fake.calls().iter().all(|method| *method == "GetServerInfo"),
        "{:?}",
        fake.calls()
    );
    tells(&run(&["workspace", "info", "a"]), "a", "positional");

    // The same address is fine when it is this host's.
    *fake.state.host_id.lock().unwrap() = "01HOST".to_owned();
    tells(&run(&["workspace", "info"]), "a", "cwd");
}

#[test]
fn a_relative_home_is_taken_from_the_current_directory() {
    let fake = Fake::with_two();
    let home = fake.home().file_name().unwrap().to_owned();
    let run = Run::new(
        fake.home(),
        fake.home().parent().unwrap(),
        &["-o", "json", "workspace", "add", "c"],
    );
    let done = run.env("COMPOZY_HOME", home).done();
    assert_eq!(done.error(66)["reason"], "PATH_NOT_FOUND");
    assert!(
        fake.last::<RegisterWorkspaceRequest>("RegisterWorkspace")
            .path
            .starts_with('/')
    );
}
