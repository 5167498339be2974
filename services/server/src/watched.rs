//! Files that are read again when somebody replaced them: tokens and certificates. Looking costs a `stat`, so it
//! happens at most once in an interval, when somebody needs the content.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often to look.
pub const INTERVAL: Duration = Duration::from_secs(1);

/// What tells one content of a file from another without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    changed: (i64, i64),
    written: (i64, i64),
}

/// Some files, and what they looked like.
#[derive(Debug)]
pub struct Watched {
    paths: Vec<PathBuf>,
    seen: Mutex<Seen>,
}

#[derive(Debug)]
struct Seen {
    looked_at: Instant,
    stamps: Vec<Option<Stamp>>,
}

impl Watched {
    /// Begins to watch. The files have to be read after this, so that no change is missed.
    #[must_use]
    pub fn begin(paths: Vec<PathBuf>) -> Self {
        let stamps = stamps(&paths);
        Self {
            paths,
            seen: Mutex::new(Seen {
                looked_at: Instant::now(),
                stamps,
            }),
        }
    }

    /// Whether a file changed since the last answer. At most one of several askers is told.
    pub fn changed(&self) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.looked_at.elapsed() < INTERVAL {
            return false;
        }
        seen.looked_at = Instant::now();
        let now = stamps(&self.paths);
        let changed = now != seen.stamps;
        seen.stamps = now;
        changed
    }
}

fn stamps(paths: &[PathBuf]) -> Vec<Option<Stamp>> {
    // Follows links: a mounted secret changes by its link.
    paths
        .iter()
        .map(|path| {
            std::fs::metadata(path).ok().map(|metadata| Stamp {
                device: metadata.dev(),
                inode: metadata.ino(),
                size: metadata.size(),
                changed: (metadata.ctime(), metadata.ctime_nsec()),
                written: (metadata.mtime(), metadata.mtime_nsec()),
            })
        })
        .collect()
}
