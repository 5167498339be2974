//! Work stops when its time is up: the caller's `grpc-timeout`, else 30 s for calls that are no streams. The
//! handler is dropped then; a write that has begun runs on its own and happens completely.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use compozy_domain::CatalogError;
use http::{HeaderMap, Request, Response};
use http_body::{Frame, SizeHint};
use pin_project_lite::pin_project;
use tokio::time::{Instant, Sleep, sleep_until, timeout_at};
use tonic::Status;
use tonic::body::Body;
use tower::Service;

use super::call::Call;
use super::{Answer, Calls, refuse};

const UNARY_DEFAULT: Duration = Duration::from_secs(30);
/// How long the one request of a stream may take to arrive: nobody is asked who he is, and no limit counts, before.
const ARRIVAL: Duration = Duration::from_secs(10);
const HEADER: &str = "grpc-timeout";

/// Until when the answer is wanted; in the extensions of every request. `None` only for streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadline(pub Option<Instant>);

impl Deadline {
    /// How much time is left; `None` is without end.
    #[must_use]
    pub fn left(self) -> Option<Duration> {
        self.0.map(|at| at.saturating_duration_since(Instant::now()))
    }
}

#[derive(Debug, Clone)]
pub(super) struct Deadlines<S> {
    inner: S,
    /// The time of a unary call whose caller sets none.
    unary: Duration,
}

impl<S> Deadlines<S> {
    pub(super) fn new(inner: S) -> Self {
        Self {
            inner,
            unary: UNARY_DEFAULT,
        }
    }
}

impl<S: Calls> Service<Request<Body>> for Deadlines<S> {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Answer;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<Body>) -> Answer {
        let streaming = Call::of(request.extensions()).method.streaming;
        let span = match wanted(request.headers()) {
            Ok(None) if streaming => None,
            Ok(wanted) => Some(wanted.unwrap_or(self.unary)),
            Err(error) => return Box::pin(std::future::ready(Ok(refuse(error)))),
        };
        // A span beyond what the clock can count is no deadline.
        let deadline = Deadline(span.and_then(|span| Instant::now().checked_add(span)));
        request.extensions_mut().insert(deadline);
        if streaming && !Call::of(request.extensions()).method.client_streaming {
            let end = sleep_until(Instant::now() + ARRIVAL);
            request = request.map(|body| Body::new(ArrivingBody { body, end }));
        }
        let inner = self.inner.call(request);
        let Some(at) = deadline.0 else {
            return Box::pin(inner);
        };
        Box::pin(async move {
            let Ok(response) = timeout_at(at, inner).await else {
                return Ok(refuse(CatalogError::DeadlineExceeded));
            };
            if !streaming {
                return response;
            }
            Ok(response?.map(|body| {
                Body::new(BoundedBody {
                    body: Some(body),
                    end: sleep_until(at),
                })
            }))
        })
    }
}

/// Reads `grpc-timeout`: at most eight digits and a unit.
fn wanted(headers: &HeaderMap) -> Result<Option<Duration>, CatalogError> {
    let Some(value) = headers.get(HEADER) else {
        return Ok(None);
    };
    let parsed = value.to_str().ok().and_then(parse);
    let problem =
        || CatalogError::invalid_field(HEADER, "has to be up to 8 digits and one of H, M, S, m, u, n");
    parsed.map(Some).ok_or_else(problem)
}

fn parse(text: &str) -> Option<Duration> {
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let is_number = (1..=8).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number: u64 = if is_number {
        digits.parse().ok()?
    } else {
        return None;
    };
    Some(match unit {
        "H" => Duration::from_secs(number * 3_600),
        "M" => Duration::from_secs(number * 60),
        "S" => Duration::from_secs(number),
        "m" => Duration::from_millis(number),
        "u" => Duration::from_micros(number),
        "n" => Duration::from_nanos(number),
        _ => return None,
    })
}

pin_project! {
    /// A stream that ends at its deadline.
    struct BoundedBody {
        body: Option<Body>,
        #[pin]
        end: Sleep,
    }
}

