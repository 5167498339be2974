//! One watch: what its stream says next. Asked only when the client can take a message, so that whoever does not read
//! costs nothing but a cursor.

mod gathering;
mod records;
mod snapshot;

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use compozy_domain::{CatalogError, Clock, Principal, Random, Scope, WatchFilter};
use compozy_proto::change::v1 as pb;
use futures::future::BoxFuture;
use tokio::sync::watch;
use tokio::time::{Instant, Sleep};

use self::snapshot::Part;
use super::behind::Behind;
use super::log::Log;
use super::metrics::WatchMetrics;
use super::patience::{BLIND, unavailable};
use super::rows::{Record, Rows};
use super::{Seat, WatchSettings};
use crate::convert::change as convert;
use crate::registry::Registry;
use crate::resume_token::WatchTokens;
use crate::seal::Seal;

/// What all watches work with.
#[derive(Debug)]
pub struct Parts {
    /// The log.
    pub log: Arc<Log>,
    /// Rows.
    pub rows: Arc<Rows>,
    /// References.
    pub registry: Arc<Registry>,
    /// Tokens.
    pub seal: Arc<Seal>,
    /// The time that heartbeats tell.
    pub clock: Arc<dyn Clock>,
    /// Jitter.
    pub random: Arc<dyn Random>,
    /// Bounds.
    pub settings: WatchSettings,
    /// Numbers.
    pub metrics: Arc<WatchMetrics>,
}

/// Why something is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lost {
    /// The changes behind the token are no longer retained.
    Expired,
    /// The token is of another epoch.
    Epoch,
    /// The client fell behind what is retained.
    Behind,
}

/// Says who the caller is now.
pub type LookAgain = Box<dyn Fn() -> Result<Arc<Principal>, CatalogError> + Send + Sync>;
/// Ends when the stream has to, with the reason.
pub type Ending = BoxFuture<'static, pb::GoingAwayReason>;

/// How far a watch has got.
#[derive(Debug)]
pub(super) enum Phase {
    /// Rows are told; `part` is read next.
    Snapshot { part: Part, rows: VecDeque<Record> },
    /// What happened up to a position is told, then `synced`.
    CatchUp { until: i64 },
    /// What happens is told.
    Live,
    /// Nothing more is told.
    Over,
}

impl Phase {
    pub(super) fn snapshot() -> Self {
        Self::Snapshot {
            part: Part::Workspaces(None),
            rows: VecDeque::new(),
        }
    }
}

/// What a watch begins with.
pub(super) struct Beginning {
    pub(super) parts: Arc<Parts>,
    pub(super) filter: WatchFilter,
    pub(super) principal: Arc<Principal>,
    pub(super) include_rows: bool,
    pub(super) heartbeat: Duration,
    pub(super) tokens: WatchTokens,
    pub(super) epoch: Arc<str>,
    pub(super) cursor: i64,
    pub(super) lost: Option<Lost>,
    pub(super) phase: Phase,
    pub(super) moved: watch::Receiver<()>,
    pub(super) look_again: LookAgain,
    pub(super) ending: Ending,
    pub(super) seat: Seat,
}

/// An open watch.
pub struct Watcher {
    parts: Arc<Parts>,
    filter: WatchFilter,
    principal: Arc<Principal>,
    include_rows: bool,
    heartbeat: Duration,
    tokens: WatchTokens,
    epoch: Arc<str>,
    /// Everything up to here was read from the log.
    cursor: i64,
    /// Everything up to here was told, as long as something waits to be told.
    told: i64,
    /// What is missing, if that has to be told first.
    lost: Option<Lost>,
    phase: Phase,
    /// Changes to tell next, and their positions.
    ready: Vec<pb::Change>,
    ready_at: Vec<i64>,
    /// How many of them have their rows and go into the next message.
    with_rows: usize,
    /// Whether it has no filter at all, as most have.
    is_unfiltered: bool,
    /// What a client that does not read has missed, collected up to `behind_until`.
    behind: Behind,
    behind_until: Option<i64>,
    moved: watch::Receiver<()>,
    beat: Pin<Box<Sleep>>,
    look_again: LookAgain,
    ending: Ending,
    /// When the last message was handed out, and how long the client took to ask for another.
    told_at: Option<Instant>,
    pause: Duration,
    _seat: Seat,
}

/// Why a watcher that waited goes on.
enum Woken {
    Moved,
    Beat,
    Ending(pb::GoingAwayReason),
}

impl Watcher {
    pub(super) fn begin(beginning: Beginning) -> Self {
        let Beginning {
            parts,
            filter,
            principal,
            include_rows,
            heartbeat,
            tokens,
            epoch,
            cursor,
            lost,
            phase,
            moved,
            look_again,
            ending,
            seat,
        } = beginning;
        let is_unfiltered = filter == WatchFilter::default();
        let first_beat = jittered(heartbeat, &*parts.random);
        Self {
            parts,
            filter,
            principal,
            include_rows,
            heartbeat,
            tokens,
            epoch,
            cursor,
            told: cursor,
            lost,
            phase,
            ready: Vec::new(),
            ready_at: Vec::new(),
            with_rows: 0,
            is_unfiltered,
            behind: Behind::default(),
            behind_until: None,
            moved,
            beat: Box::pin(tokio::time::sleep(first_beat)),
            look_again,
            ending,
            told_at: None,
            pause: Duration::ZERO,
            _seat: seat,
        }
    }

