//! From exec to SERVING, and the memory that stays, on an empty catalog and on a big one.

use std::time::Duration;

use super::{BIG, Plan};
use crate::cpu::resident_bytes;
use crate::measured::Row;
use crate::server::{Engines, Server};

const STARTS: usize = 9;

pub(super) async fn measure(plan: &Plan, engines: &Engines, engine: &'static str) -> Vec<Row> {
    let (empty, empty_memory) = starts(plan, engines, engine, 0).await;
    let (big, big_memory) = starts(plan, engines, engine, BIG).await;
    vec![
        Row::of_figure("start to SERVING, empty", engine, millis(empty), "ms"),
        Row::of_figure("start to SERVING, 100,000 workspaces", engine, millis(big), "ms")
            .figure_at_most(500.0),
        Row::of_figure("resident memory, idle", engine, empty_memory, "MiB").figure_at_most(40.0),
        Row::of_figure(
            "resident memory, 100,000 workspaces, 500 pages read",
            engine,
            big_memory,
            "MiB",
        )
        .figure_at_most(80.0),
    ]
}

/// The median of some starts, and the memory of the last one after a walk over what there is.
async fn starts(plan: &Plan, engines: &Engines, engine: &'static str, count: usize) -> (Duration, f64) {
    let mut server = Server::with_rows(engines, engine, count).await;
    let mut times = Vec::new();
    for _ in 0..plan.count(STARTS * 10) / 10 + 1 {
        server.stop();
        times.push(server.start().await);
    }
    times.sort_unstable();
    let wire = server.connect().await;
    let mut cursor = String::new();
    for _ in 0..500 {
        let page = wire.list(100, &cursor).await.page.unwrap();
        let Some(next) = page.next_cursor else { break };
        cursor = next;
    }
    let memory = resident_bytes(server.pid()) as f64 / 1024.0 / 1024.0;
    (times[times.len() / 2], memory)
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
