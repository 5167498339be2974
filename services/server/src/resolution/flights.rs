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
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    /// Work that waits to be let go, and counts.
    #[derive(Clone)]
    struct Held {
        done: Arc<AtomicU32>,
        anew: Arc<AtomicU32>,
        begun: Arc<Mutex<mpsc::Receiver<()>>>,
        let_go: mpsc::Sender<()>,
        work: Work<u32>,
    }

    /// Work whose turns are closed from the beginning, or open to the end.
    fn held(closes: bool) -> Held {
        let (done, anew) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let (tell, begun) = mpsc::channel();
        let (let_go, wait) = mpsc::channel::<()>();
        let (tell, wait) = (Mutex::new(tell), Mutex::new(wait));
        let (counted, counted_anew) = (Arc::clone(&done), Arc::clone(&anew));
        let work = move |turn: &Turn<'_>| {
            if closes {
                turn.close();
            }
            tell.lock().unwrap().send(()).unwrap();
            wait.lock().unwrap().recv().unwrap();
            counted_anew.fetch_add(u32::from(turn.anew), Ordering::SeqCst);
            counted.fetch_add(1, Ordering::SeqCst) + 1
        };
        Held {
            done,
            anew,
            begun: Arc::new(Mutex::new(begun)),
            let_go,
            work: Arc::new(work),
        }
    }

    impl Held {
        async fn has_begun(&self) {
            let begun = Arc::clone(&self.begun);
            let waiting = tokio::task::spawn_blocking(move || begun.lock().unwrap().recv());
            waiting.await.unwrap().unwrap();
        }
    }

    fn waiting(flights: &Flights<u8, u32>) -> usize {
        let lines = flights.lines.lock();
        lines.get(&1).map_or(0, |line| line.ended.receiver_count())
    }

    async fn until(holds: impl Fn() -> bool) {
        let deadline = soon();
        while !holds() {
            assert!(Instant::now() < deadline, "it never came true");
            tokio::task::yield_now().await;
        }
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(20)
    }

    #[tokio::test]
    async fn those_that_come_later_share_the_next_turn() {
        let tasks = Tasks::new();
        let flights = Arc::new(Flights::<u8, u32>::new(tasks.clone(), 4));
        let held = held(true);
        let join = |anew| {
            let (flights, work) = (Arc::clone(&flights), Arc::clone(&held.work));
            tasks.spawn(async move { flights.join(1, anew, soon(), work).await.unwrap() })
        };
        let first = join(false);
        held.has_begun().await;
        let later: Vec<_> = (0..10).map(|number| join(number == 7)).collect();
        // Each of them stands in line once it has run.
        until(|| waiting(&flights) == 11).await;
        held.let_go.send(()).unwrap();
        assert_eq!(first.await.unwrap(), 1);
        held.let_go.send(()).unwrap();
        for one in later {
            assert_eq!(one.await.unwrap(), 2);
        }
        assert_eq!(held.done.load(Ordering::SeqCst), 2);
        assert_eq!(held.anew.load(Ordering::SeqCst), 1, "one of ten wanted it anew");
        // Nothing is left behind.
        until(|| flights.lines.lock().is_empty()).await;
    }

    #[tokio::test]
    async fn an_open_turn_is_shared_by_all_but_those_that_want_more() {
        let tasks = Tasks::new();
        let flights = Arc::new(Flights::<u8, u32>::new(tasks.clone(), 4));
        let held = held(false);
        let join = |anew| {
            let (flights, work) = (Arc::clone(&flights), Arc::clone(&held.work));
            tasks.spawn(async move { flights.join(1, anew, soon(), work).await.unwrap() })
        };
        let first = join(false);
        held.has_begun().await;
        let (second, anew) = (join(false), join(true));
        until(|| waiting(&flights) == 3).await;
        held.let_go.send(()).unwrap();
        assert_eq!((first.await.unwrap(), second.await.unwrap()), (1, 1));
        held.let_go.send(()).unwrap();
        assert_eq!(anew.await.unwrap(), 2);
        assert!(tasks.join(Duration::from_secs(20)).await);
    }

    #[tokio::test]
    async fn a_caller_goes_away_alone_and_what_nobody_waits_for_is_not_begun() {
        let tasks = Tasks::new();
        let flights = Arc::new(Flights::<u8, u32>::new(tasks.clone(), 1));
        let (slow, never) = (held(false), held(true));
        let (joined, work) = (Arc::clone(&flights), Arc::clone(&slow.work));
        let patient = tasks.spawn(async move { joined.join(1, false, soon(), work).await });
        slow.has_begun().await;
        let impatient = || Instant::now() + Duration::from_millis(1);
        let left = flights.join(1, false, impatient(), Arc::clone(&slow.work)).await;
        assert_eq!(left, Err(CatalogError::DeadlineExceeded));
        // There is room for one, so this one does not begin.
        let left = flights.join(2, false, impatient(), Arc::clone(&never.work)).await;
        assert_eq!(left, Err(CatalogError::DeadlineExceeded));
        slow.let_go.send(()).unwrap();
        assert_eq!(patient.await.unwrap(), Ok(1));
        until(|| flights.lines.lock().is_empty()).await;
        assert_eq!(
            slow.done.load(Ordering::SeqCst),
            1,
            "nobody waited for a second turn"
        );
        assert_eq!(never.done.load(Ordering::SeqCst), 0);
    }

    #[tokio::test]
    async fn work_that_hangs_does_not_hold_up_the_end() {
        let tasks = Tasks::new();
        let flights = Arc::new(Flights::<u8, u32>::new(tasks.clone(), 1));
        let held = held(true);
        let (joined, work) = (Arc::clone(&flights), Arc::clone(&held.work));
        let caller = tokio::task::spawn_blocking(move || {
            let runtime = tokio::runtime::Handle::current();
            runtime.block_on(joined.join(1, false, soon(), work))
        });
        held.has_begun().await;
        assert!(tasks.join(Duration::from_secs(20)).await);
        assert_eq!(caller.await.unwrap(), Err(CatalogError::Draining));
        held.let_go.send(()).unwrap();
    }

    impl Grouped for u8 {
        fn group(&self) -> &str {
            if *self < 100 { "one" } else { "another" }
        }
    }

    #[tokio::test]
    async fn one_group_leaves_room_for_others() {
        let tasks = Tasks::new();
        let flights = Arc::new(Flights::<u8, u32>::new(tasks.clone(), 4));
        let (slow, waits) = (held(true), held(true));
        let join = |key: u8, held: &Held| {
            let (flights, work) = (Arc::clone(&flights), Arc::clone(&held.work));
            tasks.spawn(async move { flights.join(key, false, soon(), work).await.unwrap() })
        };
        let first = join(1, &slow);
        slow.has_begun().await;
        let second = join(2, &waits);
        until(|| flights.lines.lock().contains_key(&2)).await;
        let quick: Work<u32> = Arc::new(|_: &Turn<'_>| 7);
        assert_eq!(flights.join(100, false, soon(), quick).await, Ok(7));
        assert_eq!(
            waits.done.load(Ordering::SeqCst),
            0,
            "the group has had its share"
        );
        slow.let_go.send(()).unwrap();
        waits.let_go.send(()).unwrap();
        assert_eq!((first.await.unwrap(), second.await.unwrap()), (1, 1));
        assert!(tasks.join(Duration::from_secs(20)).await);
    }

    #[tokio::test]
    async fn a_panic_is_a_defect_of_that_turn_only() {
        let tasks = Tasks::new();
        let flights = Flights::<u8, u32>::new(tasks.clone(), 1);
        let panics = Arc::new(|turn: &Turn<'_>| if turn.anew { panic!("on purpose") } else { 7_u32 });
        let failed = flights.join(1, true, soon(), Arc::clone(&panics) as _).await;
        assert!(matches!(failed, Err(CatalogError::Defect { .. })));
        assert_eq!(flights.join(1, false, soon(), panics as _).await, Ok(7));
    }
}
