//! One watch: what its stream says next. Asked only when the client can take a message, so that whoever does not read
//! costs nothing but a cursor.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use compozy_domain::{
    CatalogError, ChangeEntry, ChangeKind, Clock, Principal, Random, Scope, WatchFilter, Workspace,
    WorkspaceId, limits,
};
use compozy_proto::change::v1 as pb;
use futures::future::BoxFuture;
use tokio::sync::watch;
use tokio::time::{Instant, Sleep};

use super::behind::Behind;
use super::log::{Log, Piece};
use super::metrics::WatchMetrics;
use super::recent::Chunk;
use super::rows::Rows;
use super::{BLIND, Seat, WatchSettings};
use crate::convert::change as convert;
use crate::convert::page::framed_len;
use crate::planted;
use crate::registry::Registry;
use crate::resume_token::WatchTokens;
use crate::seal::Seal;

/// Changes of a message when rows ride along, which may be long.
const ROWS_OF_A_MESSAGE: usize = 32;
/// Bytes of a message with rows, unless one row alone is larger.
const MESSAGE_BYTES: usize = 1024 * 1024;
/// Rows of a piece of a snapshot.
const SNAPSHOT_ROWS: u32 = 32;
/// How long a watcher waits for the store. Then its client had better ask elsewhere.
const PATIENCE: Duration = Duration::from_secs(10);

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
    /// Rows are told; `after` is the last one that was read.
    Snapshot {
        after: Option<WorkspaceId>,
        rows: VecDeque<Workspace>,
        is_last: bool,
    },
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
            after: None,
            rows: VecDeque::new(),
            is_last: false,
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

    /// Makes the next changes ready. `false` if there are none.
    async fn gather(&mut self) -> Result<bool, CatalogError> {
        if self.ready.is_empty() && self.behind.is_empty() {
            // What lies between was hidden, or told by a resync: a token never goes back behind it.
            self.told = self.cursor;
        }
        if !self.behind.is_empty() && self.has_collected() {
            self.take_from_behind();
        } else {
            match patiently(self.parts.log.behind(&self.epoch, self.cursor)).await? {
                Piece::Nothing => {
                    self.behind_until = None;
                    return Ok(false);
                }
                Piece::Recent(chunk) => self.take_recent(&chunk),
                Piece::Older(chunk) => self.take(&chunk, true),
                Piece::Trimmed => self.lose(Lost::Behind),
                Piece::OtherEpoch => self.lose(Lost::Epoch),
            }
        }
        // A filter that hides everything must not keep the thread.
        tokio::task::consume_budget().await;
        Ok(true)
    }

    /// Takes entries of a chunk, and of those that follow in memory as long as they fit into the message.
    fn take_recent(&mut self, chunk: &Chunk) {
        self.take(chunk, false);
        while !self.ready.is_empty() && self.ready.len() < self.batch() && self.behind_until.is_none() {
            match self.parts.log.in_memory(&self.epoch, self.cursor) {
                Some(chunk) => self.take(&chunk, false),
                None => return,
            }
        }
    }

    /// Takes entries of a chunk: to tell them, or to collect them while the client is behind.
    fn take(&mut self, chunk: &Chunk, is_old: bool) {
        let settings = self.parts.settings;
        let is_late = chunk.arrived.elapsed() > settings.behind_after || is_old;
        let has_paused = self.pause > settings.behind_after;
        if self.behind_until.is_none() && (has_paused || (is_late && matches!(self.phase, Phase::Live))) {
            self.behind_until = Some(self.parts.log.known().head);
        }
        let Some(until) = self.behind_until else {
            return self.take_to_tell(chunk);
        };
        for entry in chunk.above(self.cursor) {
            if entry.position > until || self.behind.bytes() >= settings.behind_bytes {
                if planted::is("drop_on_overflow") {
                    self.cursor = until;
                }
                break;
            }
            self.cursor = entry.position;
            if self
                .filter
                .see(&entry.change, &self.principal.visibility)
                .is_some()
                && self.behind.put(entry.clone())
            {
                self.parts.metrics.coalesced.inc();
            }
        }
        if self.cursor >= until && self.behind.is_empty() {
            self.behind_until = None;
        }
    }

    fn take_to_tell(&mut self, chunk: &Chunk) {
        let entries = chunk.above(self.cursor);
        let mut tokens: &[Box<str>] = &[];
        if self.is_unfiltered {
            if let Some(all) = chunk.unfiltered_tokens(&mut self.tokens) {
                tokens = &all[all.len() - entries.len()..];
            }
            let room = self.batch() - self.ready.len();
            self.ready.reserve_exact(entries.len().min(room));
        }
        for (at, entry) in entries.iter().enumerate() {
            self.cursor = entry.position;
            self.make_ready(entry, tokens.get(at).map(|token| &**token));
            if self.ready.len() >= self.batch() {
                break;
            }
        }
        if self.ready.is_empty() {
            // Everything was hidden: a watcher that waits holds no memory.
            self.ready = Vec::new();
        }
    }

    /// Whether the map is to be told now: it is full, or holds everything that it is to hold.
    fn has_collected(&self) -> bool {
        self.behind.bytes() >= self.parts.settings.behind_bytes
            || self.behind_until.is_none_or(|until| self.cursor >= until)
    }

    /// Tells the whole map, in as many messages as it takes, before more is read.
    fn take_from_behind(&mut self) {
        while self.ready.len() < self.batch() {
            let Some(entry) = self.behind.pop() else { break };
            self.make_ready(&entry, None);
        }
        if self.behind.is_empty() && self.behind_until.is_some_and(|until| self.cursor >= until) {
            self.behind_until = None;
        }
    }

    fn make_ready(&mut self, entry: &ChangeEntry, token: Option<&str>) {
        let Some(seen) = self.filter.see(&entry.change, &self.principal.visibility) else {
            return;
        };
        if planted::hits("skip_one", entry) {
            return;
        }
        let token = token.map_or_else(|| self.tokens.at(entry.position), str::to_owned);
        let change = convert::change(&entry.change, &seen, token);
        if planted::hits("repeat_one", entry) {
            self.ready.push(change.clone());
            self.ready_at.push(entry.position);
        }
        self.ready.push(change);
        self.ready_at.push(entry.position);
        if planted::is("reorder_two") && self.ready.len() > 1 {
            let last = self.ready.len() - 1;
            self.ready.swap(last - 1, last);
        }
    }

    fn batch(&self) -> usize {
        if self.include_rows {
            ROWS_OF_A_MESSAGE
        } else {
            limits::BATCH_CHANGES_MAX
        }
    }

    async fn attach_rows(&mut self) -> Result<(), CatalogError> {
        let mut ids: Vec<WorkspaceId> = self.ready.iter().filter_map(row_of).collect();
        ids.sort_unstable();
        ids.dedup();
        let rows = Box::pin(patiently(self.parts.rows.now(ids))).await?;
        let mut bytes = 0;
        for change in &mut self.ready {
            let row = row_of(change).and_then(|id| rows.get(&id));
            change.row = row.map(|row| convert::row(row, &self.principal.visibility));
            bytes += framed_len(change);
            if bytes > MESSAGE_BYTES && self.with_rows > 0 {
                // The others get theirs when this message is gone.
                change.row = None;
                break;
            }
            self.with_rows += 1;
        }
        Ok(())
    }

    /// The next row of the snapshot; `None` when it is complete.
    async fn snapshot_row(&mut self) -> Result<Option<pb::WatchCatalogResponse>, CatalogError> {
        let Phase::Snapshot { after, rows, is_last } = &mut self.phase else {
            return Ok(None);
        };
        let is_wanted = self.filter.wants(ChangeKind::Workspace)
            && !(self.filter.ungrouped() && self.filter.workspaces().is_empty());
        if rows.is_empty() && !*is_last && is_wanted {
            let page = self.parts.rows.page(
                after.as_ref(),
                self.filter.workspaces(),
                SNAPSHOT_ROWS,
                &self.principal.visibility,
            );
            *rows = Box::pin(page).await?.into();
            let kept = fitting(rows);
            *is_last = rows.len() < SNAPSHOT_ROWS as usize && kept == rows.len();
            // Long rows are read again when it is their turn.
            rows.truncate(kept);
            rows.shrink_to_fit();
            *after = rows.back().map(|row| row.id.clone());
        }
        if let Some(row) = rows.pop_front() {
            let row = convert::row(&row, &self.principal.visibility);
            return Ok(Some(convert::snapshot_row(row)));
        }
        if *is_last || !is_wanted {
            self.phase = Phase::CatchUp {
                until: self.parts.log.known().head,
            };
        }
        Ok(None)
    }

    fn lose(&mut self, lost: Lost) {
        self.lost = Some(lost);
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

/// How many rows of a snapshot are kept until they are told: about a message's worth, at least one.
fn fitting(rows: &VecDeque<Workspace>) -> usize {
    let mut bytes = 0;
    for (at, row) in rows.iter().enumerate() {
        let directories: usize = row.additional_dirs.iter().map(String::len).sum();
        bytes += size_of::<Workspace>() + row.root_dir.len() + row.title.len() + directories;
        if bytes > MESSAGE_BYTES && at > 0 {
            return at;
        }
    }
    rows.len()
}

/// Waits for the store, not for ever: a stream that says nothing is worse than one that ends.
async fn patiently<T, E>(work: impl Future<Output = Result<T, E>>) -> Result<T, CatalogError>
where
    CatalogError: From<E>,
{
    match tokio::time::timeout(PATIENCE, work).await {
        Ok(outcome) => outcome.map_err(CatalogError::from),
        Err(_) => Err(unavailable()),
    }
}

const fn unavailable() -> CatalogError {
    CatalogError::StoreUnavailable {
        outcome_unknown: false,
    }
}

/// The workspace whose row goes with a change, if one does.
fn row_of(change: &pb::Change) -> Option<WorkspaceId> {
    let has_row = change.op() == pb::ChangeOp::Upserted
        && matches!(
            change.kind(),
            pb::ChangeKind::Workspace | pb::ChangeKind::WorkspaceOrder
        );
    has_row.then(|| WorkspaceId::from_stored(change.workspace_id.clone()))
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
