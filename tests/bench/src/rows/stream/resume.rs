//! Everybody comes back at once: the daemon was killed and started again, and each client has missed a little.

use std::time::Instant;

use bytes::Bytes;
use compozy_proto::change::v1::watch_catalog_response::Message;
use compozy_proto::change::v1::{Change, WatchCatalogResponse};
use prost::Message as _;

use super::{Side, bare_side};
use crate::cpu::Busy;
use crate::measured::{Measured, Row, micros};
use crate::rows::Plan;
use crate::server::{Engines, Server};
use crate::stream::source::{Source, behind, from_earliest};
use crate::stream::watchers::{Watchers, record};

const AUDIENCE: usize = 1_000;
const ENTRIES: usize = 2_000;
const MISSED: usize = 100;

pub(super) async fn measure(_: &Plan, engines: &Engines, engine: &'static str) -> Vec<Row> {
    let mut server = Server::with_rows(engines, engine, 0).await;
    server.fill_log(ENTRIES);
    server.start().await;
    let all = record(&server.source(), from_earliest()).await;
    let token = changes(&all)[ENTRIES - MISSED - 1].token.clone();
    let request = behind(&token);
    let missed = record(&server.source(), request.clone()).await;
    assert_eq!(changes(&missed).len(), MISSED);
    // A kill, not an orderly end.
    server.stop();
    server.start().await;
    let daemon = resume(&server.source(), &request).await;
    server.stop();
    let (_floor, Side { source, .. }) = bare_side(&missed, &Default::default()).await;
    let bare = resume(&source, &request).await;
    let name = format!("{AUDIENCE} watchers resume after a restart, {MISSED} changes each");
    vec![
        Row::of_load(name, engine, daemon).against_cpu("bare stream", bare.cpu_per_call),
        Row::of_figure(
            "the same, until the last is live",
            engine,
            micros(daemon.elapsed) / 1e3,
            "ms",
        )
        .against_figure("bare stream", micros(bare.elapsed) / 1e3),
    ]
}

fn changes(messages: &[Bytes]) -> Vec<Change> {
    let mut changes = Vec::new();
    for message in messages {
        let message = WatchCatalogResponse::decode(message.clone()).unwrap().message;
        if let Some(Message::Changes(batch)) = message {
            changes.extend(batch.changes);
        }
    }
    changes
}

/// A call is one stream, from the first attempt to connect until it is live.
async fn resume(source: &Source, request: &Bytes) -> Measured {
    let (begun, before) = (Instant::now(), Busy::of(source.pid));
    let channels = source.connect(AUDIENCE).await;
    let mut watchers = Watchers::open(source, &channels, AUDIENCE, request);
    watchers.wait_until_live().await;
    let (elapsed, busy) = (begun.elapsed(), Busy::of(source.pid).since(&before));
    let sheet = watchers.sheet();
    assert_eq!(
        sheet.arrivals.len(),
        AUDIENCE * MISSED,
        "everybody gets everything"
    );
    let live = sheet.synced.iter().map(|at| *at - begun).collect();
    Measured::of(live, elapsed, busy)
}
