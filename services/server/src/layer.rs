//! What every call passes, outermost first: trace, metrics with one log line per failure, panics, statuses,
//! drain, caller, deadline, limits. Each is a `tower::Service` around the next; none knows a method by itself.

mod call;
mod deadline;
mod drain;
mod limit;
mod meter;
mod panic;
mod principal;
mod status;
mod trace;

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use http::{Request, Response};
use tonic::body::Body;
use tower::Service;

use compozy_domain::Random;

use crate::methods::Methods;
use crate::shutdown::Shutdown;
use crate::telemetry::Metrics;
use crate::token::Tokens;

pub use self::deadline::Deadline;
pub use self::limit::CallLimits;
pub use self::principal::{Standing, principal};

/// The future of a call on its way out.
pub(crate) type Answer = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

/// Something that answers calls.
pub(crate) trait Calls:
    Service<Request<Body>, Response = Response<Body>, Error = Infallible, Future: Send + 'static>
    + Clone
    + Send
    + 'static
{
}

impl<S> Calls for S where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible, Future: Send + 'static>
        + Clone
        + Send
        + 'static
{
}

/// What the layers need.
#[derive(Debug, Clone)]
pub(crate) struct Parts {
    pub(crate) methods: Methods,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) shutdown: Shutdown,
    pub(crate) tokens: Arc<Tokens>,
    pub(crate) limits: Arc<CallLimits>,
    pub(crate) random: Arc<dyn Random>,
}

/// Puts the layers around the services.
pub(crate) fn around<S: Calls + Sync>(services: S, parts: &Parts) -> impl Calls + Sync + use<S> {
    let limited = limit::Limit::new(services, Arc::clone(&parts.limits));
    let timed = deadline::Deadlines::new(limited);
    let known = principal::Authenticate::new(timed, Arc::clone(&parts.tokens));
    let drained = drain::Drain::new(known, parts.shutdown.clone());
    let explained = status::Explain::new(drained);
    let caught = panic::Catch::new(explained);
    let metered = meter::Meter::new(caught, Arc::clone(&parts.metrics));
    trace::Trace::new(metered, parts.methods.clone(), Arc::clone(&parts.random))
}

/// Ends a call here, with a status that says why.
fn refuse(error: compozy_domain::CatalogError) -> Response<Body> {
    crate::status::status(error).into_http()
}
