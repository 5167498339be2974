//! Connections: where they come from, how many there may be, how old they get and how they end. tonic's own
//! server can't send GOAWAY with a deadline, so the loop is ours.

mod connection;
mod listener;
mod peer;
mod progress;
mod socket;
mod tls;
mod turn;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use compozy_domain::Random;
use http::Request;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tonic::body::Body;

use crate::config::Limits;
use crate::shutdown::Shutdown;
use crate::tasks::Tasks;
use crate::telemetry::Metrics;

pub use self::connection::ConnectionEnd;
pub use self::listener::Listener;
pub use self::peer::Peer;
pub use self::socket::{SOCKET_PATH_MAX, socket_path};
pub use self::tls::TlsSource;
pub(crate) use crate::layer::Answer;

/// What answers the requests of a listener. The request's extensions hold its [`Peer`].
pub(crate) type Handler = Arc<dyn Fn(Request<Body>) -> Answer + Send + Sync>;

/// Pauses after a failed accept, such as one for want of file descriptors.
const PAUSE_FIRST: Duration = Duration::from_millis(10);
const PAUSE_LONGEST: Duration = Duration::from_secs(1);

/// What every connection needs.
#[derive(Clone)]
pub(crate) struct Acceptor {
    pub(crate) handler: Handler,
    pub(crate) limits: Limits,
    /// Whether TCP connections are ended when they are old.
    pub(crate) ages: bool,
    pub(crate) tls: Option<Arc<TlsSource>>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) shutdown: Shutdown,
    pub(crate) connections: Tasks,
    pub(crate) handshakes: Arc<Semaphore>,
    pub(crate) random: Arc<dyn Random>,
    /// Ends the listener at last; it goes on accepting while calls are drained, to tell callers so.
    pub(crate) close: CancellationToken,
}

impl fmt::Debug for Acceptor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Acceptor")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl Acceptor {
    /// Serves a listener until the end.
    pub(crate) async fn serve(self, listener: Listener) {
        let room = Arc::new(Semaphore::new(self.limits.connections));
        let acceptor = Arc::new(self);
        let mut pause = PAUSE_FIRST;
        let mut was_full = false;
        loop {
            let accepted = tokio::select! {
                biased;
                () = acceptor.close.cancelled() => return,
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok(incoming) => {
                    pause = PAUSE_FIRST;
                    let is_full = acceptor.admit(incoming, &room);
                    if is_full && !was_full {
                        tracing::warn!(limit = acceptor.limits.connections, %listener, "connections above the limit are closed");
                    }
                    was_full = is_full;
                }
                Err(error) => {
                    tracing::warn!(%error, listener = %listener, "a connection could not be accepted");
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(PAUSE_LONGEST);
                }
            }
        }
    }

    /// Lets a connection in, unless there are too many, which is the answer.
    fn admit(self: &Arc<Self>, incoming: listener::Incoming, room: &Arc<Semaphore>) -> bool {
        if let Some(stranger) = incoming.stranger() {
            tracing::warn!(
                uid = stranger,
                "a caller of another user was turned away from the socket"
            );
            return false;
        }
        let Ok(permit) = Arc::clone(room).try_acquire_owned() else {
            // Closing tells the client at once; leaving it in the queue would let it wait for its deadline.
            self.metrics.connections_refused.inc();
            return true;
        };
        let open = OpenConnection::count(Arc::clone(&self.metrics), permit);
        self.connections.spawn(Arc::clone(self).run(incoming, open));
        false
    }
}

/// An open connection, as long as this lives.
#[derive(Debug)]
struct OpenConnection {
    metrics: Arc<Metrics>,
    _permit: OwnedSemaphorePermit,
}

impl OpenConnection {
    fn count(metrics: Arc<Metrics>, permit: OwnedSemaphorePermit) -> Self {
        metrics.connections.inc();
        Self {
            metrics,
            _permit: permit,
        }
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.metrics.connections.dec();
    }
}
