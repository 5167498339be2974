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
