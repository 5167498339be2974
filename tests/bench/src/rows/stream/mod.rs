//! The change stream, against bare streams of the same bytes on the same tonic: one connection for each 100 of them,
//! windows of 64 KiB.

mod backlog;
mod fanout;
mod idle;
mod resume;
mod writers;

use std::sync::Arc;

use bytes::Bytes;
use compozy_proto::change::v1::WatchCatalogResponse;
use prost::Message as _;

use super::Plan;
use crate::child::{Floor, start_streams};
use crate::measured::Row;
use crate::server::{Engines, Server};
use crate::stream::bare;
use crate::stream::source::{Source, from_earliest};
use crate::stream::watchers::record;
use crate::stream::writer::Target;
use crate::wire::channel;

/// Measures one of these rows.
pub(super) async fn measure(row: &str, plan: &Plan, engines: &Engines, engine: &'static str) -> Vec<Row> {
    match row {
        "fanout" => fanout::measure(plan, engines, engine).await,
        "backlog" => backlog::measure(plan, engines, engine).await,
        "idle" => idle::measure(plan, engines, engine).await,
        "resume" => resume::measure(plan, engines, engine).await,
        _ => writers::measure(plan, engines, engine).await,
    }
}

/// Who streams, and how to have something told.
#[derive(Debug, Clone)]
struct Side {
    source: Source,
    target: Target,
}

impl Side {
    fn of(server: &Server) -> Self {
        Self {
            source: server.source(),
            target: server.target(),
        }
    }
}

/// A running floor whose streams begin with these messages and are told changes like the example. It ends with the
/// first value.
async fn bare_side(kept: &[Bytes], example: &WatchCatalogResponse) -> (Floor, Side) {
    let (floor, address) = start_streams();
    bare::keep(&channel(address).await, kept).await;
    let side = Side {
        source: Source::bare(address, bare::WATCH, floor.pid()),
        target: Target::Bare {
            address,
            example: Arc::new(example.clone()),
        },
    };
    (floor, side)
}

/// What a daemon with nothing in its log tells of one write, and that a stream is live.
async fn examples(side: &Side) -> (WatchCatalogResponse, Bytes) {
    side.target.mark().await;
    let messages = record(&side.source, from_earliest()).await;
    let [change, synced] = &messages[..] else {
        panic!("not one change and the word that it is live: {messages:?}");
    };
    (
        WatchCatalogResponse::decode(change.clone()).unwrap(),
        synced.clone(),
    )
}
