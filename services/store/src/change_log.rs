//! The change log: dense positions, the same for every reader.

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
}

/// Reads and numbers the log.
#[async_trait]
pub trait ChangeLog: Send + Sync {
    /// The state of the log.
    async fn head(&self) -> Result<LogHead>;

    /// Up to `limit` entries above a position, ascending, and the floor in the same snapshot.
    async fn read_after(&self, position: i64, limit: u32) -> Result<(Vec<ChangeEntry>, i64)>;

    /// Gives positions to at most 1,000 committed entries and answers how many got one. Zero on SQLite,
    /// which numbers inside the write, and while another replica is at it.
    async fn number_pending(&self) -> Result<u64>;

    /// Lets the oldest entries go, at most 5,000 at a time, and raises the floor with them: those from before an
    /// instant, and those beyond the newest `entries`. Answers how many went.
    async fn trim(&self, before: Timestamp, entries: u64) -> Result<u64>;

    /// Waits until this process has committed something since the last wait, so that entries may wait for a
    /// position. Never returns on SQLite. Only for one waiter.
    async fn appended(&self);
}
