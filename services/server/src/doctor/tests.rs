#![allow(clippy::unwrap_used)]

use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::clock::SystemClock;
use crate::random::SystemRandom;

fn context(home: &Home, fix: bool) -> Context {
    Context::new(home.clone(), Arc::new(SystemClock), fix)
}

fn healthy() -> (tempfile::TempDir, Home) {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::at(directory.path());
    crate::home::prepare(&home).unwrap();
    crate::host::host_id(&home, None, &SystemClock, &SystemRandom).unwrap();
    crate::token::ensure_local_token(&home, &SystemRandom).unwrap();
    (directory, home)
}

fn severities(reports: &[Report]) -> Vec<(&'static str, Severity)> {
    reports
        .iter()
        .map(|report| (report.name, report.severity))
        .collect()
}

#[tokio::test]
async fn c157_a_healthy_home_has_every_check_ok_and_is_not_written() {
    let (directory, home) = healthy();
    let before = std::fs::metadata(directory.path()).unwrap().modified().unwrap();
    let reports = examine(&checks(), &context(&home, false)).await;
    assert!(
        reports.iter().all(|report| report.severity == Severity::Ok),
        "{reports:?}"
    );
    for check in checks() {
        assert!(
            reports.iter().any(|report| report.name == check.name()),
            "{}",
            check.name()
        );
    }
    assert_eq!(
        std::fs::metadata(directory.path()).unwrap().modified().unwrap(),
        before
    );
}

#[tokio::test]
async fn c158_c159_a_wrong_mode_is_reported_and_mended_only_when_asked() {
    let (directory, home) = healthy();
    let mode = || std::fs::metadata(directory.path()).unwrap().permissions().mode() & 0o777;
    std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let reports = examine(&checks(), &context(&home, false)).await;
    let wrong = reports.iter().find(|report| report.name == "home").unwrap();
    assert_eq!(wrong.severity, Severity::Error);
    assert!(
        wrong.message.contains("0755") && wrong.remedy.contains("--fix"),
        "{wrong:?}"
    );
    assert_eq!(mode(), 0o755);
    let mended = examine(&checks(), &context(&home, true)).await;
    let mended = mended.iter().find(|report| report.name == "home").unwrap();
    assert!(
        mended.severity == Severity::Ok && mended.message.contains("mended"),
        "{mended:?}"
    );
    assert_eq!(mode(), 0o700);
}

#[derive(Debug)]
struct Broken;

#[tonic::async_trait]
impl Check for Broken {
    fn name(&self) -> &'static str {
        "broken"
    }

    async fn run(&self, _context: &Context) -> Result<Vec<Report>, Failure> {
        panic!("by the test");
    }
}

#[tokio::test]
async fn c168_a_check_that_fails_to_run_is_reported_and_the_others_run() {
    let (_directory, home) = healthy();
    let mut all = checks();
    all.insert(0, Box::new(Broken));
    let reports = examine(&all, &context(&home, false)).await;
    assert_eq!(severities(&reports)[0], ("broken", Severity::Error));
    assert!(reports.len() > 1 && reports[1..].iter().all(|report| report.severity == Severity::Ok));
}

#[tokio::test]
async fn a_broken_configuration_and_a_left_over_note_are_named() {
    let (_directory, home) = healthy();
    std::fs::write(home.config_path(), "[grpc]\nlisen = \"x\"\n").unwrap();
    let file = crate::daemon_file::DaemonFile::of_this_process("/s".into(), Vec::new(), SystemClock.now());
    file.write(&home, &SystemRandom).unwrap();
    let reports = examine(&checks(), &context(&home, false)).await;
    let config = reports.iter().find(|report| report.name == "config").unwrap();
    assert!(
        config.severity == Severity::Error && config.message.contains("grpc.listen"),
        "{config:?}"
    );
    let daemon = reports.iter().find(|report| report.name == "daemon").unwrap();
    assert_eq!(daemon.severity, Severity::Warning);
}

#[tokio::test]
async fn what_a_start_would_refuse_is_named() {
    let (directory, home) = healthy();
    let files = format!(
        "[grpc.tls]\ncert = \"{0}/none.pem\"\nkey = \"{0}/none.key\"\n",
        directory.path().display()
    );
    for (text, named) in [
        ("[grpc]\nlisten = \"0.0.0.0:2123\"\n", "grpc.listen"),
        (files.as_str(), "none.pem"),
    ] {
        std::fs::write(home.config_path(), text).unwrap();
        let reports = examine(&checks(), &context(&home, false)).await;
        let config = reports.iter().find(|report| report.name == "config").unwrap();
        assert!(
            config.severity == Severity::Error && config.message.contains(named),
            "{config:?}"
        );
    }
}

#[test]
fn c169_a_report_has_name_severity_message_and_remedy() {
    let report = Report::warning("home", "m", "r");
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(
        json,
        serde_json::json!({"name": "home", "severity": "warning", "message": "m", "remedy": "r"})
    );
}
