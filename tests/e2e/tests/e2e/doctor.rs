//! The checks of a home.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use compozy_e2e::{Daemon, Done, Environment, Run, fingerprint, identity_path, mode, register, utf8};
use serde_json::Value;

pub(crate) fn doctor(environment: &Environment, arguments: &[&str]) -> Done {
    Run::compozy(environment, &[&["doctor"], arguments].concat()).done()
}

pub(crate) fn checks(done: &Done) -> Vec<Value> {
    done.object()["checks"].as_array().unwrap().clone()
}

/// The findings that are no mere "fine".
pub(crate) fn findings(done: &Done) -> Vec<Value> {
    let mut found = checks(done);
    found.retain(|check| matches!(check["severity"].as_str().unwrap(), "warning" | "error"));
    found
}

pub(crate) fn text(check: &Value, field: &str) -> String {
    check[field].as_str().unwrap().to_owned()
}

/// C157 and C169: what a report is made of, and that making it writes nothing.
#[tokio::test(flavor = "multi_thread")]
async fn c157_c169_a_healthy_home_passes_every_check_without_a_write() {
    let environment = Environment::new();
    let daemon = Daemon::start(&environment).await;
    register(daemon.client(), environment.make("a")).await.unwrap();
    daemon.stop();
    let before = (fingerprint(&environment.home), fingerprint(&environment.work));
    let report = doctor(&environment, &[]);
    report.exits(0);
    let all = checks(&report);
    assert!(all.len() > 5, "{all:?}");
    for check in &all {
        for field in ["name", "severity", "message", "remedy"] {
            assert!(check[field].is_string(), "{field}: {check}");
        }
        assert!(
            !text(check, "name").is_empty() && !text(check, "message").is_empty(),
            "{check}"
        );
        assert!(
            matches!(check["severity"].as_str().unwrap(), "ok" | "info"),
            "{check}"
        );
    }
    assert_eq!(
        (fingerprint(&environment.home), fingerprint(&environment.work)),
        before
    );
    assert!(environment.running_daemons().is_empty());
}

/// C158, then C159: only `--fix` changes a mode.
#[tokio::test(flavor = "multi_thread")]
async fn c158_c159_an_open_home_is_reported_and_mended_on_request() {
    let environment = Environment::new();
    let _daemon = Daemon::start(&environment).await;
    fs::set_permissions(&environment.home, Permissions::from_mode(0o755)).unwrap();
    let report = doctor(&environment, &[]);
    let found = findings(&report);
    let [finding] = &found[..] else {
        panic!("{found:?}")
    };
    assert!(
        text(finding, "message").contains(&utf8(&environment.home)),
        "{finding}"
    );
    assert!(!text(finding, "remedy").is_empty());
    assert_eq!(mode(&environment.home), 0o755);
    let fixed = doctor(&environment, &["--fix"]);
    fixed.exits(0);
    assert_eq!(mode(&environment.home), 0o700);
    let told = checks(&fixed)
        .iter()
        .any(|check| text(check, "message").contains("0700"));
    assert!(told, "{}", fixed.stdout);
    assert!(findings(&doctor(&environment, &[])).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn c160_an_invalid_identity_file_is_named_and_never_touched() {
    let environment = Environment::new();
    let daemon = Daemon::start(&environment).await;
    for name in ["sound", "broken"] {
        register(daemon.client(), environment.make(name)).await.unwrap();
    }
    let file = identity_path(environment.work.join("broken"));
    fs::write(&file, "# mine\nworkspace_id = 1\n").unwrap();
    let before = fingerprint(&environment.work);
    for arguments in [&[] as &[&str], &["--fix"]] {
        let report = doctor(&environment, arguments);
        report.exits(1);
        let found = findings(&report);
        let [finding] = &found[..] else {
            panic!("{found:?}")
        };
        assert_eq!(finding["severity"], "error");
        let message = text(finding, "message");
        assert!(
            message.contains("broken") && message.contains(&utf8(&file)),
            "{message}"
        );
        assert!(message.contains("line 2") || message.contains(":2"), "{message}");
        assert!(!text(finding, "remedy").is_empty());
        assert_eq!(fingerprint(&environment.work), before);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn c161_an_orphaned_profile_directory_is_a_warning() {
    let environment = Environment::new();
    let daemon = Daemon::start(&environment).await;
    Run::compozy(&environment, &["profile", "create", "kept"])
        .done()
        .exits(0);
    daemon.stop();
    let ghost = environment.home.join("profiles/ghost");
    fs::create_dir(&ghost).unwrap();
    let report = doctor(&environment, &[]);
    report.exits(0);
    let found = findings(&report);
    let [finding] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!(
        (finding["severity"].as_str(), finding["name"].as_str()),
        (Some("warning"), Some("profiles"))
    );
    assert!(text(finding, "message").contains(&utf8(&ghost)), "{finding}");
    assert!(
        text(finding, "remedy").contains("compozy profile create ghost"),
        "{finding}"
    );
    Run::compozy(&environment, &["profile", "create", "ghost"])
        .done()
        .exits(0);
    assert!(findings(&doctor(&environment, &[])).is_empty());
}

/// A directory in the place of the catalog can't be examined; the other checks do not care.
#[tokio::test(flavor = "multi_thread")]
async fn c168_a_check_that_can_not_run_says_so_and_the_others_run() {
    let environment = Environment::new();
    Daemon::start(&environment).await.stop();
    let healthy = checks(&doctor(&environment, &[])).len();
    let store = environment.home.join("compozy.db");
    fs::remove_file(&store).unwrap();
    fs::create_dir(&store).unwrap();
    let report = doctor(&environment, &[]);
    report.exits(1);
    let found = findings(&report);
    let about_the_store = found
        .iter()
        .any(|finding| text(finding, "message").contains(&utf8(&store)));
    assert!(about_the_store, "{found:?}");
    let passed = checks(&report)
        .iter()
        .filter(|check| check["severity"] == "ok")
        .count();
    assert!(passed >= 4 && passed < healthy, "{}", report.stdout);
}
