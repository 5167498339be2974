//! The log below what is in memory, for watchers that resume from far back: read in aligned pieces that many of them
//! share. A thousand clients that come back after a restart read the log once, not a thousand times.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use compozy_domain::{CatalogError, Revision};
use compozy_store::{LogSlice, Store};
use tokio::sync::{OnceCell, Semaphore};

use super::recent::Chunk;

/// Entries of a piece.
const PIECE: i64 = 512;
/// Pieces that are kept, about 2 MiB.
const PIECES_KEPT: usize = 16;
/// Reads at once: watchers leave connections to everybody else.
const READS_AT_ONCE: usize = 2;

/// What a read below the recent entries found.
#[derive(Debug, Clone)]
pub enum Older {
    /// Entries, some of them above the position.
    Chunk(Arc<Chunk>),
    /// The next entry is gone.
    Trimmed,
    /// The log belongs to another epoch by now.
    OtherEpoch,
}

/// Reads old pieces, each once for all who want it at a time.
#[derive(Debug)]
pub struct History {
    store: Arc<dyn Store>,
    pieces: Mutex<VecDeque<Arc<PieceOf>>>,
    reads: Semaphore,
}

#[derive(Debug)]
struct PieceOf {
    epoch: Arc<str>,
    after: i64,
    read: OnceCell<Older>,
}

impl History {
    /// Nothing is read yet.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self {
            store,
            pieces: Mutex::default(),
            reads: Semaphore::new(READS_AT_ONCE),
        }
    }

    /// The entries behind a position that lies below `head`, none above it.
    ///
    /// # Errors
    /// What the store answers.
    pub async fn behind(&self, epoch: &Arc<str>, position: i64, head: i64) -> Result<Older, CatalogError> {
        let piece = self.piece(epoch, position - position.rem_euclid(PIECE));
        let read = piece.read.get_or_try_init(|| self.read(&piece, head)).await;
        let found = read.cloned();
        // A piece that is not whole is not kept: the log goes on behind it, or was cut in front of it.
        let is_whole = matches!(&found, Ok(Older::Chunk(chunk)) if chunk.entries.len() as i64 == PIECE);
        if !is_whole {
            self.forget(&piece);
        }
        match found? {
            Older::Chunk(chunk) if chunk.after > position => Ok(Older::Trimmed),
            found => Ok(found),
        }
    }

    /// Forgets everything: another log has begun, perhaps under the old epoch.
    pub fn clear(&self) {
        self.pieces.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn piece(&self, epoch: &Arc<str>, after: i64) -> Arc<PieceOf> {
        let mut pieces = self.pieces.lock().unwrap_or_else(PoisonError::into_inner);
        let known = pieces
            .iter()
            .find(|piece| piece.after == after && *piece.epoch == **epoch);
        if let Some(known) = known {
            return Arc::clone(known);
        }
        if pieces.len() >= PIECES_KEPT {
            pieces.pop_front();
        }
        let piece = Arc::new(PieceOf {
            epoch: Arc::clone(epoch),
            after,
            read: OnceCell::new(),
        });
        pieces.push_back(Arc::clone(&piece));
        piece
    }

    fn forget(&self, gone: &Arc<PieceOf>) {
        let mut pieces = self.pieces.lock().unwrap_or_else(PoisonError::into_inner);
        pieces.retain(|piece| !Arc::ptr_eq(piece, gone));
    }

    async fn read(&self, piece: &PieceOf, up_to: i64) -> Result<Older, CatalogError> {
        // Never closed.
        let _turn = self.reads.acquire().await.ok();
        let LogSlice {
            head: Revision { epoch, .. },
            floor,
            mut entries,
        } = self.store.read_after(piece.after, PIECE as u32).await?;
        if epoch != *piece.epoch {
            return Ok(Older::OtherEpoch);
        }
        entries.truncate(entries.partition_point(|entry| entry.position <= up_to));
        let chunk = Chunk::new(piece.after.max(floor), entries);
        Ok(Older::Chunk(Arc::new(chunk)))
    }
}
