//! What a registration says of the files of a project.

use compozy_client::proto::workspace::v1::*;
use serde_json::json;
use tonic::Code;

use crate::fake::{Fake, config_invalid, failed};
use crate::resolution::{human, with_profiles};
use crate::run::text;

#[test]
fn c058_every_problem_has_a_line_of_its_own() {
    let fake = Fake::with_two();
    let root = text(fake.directory("c d"));
    let file = format!("{root}/.compozy/config.toml");
    let (first, second) = (
        format!("{file}:4:1"),
        format!("{root}/.compozy/agents/x/AGENT.md:2"),
    );
    let problems = [
        (
            first.as_str(),
            "config_unknown_key: unknown key `permisions`, did you mean `permissions`?",
        ),
        (second.as_str(), "front_matter_invalid: no closing delimiter"),
    ];
    fake.fail(
        "RegisterWorkspace",
        config_invalid(&problems, 5, "correct the key"),
    );
    let done = fake.run("", &["workspace", "add", "c d"]).done();
    let error = done.error(65);
    assert_eq!(error["reason"], "CONFIG_INVALID");
    let expected = json!({"path": file, "line": 4, "column": 1, "code": "config_unknown_key",
        "message": "unknown key `permisions`, did you mean `permissions`?"});
    assert_eq!(error["problems"][0], expected);
    assert_eq!(error["problems"][1]["line"], 2);

    let done = fake.run_form("human", "", &["workspace", "add", "c d"]).done();
    let lines: Vec<&str> = done.stderr.lines().collect();
    assert_eq!((done.exit, done.stdout.as_str()), (65, ""));
    assert_eq!(
        lines[0],
        "error: files of the workspace are not valid, 5 problems:"
    );
    assert_eq!(lines[1], format!("  {first}: {}", problems[0].1));
    assert_eq!(lines[2], format!("  {second}: {}", problems[1].1));
    assert_eq!(lines[3], "  and 3 more");
    // The remedy of one of them would be no remedy of the others.
    let hint =
        format!("hint: correct what is named; `compozy config validate '{root}'` says for each what to do");
    assert_eq!(lines[4..], [hint.as_str()]);
}

#[test]
fn many_unknown_keys_are_told_how_they_can_pass() {
    let fake = Fake::with_two();
    let root = text(fake.path("a"));
    let places = [1, 2].map(|line| format!("{root}/.compozy/config.toml:{line}:1"));
    let problem = "config_unknown_key: unknown key `x`";
    fake.fail(
        "ResolveWorkspace",
        config_invalid(&[(&places[0], problem), (&places[1], problem)], 2, "remove it"),
    );
    let done = fake.run("a", &["resolve"]).done();
    let error = done.error(65);
    assert_eq!(
        error["hint"],
        format!(
            "correct what is named; `compozy config validate {root}` says for each what to do; `compozy config set config.unknown_keys warn` lets unknown keys pass"
        )
    );
}

#[test]
fn a_broken_config_names_the_project_to_validate() {
    let fake = Fake::with_two();
    let root = text(fake.path("a"));
    let place = format!("{root}/.compozy/config.toml:1:1");
    fake.fail(
        "ResolveWorkspace",
        config_invalid(&[(&place, "toml_syntax: it does not parse")], 1, ""),
    );
    let done = fake.run_form("human", "a", &["resolve"]).done();
    assert_eq!(done.exit, 65);
    assert!(
        done.stderr
            .starts_with("error: the configuration is not valid:\n"),
        "{}",
        done.stderr
    );
    assert!(
        done.stderr
            .contains(&format!("\n  {place}: toml_syntax: it does not parse\n")),
        "{}",
        done.stderr
    );
    assert!(
        done.stderr.contains(&format!("`compozy config validate {root}`")),
        "{}",
        done.stderr
    );
    // One in the user's own file is looked at alone.
    let place = format!("{}/config.toml:1:1", text(fake.home()));
    fake.fail(
        "ResolveWorkspace",
        config_invalid(&[(&place, "toml_syntax: it does not parse")], 1, ""),
    );
    let error = fake.run("a", &["resolve"]).done().error(65);
    assert!(
        error["hint"].as_str().unwrap().contains("/config.toml`"),
        "{error}"
    );
}

#[test]
fn what_the_first_resolve_found_is_told_with_the_registration() {
    let fake = Fake::with_two();
    fake.directory("c");
    let finding = Diagnostic {
        code: "front_matter_recovered".to_owned(),
        severity: Severity::Warning.into(),
        path: "/c/SKILL.md".to_owned(),
        line: 3,
        column: 14,
        message: "a plain value holds \": \"".to_owned(),
        remedy: "quote it".to_owned(),
        ..Default::default()
    };
    *fake.state.findings.lock().unwrap() = vec![finding];
    let done = human(&fake, &["workspace", "add", "c"]);
    assert!(done.stdout.starts_with("registered "), "{}", done.stdout);
    let expected = "warning: /c/SKILL.md:3:14: a plain value holds \": \"\nhint: quote it\n";
    assert!(done.stderr.starts_with(expected), "{}", done.stderr);
    assert!(done.stderr.contains("`compozy resolve c`"), "{}", done.stderr);
}

#[test]
fn a_registration_resolves_with_the_profile_that_was_asked_for() {
    let fake = with_profiles();
    fake.directory("c");
    let asked = |arguments: &[&str], variable: &str| {
        let all = [&["workspace", "add", "c", "--dry-run"], arguments].concat();
        fake.run("", &all).env("COMPOZY_PROFILE", variable).done().json();
        fake.last::<RegisterWorkspaceRequest>("RegisterWorkspace").profile
    };
    assert_eq!(asked(&["--profile", "q"], "p"), Some("q".to_owned()));
    assert_eq!(asked(&[], "p"), Some("p".to_owned()));
    assert_eq!(asked(&[], " "), None);
    let message = "No profile is named nope.";
    fake.fail(
        "RegisterWorkspace",
        failed(Code::NotFound, "PROFILE_NOT_FOUND", message, &[]),
    );
    let error = fake
        .run("", &["workspace", "add", "c"])
        .env("COMPOZY_PROFILE", "nope")
        .done()
        .error(66);
    assert!(
        error["message"].as_str().unwrap().contains("COMPOZY_PROFILE"),
        "{error}"
    );
}
