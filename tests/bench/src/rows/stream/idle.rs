//! What a watcher costs that has nothing to be told: memory, and its heartbeats.

use std::time::{Duration, Instant};

use super::{Side, bare_side, examples};
use crate::cpu::{Busy, resident_bytes};
use crate::measured::Row;
use crate::rows::{Plan, SMALL};
use crate::server::{Engines, Server};
use crate::stream::watchers::Watchers;

const IDLE: usize = 10_000;
/// In this time each has a heartbeat.
const WINDOW: Duration = Duration::from_secs(11);

pub(super) async fn measure(plan: &Plan, engines: &Engines, engine: &'static str) -> Vec<Row> {
    let count = plan.count(IDLE);
    let mut server = Server::with_rows(engines, engine, SMALL).await;
    server.start().await;
    let side = Side::of(&server);
    let (example, synced) = examples(&side).await;
    let daemon = Idle::with(&side, count).await;
    assert!(
        daemon.heartbeats >= count,
        "a watcher that is not told that it is alive"
    );
    server.stop();
    let (_floor, side) = bare_side(&[synced], &example).await;
    let bare = Idle::with(&side, count).await;
    vec![
        Row::of_figure(
            format!("memory of each of {count} idle watchers"),
            engine,
            daemon.kibibytes,
            "KiB",
        )
        .against_figure("bare stream", bare.kibibytes)
        .figure_at_most(12.0),
        Row::of_figure(
            format!("server CPU for the heartbeats of {count} idle watchers"),
            engine,
            daemon.cpu,
            "ms/s",
        ),
    ]
}

/// What idle streams take.
struct Idle {
    /// Each.
    kibibytes: f64,
    /// All together, in milliseconds a second.
    cpu: f64,
    heartbeats: usize,
}

impl Idle {
    /// Opens so many, has each told something, and leaves them alone for a while.
    async fn with(side: &Side, count: usize) -> Self {
        let pid = side.source.pid;
        let before = resident_bytes(pid);
        let mut watchers = Watchers::live(&side.source, count).await;
        side.target.mark().await;
        watchers.wait_for_marks(1).await;
        let (begun, busy) = (Instant::now(), Busy::of(pid));
        tokio::time::sleep(WINDOW).await;
        let (elapsed, busy) = (begun.elapsed(), Busy::of(pid).since(&busy));
        let grown = resident_bytes(pid).saturating_sub(before);
        Self {
            kibibytes: grown as f64 / 1024.0 / count as f64,
            cpu: busy.as_secs_f64() * 1e3 / elapsed.as_secs_f64(),
            heartbeats: watchers.sheet().heartbeats,
        }
    }
}
