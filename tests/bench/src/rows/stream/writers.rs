//! What watchers cost those who write as fast as they get answers.

use super::Side;
use crate::measured::{Measured, Row};
use crate::rows::{Plan, SMALL};
use crate::server::{Engines, Server};
use crate::stream::source::{from_earliest, from_now};
use crate::stream::watchers::Watchers;

/// Entries that a client which reads nothing can't have been sent.
const UNREAD: usize = 10_000;
/// Watchers, and whether they read.
const AUDIENCES: [(usize, bool); 4] = [(0, true), (100, true), (1_000, true), (1_000, false)];

pub(super) async fn measure(plan: &Plan, engines: &Engines, engine: &'static str) -> Vec<Row> {
    let mut server = Server::with_rows(engines, engine, SMALL).await;
    server.fill_log(UNREAD);
    let mut rows = Vec::new();
    let mut alone = None;
    for (audience, reads) in AUDIENCES {
        // Anew, so that the observer's round is far away.
        server.stop();
        server.start().await;
        let load = load(plan, &Side::of(&server), audience, reads).await;
        let who = match (audience, reads) {
            (0, _) => "nobody watches".to_owned(),
            (_, true) => format!("{audience} watchers"),
            (_, false) => format!("{audience} watchers that do not read"),
        };
        let row = Row::of_load(format!("updates by 16 writers, {who}"), engine, load);
        let rate = *alone.get_or_insert_with(|| load.rate());
        rows.push(match audience {
            0 => row,
            _ => row.against_rate("nobody watches", rate),
        });
    }
    rows
}

async fn load(plan: &Plan, side: &Side, audience: usize, reads: bool) -> Measured {
    let channels = side.source.connect(audience).await;
    let reading = if reads { audience } else { 0 };
    let mut watchers = Watchers::open(&side.source, &channels, reading, &from_now());
    for channel in channels.iter().cycle().take(audience - reading) {
        watchers.add_stalled(&side.source, channel.clone(), from_earliest());
    }
    watchers.wait_until_live().await;
    side.target.write_freely(side.source.pid, plan.span()).await
}
