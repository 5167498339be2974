//! A lap: servers, traffic, watchers and faults for a while, then quiet, then the check of all that was recorded.

use std::sync::Arc;
use std::time::{Duration, Instant};

use compozy_client::Client;
use compozy_e2e::Draw;
use futures::future::join_all;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::board::{Board, Phase};
use crate::catalog::Catalog;
use crate::check::check;
use crate::faults::{Fault, disturb};
use crate::history::History;
use crate::leaving::audit;
use crate::listing::listed;
use crate::log_reader::LogReader;
use crate::servers::{Servers, Setting};
use crate::traffic::{Manners, Writer};
use crate::violation::Violation;
use crate::watching::{Habits, Recorded, Watching};

/// Between two reads of the log itself.
const READ_PERIOD: Duration = Duration::from_millis(200);
/// Until a server serves whose store has just come back.
const START_PATIENCE: Duration = Duration::from_secs(60);

/// What a lap consists of.
#[derive(Debug, Clone)]
pub(crate) struct Course {
    pub(crate) setting: Setting,
    pub(crate) writers: usize,
    pub(crate) manners: Manners,
    pub(crate) watchers: usize,
    pub(crate) habits: Habits,
    pub(crate) faults: Vec<Fault>,
    /// Between two faults, at most.
    pub(crate) calm: Duration,
    pub(crate) lasts: Duration,
}

/// What a lap came to.
#[derive(Debug)]
pub(crate) struct Finish {
    pub(crate) history: History,
    pub(crate) faults: Vec<Fault>,
    pub(crate) violations: Vec<Violation>,
}

/// Runs a lap; `None`, said aloud, where there is no Postgres.
pub(crate) async fn run(test: &str, course: &Course, seed: u64) -> Option<Finish> {
    let mut servers = Servers::start(test, &course.setting).await?;
    let reader = LogReader::begin(servers.source.clone()).await;
    let mut draw = Draw::seeded(seed);
    let (phase, watched) = watch::channel(Phase::Traffic);
    let board = Arc::new(Board::default());
    let mut writers = JoinSet::new();
    for number in 0..course.writers {
        let folder = servers.environments[0].make(&format!("writer-{number}"));
        let writer = Writer::new(
            number,
            draw.fork(),
            servers.clients(),
            Arc::clone(&board),
            folder,
            course.manners,
        );
        writers.spawn(writer.run(watched.clone()));
    }
    // Watchers hear of the quiet only when nothing is written any more and every server is back.
    let (quiet, heard) = watch::channel(Phase::Traffic);
    let mut watchers = JoinSet::new();
    for _ in 0..course.watchers {
        let (sockets, clients) = (servers.sockets(), servers.clients());
        let fork = draw.fork();
        let watching = Watching::new(
            fork,
            sockets,
            clients,
            Arc::clone(&board),
            course.habits,
            heard.clone(),
        );
        watchers.spawn(watching.run());
    }
    let mut following = JoinSet::new();
    following.spawn(follow(reader, watched.clone()));
    let faults = disturb(&mut servers, (&course.faults, course.calm), draw.fork(), watched);
    let (done, ()) = tokio::join!(faults, async {
        sleep(course.lasts).await;
        let _ = phase.send(Phase::Quiet(Instant::now()));
    });
    let mut history = History {
        outages: done.outages,
        epochs: done.epochs,
        ..History::default()
    };
    while let Some(writes) = writers.join_next().await {
        history.writes.extend(writes.expect("a writer does not panic"));
    }
    let mut reader = following
        .join_next()
        .await
        .expect("it was spawned")
        .expect("it does not panic");
    let clients = servers.clients();
    for client in &clients {
        client.wait_until_serving(START_PATIENCE).await.unwrap();
    }
    let settled = reader.settle().await;
    let _ = quiet.send(Phase::Quiet(Instant::now()));
    while let Some(recorded) = watchers.join_next().await {
        take(&mut history, recorded.expect("a watcher does not panic"));
    }
    take(&mut history, audit(&servers.sockets(), &clients, &mut draw).await);
    history.lists = lists(&clients, &mut reader).await;
    history.log = reader.into_log(settled);
    let violations = check(&history);
    Some(Finish {
        history,
        faults: done.faults,
        violations,
    })
}

/// Reads the log until nothing is to be written any more.
async fn follow(mut reader: LogReader, mut phase: watch::Receiver<Phase>) -> LogReader {
    loop {
        reader.read().await;
        tokio::select! {
            () = sleep(READ_PERIOD) => {}
            _ = phase.wait_for(|phase| *phase != Phase::Traffic) => return reader,
        }
    }
}

/// What each server lists, while the log did not grow.
async fn lists(clients: &[Client], reader: &mut LogReader) -> Vec<Catalog> {
    loop {
        let before = reader.settle().await;
        let lists = join_all(clients.iter().map(listed)).await;
        if reader.settle().await == before {
            return lists;
        }
    }
}

fn take(history: &mut History, recorded: Recorded) {
    history.watchers.extend(recorded.watchers);
    history.lies.extend(recorded.lies);
}
