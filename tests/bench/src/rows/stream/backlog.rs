//! Clients that come from far back: the whole log as fast as they take it.

use std::time::Instant;

use super::{Side, bare_side};
use crate::cpu::Busy;
use crate::measured::{Measured, Row};
use crate::rows::Plan;
use crate::server::{Engines, Server};
use crate::stream::source::{Source, from_earliest};
use crate::stream::watchers::{Watchers, record};

/// Entries of the log, and how many watchers want all of it: 1,000,000 deliveries both times.
const SHAPES: [(usize, usize); 2] = [(10_000, 100), (1_000, 1_000)];

pub(super) async fn measure(plan: &Plan, engines: &Engines, engine: &'static str) -> Vec<Row> {
    let mut rows = Vec::new();
    for (entries, audience) in SHAPES {
        let entries = plan.count(entries);
        let mut server = Server::with_rows(engines, engine, 0).await;
        server.fill_log(entries);
        server.start().await;
        let source = server.source();
        let messages = record(&source, from_earliest()).await;
        let daemon = drain(&source, audience, entries).await;
        server.stop();
        let (_floor, Side { source, .. }) = bare_side(&messages, &Default::default()).await;
        let bare = drain(&source, audience, entries).await;
        let name = format!("a backlog of {entries} entries, {audience} watchers");
        rows.push(
            Row::of_load(name, engine, daemon)
                .against_rate("bare stream", bare.rate())
                .at_least(0.5),
        );
        rows.push(
            Row::of_load("the same, CPU", engine, daemon).against_cpu("bare stream", bare.cpu_per_call),
        );
    }
    rows
}

/// Median and p99 are those of the time until a stream was through.
async fn drain(source: &Source, audience: usize, entries: usize) -> Measured {
    let channels = source.connect(audience).await;
    let (begun, before) = (Instant::now(), Busy::of(source.pid));
    let mut watchers = Watchers::open(source, &channels, audience, &from_earliest());
    watchers.wait_until_live().await;
    let (elapsed, busy) = (begun.elapsed(), Busy::of(source.pid).since(&before));
    let sheet = watchers.sheet();
    let deliveries = sheet.arrivals.len();
    assert_eq!(deliveries, audience * entries, "everybody gets everything");
    let through = sheet.synced.iter().map(|at| *at - begun).collect();
    let count = u32::try_from(deliveries).unwrap();
    Measured {
        calls: count.into(),
        cpu_per_call: busy / count,
        ..Measured::of(through, elapsed, busy)
    }
}
