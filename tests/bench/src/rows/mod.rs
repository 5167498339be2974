//! What is measured.

mod create;
mod discover;
mod get;
mod list;
mod resolve;
mod sessions;
mod start;
mod stream;

use std::time::Duration;

use crate::child::start_echo;
use crate::echo::{self, Payload};
use crate::load;
use crate::measured::{Measured, Row};
use crate::server::Engines;
use crate::wire::channel;

const ENGINES: [&str; 2] = ["SQLite", "Postgres"];
const ROWS: [&str; 12] = [
    "get", "list", "discover", "create", "start", "resolve", "sessions", "fanout", "backlog", "idle",
    "resume", "writers",
];
/// Those of the change stream.
const WATCH: &[&str] = &["fanout", "backlog", "idle", "resume", "writers"];
/// A catalog that a person has, and one that nobody has yet.
const SMALL: usize = 1_000;
const BIG: usize = 100_000;

/// What the caller asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    rows: Vec<&'static str>,
    quick: bool,
}

impl Plan {
    /// `None` for words that mean nothing.
    pub(crate) fn parse(words: &[&str]) -> Option<Self> {
        let mut plan = Self {
            rows: Vec::new(),
            quick: false,
        };
        for word in words {
            match ROWS.into_iter().find(|row| row == word) {
                Some(row) => plan.rows.push(row),
                None if *word == "watch" => plan.rows.extend(WATCH),
                None if *word == "--quick" => plan.quick = true,
                None => return None,
            }
        }
        if plan.rows.is_empty() {
            plan.rows = ROWS.to_vec();
        }
        Some(plan)
    }

    /// How long a load is measured.
    fn span(&self) -> Duration {
        Duration::from_millis(if self.quick { 500 } else { 5_000 })
    }

    /// How many of something that is made, not repeated.
    fn count(&self, full: usize) -> usize {
        if self.quick { full / 10 } else { full }
    }
}

/// Measures every row of a plan.
pub(crate) async fn measure(plan: &Plan) -> Vec<Row> {
    let engines = Engines::start();
    let mut rows = Vec::new();
    for row in ROWS.into_iter().filter(|row| plan.rows.contains(row)) {
        for engine in ENGINES {
            println!("measuring {row} on {engine}");
            rows.extend(match row {
                "get" => get::measure(plan, &engines, engine).await,
                "list" => list::measure(plan, &engines, engine).await,
                "discover" => discover::measure(plan, &engines, engine).await,
                "create" => create::measure(plan, &engines, engine).await,
                "start" => start::measure(plan, &engines, engine).await,
                "resolve" => resolve::measure(plan, &engines, engine).await,
                "sessions" => sessions::measure(plan, &engines, engine).await,
                _ => stream::measure(row, plan, &engines, engine).await,
            });
        }
    }
    rows
}

/// The floor of a call with messages of these lengths, as many in flight.
async fn echo_floor(plan: &Plan, in_flight: usize, request_length: usize, answer_length: usize) -> Measured {
    let (floor, address) = start_echo(answer_length);
    let channel = channel(address).await;
    let request = Payload::of_length(request_length);
    let callers = (0..in_flight).map(|_| {
        let (channel, request) = (channel.clone(), request.clone());
        move || {
            let (channel, request) = (channel.clone(), request.clone());
            async move {
                std::hint::black_box(echo::call(channel, request).await);
            }
        }
    });
    load::for_a_while(floor.pid(), plan.span(), callers.collect()).await
}
