//! The catalog as a whole: its identity, its keys, what it remembers of the first start.

use std::path::Path;

use async_trait::async_trait;
use compozy_domain::{CatalogId, Timestamp};
use tokio_util::sync::CancellationToken;

use crate::error::Result;

/// A key that cursors and tokens are sealed with.
#[derive(Clone, PartialEq, Eq)]
pub struct CatalogKey {
    /// Grows with each rotation; the two newest are valid.
    pub number: i64,
    /// 32 random bytes.
    pub bytes: Vec<u8>,
}

impl std::fmt::Debug for CatalogKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("CatalogKey")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

/// Which engine holds the catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreKind {
    /// One process, one file.
    Sqlite,
    /// Any number of replicas.
    Postgres,
}

/// A count that is kept, next to the true one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Whether it is an error (otherwise a warning).
    pub is_error: bool,
    /// One sentence.
    pub message: String,
    /// What to do.
    pub remedy: String,
}

/// The catalog itself.
#[async_trait]
pub trait CatalogStore: Send + Sync {
    /// The engine.
    fn kind(&self) -> StoreKind;

    /// Its identity, the same for every replica and every start.
    fn catalog_id(&self) -> &CatalogId;

    /// The valid keys, newest first.
    async fn keys(&self) -> Result<Vec<CatalogKey>>;

    /// Adds a key and drops all but the two newest.
    async fn rotate_key(&self, key: [u8; 32], now: Timestamp) -> Result<CatalogKey>;

    /// Begins another epoch of the change log, so that no token of before is taken for a position of this log.
    async fn new_epoch(&self, epoch: &str) -> Result<()>;

    /// Writes the catalog, as it is at one instant, into a new file of mode 0600 while everybody goes on. The
    /// copy is marked: its first opening to serve begins a new epoch. Answers `false`, with nothing written,
    /// where the catalog lies in no file of its own: on Postgres and in memory.
    ///
    /// Ends with [`crate::Error::DeadlineExceeded`] soon after `stop` is cancelled. Nothing of the file is left
    /// after an error. To be awaited to its end: dropping it does not stop the copying.
    async fn backup_to(&self, path: &Path, stop: &CancellationToken) -> Result<bool>;

    /// The latest instant that a record carries by the clock of a process, to find out whether that went back.
    async fn newest_at(&self) -> Result<Timestamp>;

    /// Answers true to one caller in the life of the catalog: the first start, which registers the home.
    async fn claim_first_start(&self) -> Result<bool>;

    /// The remembered answer to a request, if it was carried out within 24 hours. Another hash is
    /// [`compozy_domain::CatalogError::RequestIdReused`].
    async fn find_answer(
        &self,
        principal: &str,
        method: &str,
        request_id: &compozy_domain::RequestId,
        hash: &[u8; 32],
        now: Timestamp,
    ) -> Result<Option<Vec<u8>>>;

    /// Forgets answers that are older than 24 hours, at most 5,000 at a time, and says how many it forgot.
    async fn forget_answers(&self, now: Timestamp) -> Result<u64>;

    /// Whether the store can be used right now.
    async fn check(&self) -> Result<()>;

    /// What is wrong with stored rows and structures, for `doctor`. Writes nothing.
    async fn examine(&self) -> Result<Vec<Finding>>;

    /// Waits until every write that has begun is finished, and closes the connections.
    async fn close(&self);
}
