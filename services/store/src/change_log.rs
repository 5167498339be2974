//! The change log: dense positions, the same for every reader.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use compozy_domain::{ChangeEntry, Revision, Timestamp};

use crate::error::Result;

/// The state of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogHead {
    /// Epoch and newest position.
    pub head: Revision,
    /// Everything up to this position was trimmed; a reader at it has lost nothing.
    pub floor: i64,
    /// Committed entries that have no position yet (Postgres).
    pub pending: u64,
    /// How long the oldest of them has waited, by the database's clock; zero if there is none.
    pub lag: Duration,
}

/// A piece of the log and the state of the log, in one snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogSlice {
    /// Epoch and newest position.
    pub head: Revision,
    /// Everything up to this position was trimmed. A reader below it has lost something.
    pub floor: i64,
    /// Entries, ascending, without a gap.
    pub entries: Vec<ChangeEntry>,
}

/// What became of an attempt to give positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbering {
    /// So many entries got one; with fewer than [`NUMBERED_AT_ONCE`] none that was committed before is left.
    Given(u64),
    /// Another process is at it.
    Busy,
}

/// Entries that get a position in one transaction at most.
pub const NUMBERED_AT_ONCE: u64 = 1_000;

/// Reads and numbers the log.
#[async_trait]
pub trait ChangeLog: Send + Sync {
    /// The state of the log.
    async fn head(&self) -> Result<LogHead>;

    /// Up to `limit` entries above a position, ascending, and the state of the log in the same snapshot.
    async fn read_after(&self, position: i64, limit: u32) -> Result<LogSlice>;

    /// Gives positions to at most [`NUMBERED_AT_ONCE`] committed entries. Always none on SQLite, which numbers
    /// inside the write.
    async fn number_pending(&self) -> Result<Numbering>;

    /// Returns when every entry that was committed before the call has a position, whoever gave it.
    /// [`crate::Error::DeadlineExceeded`] if that takes too long.
    async fn settle(&self, deadline: Instant) -> Result<()>;

    /// Lets the oldest entries go, at most 5,000 at a time, and raises the floor with them: those from before an
    /// instant, and those beyond the newest `entries`. Answers how many went.
    async fn trim(&self, before: Timestamp, entries: u64) -> Result<u64>;

    /// The time by the clock that entries carry, of which `own` is the process's: the database's where several
    /// processes share one.
    async fn now(&self, own: Timestamp) -> Result<Timestamp>;

    /// Waits until this process has committed an entry or a new epoch since the last wait. Only for one waiter.
    async fn appended(&self);

    /// Waits until another process says that the log has moved: a hint that may get lost, and may come for nothing.
    /// Never returns where nobody says so: on SQLite and behind a transaction pooler. What this process says itself
    /// does not come back to it. Only for one waiter; listening begins with the first wait.
    async fn hinted(&self);

    /// Says to other processes that the log has moved, soon and at most once in 25 ms however often this is called.
    /// Nobody waits for it, and what the server loses of it is not repeated.
    async fn hint(&self);

    /// How often the log has to be read to learn what no hint has told.
    fn poll_period(&self) -> Duration;
}
