//! Watchers: each follows the log with one filter after the other. It stalls, goes away, comes back to another server
//! with whatever token it likes, and tells lies; in the end it comes back once more and waits for `synced`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use compozy_client::Client;
use compozy_e2e::{Draw, by_id, by_name};
use compozy_proto::change::v1::{ChangeKind, OnExpired, WatchCatalogRequest};
use compozy_proto::workspace::v1::WorkspaceRef;
use tokio::sync::watch;
use tokio::time::{sleep, sleep_until};

use crate::beginning::Beginning;
use crate::board::{Board, Phase};
use crate::call::{Call, SILENCE};
use crate::entry::Filter;
use crate::history::{End, Event, Lie, Origin, Received, Stream, Watcher};

/// What is written here.
const KINDS: [ChangeKind; 6] = [
    ChangeKind::Workspace,
    ChangeKind::WorkspaceOrder,
    ChangeKind::Session,
    ChangeKind::AccountOrder,
    ChangeKind::Profile,
    ChangeKind::Selection,
];
/// The shortest that the contract allows.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// Idle heartbeats tell that everything has come once it has been quiet for so long: a server looks at the log at
/// least once a second.
const SETTLED: Duration = Duration::from_secs(3);
/// Tokens that are kept besides the last one.
const TOKENS_KEPT: usize = 64;
/// Until a server that does not answer is asked again.
pub(crate) const AFTER_A_FAILURE: Duration = Duration::from_millis(40);

/// How the watchers of a lap watch.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Habits {
    /// Longest time that one stream is followed.
    pub(crate) stay: Duration,
    /// One in so many streams stops reading for `stall`; 0 is none.
    pub(crate) stalls: usize,
    pub(crate) stall: Duration,
    /// One in so many watches narrows its filter; 0 is none.
    pub(crate) filters: usize,
    /// Longest time between two streams.
    pub(crate) absence: Duration,
}

/// What one watcher recorded.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    pub(crate) watchers: Vec<Watcher>,
    pub(crate) lies: Vec<Lie>,
}

/// One watcher.
#[derive(Debug)]
pub(crate) struct Watching {
    pub(crate) draw: Draw,
    pub(crate) sockets: Vec<PathBuf>,
    pub(crate) clients: Vec<Client>,
    pub(crate) board: Arc<Board>,
    habits: Habits,
    phase: watch::Receiver<Phase>,
    /// One for each filter that it has had; the last is the present one.
    pub(crate) followed: Vec<Followed>,
    pub(crate) lies: Vec<Lie>,
}

/// Everything about one filter.
#[derive(Debug, Default)]
pub(crate) struct Followed {
    pub(crate) filter: Filter,
    /// How the filter is worded before it is bound by a token.
    references: Vec<WorkspaceRef>,
    include_rows: bool,
    pub(crate) watcher: Watcher,
    pub(crate) tokens: Vec<Token>,
}

#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub(crate) text: String,
    pub(crate) stream: usize,
    pub(crate) event: usize,
    pub(crate) is_heartbeat: bool,
}

/// How a stream is read.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Reading {
    /// Until then, with a pause after so many messages.
    For {
        until: tokio::time::Instant,
        stall: Option<(usize, Duration)>,
    },
    /// Until `synced`, from a quiet server.
    ToTheEnd,
}

impl Watching {
    pub(crate) fn new(
        draw: Draw,
        sockets: Vec<PathBuf>,
        clients: Vec<Client>,
        board: Arc<Board>,
        habits: Habits,
        phase: watch::Receiver<Phase>,
    ) -> Self {
        Self {
            draw,
            sockets,
            clients,
            board,
            habits,
            phase,
            followed: Vec::new(),
            lies: Vec::new(),
        }
    }

    /// Watches until it is quiet, then takes leave of each filter with a complete stream.
    pub(crate) async fn run(mut self) -> Recorded {
        while self.is_busy() {
            if self.is_at_a_loss() || self.draw.one_in(12) {
                self.take_filter();
            }
            if self.draw.one_in(6) {
                self.lie().await;
            }
            let beginning = self.beginning().await;
            let reading = self.reading();
            self.stream(beginning, reading).await;
            self.stay_away().await;
        }
        for number in 0..self.followed.len() {
            self.take_leave(number).await;
        }
        Recorded {
            watchers: self
                .followed
                .into_iter()
                .map(|followed| followed.watcher)
                .collect(),
            lies: self.lies,
        }
    }

    /// Whether it has no filter yet, or one with a workspace that is gone.
    fn is_at_a_loss(&self) -> bool {
        let last = self
            .followed
            .last()
            .map(|followed| followed.watcher.streams.last());
        last.is_none_or(|last| last.is_some_and(|stream| stream.end == End::gone()))
    }

    fn is_busy(&self) -> bool {
        *self.phase.borrow() == Phase::Traffic
    }

    fn one_in(&mut self, count: usize) -> bool {
        count > 0 && self.draw.one_in(count)
    }

    pub(crate) fn present(&mut self) -> &mut Followed {
        self.followed
            .last_mut()
            .expect("a filter is taken before anything else")
    }

    fn take_filter(&mut self) {
        let mut followed = Followed {
            include_rows: self.draw.one_in(3),
            ..Followed::default()
        };
        if self.one_in(self.habits.filters) {
            for _ in 0..=self.draw.below(3) {
                followed.filter.kinds.extend(self.draw.choose(&KINDS));
            }
        }
        if self.one_in(self.habits.filters) {
            for _ in 0..=self.draw.below(5) {
                let Some(known) = self.board.choose(&mut self.draw) else {
                    continue;
                };
                // Names of this lap are never used twice, so it is this one or none.
                followed.references.push(if self.draw.one_in(3) {
                    by_name(known.name)
                } else {
                    by_id(&known.id)
                });
                followed.filter.workspaces.insert(known.id);
            }
        }
        if self.one_in(self.habits.filters * 2) {
            followed.filter.ungrouped = true;
        }
        self.followed.push(followed);
    }

