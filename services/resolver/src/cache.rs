//! Snapshots that are kept as long as nothing that went into them is different.
//!
//! All calls block, and calls of one key take turns: the first does the work, those behind it find it done. A server
//! that does not want a thread to wait for each caller puts its callers together first: per key one call on one
//! thread ("the flight"), which callers join as long as it is not sealed. [`Cache::resolve`] calls `seal` before the
//! last look at the files begins. Whoever came before that gets an answer that holds everything that was on the disk
//! when they came; whoever comes later starts the next flight. So nobody is answered with less than what they had
//! written themselves just before, and a thousand callers cost two looks at the files.
//!
//! What is not kept: failures, snapshots that are larger than the cache, and those of a workspace that was forgotten
//! while they were made.

mod kept;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use compozy_domain::{Clock, WorkspaceId};

use self::kept::{Entry, Kept};
use crate::files::Files;
use crate::snapshot::{Request, ResolveFault, Snapshot, resolve_sealed};

/// Turns that are remembered before those that nobody waits for are dropped.
const TURNS_MAX: usize = 64;

/// Whose snapshot it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The active profile; `None` for `default`.
    pub profile: Option<String>,
    /// Whether the caller may read a part of the disk only.
    pub is_restricted: bool,
}

/// How much is kept, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Snapshots.
    pub entries: usize,
    /// Bytes, as far as they can be told.
    pub bytes: usize,
    /// How long without use.
    pub idle: Duration,
}

/// What became of the calls so far, and what is kept now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Answers that were kept.
    pub hits: u64,
    /// Answers, or failures, for which everything was read.
    pub misses: u64,
    /// Snapshots that are kept.
    pub entries: usize,
    /// Bytes of them, roughly.
    pub bytes: usize,
}

/// See the [module](self).
#[derive(Debug)]
pub struct Cache {
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
    hits: AtomicU64,
    misses: AtomicU64,
}

#[derive(Debug)]
struct State {
    kept: Kept,
    turns: HashMap<Key, Weak<Turn>>,
}

/// Calls of one key take it one after the other.
#[derive(Debug, Default)]
struct Turn {
    taken: Mutex<()>,
    /// The workspace was forgotten while somebody had it.
    is_forgotten: AtomicBool,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            entries: 256,
            bytes: 64 * 1024 * 1024,
            idle: Duration::from_secs(10 * 60),
        }
    }
}

impl Cache {
    /// A cache that holds nothing yet.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>, bounds: Bounds) -> Self {
        Self {
            clock,
            state: Mutex::new(State {
                kept: Kept::new(bounds),
                turns: HashMap::new(),
            }),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        }
    }

    /// The snapshot of a request: the kept one if it was made for an equal request and nothing has changed, a new one
    /// otherwise, or if `bypass` asks for it. Calls `seal` each time before the last look at the files begins; also
    /// more than once.
    ///
    /// # Errors
    /// [`ResolveFault`]; what is kept stays.
    pub fn resolve(
        &self,
        files: &dyn Files,
        key: &Key,
        request: &Request,
        bypass: bool,
        seal: &dyn Fn(),
    ) -> Result<Arc<Snapshot>, ResolveFault> {
        let turn = self.turn(key);
        let _taken = lock(&turn.taken);
        if !bypass && let Some(snapshot) = self.reuse(files, key, request, &turn, seal) {
            self.hits.fetch_add(1, Ordering::Relaxed);
            return Ok(snapshot);
        }
        self.misses.fetch_add(1, Ordering::Relaxed);
        let (snapshot, watched) = resolve_sealed(files, request, self.clock.now(), seal)?;
        let snapshot = Arc::new(snapshot);
        self.keep(key, Entry::new(request, Arc::clone(&snapshot), watched), &turn);
        Ok(snapshot)
    }

    /// Drops everything of a workspace, also what is being made for it now.
    pub fn forget(&self, workspace_id: &WorkspaceId) {
        let mut state = self.state();
        state.kept.remove_all(workspace_id);
        for (key, turn) in &state.turns {
            if key.workspace_id == *workspace_id
                && let Some(turn) = turn.upgrade()
            {
                turn.is_forgotten.store(true, Ordering::Relaxed);
            }
        }
        // Whoever comes from now on has nothing to do with those.
        state.turns.retain(|key, _| key.workspace_id != *workspace_id);
    }

    /// Drops what nobody has used for long. Every call does it, too; only a cache that is not called needs this.
    pub fn sweep(&self) {
        let now = self.clock.now();
        self.state().kept.expire(now);
    }

    /// What became of the calls so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let state = self.state();
        Counts {
            hits: self.hits.load(Ordering::Relaxed),
            misses: self.misses.load(Ordering::Relaxed),
            entries: state.kept.len(),
            bytes: state.kept.bytes(),
        }
    }

    /// Takes the kept snapshot out, looks whether it is still good, and puts it back.
    fn reuse(
        &self,
        files: &dyn Files,
        key: &Key,
        request: &Request,
        turn: &Turn,
        seal: &dyn Fn(),
    ) -> Option<Arc<Snapshot>> {
        let now = self.clock.now();
        let mut entry = {
            let mut state = self.state();
            state.kept.expire(now);
            state.kept.take(key)?
        };
        if entry.request != *request {
            return None;
        }
        seal();
        if !entry.watched.is_unchanged(files) {
            return None;
        }
        let snapshot = Arc::clone(&entry.snapshot);
        self.keep(key, entry, turn);
        Some(snapshot)
    }

    fn keep(&self, key: &Key, entry: Entry, turn: &Turn) {
        let now = self.clock.now();
        let mut state = self.state();
        if !turn.is_forgotten.load(Ordering::Relaxed) {
            state.kept.put(key.clone(), entry, now);
        }
    }

    fn turn(&self, key: &Key) -> Arc<Turn> {
        let mut state = self.state();
        if let Some(turn) = state.turns.get(key).and_then(Weak::upgrade) {
            return turn;
        }
        if state.turns.len() >= TURNS_MAX {
            state.turns.retain(|_, turn| turn.strong_count() > 0);
        }
        let turn = Arc::new(Turn::default());
        state.turns.insert(key.clone(), Arc::downgrade(&turn));
        turn
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

/// Nothing is left half done by a panic: an entry is either in its place or taken out.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
