//! Many clients that watch, and what they have seen together.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use bytes::Bytes;
use prost::Message as _;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tonic::Streaming;
use tonic::transport::Channel;

use super::raw::Glance;
use super::source::{self, Source};
use super::{Key, MARK, number_of};

/// How long a row may wait for its streams.
const PATIENCE: Duration = Duration::from_secs(60);

/// Open streams. They end with this value.
#[derive(Debug)]
pub(crate) struct Watchers {
    tasks: JoinSet<()>,
    seen: Arc<Seen>,
    count: usize,
}

/// What was seen, by all of them.
#[derive(Debug, Default)]
pub(crate) struct Sheet {
    /// Each delivered change, marks apart.
    pub(crate) arrivals: Vec<(Key, Instant)>,
    /// When each stream had caught up.
    pub(crate) synced: Vec<Instant>,
    /// Deliveries of the mark.
    pub(crate) marks: usize,
    /// Heartbeats.
    pub(crate) heartbeats: usize,
}

#[derive(Debug, Default)]
struct Seen {
    sheet: Mutex<Sheet>,
    changed: Notify,
}

impl Watchers {
    /// Opens so many streams at once, evenly on the channels.
    pub(crate) fn open(source: &Source, channels: &[Channel], count: usize, request: &Bytes) -> Self {
        let seen = Arc::new(Seen::default());
        let mut tasks = JoinSet::new();
        for channel in channels.iter().cycle().take(count) {
            let (source, channel, request) = (source.clone(), channel.clone(), request.clone());
            let seen = Arc::clone(&seen);
            tasks.spawn(async move {
                let stream = source.open(channel, request).await;
                read(stream, &seen).await;
            });
        }
        Self { tasks, seen, count }
    }

    /// Connects, opens streams from now on, and waits until they are live.
    pub(crate) async fn live(source: &Source, count: usize) -> Self {
        let channels = source.connect(count).await;
        let mut watchers = Self::open(source, &channels, count, &source::from_now());
        watchers.wait_until_live().await;
        watchers
    }

    /// Adds a client that opens this stream and never reads it.
    pub(crate) fn add_stalled(&mut self, source: &Source, channel: Channel, request: Bytes) {
        let source = source.clone();
        self.tasks.spawn(async move {
            let _unread = source.open(channel, request).await;
            std::future::pending::<()>().await;
        });
    }

    /// What was seen until now.
    pub(crate) fn sheet(&self) -> MutexGuard<'_, Sheet> {
        self.seen.sheet.lock().unwrap()
    }

    /// Waits until all have caught up.
    pub(crate) async fn wait_until_live(&mut self) {
        let count = self.count;
        self.wait("live", |sheet| sheet.synced.len() >= count).await;
    }

    /// Waits until all have seen the mark so many times.
    pub(crate) async fn wait_for_marks(&mut self, times: usize) {
        let all = self.count * times;
        self.wait("told the mark", |sheet| sheet.marks >= all).await;
    }

    /// Waits until enough was seen.
    pub(crate) async fn wait(&mut self, what: &str, is_enough: impl Fn(&Sheet) -> bool) {
        let deadline = tokio::time::sleep(PATIENCE);
        tokio::pin!(deadline);
        while !is_enough(&self.sheet()) {
            tokio::select! {
                () = self.seen.changed.notified() => {}
                Some(ended) = self.tasks.join_next() => {
                    ended.unwrap();
                    panic!("a stream ended before it was {what}");
                }
                () = &mut deadline => panic!("not all {} streams are {what}", self.count),
            }
        }
    }
}

async fn read(mut stream: Streaming<Bytes>, seen: &Seen) {
    while let Some(message) = stream.message().await.unwrap() {
        let (message, now) = (Glance::decode(message).unwrap(), Instant::now());
        let mut sheet = seen.sheet.lock().unwrap();
        let mut is_step = false;
        if let Some(changes) = message.changes {
            for change in changes.changes {
                let number = number_of(&change.workspace_id);
                if number == MARK {
                    sheet.marks += 1;
                    is_step = true;
                } else {
                    sheet.arrivals.push(((number, change.version), now));
                }
            }
        }
        if message.synced.is_some() {
            sheet.synced.push(now);
            is_step = true;
        }
        if message.heartbeat.is_some() {
            sheet.heartbeats += 1;
            is_step = true;
        }
        assert!(message.resync.is_none(), "a stream that lost something");
        assert!(message.going_away.is_none(), "a stream that was sent away");
        drop(sheet);
        // Whoever waits looks at the whole sheet, which costs nothing; only not at every change.
        if is_step {
            seen.changed.notify_one();
        }
    }
}

/// Reads one stream until it has caught up, and answers its messages as they are.
pub(crate) async fn record(source: &Source, request: Bytes) -> Vec<Bytes> {
    let channel = source.connect(1).await.remove(0);
    let mut stream = source.open(channel, request).await;
    let mut messages = Vec::new();
    while let Some(message) = stream.message().await.unwrap() {
        let is_last = Glance::decode(message.clone()).unwrap().synced.is_some();
        messages.push(message);
        if is_last {
            return messages;
        }
    }
    panic!("a stream ended before it had caught up");
}
