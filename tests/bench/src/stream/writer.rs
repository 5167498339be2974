//! Clients that write. They have a thread of their own, beside the one that watches, so that the moment of an answer
//! is not that when the watching thread found the time to look at it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use compozy_proto::change::v1::WatchCatalogResponse;
use compozy_proto::change::v1::watch_catalog_response::Message;
use futures::stream::{FuturesUnordered, StreamExt as _};
use prost::Message as _;
use tokio::sync::oneshot;
use tokio::time::{MissedTickBehavior, interval};
use tonic::transport::Channel;

use super::{Key, MARK, bare, id_of, number_of};
use crate::load;
use crate::measured::Measured;
use crate::wire::{self, Wire};

/// Workspaces that are written to in turn.
const WRITTEN: u64 = 500;
/// Callers of a load without a pace.
const CALLERS: usize = 16;

/// Where writes go.
#[derive(Debug, Clone)]
pub(crate) enum Target {
    /// Updates of workspaces.
    Daemon { address: SocketAddr, token: String },
    /// The same changes, as messages to hand to all streams.
    Bare {
        address: SocketAddr,
        example: Arc<WatchCatalogResponse>,
    },
}

impl Target {
    /// Writes so many times at a pace, then the mark. Answers when each write was answered.
    pub(crate) async fn write_paced(&self, per_second: u32, count: usize) -> Vec<(Key, Instant)> {
        self.on_a_thread(async move |line| {
            let mut pace = interval(Duration::from_secs(1) / per_second);
            pace.set_missed_tick_behavior(MissedTickBehavior::Burst);
            let (mut open, mut answers) = (FuturesUnordered::new(), Vec::with_capacity(count));
            for _ in 0..count {
                loop {
                    tokio::select! {
                        Some(answer) = open.next() => answers.push(answer),
                        _ = pace.tick() => break,
                    }
                }
                open.push(line.write_one());
            }
            answers.extend(open.collect::<Vec<_>>().await);
            line.write(MARK).await;
            answers
        })
        .await
    }

    /// Writes as fast as some callers get answers, for a while, then the mark. `pid` is the measured process.
    pub(crate) async fn write_freely(&self, pid: u32, span: Duration) -> Measured {
        self.on_a_thread(async move |line| {
            let caller = || async {
                line.write_one().await;
            };
            let callers = (0..CALLERS).map(|_| caller);
            let load = load::for_a_while(pid, span, callers.collect()).await;
            line.write(MARK).await;
            load
        })
        .await
    }

    /// Writes the mark.
    pub(crate) async fn mark(&self) {
        self.on_a_thread(async |line| line.write(MARK).await).await;
    }

    async fn on_a_thread<T: Send + 'static>(&self, work: impl AsyncFnOnce(&Line) -> T + Send + 'static) -> T {
        let target = self.clone();
        let (done, result) = oneshot::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let line = Line::open(&target).await;
                // Nobody waits any more when the run has been given up.
                let _ = done.send(work(&line).await);
            });
        });
        result.await.expect("the writing thread does not panic")
    }
}

/// A connection to a target.
struct Line {
    wire: LineWire,
    /// Of the writes so far, in all lines: no write must say what the record says already.
    number: &'static AtomicI64,
}

enum LineWire {
    Daemon(Wire),
    Bare(Channel, Arc<WatchCatalogResponse>),
}

impl Line {
    async fn open(target: &Target) -> Self {
        static NUMBER: AtomicI64 = AtomicI64::new(0);
        let wire = match target {
            Target::Daemon { address, token } => LineWire::Daemon(Wire::connect(*address, token).await),
            Target::Bare { address, example } => {
                let channel = wire::connect(&wire::endpoint(*address)).await;
                LineWire::Bare(channel, example.clone())
            }
        };
        Self {
            wire,
            number: &NUMBER,
        }
    }

    /// Writes to the next workspace. Answers what was written and when that was answered.
    async fn write_one(&self) -> (Key, Instant) {
        let turn = self.number.load(Ordering::Relaxed).unsigned_abs() % WRITTEN;
        let key = self.write(MARK + 1 + turn).await;
        (key, Instant::now())
    }

    async fn write(&self, workspace: u64) -> Key {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        match &self.wire {
            LineWire::Daemon(wire) => {
                let updated = wire.update(&id_of(workspace), format!("Project {number}")).await;
                let workspace = updated.workspace.unwrap();
                (number_of(workspace.id.as_bytes()), workspace.version)
            }
            LineWire::Bare(channel, example) => {
                bare::tell(channel, like(example, workspace, number)).await;
                (workspace, number)
            }
        }
    }
}

/// A message as the example, about another workspace.
fn like(example: &WatchCatalogResponse, workspace: u64, version: i64) -> Bytes {
    let mut message = WatchCatalogResponse::clone(example);
    let Some(Message::Changes(batch)) = &mut message.message else {
        panic!("the example holds no changes: {example:?}");
    };
    batch.changes[0].workspace_id = id_of(workspace);
    batch.changes[0].version = version;
    message.encode_to_vec().into()
}