    /// The next message; `None` after the last one. An error is the last one.
    pub async fn next(&mut self) -> Option<Result<pb::WatchCatalogResponse, CatalogError>> {
        if matches!(self.phase, Phase::Over) {
            return None;
        }
        self.pause = self.told_at.map(|at| at.elapsed()).unwrap_or_default();
        let message = self.message().await;
        self.told_at = Some(Instant::now());
        if message.is_err() {
            self.phase = Phase::Over;
        }
        Some(message)
    }

    async fn message(&mut self) -> Result<pb::WatchCatalogResponse, CatalogError> {
        loop {
            if let Some(lost) = self.lost.take() {
                return self.resync(lost).await;
            }
            if self.include_rows && !self.ready.is_empty() {
                self.attach_rows().await?;
            }
            if let Some(changes) = self.changes() {
                return Ok(changes);
            }
            if let Some(reason) = futures::FutureExt::now_or_never(&mut self.ending) {
                if matches!(self.phase, Phase::Snapshot { .. }) {
                    // No token stands for half of a snapshot: its client begins again elsewhere.
                    return Err(CatalogError::Draining);
                }
                return Ok(self.going_away(reason));
            }
            if matches!(self.phase, Phase::Snapshot { .. }) {
                if Instant::now() >= self.beat.deadline() {
                    // Nothing is said: no token stands for half of a snapshot.
                    self.look_who_asks()?;
                }
                if let Some(row) = self.snapshot_row().await? {
                    return Ok(row);
                }
                continue;
            }
            if Instant::now() >= self.beat.deadline() {
                return self.heartbeat();
            }
            if self.gather().await? {
                continue;
            }
            if self.parts.log.silence() > BLIND {
                return Err(unavailable());
            }
            if let Phase::CatchUp { until } = self.phase
                && self.cursor >= until
            {
                self.phase = Phase::Live;
                return Ok(convert::synced(self.tokens.at(self.cursor)));
            }
            match self.wait().await {
                Woken::Moved | Woken::Beat => {}
                Woken::Ending(reason) => return Ok(self.going_away(reason)),
            }
        }
    }

    /// What is ready, as much of it as fits into a message.
    fn changes(&mut self) -> Option<pb::WatchCatalogResponse> {
        let count = if self.include_rows {
            std::mem::take(&mut self.with_rows)
        } else {
            self.ready.len()
        };
        self.told = *self.ready_at.get(count.checked_sub(1)?)?;
        // What goes out takes its memory with it: a watcher that waits holds none.
        self.ready_at = self.ready_at.split_off(count);
        let rest = self.ready.split_off(count);
        let changes = std::mem::replace(&mut self.ready, rest);
        self.parts.metrics.delivered.inc_by(changes.len() as u64);
        Some(convert::changes(changes))
    }

    /// Says that something is missing, and goes on from now.
    async fn resync(&mut self, lost: Lost) -> Result<pb::WatchCatalogResponse, CatalogError> {
        // Asked, not remembered: whoever found another epoch may be ahead of the reader of the log.
        let present = Box::pin(self.parts.log.present()).await?;
        self.tokens.begin_epoch(&present.epoch);
        self.epoch = present.epoch;
        self.cursor = present.head;
        self.ready.clear();
        self.ready_at.clear();
        self.with_rows = 0;
        self.behind = Behind::default();
        self.behind_until = None;
        if let Phase::CatchUp { until } = &mut self.phase {
            *until = present.head;
        }
        self.parts.metrics.count_resync(match lost {
            Lost::Expired => "expired",
            Lost::Epoch => "epoch",
            Lost::Behind => "behind",
        });
        let token = self.tokens.at(self.cursor);
        Ok(convert::resync(&self.filter, lost, token))
    }

    /// Says that the stream is alive, after a look at who the caller is by now.
    fn heartbeat(&mut self) -> Result<pb::WatchCatalogResponse, CatalogError> {
        self.look_who_asks()?;
        let token = self.tokens.at(self.place());
        Ok(convert::heartbeat(token, self.parts.clock.now()))
    }

    /// Once a heartbeat: who the caller is by now.
    fn look_who_asks(&mut self) -> Result<(), CatalogError> {
        let span = jittered(self.heartbeat, &*self.parts.random);
        self.beat.as_mut().reset(Instant::now() + span);
        self.principal = (self.look_again)()?;
        self.principal.require(Scope::Read)
    }

    fn going_away(&mut self, reason: pb::GoingAwayReason) -> pb::WatchCatalogResponse {
        self.phase = Phase::Over;
        convert::going_away(self.tokens.at(self.place()), reason)
    }

    /// Everything up to here was told.
    fn place(&self) -> i64 {
        if self.ready.is_empty() && self.behind.is_empty() {
            self.cursor
        } else {
            self.told
        }
    }

    async fn wait(&mut self) -> Woken {
        tokio::select! {
            biased;
            reason = &mut self.ending => Woken::Ending(reason),
            // Never an error: the log that the watcher holds is what sends.
            _ = self.moved.changed() => Woken::Moved,
            () = &mut self.beat => Woken::Beat,
        }
    }
}

impl fmt::Debug for Watcher {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Watcher")
            .field("filter", &self.filter)
            .field("cursor", &self.cursor)
            .field("phase", &self.phase)
            .finish_non_exhaustive()
    }
}

/// A little less than a span, never more: what began together does not beat together.
fn jittered(span: Duration, random: &dyn Random) -> Duration {
    let mut bytes = [0; 4];
    // Without randomness all beat after the same time.
    let _ = random.fill(&mut bytes);
    let part = f64::from(u32::from_be_bytes(bytes)) / f64::from(u32::MAX);
    span.mul_f64(0.9 + 0.1 * part)
}

#[cfg(test)]
mod tests;
