//! Hints between the processes of one Postgres catalog: a notification without a payload says that the log has
//! moved. It is sent outside of every transaction of the catalog, because a notification takes a lock of the whole
//! server when it is committed, and at most once in a while. Whatever is lost here the log still holds.
//!
//! One task with a connection of its own listens and sends. It begins with the first who listens or sends, comes
//! back after its connection is lost, and ends with [`Hints::close`].

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::FutureExt as _;
use sqlx::Executor as _;
use sqlx::postgres::{PgConnectOptions, PgListener, PgPool, PgPoolOptions};
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::sql::reach::PATIENCE;

const CHANNEL: &str = "compozy_change";
const NOTIFY: &str = "NOTIFY compozy_change";
/// Between two notifications of one process.
const DEBOUNCE: Duration = Duration::from_millis(25);
/// A connection that was silent for so long is asked whether it is still there.
const SILENCE: Duration = Duration::from_secs(30);
/// Before the connection is opened again; more of it the longer the server is away.
const PAUSE_MIN: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(1);
/// For the driver to give back what is left of a connection.
const CLOSING: Duration = Duration::from_secs(2);

/// The hints that one process hears and gives.
#[derive(Debug)]
pub(super) struct Hints {
    options: PgConnectOptions,
    begun: AtomicBool,
    shared: Arc<Shared>,
    stop: CancellationToken,
    task: TaskTracker,
}

/// Each remembers one word, however often it is said.
#[derive(Debug, Default)]
struct Shared {
    heard: Notify,
    wanted: Notify,
}

impl Hints {
    pub(super) fn new(options: &PgConnectOptions) -> Self {
        Self {
            // A hint need not outlive the server, and then its commit does not wait for the disk.
            options: options.clone().options([("synchronous_commit", "off")]),
            begun: AtomicBool::new(false),
            shared: Arc::default(),
            stop: CancellationToken::new(),
            task: TaskTracker::new(),
        }
    }

    /// Waits for a hint of another process.
    pub(super) async fn heard(&self) {
        self.begin();
        self.shared.heard.notified().await;
    }

    /// Has a hint sent.
    pub(super) fn give(&self) {
        self.begin();
        self.shared.wanted.notify_one();
    }

    /// Ends the task and its connection.
    pub(super) async fn close(&self) {
        self.stop.cancel();
        self.task.close();
        self.task.wait().await;
    }

    fn begin(&self) {
        if self.begun.swap(true, Ordering::Relaxed) {
            return;
        }
        let messenger = Messenger {
            shared: Arc::clone(&self.shared),
            pending: false,
            next_send: Instant::now(),
            connected: true,
            pause: PAUSE_MIN,
        };
        self.task
            .spawn(keep_connected(messenger, self.options.clone(), self.stop.clone()));
    }
}

async fn keep_connected(mut messenger: Messenger, options: PgConnectOptions, stop: CancellationToken) {
    while !stop.is_cancelled() {
        let pool = PgPoolOptions::new()
            .max_connections(1)
            .acquire_timeout(PATIENCE)
            .connect_lazy_with(options.clone());
        let outcome = stop
            .run_until_cancelled(Box::pin(messenger.exchange(&pool)))
            .await;
        // The listener gave its connection back, and the driver ends it.
        let _closed = tokio::time::timeout(CLOSING, pool.close()).await;
        let Some(lost) = outcome else { return };
        if std::mem::take(&mut messenger.connected) {
            tracing::info!(
                problem = lost.map_or_else(|error| error.to_string(), |()| "the connection ended".into()),
                "hints of other processes are not heard for a while, the log is read all the same"
            );
        }
        let pausing = tokio::time::sleep(messenger.pause);
        messenger.pause = (messenger.pause * 2).min(PAUSE_MAX);
        if stop.run_until_cancelled(pausing).await.is_none() {
            return;
        }
    }
}

/// Listens and sends on one connection.
struct Messenger {
    shared: Arc<Shared>,
    /// A hint was asked for and is not sent yet.
    pending: bool,
    next_send: Instant,
    /// Whether it listened since this was last asked.
    connected: bool,
    pause: Duration,
}

impl Messenger {
    /// Ends when the connection does.
    async fn exchange(&mut self, pool: &PgPool) -> sqlx::Result<()> {
        let mut listener = soon(PgListener::connect_with(pool)).await?;
        listener.eager_reconnect(false);
        let own: i32 = soon(sqlx::query_scalar("SELECT pg_backend_pid()").fetch_one(&mut listener)).await?;
        soon(listener.listen(CHANNEL)).await?;
        (self.connected, self.pause) = (true, PAUSE_MIN);
        // Something may have come while nobody listened.
        self.shared.heard.notify_one();
        loop {
            tokio::select! {
                received = listener.try_recv() => match received? {
                    Some(hint) if hint.process_id() == own.unsigned_abs() => {}
                    Some(_) => self.shared.heard.notify_one(),
                    None => return Ok(()),
                },
                () = self.shared.wanted.notified(), if !self.pending => self.pending = true,
                () = tokio::time::sleep_until(self.next_send), if self.pending => {
                    // What was asked for by now is said with this one.
                    let _said = self.shared.wanted.notified().now_or_never();
                    soon(listener.execute(NOTIFY)).await?;
                    self.pending = false;
                    self.next_send = Instant::now() + DEBOUNCE;
                }
                () = tokio::time::sleep(SILENCE) => {
                    soon(listener.execute("SELECT 1")).await?;
                }
            }
        }
    }
}

async fn soon<T>(answering: impl Future<Output = sqlx::Result<T>>) -> sqlx::Result<T> {
    let answer = tokio::time::timeout(PATIENCE, answering).await;
    answer.unwrap_or_else(|_| Err(sqlx::Error::Io(std::io::ErrorKind::TimedOut.into())))
}
