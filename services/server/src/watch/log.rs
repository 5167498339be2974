//! The one reader of the log in this process. It gives positions to what was committed (Postgres), reads what is new
//! and wakes the watchers; it also answers where the log stands, so that a thousand watches that begin together cost
//! a query or two.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use compozy_domain::{CatalogError, Revision};
use compozy_store::{ChangeLog, LogSlice, NUMBERED_AT_ONCE, Numbering, Store};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::WatchSettings;
use super::history::{History, Older};
use super::metrics::WatchMetrics;
use super::patience::{BLIND, PATIENCE, patiently, unavailable};
use super::recent::{Chunk, Recent};

/// Entries of one read.
const READ_AT_ONCE: u32 = 1_000;
/// How soon to look again while another process gives positions.
const BUSY_PAUSE: Duration = Duration::from_millis(5);

/// Where the log stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Present {
    /// The epoch.
    pub epoch: Arc<str>,
    /// The newest position.
    pub head: i64,
    /// Everything up to this position was trimmed.
    pub floor: i64,
}

/// What lies behind a position.
#[derive(Debug)]
pub enum Piece {
    /// Nothing yet.
    Nothing,
    /// Entries from memory, some of them above the position.
    Recent(Arc<Chunk>),
    /// Entries from further back, some of them above the position.
    Older(Arc<Chunk>),
    /// The next entry is gone.
    Trimmed,
    /// The log belongs to another epoch.
    OtherEpoch,
}

/// The log as this process knows it.
#[derive(Debug)]
pub struct Log {
    store: Arc<dyn Store>,
    history: History,
    settings: WatchSettings,
    metrics: Arc<WatchMetrics>,
    state: RwLock<State>,
    /// Changes with every publication; what it holds means nothing.
    moved: watch::Sender<()>,
    /// Wakes the reader for those who ask where the log stands.
    asked: Notify,
    questions: watch::Sender<u64>,
    answers: watch::Sender<Answers>,
}

#[derive(Debug)]
struct State {
    present: Present,
    recent: Recent,
    read_at: Instant,
}

/// Up to which question an answer is known, and what it was.
#[derive(Debug, Clone)]
struct Answers {
    up_to: u64,
    outcome: Result<(), CatalogError>,
}

impl Log {
    /// The log as it stands now.
    ///
    /// # Errors
    /// What the store answers.
    pub async fn open(
        store: Arc<dyn Store>,
        settings: WatchSettings,
        metrics: Arc<WatchMetrics>,
    ) -> Result<Arc<Self>, CatalogError> {
        let head = ChangeLog::head(&*store).await?;
        let present = Present {
            epoch: head.head.epoch.into(),
            head: head.head.position,
            floor: head.floor,
        };
        Ok(Arc::new(Self {
            history: History::new(Arc::clone(&store)),
            store,
            settings,
            metrics,
            state: RwLock::new(State {
                present,
                recent: Recent::default(),
                read_at: Instant::now(),
            }),
            moved: watch::Sender::new(()),
            asked: Notify::new(),
            questions: watch::Sender::new(0),
            answers: watch::Sender::new(Answers {
                up_to: 0,
                outcome: Ok(()),
            }),
        }))
    }

    /// Tells of each publication.
    #[must_use]
    pub fn moved(&self) -> watch::Receiver<()> {
        self.moved.subscribe()
    }

    /// Where the log stands once everything that was committed before the call has a position.
    ///
    /// # Errors
    /// What the store answers; [`CatalogError::StoreUnavailable`] if it takes too long.
    pub async fn present(&self) -> Result<Present, CatalogError> {
        let mut answers = self.answers.subscribe();
        let mut question = 0;
        self.questions.send_modify(|last| {
            *last += 1;
            question = *last;
        });
        self.asked.notify_one();
        let answered = answers.wait_for(|answers| answers.up_to >= question);
        match timeout(PATIENCE, answered).await {
            Ok(Ok(answers)) => answers.outcome.clone()?,
            Ok(Err(_)) | Err(_) => return Err(unavailable()),
        }
        Ok(self.known())
    }

    /// Where the log stood when it was last read.
    #[must_use]
    pub fn known(&self) -> Present {
        self.state
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .present
            .clone()
    }

    /// How long ago the log was last read with success.
    #[must_use]
    pub fn silence(&self) -> Duration {
        self.state
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .read_at
            .elapsed()
    }

    /// What lies behind a position of an epoch.
    ///
    /// # Errors
    /// What the store answers, for entries that are not in memory.
    pub async fn behind(&self, epoch: &Arc<str>, position: i64) -> Result<Piece, CatalogError> {
        let head = match self.recent(epoch, position) {
            Ok(piece) => return Ok(piece),
            Err(NotRecent { head }) => head,
        };
        self.metrics.older_reads.inc();
        // On the heap: a watcher that keeps up never needs the room. Nothing above the published head: a watcher that
        // got ahead of it would look as if the log had been put back.
        let older = Box::pin(self.history.behind(epoch, position, head)).await?;
        Ok(match older {
            Older::Chunk(chunk) => Piece::Older(chunk),
            Older::Trimmed => Piece::Trimmed,
            Older::OtherEpoch => Piece::OtherEpoch,
        })
    }