impl http_body::Body for BoundedBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let this = self.project();
        let Some(body) = this.body else {
            return Poll::Ready(None);
        };
        // The time comes first: a stream that is always ready must end too.
        if this.end.poll(context).is_pending() {
            return Pin::new(body).poll_frame(context);
        }
        *this.body = None;
        let mut trailers = HeaderMap::new();
        let status = crate::status::status(CatalogError::DeadlineExceeded);
        // Ours are always valid headers; without them the caller sees a broken stream.
        let _ = status.add_header(&mut trailers);
        Poll::Ready(Some(Ok(Frame::trailers(trailers))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(http_body::Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}

pin_project! {
    /// A request that has to be complete in time.
    struct ArrivingBody {
        body: Body,
        #[pin]
        end: Sleep,
    }
}

impl http_body::Body for ArrivingBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let this = self.project();
        if let Poll::Ready(frame) = Pin::new(this.body).poll_frame(context) {
            return Poll::Ready(frame);
        }
        this.end
            .poll(context)
            .map(|()| Some(Err(crate::status::status(CatalogError::DeadlineExceeded))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tonic_types::StatusExt as _;

    use super::*;
    use crate::methods::Method;

    /// Counts the work that is under way.
    struct UnderWay(Arc<AtomicUsize>);

    impl Drop for UnderWay {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
    }

    #[tokio::test]
    async fn w291_s335_a_call_without_a_time_of_its_own_ends_after_the_default_and_its_work_stops() {
        assert_eq!(Deadlines::new(()).unary, Duration::from_secs(30));
        for name in [
            "compozy.workspace.v1.WorkspaceService/RegisterWorkspace",
            "compozy.session.v1.SessionCatalogService/CreateSession",
        ] {
            ends_after_the_default(name).await;
        }
    }

    async fn ends_after_the_default(name: &str) {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        // Work that takes a minute, and half a second instead of half a minute for it.
        let work = tower::service_fn(move |request: Request<Body>| {
            counted.fetch_add(1, Ordering::SeqCst);
            let under_way = UnderWay(Arc::clone(&counted));
            async move {
                let _under_way = under_way;
                let told = request
                    .extensions()
                    .get::<Deadline>()
                    .and_then(|told| told.left());
                assert!(told.is_some_and(|left| left <= Duration::from_millis(500)));
                tokio::time::sleep(Duration::from_secs(60)).await;
                Ok(Response::new(Body::empty()))
            }
        });
        let mut layer = Deadlines {
            inner: work,
            unary: Duration::from_millis(500),
        };
        let mut request = Request::new(Body::empty());
        let method = Method {
            name: name.into(),
            streaming: false,
            client_streaming: false,
            open: false,
        };
        request.extensions_mut().insert(Call::new(Arc::new(method)));
        let begun = Instant::now();
        let response = layer.call(request).await.unwrap();
        let status = Status::from_header_map(response.headers()).unwrap();
        assert_eq!(status.code(), tonic::Code::DeadlineExceeded);
        let info = status.get_details_error_info().unwrap();
        assert_eq!(info.reason, "DEADLINE_EXCEEDED");
        assert!(begun.elapsed() >= Duration::from_millis(500) && begun.elapsed() < Duration::from_secs(30));
        assert_eq!(count.load(Ordering::SeqCst), 0, "the work has stopped");
    }

    #[test]
    fn timeouts_are_read_as_the_protocol_says() {
        assert_eq!(parse("1H"), Some(Duration::from_secs(3_600)));
        assert_eq!(parse("2M"), Some(Duration::from_secs(120)));
        assert_eq!(parse("30S"), Some(Duration::from_secs(30)));
        assert_eq!(parse("99999999m"), Some(Duration::from_millis(99_999_999)));
        assert_eq!(parse("5u"), Some(Duration::from_micros(5)));
        assert_eq!(parse("0n"), Some(Duration::ZERO));
        for text in ["", "S", "1", "123456789S", "-1S", "1s", "1 S", "1é", "+1S"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
