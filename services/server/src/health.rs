//! `grpc.health.v1`: per service and for the server as a whole. Everything starts NOT_SERVING. `liveness` never
//! depends on the store; all other names are NOT_SERVING while the store is away or the server drains.

mod list;
mod watching;

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures::stream::{Stream, StreamExt};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tonic::{Request, Response, Status};
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_server::{Health, HealthServer};
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};

use crate::status::unknown_service;

pub use self::list::HealthService;

use self::watching::Watching;

/// Bytes of a request at most: the name of a service. It comes without a token.
const REQUEST_BYTES: usize = 4 * 1024;

/// The name that says whether the process works at all, for liveness probes.
pub const LIVENESS: &str = "liveness";

type Answers = Pin<Box<dyn Stream<Item = Result<HealthCheckResponse, Status>> + Send>>;

/// What is known about every served name. Clones share one state.
#[derive(Debug, Clone)]
pub struct HealthBoard {
    states: Arc<BTreeMap<String, watch::Sender<ServingStatus>>>,
    /// Watches that have not said yet that nothing is served any more.
    untold: TaskTracker,
    /// Ends the watches at last, so that their connections can close.
    close: CancellationToken,
}

impl HealthBoard {
    /// A board for these services, the server as a whole and liveness.
    #[must_use]
    pub fn new(services: &[&str], close: CancellationToken) -> Self {
        let names = services.iter().copied().chain([""]);
        let mut states: BTreeMap<String, _> = names
            .map(|name| (name.to_owned(), watch::Sender::new(ServingStatus::NotServing)))
            .collect();
        states.insert(LIVENESS.to_owned(), watch::Sender::new(ServingStatus::Serving));
        Self {
            states: Arc::new(states),
            untold: TaskTracker::new(),
            close,
        }
    }

    /// Tells whether the catalog can be used. Liveness stays as it is.
    pub fn set_serving(&self, serving: bool) {
        let new = if serving {
            ServingStatus::Serving
        } else {
            ServingStatus::NotServing
        };
        for (name, state) in self.states.iter() {
            if name != LIVENESS {
                state.send_if_modified(|old| std::mem::replace(old, new) != new);
            }
        }
    }

    /// Waits until every watch has told its client the state that was set last, which is NOT_SERVING; those of
    /// clients that don't read not longer than `patience`.
    pub async fn told(&self, patience: Duration) {
        self.untold.close();
        // Whoever does not read is not told anything; the drain goes on.
        let _ = tokio::time::timeout(patience, self.untold.wait()).await;
    }

    /// Whether the server as a whole is SERVING.
    #[must_use]
    pub fn is_serving(&self) -> bool {
        self.state("") == Some(ServingStatus::Serving)
    }

    /// The service to be served.
    #[must_use]
    pub fn service(&self) -> HealthService {
        HealthService::new(
            self.clone(),
            HealthServer::new(self.clone()).max_decoding_message_size(REQUEST_BYTES),
        )
    }

    fn state(&self, name: &str) -> Option<ServingStatus> {
        self.states.get(name).map(|state| *state.borrow())
    }

    fn all(&self) -> impl Iterator<Item = (&String, ServingStatus)> {
        self.states.iter().map(|(name, state)| (name, *state.borrow()))
    }
}

#[tonic::async_trait]
impl Health for HealthBoard {
    async fn check(
        &self,
        request: Request<HealthCheckRequest>,
    ) -> Result<Response<HealthCheckResponse>, Status> {
        let name = request.into_inner().service;
        let found = self.state(&name).ok_or_else(|| unknown_service(&name))?;
        Ok(Response::new(answer(found)))
    }

    type WatchStream = Answers;

    async fn watch(&self, request: Request<HealthCheckRequest>) -> Result<Response<Answers>, Status> {
        let name = request.into_inner().service;
        let close = self.close.clone();
        let states: Answers = match self.states.get(&name) {
            Some(state) => {
                let untold = (name != LIVENESS).then(|| self.untold.clone());
                let watching = Watching::new(state.subscribe(), untold);
                Box::pin(watching.map(|state| Ok(answer(state))))
            }
            // The set of services does not change, but the protocol keeps such a watch open.
            None => {
                let once = std::future::ready(Ok(answer(ServingStatus::ServiceUnknown)));
                Box::pin(futures::stream::once(once).chain(futures::stream::pending()))
            }
        };
        Ok(Response::new(Box::pin(
            states.take_until(close.cancelled_owned()),
        )))
    }
}

fn answer(state: ServingStatus) -> HealthCheckResponse {
    HealthCheckResponse { status: state.into() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn ask(name: &str) -> Request<HealthCheckRequest> {
        Request::new(HealthCheckRequest {
            service: name.to_owned(),
        })
    }

    async fn check(board: &HealthBoard, name: &str) -> i32 {
        board.check(ask(name)).await.unwrap().into_inner().status
    }

    #[tokio::test]
    async fn everything_but_liveness_starts_not_serving() {
        let board = HealthBoard::new(&["a.B"], CancellationToken::new());
        let (serving, not) = (ServingStatus::Serving as i32, ServingStatus::NotServing as i32);
        assert_eq!((check(&board, "").await, check(&board, "a.B").await), (not, not));
        assert_eq!(check(&board, LIVENESS).await, serving);
        board.set_serving(true);
        assert_eq!(
            (check(&board, "").await, check(&board, "a.B").await),
            (serving, serving)
        );
        board.set_serving(false);
        assert_eq!(
            (check(&board, "a.B").await, check(&board, LIVENESS).await),
            (not, serving)
        );
        assert_eq!(
            board.check(ask("c.D")).await.unwrap_err().code(),
            tonic::Code::NotFound
        );
    }

    #[tokio::test]
    async fn the_drain_waits_until_the_watches_have_said_not_serving() {
        const LONG: Duration = Duration::from_secs(60);
        let board = HealthBoard::new(&[], CancellationToken::new());
        board.set_serving(true);
        let watch = async |name| board.watch(ask(name)).await.unwrap().into_inner();
        let (mut reading, mut silent, mut liveness) =
            (watch("").await, watch("").await, watch(LIVENESS).await);
        for watch in [&mut reading, &mut silent, &mut liveness] {
            assert_eq!(
                watch.next().await.unwrap().unwrap().status(),
                ServingStatus::Serving
            );
        }
        board.set_serving(false);
        let mut told = Box::pin(board.told(LONG));
        assert!(futures::poll!(&mut told).is_pending());
        assert_eq!(
            reading.next().await.unwrap().unwrap().status(),
            ServingStatus::NotServing
        );
        assert!(futures::poll!(&mut told).is_pending(), "one has not been told");
        drop(silent);
        told.await;
    }

    #[tokio::test]
    async fn a_watch_tells_every_change_once_and_ends_with_the_server() {
        let close = CancellationToken::new();
        let board = HealthBoard::new(&[], close.clone());
        let mut watch = board.watch(ask("")).await.unwrap().into_inner();
        let mut next = async || watch.next().await.map(|answer| answer.unwrap().status());
        assert_eq!(next().await, Some(ServingStatus::NotServing));
        board.set_serving(true);
        assert_eq!(next().await, Some(ServingStatus::Serving));
        board.set_serving(true);
        board.set_serving(false);
        assert_eq!(next().await, Some(ServingStatus::NotServing));
        close.cancel();
        assert_eq!(next().await, None);
    }
}
