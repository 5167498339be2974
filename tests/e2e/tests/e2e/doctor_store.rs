//! Stores that this release does not understand, as a whole or in part, written by hand as a newer release might.

use std::fs;

use compozy_e2e::{Daemon, Environment, Run, by_id, identity_path, list_all, register};
use compozy_proto::workspace::v1::{UpdateWorkspaceRequest, Workspace};
use rusqlite::Connection;

use crate::doctor::{checks, doctor, findings, text};

pub(crate) fn change_store(environment: &Environment, sql: &str) {
    let store = Connection::open(environment.home.join("compozy.db")).unwrap();
    store.execute_batch(sql).unwrap();
    // Into the file itself, so that its bytes can be compared.
    store
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .unwrap();
    store.close().unwrap();
}

/// C163 and W294: a row without a root.
#[tokio::test(flavor = "multi_thread")]
async fn c163_w294_a_row_that_is_not_understood_is_listed_and_named_and_kept() {
    let environment = Environment::new();
    let daemon = Daemon::start(&environment).await;
    let mut ids = Vec::new();
    for name in ["a", "b"] {
        let answer = register(daemon.client(), environment.make(name)).await.unwrap();
        ids.push(answer.workspace.unwrap().id);
    }
    daemon.stop();
    change_store(
        &environment,
        &format!("UPDATE workspace SET root_dir = '' WHERE id = '{}'", ids[0]),
    );
    let daemon = Daemon::start(&environment).await;
    let rows = list_all(daemon.client()).await;
    let defects: Vec<bool> = rows.iter().map(|row| row.defect.is_some()).collect();
    assert_eq!((rows.len(), defects), (2, vec![false, true]));
    let request = UpdateWorkspaceRequest {
        r#ref: Some(by_id(&ids[0])),
        workspace: Some(Workspace {
            title: Some("x".to_owned()),
            ..Default::default()
        }),
        ..Default::default()
    };
    let refused = daemon.client().update_workspace(request).await.unwrap_err();
    assert_eq!(refused.reason_name(), "RECORD_NOT_UNDERSTOOD");
    let log = fs::read_to_string(environment.home.join("logs/compozy.log")).unwrap();
    assert!(log.contains(&ids[0]), "{log}");
    let report = doctor(&environment, &[]);
    report.exits(1);
    let found = findings(&report);
    assert!(
        found
            .iter()
            .any(|finding| text(finding, "message").contains(&ids[0])),
        "{found:?}"
    );
    assert!(
        checks(&report)
            .iter()
            .filter(|check| check["severity"] == "ok")
            .count()
            > 4,
        "{}",
        report.stdout
    );
    assert!(identity_path(environment.work.join("a")).exists());
}

/// C167 and the second half of C181: a schema of the future. Its table is named by the migrations.
#[tokio::test(flavor = "multi_thread")]
async fn c167_c181_a_store_of_a_newer_release_is_refused_and_left_alone() {
    let environment = Environment::new();
    Daemon::start(&environment).await.stop();
    change_store(
        &environment,
        "UPDATE schema_version SET version = version + 1, oldest_binary = '99.1.0'",
    );
    let before = fs::read(environment.home.join("compozy.db")).unwrap();
    let refused = Run::of(&environment, "compozyd", &[]).done();
    assert!(refused.exit > 0, "{refused:?}");
    for version in ["99.1.0", env!("CARGO_PKG_VERSION")] {
        assert!(refused.stderr.contains(version), "{}", refused.stderr);
    }
    let report = doctor(&environment, &[]);
    report.exits(1);
    let found = findings(&report);
    let named = found.iter().any(|finding| {
        let message = text(finding, "message");
        message.contains("99.1.0") && message.contains(env!("CARGO_PKG_VERSION"))
    });
    assert!(named, "{found:?}");
    assert!(fs::read(environment.home.join("compozy.db")).unwrap() == before);
}

/// The first half of C181: a newer schema that this release may still use.
#[tokio::test(flavor = "multi_thread")]
async fn a_newer_schema_that_allows_this_release_is_served() {
    let environment = Environment::new();
    let daemon = Daemon::start(&environment).await;
    register(daemon.client(), environment.make("a")).await.unwrap();
    daemon.stop();
    change_store(&environment, "UPDATE schema_version SET version = version + 1");
    let daemon = Daemon::start(&environment).await;
    assert_eq!(list_all(daemon.client()).await.len(), 1);
    register(daemon.client(), environment.make("b")).await.unwrap();
}
