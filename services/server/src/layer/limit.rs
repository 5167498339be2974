//! How much at once: unary calls of the network and, apart from them, of the socket, calls that need no token, and
//! calls a second of one caller. What is above is told when to come again. Other streams are bounded by their
//! connections.

use std::collections::HashMap;
use std::convert::Infallible;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use compozy_domain::Principal;
use http::{Request, Response};
use http_body_util::BodyExt as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tonic::body::Body;
use tower::Service;

use super::call::Call;
use super::{Answer, Calls};
use crate::accept::Peer;
use crate::config::Limits;
use crate::status::rate_limited;

/// When to come again after too many calls at once.
const CROWDED: Duration = Duration::from_millis(200);
/// Calls and streams of the network at once that need no token: strangers must not fill the memory.
const OPEN_AT_ONCE: usize = 4_096;

/// The limits of calls and how much of them is used.
#[derive(Debug)]
pub struct CallLimits {
    network: Semaphore,
    /// A share of its own: nobody on the network can shut the daemon's user out.
    socket: Semaphore,
    open: Arc<Semaphore>,
    /// Between two calls of one caller; zero is without limit.
    interval: Duration,
    /// How far a caller may run ahead of its interval: a second's worth.
    burst: Duration,
    /// When the next call of each caller is due. Callers come from the tokens file, so there are few.
    due: Mutex<HashMap<String, Instant>>,
}

impl CallLimits {
    /// Nothing is used yet.
    #[must_use]
    pub fn new(limits: &Limits) -> Arc<Self> {
        let interval = match limits.calls_per_second {
            0 => Duration::ZERO,
            calls => Duration::from_secs(1) / calls,
        };
        Arc::new(Self {
            network: Semaphore::new(limits.calls),
            socket: Semaphore::new(limits.calls),
            open: Arc::new(Semaphore::new(OPEN_AT_ONCE)),
            interval,
            burst: Duration::from_secs(1),
            due: Mutex::new(HashMap::new()),
        })
    }

    fn at_once(&self, on_socket: bool) -> &Semaphore {
        if on_socket { &self.socket } else { &self.network }
    }

    /// Counts a call of this caller, or says how long to wait.
    fn take(&self, principal: &str, now: Instant) -> Result<(), Duration> {
        if self.interval.is_zero() {
            return Ok(());
        }
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        let next = match due.get(principal) {
            Some(at) if *at > now => *at + self.interval,
            _ => now + self.interval,
        };
        let ahead = next.duration_since(now);
        if ahead > self.burst {
            return Err(ahead - self.burst);
        }
        due.insert(principal.to_owned(), next);
        Ok(())
    }
}

#[derive(Debug, Clone)]
pub(super) struct Limit<S> {
    inner: S,
    limits: Arc<CallLimits>,
}

impl<S> Limit<S> {
    pub(super) fn new(inner: S, limits: Arc<CallLimits>) -> Self {
        Self { inner, limits }
    }
}

impl<S: Calls> Service<Request<Body>> for Limit<S> {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Answer;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Answer {
        let call = Call::of(request.extensions());
        let on_socket = matches!(request.extensions().get::<Peer>(), Some(Peer::Socket { .. }));
        if call.method.open {
            if on_socket {
                return Box::pin(self.inner.call(request));
            }
            let Ok(permit) = Arc::clone(&self.limits.open).try_acquire_owned() else {
                return refused(CROWDED);
            };
            return held_to_the_end(self.inner.call(request), permit);
        }
        let principal = request
            .extensions()
            .get::<Arc<Principal>>()
            .map_or("", |principal| principal.id.as_str());
        if let Err(wait) = self.limits.take(principal, Instant::now()) {
            return refused(wait);
        }
        if call.method.streaming {
            return Box::pin(self.inner.call(request));
        }
        if self.limits.at_once(on_socket).available_permits() == 0 {
            return refused(CROWDED);
        }
        let limits = Arc::clone(&self.limits);
        let inner = self.inner.call(request);
        Box::pin(async move {
            let Ok(_permit) = limits.at_once(on_socket).try_acquire() else {
                return Ok(rate_limited(CROWDED).into_http());
            };
            inner.await
        })
    }
}