    /// The chunk behind a position, if it is in memory.
    #[must_use]
    pub fn in_memory(&self, epoch: &Arc<str>, position: i64) -> Option<Arc<Chunk>> {
        match self.recent(epoch, position) {
            Ok(Piece::Recent(chunk)) => Some(chunk),
            _ => None,
        }
    }

    fn recent(&self, epoch: &Arc<str>, position: i64) -> Result<Piece, NotRecent> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        if *state.present.epoch != **epoch || position > state.present.head {
            return Ok(Piece::OtherEpoch);
        }
        if position == state.present.head {
            return Ok(Piece::Nothing);
        }
        if let Some(chunk) = state.recent.behind(position) {
            return Ok(Piece::Recent(chunk));
        }
        if position < state.present.floor {
            return Ok(Piece::Trimmed);
        }
        Err(NotRecent {
            head: state.present.head,
        })
    }

    /// Follows the log until it is told to stop.
    pub async fn follow(self: Arc<Self>, stop: CancellationToken) {
        let mut published_at = Instant::now();
        loop {
            let question = *self.questions.borrow();
            let looked = tokio::select! {
                () = stop.cancelled() => return,
                looked = patiently(self.look(question)) => looked,
            };
            let (is_settled, has_moved) = match &looked {
                Ok(look) => (look.is_settled, look.has_moved),
                Err(error) => {
                    tracing::debug!(%error, "the change log can't be read, trying again");
                    if self.silence() > BLIND {
                        // The watchers see that nothing can be seen.
                        self.moved.send_replace(());
                    }
                    (true, false)
                }
            };
            let outcome = looked.map(|_| ());
            let answers = self.answers.borrow().up_to;
            if question > answers {
                self.answers.send_replace(Answers {
                    up_to: question,
                    outcome,
                });
            }
            if has_moved {
                published_at = Instant::now();
            }
            if !self.wait(is_settled, published_at, &stop).await {
                return;
            }
        }
    }

    /// Waits until there is a reason to look. `false` is the end.
    async fn wait(&self, is_settled: bool, published_at: Instant, stop: &CancellationToken) -> bool {
        let pause = if is_settled {
            self.store.poll_period()
        } else {
            BUSY_PAUSE
        };
        tokio::select! {
            () = stop.cancelled() => return false,
            () = self.asked.notified() => return true,
            () = self.store.appended() => {}
            () = self.store.hinted() => {}
            () = sleep(pause) => return true,
        }
        // Something is new. Shortly after other news, a little more is gathered; never when it was quiet.
        tokio::select! {
            () = stop.cancelled() => false,
            () = sleep_until(published_at + self.settings.gather) => true,
            () = self.asked.notified() => true,
        }
    }

    /// One look: positions for what has none, then everything that is new.
    async fn look(&self, question: u64) -> Result<Look, CatalogError> {
        let is_asked = question > self.answers.borrow().up_to;
        let mut given = 0;
        let is_settled = loop {
            match self.store.number_pending().await? {
                Numbering::Given(NUMBERED_AT_ONCE) => given += NUMBERED_AT_ONCE,
                Numbering::Given(count) => {
                    given += count;
                    break true;
                }
                Numbering::Busy => break false,
            }
        };
        if given > 0 {
            self.metrics.numbered.inc_by(given);
            self.store.hint().await;
        }
        if is_asked && !is_settled {
            // Somebody asks where the log stands: whoever numbers what is committed, it has to be done.
            self.store.settle(std::time::Instant::now() + PATIENCE).await?;
        }
        let has_moved = self.read().await?;
        Ok(Look {
            is_settled,
            has_moved,
        })
    }

    /// Reads up to the end of the log and publishes it. Says whether anything is new.
    async fn read(&self) -> Result<bool, CatalogError> {
        let mut has_moved = false;
        loop {
            let from = self.known();
            let slice = self.store.read_after(from.head, READ_AT_ONCE).await?;
            let is_last = slice.entries.len() < READ_AT_ONCE as usize;
            has_moved |= self.publish(&from, slice);
            if is_last {
                return Ok(has_moved);
            }
        }
    }

    fn publish(&self, from: &Present, slice: LogSlice) -> bool {
        let LogSlice {
            head: Revision { epoch, position },
            floor,
            entries,
        } = slice;
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        state.read_at = Instant::now();
        state.present.floor = floor;
        // A head below the known one is a store that lost what it had told, whoever put it back: as good as another
        // epoch, and a cursor above the head says so to its watcher.
        let is_other = *state.present.epoch != *epoch || position < state.present.head;
        if is_other {
            self.history.clear();
            state.recent.clear();
            state.present.epoch = epoch.into();
            state.present.head = position;
        } else if let Some(last) = entries.last() {
            state.present.head = last.position;
            // What was trimmed before it was read here is not in it: the floor tells those who wait for it.
            let chunk = Chunk::new(from.head.max(floor), entries);
            state.recent.push(chunk, self.settings.recent_entries);
        } else if position > from.head && floor >= position {
            // Everything that is new was trimmed before it was read here.
            state.present.head = position;
        } else {
            return false;
        }
        self.metrics.told_head(state.present.head, floor);
        drop(state);
        self.moved.send_replace(());
        true
    }
}

/// What lies behind a position is not in memory; how far the log is published.
#[derive(Debug)]
struct NotRecent {
    head: i64,
}

/// What a look found.
#[derive(Debug)]
struct Look {
    /// Whether everything that was committed has a position.
    is_settled: bool,
    /// Whether something new was published.
    has_moved: bool,
}
