//! The change stream. The log on disk is the truth; one reader per process ([`Log`]) follows its end and gives
//! positions on Postgres; a watcher ([`Watcher`]) is a cursor in the log and, only while its client has fallen
//! behind, a small map of what changed. Nothing is queued for a watcher: its stream is asked for the next message
//! when HTTP/2 has room for one, and what it says is read from the log then.

mod behind;
mod history;
mod log;
mod metrics;
mod opening;
mod patience;
mod recent;
mod rows;
mod seats;
mod watcher;

pub use self::behind::Behind;
pub use self::history::History;
pub use self::log::{Log, Piece, Present};
pub use self::metrics::WatchMetrics;
pub use self::opening::{Opening, Start, WatchWanted};
pub use self::recent::{Chunk, Recent};
pub use self::rows::{Record, RowKey, Rows};
pub use self::seats::{Seat, Seats};
pub use self::watcher::{Ending, LookAgain, Lost, Parts, Watcher};

use std::time::Duration;

/// Bounds of watches that tests set smaller.
#[derive(Debug, Clone, Copy)]
pub struct WatchSettings {
    /// Watches at once over TCP, and as many over the socket.
    pub watchers: usize,
    /// Entries at the end of the log that are kept in memory.
    pub recent_entries: usize,
    /// A client that has not taken an entry for so long has fallen behind: its changes are coalesced.
    pub behind_after: Duration,
    /// Bytes of the map of a watcher that has fallen behind.
    pub behind_bytes: usize,
    /// How long small changes are gathered while others have just been told.
    pub gather: Duration,
}

impl Default for WatchSettings {
    fn default() -> Self {
        Self {
            watchers: 4_096,
            recent_entries: 8_192,
            behind_after: Duration::from_secs(2),
            behind_bytes: 4 * 1024 * 1024,
            gather: Duration::from_millis(2),
        }
    }
}
