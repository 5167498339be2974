//! The start of the real process: health from the first moment, and an end in order at any moment.

use std::time::{Duration, Instant};

use compozy_server::lock;
use rustix::process::Signal;
use sqlx::Connection as _;
use tokio::net::UnixStream;
use tonic_health::pb::health_check_response::ServingStatus;

use crate::binary::{Daemon, Place, SOON};
use crate::health::check;
use crate::proxy::{Proxy, Silent};
use crate::running::{PATIENCE, socket_channel, until};
use crate::site::{Site, on_postgres, on_sqlite};

/// Starts the daemon up to where its socket answers; it can't get further.
async fn stuck(place: &Place, url: &str) -> Daemon {
    let daemon = Daemon::spawned(place.command_on(url), place.home.socket_path());
    until("somebody listens", async || {
        UnixStream::connect(&daemon.socket).await.is_ok()
    })
    .await;
    let health = check(&socket_channel(&daemon.socket).await, "").await;
    assert_eq!(health, ServingStatus::NotServing);
    daemon
}

/// Ends a daemon that is still starting.
async fn ends_in_order(mut daemon: Daemon, place: &Place) {
    let begun = Instant::now();
    daemon.signal(Signal::TERM);
    assert!(daemon.wait().await.success());
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    assert!(!daemon.socket.exists() && !place.home.daemon_file_path().exists());
    assert_eq!(lock::holder(&place.home), None);
}

/// The next start is not held up by anything.
async fn starts_again(place: &Place, site: &Site) {
    let next = place.serving(place.command_on(&site.url())).await;
    assert!(next.stop().await.success());
}

#[tokio::test]
async fn n168_n183_a_start_that_waits_for_a_silent_database_ends_in_order() {
    on_postgres("n183_silent", async |site| {
        let place = Place::new();
        let silent = Silent::listen().await;
        let url = format!("postgres://ada:secret@{}/catalog", silent.address);
        let daemon = stuck(&place, &url).await;
        // The first attempt was given up and another one is made.
        until("a second attempt", async || silent.attempts() > 1).await;
        let log = place.log();
        let told = log
            .iter()
            .find(|line| line["message"] == "the start waits")
            .unwrap();
        assert!(
            told["failure"].as_str().unwrap().contains("does not answer"),
            "{told}"
        );
        assert!(!told.to_string().contains("secret"), "{told}");
        ends_in_order(daemon, &place).await;
        starts_again(&place, &site).await;
    })
    .await;
}

#[tokio::test]
async fn n183_a_start_that_waits_for_a_database_that_is_down_ends_in_order() {
    on_postgres("n183_down", async |site| {
        let place = Place::new();
        let nobody = Proxy::to("").address;
        let url = format!("postgres://ada:secret@{nobody}/catalog");
        ends_in_order(stuck(&place, &url).await, &place).await;
        starts_again(&place, &site).await;
    })
    .await;
}

#[tokio::test]
async fn n183_a_start_that_waits_for_the_migration_of_another_ends_in_order() {
    on_postgres("n183_migrating", async |site| {
        let mut holder = sqlx::PgConnection::connect(&site.url()).await.unwrap();
        // The lock that migrations take.
        sqlx::query("SELECT pg_advisory_lock(7022364301936336) IS NULL")
            .execute(&mut holder)
            .await
            .unwrap();
        let place = Place::new();
        let daemon = stuck(&place, &site.url()).await;
        until("it waits for the lock", async || {
            let waiting = "SELECT count(*) FROM pg_locks JOIN pg_database ON oid = database \
                           WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted";
            let waiting: i64 = sqlx::query_scalar(waiting).fetch_one(&mut holder).await.unwrap();
            waiting > 0
        })
        .await;
        ends_in_order(daemon, &place).await;
        holder.close().await.unwrap();
        starts_again(&place, &site).await;
    })
    .await;
}

#[tokio::test]
async fn n183_a_start_that_waits_for_a_locked_file_ends_in_order() {
    on_sqlite("n183_locked", async |site| {
        let place = Place::new();
        assert!(
            place
                .serving(place.command_on(&site.url()))
                .await
                .stop()
                .await
                .success()
        );
        let path = site.url().strip_prefix("sqlite://").unwrap().to_owned();
        let holder = rusqlite::Connection::open(&path).unwrap();
        holder
            .execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")
            .unwrap();
        ends_in_order(stuck(&place, &site.url()).await, &place).await;
        drop(holder);
        starts_again(&place, &site).await;
    })
    .await;
}

#[tokio::test]
async fn n183_a_signal_at_any_moment_of_the_start_ends_it_in_order() {
    let place = Place::new();
    for round in 0..6_u32 {
        let daemon = Daemon::spawned(place.command(&["run"]), place.home.socket_path());
        let pid = i32::try_from(daemon.pid).unwrap();
        // From the first thing that it does to the home on, at growing distances.
        let begun = Instant::now();
        while lock::holder(&place.home).is_none_or(|holder| holder != daemon.pid)
            || begun.elapsed() < Duration::from_millis(u64::from(4 * round))
        {
            assert!(begun.elapsed() < PATIENCE, "{pid} never began");
            tokio::task::yield_now().await;
        }
        let mut daemon = daemon;
        daemon.signal(Signal::TERM);
        let status = daemon.wait().await;
        assert!(status.success(), "round {round}: {status}");
        assert!(!daemon.socket.exists() && !place.home.daemon_file_path().exists());
    }
    assert!(place.daemon().await.stop().await.success());
}
