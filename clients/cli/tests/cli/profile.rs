//! Section 5: profiles.

use compozy_client::proto::profile::v1::*;
use serde_json::{Value, json};
use tonic::Code;

use crate::fake::{Fake, failed};
use crate::run::Done;

fn done(fake: &Fake, directory: &str, arguments: &[&str]) -> Done {
    fake.run(directory, &[&["profile"], arguments].concat()).done()
}

fn with(names: &[&str]) -> Fake {
    let fake = Fake::with_two();
    for name in names {
        done(&fake, "", &["create", name]).json();
    }
    fake
}

fn names(list: &Value) -> Vec<&str> {
    let profiles = list["profiles"].as_array().unwrap();
    profiles
        .iter()
        .map(|profile| profile["name"].as_str().unwrap())
        .collect()
}

#[test]
fn c108_a_selection_is_that_of_one_workspace() {
    let fake = with(&["p"]);
    let json = done(&fake, "a", &["use", "p"]).json();
    assert_eq!(
        (&json["resolution_source"], &json["profile"]["name"]),
        (&json!("cwd"), &json!("p"))
    );
    assert_eq!(json["workspace_id"], "ws_0000000000000000");
    let current = |directory: &str| {
        let json = done(&fake, directory, &["current"]).json();
        (json["profile"]["name"].clone(), json["profile_source"].clone())
    };
    assert_eq!(current("a"), (json!("p"), json!("WORKSPACE")));
    assert_eq!(current("b"), (json!("default"), json!("DEFAULT")));
    // For everything else, and forgotten again.
    done(&fake, "", &["use", "p", "--global"]).json();
    assert!(
        fake.last::<SelectProfileRequest>("SelectProfile")
            .workspace
            .is_none()
    );
    assert_eq!(current("b"), (json!("p"), json!("GLOBAL")));
    done(&fake, "a", &["use", "default"]).json();
    assert_eq!(current("a"), (json!("default"), json!("WORKSPACE")));
    done(&fake, "", &["use", "--none", "--workspace", "a"]).json();
    assert_eq!(fake.last::<SelectProfileRequest>("SelectProfile").profile, None);
    assert_eq!(current("a"), (json!("p"), json!("GLOBAL")));
    assert_eq!(
        done(&fake, "", &["current", "--global"]).json()["workspace_id"],
        ""
    );
}

#[test]
fn c103_the_current_profile_says_who_chose_it() {
    let fake = with(&["p", "q"]);
    let human = |arguments: &[&str], variable: &str| {
        let all = [&["profile", "current", "a"], arguments].concat();
        fake.run_form("human", "", &all)
            .env("COMPOZY_PROFILE", variable)
            .done()
            .stdout
    };
    assert_eq!(human(&[], "p"), "p (chosen by COMPOZY_PROFILE)\n");
    assert_eq!(human(&["--profile", "q"], "p"), "q (chosen by --profile)\n");
    assert_eq!(human(&[], ""), "default (nobody has chosen one)\n");
    // A selection that the environment goes before is made, with a word about it.
    let run = fake
        .run_form("human", "a", &["profile", "use", "q"])
        .env("COMPOZY_PROFILE", "p");
    let done = run.done();
    assert_eq!(done.exit, 0);
    assert!(done.stderr.contains("COMPOZY_PROFILE is set"), "{}", done.stderr);
}

#[test]
fn c109_a_name_that_is_no_name_is_refused() {
    let fake = Fake::with_two();
    for name in ["Default", "a_b"] {
        let error = done(&fake, "", &["create", name]).error(65);
        assert_eq!(error["reason"], "NAME_INVALID");
        // The rules of workspaces are others.
        assert!(!error["hint"].as_str().unwrap().contains("64"), "{error}");
    }
    assert_eq!(names(&done(&fake, "", &["list"]).json()), ["default"]);
}

#[test]
fn a_directory_that_is_not_the_homes_own_is_refused() {
    let fake = Fake::with_two();
    let path = [
        ("path", "/h/profiles"),
        ("remedy", "put a directory in its place"),
    ];
    let status = failed(
        Code::PermissionDenied,
        "PATH_UNREADABLE",
        "/h/profiles is a link.",
        &path,
    );
    fake.fail("CreateProfile", status);
    let error = done(&fake, "", &["create", "p"]).error(77);
    assert_eq!(
        (&error["metadata"]["path"], &error["hint"]),
        (&json!("/h/profiles"), &json!("put a directory in its place"))
    );
}

