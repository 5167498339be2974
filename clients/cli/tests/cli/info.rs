//! `workspace info`: the record and what would be seen there.

use compozy_client::proto::workspace::v1::*;
use serde_json::json;
use tonic::Code;

use crate::fake::{Fake, config_invalid, failed};
use crate::resolution::human;

#[test]
fn c100_info_has_record_counts_agents_skills_and_findings() {
    let fake = Fake::with_two();
    let json = fake.run("", &["workspace", "info", "a"]).done().json();
    assert_eq!(json["workspace"]["name"], "a");
    assert!(json["workspace"]["session_counts"].is_object());
    let snapshot = &json["snapshot"];
    assert_eq!(
        (&snapshot["agent_count"], &snapshot["skill_count"]),
        (&json!(2), &json!(2))
    );
    assert_eq!(snapshot["agent_names"], json!(["broken", "reviewer"]));
    assert_eq!(snapshot["skill_names"], json!(["notes", "release"]));
    assert_eq!(snapshot["diagnostics"].as_array().unwrap().len(), 4);
    // Cheap: no texts, no config.
    assert_eq!(
        fake.last::<ResolveWorkspaceRequest>("ResolveWorkspace").view(),
        ResolveView::Basic
    );
    let done = human(&fake, &["workspace", "info", "a"]);
    for part in [
        "sessions:",
        "agents:      2: broken, reviewer",
        "skills:      2: notes, release",
        "\nerror: ",
        "\nhint: ",
    ] {
        assert!(done.stdout.contains(part), "{part}: {}", done.stdout);
    }
}

#[test]
fn info_shows_the_record_also_of_a_workspace_that_does_not_resolve() {
    let fake = Fake::with_two();
    fake.fail(
        "ResolveWorkspace",
        failed(
            Code::FailedPrecondition,
            "WORKSPACE_ROOT_MISSING",
            "The root is gone.",
            &[],
        ),
    );
    let json = fake.run("", &["workspace", "info", "a"]).done().json();
    assert_eq!(
        (&json["workspace"]["name"], &json["unresolved"]["reason"]),
        (&json!("a"), &json!("WORKSPACE_ROOT_MISSING"))
    );
    assert!(json.get("snapshot").is_none());
    let done = human(&fake, &["workspace", "info", "a"]);
    assert!(
        done.stdout
            .contains("unresolved: The root is gone.\nhint: put the directory back"),
        "{}",
        done.stdout
    );

    let problems = [(
        "/a/.compozy/config.toml:4:1",
        "config_unknown_key: unknown key `x`",
    )];
    fake.fail("ResolveWorkspace", config_invalid(&problems, 1, ""));
    let done = human(&fake, &["workspace", "info", "a"]);
    assert!(
        done.stdout
            .contains("/a/.compozy/config.toml:4:1: config_unknown_key"),
        "{}",
        done.stdout
    );
    assert_eq!(
        fake.run("", &["workspace", "info", "a"]).done().json()["unresolved"]["problems"][0]["line"],
        4
    );

    // What the caller asked for, or a daemon in trouble, is a failure.
    fake.recover("ResolveWorkspace");
    assert_eq!(
        fake.run("", &["workspace", "info", "a", "--profile", "nope"])
            .done()
            .error(66)["reason"],
        "PROFILE_NOT_FOUND"
    );
    fake.fail(
        "ResolveWorkspace",
        failed(Code::Unavailable, "DRAINING", "It shuts down.", &[]),
    );
    assert_eq!(
        fake.run("", &["workspace", "info", "a"]).done().error(69)["reason"],
        "DRAINING"
    );
}
