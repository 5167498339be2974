//! The daemon as a process: one a home, told from a dead one, stopped in order.

use std::fs;
use std::os::unix::net::UnixListener;
use std::time::Duration;

use compozy_client::ServingStatus;
use compozy_e2e::{Daemon, Environment, Run, by_id, list_all, register, until_async, utf8};
use compozy_proto::workspace::v1::{UpdateWorkspaceRequest, Workspace};
use rusqlite::Connection;
use serde_json::Value;
use tokio::task::JoinSet;

fn daemon(environment: &Environment, verb: &str) -> Value {
    Run::compozy(environment, &["daemon", verb]).done().json()
}

#[tokio::test(flavor = "multi_thread")]
async fn c134_a_socket_that_nobody_listens_on_is_replaced() {
    let environment = Environment::new();
    drop(UnixListener::bind(environment.home.join("daemon.sock")).unwrap());
    let daemon = Daemon::start(&environment).await;
    assert_eq!(
        daemon.client().check_health("").await.unwrap(),
        ServingStatus::Serving
    );
}

/// C135 and W297 are the same rule, once in the words of the command line.
#[tokio::test(flavor = "multi_thread")]
async fn c135_w297_a_second_daemon_names_the_first_and_leaves_it_alone() {
    let environment = Environment::new();
    let first = Daemon::start(&environment).await;
    for (program, arguments) in [("compozy", &["daemon", "run"] as &[&str]), ("compozyd", &[])] {
        let second = Run::of(&environment, program, arguments).done();
        assert_eq!(second.exit, 69, "{second:?}");
        assert!(
            second.stderr.contains(&first.pid().to_string()),
            "{}",
            second.stderr
        );
    }
    assert_eq!(
        environment.client().get_server_info().await.unwrap().process_id,
        i64::from(first.pid())
    );
    assert!(list_all(first.client()).await.is_empty());
}

/// C136 and W296: the kernel releases the lock of a killed process.
#[tokio::test(flavor = "multi_thread")]
async fn c136_w296_after_a_kill_a_daemon_starts_at_once() {
    let environment = Environment::new();
    let mut killed = Daemon::start(&environment).await;
    killed.kill();
    let started = daemon(&environment, "start");
    assert_eq!(started["started"], true);
    assert_ne!(started["pid"], killed.pid());
    daemon(&environment, "health");
}

#[tokio::test(flavor = "multi_thread")]
async fn c137_status_tells_which_daemon_runs_and_starts_none() {
    let environment = Environment::new();
    assert_eq!(daemon(&environment, "status")["running"], false);
    assert!(environment.running_daemons().is_empty());
    let running = Daemon::start(&environment).await;
    let status = daemon(&environment, "status");
    assert_eq!(
        (&status["running"], &status["pid"]),
        (&true.into(), &running.pid().into())
    );
    assert_eq!(
        status["server"],
        format!("unix://{}", utf8(environment.home.join("daemon.sock")))
    );
    assert_eq!(
        (&status["backend"], &status["version"]),
        (&"SQLITE".into(), &env!("CARGO_PKG_VERSION").into())
    );
    assert_eq!(status["socket"], utf8(environment.home.join("daemon.sock")));
    assert!(status["uptime_seconds"].is_u64());
    let services = status["services"].as_array().unwrap();
    assert!(
        services.len() > 1 && services.iter().all(|service| service["status"] == "SERVING"),
        "{status}"
    );
    running.stop();
    assert_eq!(daemon(&environment, "status")["running"], false);
}

/// The call in flight waits for the store's write lock, which the test holds until the stop has begun.
#[tokio::test(flavor = "multi_thread")]
async fn c138_a_stop_lets_the_calls_in_flight_finish() {
    let environment = Environment::new();
    let mut running = Daemon::start(&environment).await;
    let id = register(running.client(), environment.make("a"))
        .await
        .unwrap()
        .workspace
        .unwrap()
        .id;
    let store = Connection::open(environment.home.join("compozy.db")).unwrap();
    store.execute_batch("BEGIN IMMEDIATE").unwrap();
    let request = UpdateWorkspaceRequest {
        r#ref: Some(by_id(&id)),
        workspace: Some(Workspace {
            title: Some("written while it stopped".to_owned()),
            ..Default::default()
        }),
        ..Default::default()
    };
    let client = running.client().clone();
    let mut calls = JoinSet::new();
    calls.spawn(async move { client.update_workspace(request).await });
    let stopping = Run::compozy(&environment, &["daemon", "stop"]).spawn();
    let health = environment.client().with_deadline(Duration::from_millis(500));
    until_async("the stop to begin", || async {
        !matches!(health.check_health("").await, Ok(ServingStatus::Serving))
    })
    .await;
    assert!(calls.try_join_next().is_none());
    store.execute_batch("ROLLBACK").unwrap();
    let answer = calls.join_next().await.unwrap().unwrap().unwrap();
    assert_eq!(answer.workspace.unwrap().title(), "written while it stopped");
    assert!(running.ended().success());
    let output = stopping.wait_with_output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(!environment.home.join("daemon.sock").exists());
    let restarted = Daemon::start(&environment).await;
    assert_eq!(
        list_all(restarted.client()).await[0].title(),
        "written while it stopped"
    );
}

#[test]
fn c139_a_stop_without_a_daemon_says_so_and_starts_none() {
    let environment = Environment::new();
    assert_eq!(daemon(&environment, "stop")["stopped"], false);
    assert!(environment.running_daemons().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn c143_two_homes_have_two_daemons_that_know_nothing_of_each_other() {
    let (one, other) = (Environment::new(), Environment::new());
    let (first, second) = (Daemon::start(&one).await, Daemon::start(&other).await);
    register(first.client(), one.make("a")).await.unwrap();
    assert_eq!(list_all(first.client()).await.len(), 1);
    assert!(list_all(second.client()).await.is_empty());
    let infos = (
        first.client().get_server_info().await.unwrap(),
        second.client().get_server_info().await.unwrap(),
    );
    assert_ne!(infos.0.catalog_id, infos.1.catalog_id);
    assert_ne!(infos.0.host_id, infos.1.host_id);
}

/// The third part of C177, the store away, needs a Postgres that stops: `store_away`.
#[tokio::test(flavor = "multi_thread")]
async fn health_is_a_probe_that_starts_nothing() {
    let environment = Environment::new();
    Run::compozy(&environment, &["daemon", "health"]).done().error(69);
    assert!(environment.running_daemons().is_empty());
    let _daemon = Daemon::start(&environment).await;
    assert_eq!(daemon(&environment, "health")["status"], "SERVING");
}

#[tokio::test(flavor = "multi_thread")]
async fn w300_the_host_id_is_made_once_and_kept() {
    let environment = Environment::new();
    let daemon = Daemon::start(&environment).await;
    let file = fs::read_to_string(environment.home.join("host.toml")).unwrap();
    let host_id = daemon.client().get_server_info().await.unwrap().host_id;
    assert!(file.contains(&host_id), "{file}");
    assert!(
        host_id.len() == 26 && host_id.chars().all(|letter| letter.is_ascii_alphanumeric()),
        "{host_id}"
    );
    assert_eq!(compozy_e2e::mode(environment.home.join("host.toml")), 0o600);
    let workspace = register(daemon.client(), environment.make("a"))
        .await
        .unwrap()
        .workspace
        .unwrap();
    assert_eq!(workspace.host_id, host_id);
    daemon.stop();
    let daemon = Daemon::start(&environment).await;
    assert_eq!(daemon.client().get_server_info().await.unwrap().host_id, host_id);
}
