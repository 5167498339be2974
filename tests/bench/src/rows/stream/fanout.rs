//! Fan-out at a pace, and whether one client that does not read disturbs the others.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::{Side, bare_side, examples};
use crate::cpu::Busy;
use crate::measured::{Measured, Row, micros};
use crate::rows::{Plan, SMALL};
use crate::server::{Engines, Server};
use crate::stream::Key;
use crate::stream::source::{from_earliest, from_now};
use crate::stream::watchers::Watchers;

/// Commits a second.
const PACES: [u32; 2] = [50, 200];
/// Watchers.
const AUDIENCES: [usize; 2] = [100, 1_000];
/// Deliveries a second that the asking core can read. Above that it is what is measured, and queues are as long as the
/// row takes.
const READ_AT_MOST: usize = 100_000;
/// Entries that a client which reads nothing can't have been sent.
const UNREAD: usize = 10_000;

pub(super) async fn measure(plan: &Plan, engines: &Engines, engine: &'static str) -> Vec<Row> {
    let mut server = Server::with_rows(engines, engine, SMALL).await;
    server.start().await;
    let (example, synced) = examples(&Side::of(&server)).await;
    let mut daemon = Vec::new();
    for pace in PACES {
        // Anew, so that the observer's round is far away.
        server.stop();
        server.start().await;
        daemon.extend(paced(plan, &Side::of(&server), pace).await);
    }
    server.stop();
    let (floor, side) = bare_side(&[synced], &example).await;
    let mut bare = Vec::new();
    for pace in PACES {
        bare.extend(paced(plan, &side, pace).await);
    }
    drop(floor);
    let mut rows = Vec::new();
    for ((name, is_read, load), (_, _, bare)) in daemon.iter().zip(&bare) {
        rows.push(
            Row::of_load(name, engine, *load)
                .against_cpu("bare stream", bare.cpu_per_call)
                .at_most(1.5),
        );
        let behind = Row::of_figure("the same, p99 behind commit", engine, micros(load.p99), "us")
            .against_figure("bare stream", micros(bare.p99));
        rows.push(if *is_read { behind.at_most(3.0) } else { behind });
    }
    rows.extend(stalled(plan, engines, engine).await);
    rows
}

/// All audiences at one pace, and whether the asking core can read so much.
async fn paced(plan: &Plan, side: &Side, pace: u32) -> Vec<(String, bool, Measured)> {
    let alone = writes(plan, side, Watchers::live(&side.source, 0).await, pace).await;
    let mut loads = Vec::new();
    for audience in AUDIENCES {
        let watchers = Watchers::live(&side.source, audience).await;
        let run = writes(plan, side, watchers, pace).await;
        let name = format!("fan-out to {audience} watchers, {pace} commits/s");
        let deliveries = audience * usize::try_from(pace).unwrap();
        loads.push((name, deliveries <= READ_AT_MOST, run.without(&alone)));
    }
    loads
}

/// What writes at a pace showed.
struct Run {
    /// Of each delivery, from the answer of its write.
    behind: Vec<Duration>,
    elapsed: Duration,
    busy: Duration,
}

impl Run {
    /// Without what the writes cost by themselves: that is no delivery's.
    fn without(self, alone: &Self) -> Measured {
        let busy = self.busy.saturating_sub(alone.busy);
        Measured::of(self.behind, self.elapsed, busy)
    }
}

/// Writes at a pace until all that watch have seen everything, after a quarter of that as a warm-up.
async fn writes(plan: &Plan, side: &Side, mut watchers: Watchers, pace: u32) -> Run {
    let count = usize::try_from(pace).unwrap() * 4;
    let count = plan.count(count).max(10);
    side.target.write_paced(pace, count / 4).await;
    watchers.wait_for_marks(1).await;
    watchers.sheet().arrivals.clear();
    let (begun, before) = (Instant::now(), Busy::of(side.source.pid));
    let answers = side.target.write_paced(pace, count).await;
    watchers.wait_for_marks(2).await;
    let (elapsed, busy) = (begun.elapsed(), Busy::of(side.source.pid).since(&before));
    let answered: HashMap<Key, Instant> = answers.into_iter().collect();
    let behind = watchers
        .sheet()
        .arrivals
        .iter()
        // Who is told before the writer has its answer is not behind.
        .map(|(key, at)| at.saturating_duration_since(answered[key]))
        .collect();
    Run {
        behind,
        elapsed,
        busy,
    }
}

/// The last audience at the first pace, but one; and again beside one that has a backlog and does not read.
async fn stalled(plan: &Plan, engines: &Engines, engine: &'static str) -> Vec<Row> {
    let [pace, _] = PACES;
    let [_, audience] = AUDIENCES;
    let mut server = Server::with_rows(engines, engine, SMALL).await;
    server.fill_log(UNREAD);
    server.start().await;
    let side = Side::of(&server);
    let alone = writes(plan, &side, Watchers::live(&side.source, 0).await, pace).await;
    let watchers = Watchers::live(&side.source, audience - 1).await;
    let undisturbed = writes(plan, &side, watchers, pace).await.without(&alone);
    let channels = side.source.connect(audience).await;
    let mut watchers = Watchers::open(&side.source, &channels, audience - 1, &from_now());
    // On a connection that it shares with others.
    watchers.add_stalled(&side.source, channels[0].clone(), from_earliest());
    watchers.wait_until_live().await;
    let load = writes(plan, &side, watchers, pace).await.without(&alone);
    let name = format!(
        "fan-out to {} watchers beside a stalled one, {pace} commits/s",
        audience - 1
    );
    vec![
        Row::of_load(name, engine, load).against_cpu("without the stalled one", undisturbed.cpu_per_call),
        Row::of_figure("the same, p99 behind commit", engine, micros(load.p99), "us")
            .against_figure("without the stalled one", micros(undisturbed.p99)),
    ]
}
