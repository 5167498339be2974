//! What doctor says of a catalog.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use compozy_domain::{Clock, Timestamp};
use compozy_server::clock::SystemClock;
use compozy_server::doctor::{self, Context, Report, Severity};
use compozy_server::home::Home;
use rusqlite::Connection;

use crate::daemon::{Daemon, Place, tree};

/// A clock that is wrong by some time.
#[derive(Debug)]
struct Behind(Duration);

impl Clock for Behind {
    fn now(&self) -> Timestamp {
        SystemClock.now().minus(self.0)
    }
}

/// Changes a catalog behind everybody's back, in the file itself.
pub fn change(path: &Path, sql: &str) {
    let store = Connection::open(path).unwrap();
    store.execute_batch(sql).unwrap();
    let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
    store.query_row(checkpoint, [], |_| Ok(())).unwrap();
    store.close().unwrap();
}

async fn examine(home: &Home, clock: impl Clock + 'static, fix: bool) -> Vec<Report> {
    doctor::examine(
        &doctor::checks(),
        &Context::new(home.clone(), Arc::new(clock), fix),
    )
    .await
}

fn of<'a>(reports: &'a [Report], name: &str) -> Vec<&'a Report> {
    let found: Vec<_> = reports.iter().filter(|report| report.name == name).collect();
    assert!(!found.is_empty(), "{name}: {reports:?}");
    found
}

fn wrong(reports: &[Report]) -> Vec<&Report> {
    reports
        .iter()
        .filter(|report| report.severity != Severity::Ok)
        .collect()
}

/// A home with two registrations whose daemon has ended; the ids of both.
async fn stopped(place: &Place) -> (Home, Vec<String>) {
    let daemon = Daemon::start(&place.home("h")).await;
    let mut ids = Vec::new();
    for name in ["a", "b"] {
        ids.push(daemon.register(&place.directory(name)).await.id);
    }
    daemon.stop().await;
    (place.home("h"), ids)
}

#[tokio::test(flavor = "multi_thread")]
async fn c157_a_healthy_home_passes_every_check_and_nothing_is_written() {
    let place = Place::new();
    let (home, _) = stopped(&place).await;
    let before = (tree(home.path()), tree(&place.path("a")));
    let reports = examine(&home, SystemClock, false).await;
    assert!(wrong(&reports).is_empty(), "{reports:?}");
    for check in doctor::checks() {
        of(&reports, check.name());
    }
    assert!((tree(home.path()), tree(&place.path("a"))) == before);
}

