//! Work that many callers want at once is done once. A turn is open until its work says that what happens from then on
//! may not be in its outcome: whoever comes before shares it, whoever comes later shares the next turn, because what it
//! did before it called may be too new for this one. The work blocks, so only so much of it goes on at a time; a caller
//! whose deadline passes goes away alone.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

use compozy_domain::CatalogError;
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;

use crate::tasks::Tasks;

/// Blocking work.
pub(super) type Work<T> = Arc<dyn Fn(&Turn<'_>) -> T + Send + Sync>;

/// One turn of work.
pub(super) struct Turn<'a> {
    /// Whether anybody wants everything done anew.
    pub(super) anew: bool,
    close: &'a dyn Fn(),
}

impl Turn<'_> {
    /// Says that what happens from now on may not be in the outcome.
    pub(super) fn close(&self) {
        (self.close)();
    }
}

/// What keys have in common that may only take a share of the room together.
pub(super) trait Grouped {
    /// The group's name.
    fn group(&self) -> &str;
}

/// Work under way, by what it is about.
pub(super) struct Flights<K, T> {
    lines: Arc<Lines<K, T>>,
    tasks: Tasks,
}

struct Lines<K, T> {
    by_key: Mutex<HashMap<K, Line<T>>>,
    room: Arc<Semaphore>,
    /// The share of the room that a group may take, for those that have work.
    shares: Mutex<HashMap<String, Weak<Semaphore>>>,
    share: usize,
}

/// The turns of one key.
struct Line<T> {
    /// Turns that have begun.
    begun: u64,
    /// Whether the last one that has begun is still open, and whether it does everything anew.
    open: Option<bool>,
    /// Whether somebody waits for the next one.
    is_wanted: bool,
    /// Whether one of them wants everything done anew.
    anew: bool,
    /// The last turn that ended, and its outcome.
    ended: watch::Sender<Ended<T>>,
}

/// `None` when the work panicked.
type Outcome<T> = Option<T>;
/// The number of a turn and its outcome; `None` before any has ended.
type Ended<T> = Option<(u64, Outcome<T>)>;

impl<K, T> Flights<K, T>
where
    K: Grouped + Hash + Eq + Clone + Send + 'static,
    T: Clone + Send + Sync + 'static,
{
    /// Flights of which so many are under way at a time, and of one group at most a quarter: one whose files are slow
    /// to read, or whose callers want too much, leaves room for the others.
    pub(super) fn new(tasks: Tasks, at_once: usize) -> Self {
        Self {
            lines: Arc::new(Lines {
                by_key: Mutex::default(),
                room: Arc::new(Semaphore::new(at_once)),
                shares: Mutex::default(),
                share: at_once.div_ceil(4),
            }),
            tasks,
        }
    }

    /// Has the work of a key done, by whoever does it next. Equal keys have to stand for equal work.
    pub(super) async fn join(
        &self,
        key: K,
        anew: bool,
        deadline: Instant,
        work: Work<T>,
    ) -> Result<T, CatalogError> {
        let (mut ended, turn) = self.stand_in_line(key, anew, work);
        let outcome = {
            let due = ended.wait_for(|last| last.as_ref().is_some_and(|(ended, _)| *ended >= turn));
            match tokio::time::timeout_at(deadline.into(), due).await {
                Err(_) => return Err(CatalogError::DeadlineExceeded),
                // Nobody is there to take the turn any more.
                Ok(Err(_)) => return Err(CatalogError::Draining),
                Ok(Ok(last)) => last.clone().and_then(|(_, outcome)| outcome),
            }
        };
        outcome.ok_or_else(failed)
    }

    /// Does work that nobody shares, as soon as there is room for it. It is left behind at the deadline.
    pub(super) async fn alone<R: Send + 'static>(
        &self,
        deadline: Instant,
        work: impl FnOnce() -> R + Send + 'static,
    ) -> Result<R, CatalogError> {
        let room = Arc::clone(&self.lines.room);
        let done = async move {
            let room = room.acquire_owned().await.ok()?;
            let done = tokio::task::spawn_blocking(move || {
                let _room = room;
                work()
            });
            done.await.ok()
        };
        match tokio::time::timeout_at(deadline.into(), done).await {
            Ok(Some(done)) => Ok(done),
            Ok(None) => Err(failed()),
            Err(_) => Err(CatalogError::DeadlineExceeded),
        }
    }

    /// The turn to wait for, and where its end is told.
    fn stand_in_line(&self, key: K, anew: bool, work: Work<T>) -> (watch::Receiver<Ended<T>>, u64) {
        let mut by_key = self.lines.lock();
        let is_idle = !by_key.contains_key(&key);
        let line = by_key.entry(key.clone()).or_insert_with(Line::new);
        let place = line.stand(anew);
        if is_idle {
            let turns = run(Arc::clone(&self.lines), key.clone(), work);
            drop(self.tasks.spawn(until_the_end(
                self.tasks.stopping(),
                Arc::clone(&self.lines),
                key,
                turns,
            )));
        }
        place
    }
}