/// Answers a call that counts until the last of its answer is sent, as that of a stream may be never.
fn held_to_the_end(
    answer: impl Future<Output = Result<Response<Body>, Infallible>> + Send + 'static,
    permit: OwnedSemaphorePermit,
) -> Answer {
    Box::pin(async move {
        let response = answer.await?;
        Ok(response.map(|body| {
            Body::new(body.map_frame(move |frame| {
                let _held = &permit;
                frame
            }))
        }))
    })
}

fn refused(wait: Duration) -> Answer {
    Box::pin(std::future::ready(Ok(rate_limited(wait).into_http())))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::methods::Method;

    #[test]
    fn a_caller_may_burst_for_a_second_and_is_told_when_to_come_again() {
        let limits = CallLimits {
            network: Semaphore::new(1),
            socket: Semaphore::new(1),
            open: Arc::new(Semaphore::new(1)),
            interval: Duration::from_millis(100),
            burst: Duration::from_secs(1),
            due: Mutex::default(),
        };
        let now = Instant::now();
        for _ in 0..10 {
            limits.take("a", now).unwrap();
        }
        let wait = limits.take("a", now).unwrap_err();
        assert_eq!(wait, Duration::from_millis(100));
        assert!(limits.take("b", now).is_ok(), "another caller has its own share");
        assert!(limits.take("a", now + wait).is_ok());
        assert!(limits.take("a", now + wait).is_err());
    }

    fn request(peer: Peer, open: bool) -> Request<Body> {
        let mut request = Request::new(Body::empty());
        let method = Method {
            name: "S/M".into(),
            streaming: open,
            client_streaming: false,
            open,
        };
        request.extensions_mut().insert(Call::new(Arc::new(method)));
        request.extensions_mut().insert(peer);
        request
    }

    fn network() -> Peer {
        Peer::Network {
            address: ([127, 0, 0, 1], 1).into(),
            names: Arc::new([]),
        }
    }

    fn socket() -> Peer {
        Peer::Socket { uid: 0, pid: None }
    }

    fn one_at_once() -> Arc<CallLimits> {
        Arc::new(CallLimits {
            network: Semaphore::new(1),
            socket: Semaphore::new(1),
            open: Arc::new(Semaphore::new(1)),
            interval: Duration::ZERO,
            burst: Duration::from_secs(1),
            due: Mutex::default(),
        })
    }

    fn code(response: &Response<Body>) -> Option<tonic::Code> {
        tonic::Status::from_header_map(response.headers()).map(|status| status.code())
    }

    #[tokio::test]
    async fn a_crowd_on_the_network_leaves_the_socket_its_share() {
        let limits = one_at_once();
        let hanging = tower::service_fn(|_: Request<Body>| std::future::pending());
        let mut layer = Limit::new(hanging, Arc::clone(&limits));
        let mut waiting = layer.call(request(network(), false));
        assert!(futures::poll!(&mut waiting).is_pending());
        let refused = layer.call(request(network(), false)).await.unwrap();
        assert_eq!(code(&refused), Some(tonic::Code::ResourceExhausted));
        let mut local = layer.call(request(socket(), false));
        assert!(futures::poll!(&mut local).is_pending(), "it is being served");
    }

    #[tokio::test]
    async fn a_stream_without_a_token_counts_until_it_ends() {
        let answering = tower::service_fn(|_: Request<Body>| async {
            type Frames = Result<http_body::Frame<bytes::Bytes>, tonic::Status>;
            let endless = futures::stream::pending::<Frames>();
            Ok(Response::new(Body::new(http_body_util::StreamBody::new(endless))))
        });
        let mut layer = Limit::new(answering, one_at_once());
        let stream = layer.call(request(network(), true)).await.unwrap();
        let refused = layer.call(request(network(), true)).await.unwrap();
        assert_eq!(code(&refused), Some(tonic::Code::ResourceExhausted));
        let local = layer.call(request(socket(), true)).await.unwrap();
        assert_eq!(code(&local), None);
        drop(stream);
        let next = layer.call(request(network(), true)).await.unwrap();
        assert_eq!(code(&next), None);
    }
}
