//! How much at once: unary calls of everybody together, and calls a second of one caller. What is above is told
//! when to come again. Streams are bounded by their connections.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use compozy_domain::Principal;
use http::{Request, Response};
use tokio::sync::Semaphore;
use tonic::body::Body;
use tower::Service;

use super::call::Call;
use super::{Answer, Calls};
use crate::config::Limits;
use crate::status::rate_limited;

/// When to come again after too many calls at once.
const CROWDED: Duration = Duration::from_millis(200);

/// The limits of calls and how much of them is used.
#[derive(Debug)]
pub struct CallLimits {
    at_once: Semaphore,
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
            at_once: Semaphore::new(limits.calls),
            interval,
            burst: Duration::from_secs(1),
            due: Mutex::new(HashMap::new()),
        })
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
        if call.method.open {
            return Box::pin(self.inner.call(request));
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
        if self.limits.at_once.available_permits() == 0 {
            return refused(CROWDED);
        }
        let limits = Arc::clone(&self.limits);
        let inner = self.inner.call(request);
        Box::pin(async move {
            let Ok(_permit) = limits.at_once.try_acquire() else {
                return Ok(rate_limited(CROWDED).into_http());
            };
            inner.await
        })
    }
}

fn refused(wait: Duration) -> Answer {
    Box::pin(std::future::ready(Ok(rate_limited(wait).into_http())))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_caller_may_burst_for_a_second_and_is_told_when_to_come_again() {
        let limits = CallLimits {
            at_once: Semaphore::new(1),
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
}