fn failed() -> CatalogError {
    CatalogError::Defect {
        detail: "a look at the files of a workspace failed".to_owned(),
    }
}

/// Takes the turns of a line, unless the server ends before: what only looks at files may be left behind.
async fn until_the_end<K: Hash + Eq, T>(
    stop: CancellationToken,
    lines: Arc<Lines<K, T>>,
    key: K,
    turns: impl Future<Output = ()>,
) {
    tokio::select! {
        () = turns => {}
        () = stop.cancelled() => drop(lines.lock().remove(&key)),
    }
}

/// Takes turns as long as somebody waits.
async fn run<K, T>(lines: Arc<Lines<K, T>>, key: K, work: Work<T>)
where
    K: Grouped + Hash + Eq + Clone + Send + 'static,
    T: Clone + Send + Sync + 'static,
{
    let group = lines.share_of(key.group());
    loop {
        // Nothing closes them; without room there would be no bound.
        let Ok(share) = Arc::clone(&group).acquire_owned().await else {
            return;
        };
        let Ok(room) = Arc::clone(&lines.room).acquire_owned().await else {
            return;
        };
        let Some((turn, anew)) = lines.begin(&key) else {
            return;
        };
        let (work, closes, of) = (Arc::clone(&work), Arc::clone(&lines), key.clone());
        let done = tokio::task::spawn_blocking(move || {
            let _room = (share, room);
            let close = || closes.close(&of);
            work(&Turn { anew, close: &close })
        })
        .await;
        if let Err(failed) = &done {
            tracing::error!(%failed, "a look at the files of a workspace failed");
        }
        lines.end(&key, turn, done.ok());
    }
}

impl<K: Hash + Eq, T> Lines<K, T> {
    /// The share of a group, as long as anybody has it.
    fn share_of(&self, group: &str) -> Arc<Semaphore> {
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = shares.get(group).and_then(Weak::upgrade) {
            return share;
        }
        shares.retain(|_, share| share.strong_count() > 0);
        let share = Arc::new(Semaphore::new(self.share));
        shares.insert(group.to_owned(), Arc::downgrade(&share));
        share
    }

    /// Begins the next turn and says whether it is to do everything anew. `None` if nobody waits for one.
    fn begin(&self, key: &K) -> Option<(u64, bool)> {
        let mut by_key = self.lock();
        let line = by_key.get_mut(key)?;
        if !line.is_wanted || line.ended.receiver_count() == 0 {
            by_key.remove(key);
            return None;
        }
        let anew = std::mem::take(&mut line.anew);
        line.begun += 1;
        line.open = Some(anew);
        line.is_wanted = false;
        Some((line.begun, anew))
    }

    fn close(&self, key: &K) {
        if let Some(line) = self.lock().get_mut(key) {
            line.open = None;
        }
    }

    fn end(&self, key: &K, turn: u64, outcome: Outcome<T>) {
        if let Some(line) = self.lock().get_mut(key) {
            line.open = None;
            line.ended.send_replace(Some((turn, outcome)));
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<K, Line<T>>> {
        self.by_key.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Line<T> {
    fn new() -> Self {
        Self {
            begun: 0,
            open: None,
            is_wanted: false,
            anew: false,
            ended: watch::Sender::new(None),
        }
    }

    /// The first turn that this caller may share, and where its end is told.
    fn stand(&mut self, anew: bool) -> (watch::Receiver<Ended<T>>, u64) {
        let is_shared = self.open.is_some_and(|open| open || !anew);
        let turn = if is_shared {
            self.begun
        } else {
            self.is_wanted = true;
            self.anew |= anew;
            self.begun + 1
        };
        (self.ended.subscribe(), turn)
    }
}

impl<K, T> fmt::Debug for Flights<K, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Flights").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