    fn reading(&mut self) -> Reading {
        let share = self.draw.below(1_000) as f64 / 1_000.0;
        let stall = self
            .one_in(self.habits.stalls)
            .then(|| (self.draw.below(20), self.habits.stall));
        let stay = self.habits.stay.mul_f64(share) + stall.map_or(Duration::ZERO, |(_, pause)| pause * 2);
        Reading::For {
            until: tokio::time::Instant::now() + stay,
            stall,
        }
    }

    async fn stay_away(&mut self) {
        let share = self.draw.below(1_000) as f64 / 1_000.0;
        let absence = AFTER_A_FAILURE + self.habits.absence.mul_f64(share * share);
        let mut phase = self.phase.clone();
        tokio::select! {
            () = sleep(absence) => {}
            _ = phase.wait_for(|phase| *phase != Phase::Traffic) => {}
        }
    }

    pub(crate) fn request(&mut self, beginning: &Beginning) -> WatchCatalogRequest {
        let resync = self.draw.one_in(2);
        let followed = self.present();
        let bound = matches!(beginning.origin, Origin::Token { .. });
        let workspaces = if bound {
            followed.filter.workspaces.iter().map(by_id).collect()
        } else {
            followed.references.clone()
        };
        WatchCatalogRequest {
            resume_token: beginning.token.clone(),
            start: beginning.start.into(),
            workspaces,
            kinds: followed.filter.kinds.iter().map(|kind| (*kind).into()).collect(),
            ungrouped: followed.filter.ungrouped,
            include_rows: followed.include_rows,
            heartbeat: Some(prost_types::Duration {
                seconds: HEARTBEAT.as_secs().cast_signed(),
                nanos: 0,
            }),
            on_expired: if resync {
                OnExpired::Resync
            } else {
                OnExpired::Fail
            }
            .into(),
            ..Default::default()
        }
    }

    /// One stream from its beginning to its end.
    pub(crate) async fn stream(&mut self, beginning: Beginning, reading: Reading) {
        let server = self.draw.below(self.sockets.len());
        let window = if self.draw.one_in(2) { 64 * 1024 } else { 4 * 1024 };
        let request = self.request(&beginning);
        let opened = Instant::now();
        let called = Call::open(self.sockets[server].clone(), window, request).await;
        let followed = self.present();
        followed.watcher.streams.push(Stream {
            server,
            filter: followed.filter.clone(),
            origin: beginning.origin,
            include_rows: followed.include_rows,
            opened,
            received: Vec::new(),
            end: End::Left,
            exact: false,
            complete: false,
        });
        let end = match called {
            Ok(call) => self.read(call, reading).await,
            Err(end) => Err(end),
        };
        let stream = self
            .present()
            .watcher
            .streams
            .last_mut()
            .expect("it was pushed above");
        match end {
            Ok(complete) => stream.complete = complete,
            Err(end) => stream.end = end,
        }
        if let (Origin::Token { stream, event }, End::Refused(_)) = (&stream.origin, &stream.end) {
            // What comes after it is gone, and so is what comes after older ones.
            let refused = (*stream, *event);
            let tokens = &mut self.present().tokens;
            tokens.retain(|token| (token.stream, token.event) > refused);
        }
    }

    /// Reads as long as it wants to. Answers whether everything has come, or how the stream ended.
    async fn read(&mut self, mut call: Call, reading: Reading) -> Result<bool, End> {
        let mut phase = self.phase.clone();
        let mut count = 0;
        loop {
            let until = match reading {
                Reading::For { until, .. } if self.is_busy() => until,
                Reading::For { .. } | Reading::ToTheEnd => tokio::time::Instant::now() + SILENCE * 2,
            };
            let events = tokio::select! {
                events = call.next() => events?,
                () = sleep_until(until) => return Ok(false),
                _ = phase.wait_for(|phase| *phase != Phase::Traffic), if self.is_busy() => continue,
            };
            let last = events.last().map(|(event, _)| event.clone());
            self.record(events);
            let has_all = match (last, *self.phase.borrow(), reading) {
                (Some(Event::Synced), _, Reading::ToTheEnd) => true,
                (Some(Event::Heartbeat), Phase::Quiet(since), Reading::For { .. }) => {
                    since.elapsed() > SETTLED
                }
                _ => false,
            };
            if has_all {
                return Ok(true);
            }
            count += 1;
            if let Reading::For {
                stall: Some((after, pause)),
                ..
            } = reading
                && count == after + 1
            {
                tokio::select! {
                    () = sleep(pause) => {}
                    _ = phase.wait_for(|phase| *phase != Phase::Traffic) => {}
                }
            }
        }
    }

    fn record(&mut self, events: Vec<(Event, Option<String>)>) {
        let at = Instant::now();
        let forget = self.draw.number();
        let followed = self.present();
        let number = followed.watcher.streams.len() - 1;
        for (event, token) in events {
            let received = &mut followed.watcher.streams[number].received;
            if let Some(text) = token {
                if followed.tokens.len() > TOKENS_KEPT {
                    let any = Draw::seeded(forget).below(TOKENS_KEPT);
                    followed.tokens.remove(any);
                }
                followed.tokens.push(Token {
                    text,
                    stream: number,
                    event: received.len(),
                    is_heartbeat: event == Event::Heartbeat,
                });
            }
            received.push(Received { at, event });
        }
    }
}
