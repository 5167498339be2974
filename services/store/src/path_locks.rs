//! Locks on paths within this process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

/// One lock per path that somebody holds or waits for.
#[derive(Debug, Default)]
pub(crate) struct LocalPathLocks {
    paths: Mutex<HashMap<String, Weak<AsyncMutex<()>>>>,
}

/// A held lock.
#[derive(Debug)]
pub(crate) struct LocalPathLock {
    _guard: OwnedMutexGuard<()>,
}

impl LocalPathLocks {
    /// Waits for the lock on a path.
    pub(crate) async fn lock(&self, path: &str) -> LocalPathLock {
        let lock = self.of(path);
        LocalPathLock {
            _guard: lock.lock_owned().await,
        }
    }

    fn of(&self, path: &str) -> Arc<AsyncMutex<()>> {
        let mut paths = self.paths.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lock) = paths.get(path).and_then(Weak::upgrade) {
            return lock;
        }
        paths.retain(|_, lock| lock.strong_count() > 0);
        let lock = Arc::new(AsyncMutex::new(()));
        paths.insert(path.to_owned(), Arc::downgrade(&lock));
        lock
    }
}