#[test]
fn a_profile_from_its_beginning_to_its_end() {
    let fake = Fake::with_two();
    let json = done(
        &fake,
        "",
        &["create", "work", "--color", "#d97706", "--icon", "🔍"],
    )
    .json();
    assert_eq!(
        (&json["profile"]["color"], &json["adopted_directory"]),
        (&json!("#d97706"), &json!(false))
    );
    assert_eq!(
        fake.last::<CreateProfileRequest>("CreateProfile")
            .request_id
            .len(),
        26
    );
    let json = done(&fake, "", &["update", "work", "--icon", ""]).json();
    assert_eq!(
        (&json["profile"]["icon"], &json["profile"]["color"]),
        (&json!(""), &json!("#d97706"))
    );
    let request: UpdateProfileRequest = fake.last("UpdateProfile");
    assert_eq!(request.update_mask.unwrap().paths, ["icon"]);
    let calls = fake.calls().len();
    assert_eq!(done(&fake, "", &["update", "work"]).error(64)["reason"], "USAGE");
    assert_eq!(fake.calls().len(), calls);
    assert_eq!(
        done(&fake, "", &["rename", "work", "office"]).json()["profile"]["name"],
        "office"
    );
    assert_eq!(
        done(&fake, "", &["archive", "office"]).json()["profile"]["state"],
        "ARCHIVED"
    );
    let error = done(&fake, "a", &["current", "--profile", "office"]).error(65);
    assert_eq!(error["reason"], "PROFILE_ARCHIVED");
    assert!(
        error["hint"].as_str().unwrap().contains("profile unarchive"),
        "{error}"
    );
    assert_eq!(
        names(&done(&fake, "", &["list", "--state", "archived"]).json()),
        ["office"]
    );
    assert_eq!(
        done(&fake, "", &["unarchive", "office"]).json()["profile"]["state"],
        "ACTIVE"
    );
    let id = done(&fake, "", &["list"]).json()["profiles"][1]["id"].clone();
    assert_eq!(
        done(&fake, "", &["delete", id.as_str().unwrap()]).json()["id"],
        id
    );
    assert_eq!(
        done(&fake, "", &["delete", "office"]).error(66)["reason"],
        "PROFILE_NOT_FOUND"
    );
    assert_eq!(
        done(&fake, "", &["archive", "default"]).error(65)["reason"],
        "PROFILE_PERMANENT"
    );
}

#[test]
fn profiles_come_in_counted_pages() {
    let fake = with(&["p", "q"]);
    let first = done(&fake, "", &["list", "--limit", "2"]).json();
    assert_eq!(
        (names(&first), &first["page"]["total"]),
        (vec!["default", "p"], &json!(3))
    );
    let cursor = first["page"]["next_cursor"].as_str().unwrap();
    assert_eq!(
        names(&done(&fake, "", &["list", "--cursor", cursor]).json()),
        ["q"]
    );
    let all = done(&fake, "", &["list", "--all", "--limit", "1"]).json();
    assert_eq!(names(&all), ["default", "p", "q"]);
    let lines = fake
        .run_form("jsonl", "", &["profile", "list", "--all"])
        .done()
        .lines();
    assert_eq!((lines.len(), &lines[3]["page"]["total"]), (4, &json!(3)));
    let human = fake.run_form("human", "", &["profile", "list"]).done().stdout;
    assert_eq!(human.lines().count(), 4, "{human}");
}

#[test]
fn a_directory_that_was_there_is_told() {
    let fake = Fake::with_two();
    let human = fake
        .run_form("human", "", &["profile", "create", "adopted"])
        .done();
    assert!(
        human.stderr.contains("was there already") && human.stderr.contains("profile use adopted"),
        "{}",
        human.stderr
    );
}

#[test]
fn which_place_is_meant_is_said_once() {
    let fake = with(&["p"]);
    let calls = fake.calls().len();
    for arguments in [
        &["use"][..],
        &["use", "p", "--none"],
        &["use", "p", "--global", "--workspace", "a"],
        &["current", "a", "--global"],
        &["use", " "],
    ] {
        assert_eq!(done(&fake, "a", arguments).exit, 64, "{arguments:?}");
    }
    assert_eq!(fake.calls().len(), calls);
}