#[tokio::test(flavor = "multi_thread")]
async fn c157_a_catalog_in_use_passes_too() {
    let place = Place::new();
    let daemon = Daemon::start(&place.home("h")).await;
    daemon.register(&place.directory("a")).await;
    let reports = examine(&daemon.home, SystemClock, false).await;
    assert!(wrong(&reports).is_empty(), "{reports:?}");
    assert!(
        of(&reports, "identities")[0].message.contains("looked at: 1,"),
        "{reports:?}"
    );
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn c160_an_invalid_identity_file_is_named_and_never_touched() {
    let place = Place::new();
    let (home, ids) = stopped(&place).await;
    let file = place.path("b/.compozy/workspace.toml");
    std::fs::write(&file, "# mine\nworkspace_id = 1\n").unwrap();
    let before = tree(&place.path("b"));
    for fix in [false, true] {
        let reports = examine(&home, SystemClock, fix).await;
        let [report] = wrong(&reports)[..] else {
            panic!("{reports:?}")
        };
        assert_eq!((report.name, report.severity), ("identities", Severity::Error));
        for part in [ids[1].as_str(), "'b'", file.to_str().unwrap(), "line 2"] {
            assert!(report.message.contains(part), "{part}: {report:?}");
        }
        assert!(
            report
                .remedy
                .contains("compozy workspace identity repair --force"),
            "{report:?}"
        );
        assert!(tree(&place.path("b")) == before);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_identity_a_missing_one_and_a_root_that_is_away() {
    let place = Place::new();
    let (home, ids) = stopped(&place).await;
    let file = |name: &str| place.path(name).join(".compozy/workspace.toml");
    std::fs::copy(file("a"), file("b")).unwrap();
    std::fs::remove_file(file("a")).unwrap();
    let reports = examine(&home, SystemClock, false).await;
    let mut found = of(&reports, "identities");
    found.sort_by_key(|report| report.message.contains("carries"));
    let [missing, changed] = found[..] else {
        panic!("{reports:?}")
    };
    assert!(
        missing.severity == Severity::Warning && missing.message.contains(&ids[0]),
        "{missing:?}"
    );
    assert!(
        changed.severity == Severity::Warning && changed.message.contains(&ids[1]),
        "{changed:?}"
    );
    assert!(changed.remedy.contains("accept"), "{changed:?}");

    std::fs::remove_dir_all(place.path("a")).unwrap();
    std::fs::remove_dir_all(place.path("b")).unwrap();
    let reports = examine(&home, SystemClock, false).await;
    assert!(wrong(&reports).is_empty(), "{reports:?}");
    assert!(
        of(&reports, "identities")[0]
            .message
            .contains("away right now: 2"),
        "{reports:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn c163_w294_a_row_that_is_not_understood_is_named_and_the_other_checks_run() {
    let place = Place::new();
    let (home, ids) = stopped(&place).await;
    change(
        &home.catalog_path(),
        &format!("UPDATE workspace SET root_dir = '' WHERE id = '{}'", ids[0]),
    );
    let reports = examine(&home, SystemClock, false).await;
    let [report] = wrong(&reports)[..] else {
        panic!("{reports:?}")
    };
    assert!(
        report.severity == Severity::Error && report.message.contains(&ids[0]),
        "{report:?}"
    );
    assert!(!report.remedy.is_empty());
    assert!(
        of(&reports, "identities")[0].message.contains("looked at: 1,"),
        "{reports:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn c166_a_clock_a_day_behind_the_newest_record_is_a_warning_with_both_times() {
    let place = Place::new();
    let (home, _) = stopped(&place).await;
    let day = Duration::from_secs(24 * 60 * 60);
    let reports = examine(&home, Behind(day), false).await;
    let [report] = wrong(&reports)[..] else {
        panic!("{reports:?}")
    };
    assert_eq!((report.name, report.severity), ("clock", Severity::Warning));
    let days: Vec<&str> = report
        .message
        .match_indices("T")
        .map(|(at, _)| &report.message[at - 10..at])
        .collect();
    assert!(days.len() == 2 && days[0] < days[1], "{report:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn c167_c181_a_store_of_a_newer_release_is_named_and_left_alone() {
    let place = Place::new();
    let (home, _) = stopped(&place).await;
    change(
        &home.catalog_path(),
        "UPDATE schema_version SET version = version + 1",
    );
    let reports = examine(&home, SystemClock, false).await;
    assert!(
        wrong(&reports).is_empty(),
        "a newer schema that allows this release: {reports:?}"
    );

    change(
        &home.catalog_path(),
        "UPDATE schema_version SET oldest_binary = '99.1.0'",
    );
    let before = tree(home.path());
    let reports = examine(&home, SystemClock, false).await;
    let [report] = of(&reports, "catalog")[..] else {
        panic!("{reports:?}")
    };
    assert_eq!(report.severity, Severity::Error);
    assert!(
        report.message.contains("99.1.0") && report.message.contains(env!("CARGO_PKG_VERSION")),
        "{report:?}"
    );
    for name in ["clock", "unfinished", "identities"] {
        assert_eq!(of(&reports, name)[0].severity, Severity::Warning, "not looked at");
    }
    assert!(tree(home.path()) == before);
}

#[tokio::test(flavor = "multi_thread")]
async fn c168_a_store_that_can_not_be_read_is_reported_and_the_other_checks_run() {
    let place = Place::new();
    let (home, _) = stopped(&place).await;
    let healthy = examine(&home, SystemClock, false).await;
    std::fs::write(
        home.catalog_path(),
        "no catalog, but as long as the head of one".repeat(8),
    )
    .unwrap();
    let before = tree(home.path());
    let reports = examine(&home, SystemClock, false).await;
    let [report] = of(&reports, "catalog")[..] else {
        panic!("{reports:?}")
    };
    assert_eq!(report.severity, Severity::Error);
    assert!(
        report.message.contains(home.catalog_path().to_str().unwrap()),
        "{report:?}"
    );
    let fine = |reports: &[Report]| {
        reports
            .iter()
            .filter(|report| report.severity == Severity::Ok)
            .count()
    };
    assert_eq!(fine(&reports), fine(&healthy) - 5);
    assert!(tree(home.path()) == before);

    std::fs::remove_file(home.catalog_path()).unwrap();
    let reports = examine(&home, SystemClock, false).await;
    assert!(wrong(&reports).is_empty(), "no catalog yet: {reports:?}");
    assert!(!home.catalog_path().exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn work_that_was_cut_off_is_counted() {
    let place = Place::new();
    let (home, _) = stopped(&place).await;
    let host = std::fs::read_to_string(home.host_path()).unwrap();
    let host = host.split('"').nth(1).unwrap();
    change(
        &home.catalog_path(),
        &format!(
            "INSERT INTO intent (id, kind, host_id, owner, lease_until, root_dir, content, makes_directory, previous, \
             created_at) VALUES ('i', 'create_identity', '{host}', 'gone', 0, '/w', zeroblob(32), 1, NULL, 0)"
        ),
    );
    let reports = examine(&home, SystemClock, false).await;
    assert!(wrong(&reports).is_empty(), "{reports:?}");
    assert!(
        of(&reports, "unfinished")[0].message.contains("cut off: 1;"),
        "{reports:?}"
    );
}
