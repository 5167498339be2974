//! What answers calls behind the layers: the early services from the first moment, all once the catalog is open.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use futures::future::Either;
use http::{Request, Response};
use tonic::body::Body;
use tonic::service::Routes;
use tower::Service;

use super::early::not_open;
use crate::methods::HEALTH_SERVICE;
use crate::service::admin::ADMIN_SERVICE;

/// The services. Clones share one state; it is read without a lock.
#[derive(Debug, Clone)]
pub(super) struct Services {
    doors: Arc<Doors>,
}

#[derive(Debug)]
struct Doors {
    early: Routes,
    all: OnceLock<Routes>,
}

impl Services {
    /// The early services alone.
    pub(super) fn new(early: Routes) -> Self {
        let all = OnceLock::new();
        Self {
            doors: Arc::new(Doors { early, all }),
        }
    }

    /// From now on everything is there. Only the first call counts.
    pub(super) fn open(&self, all: Routes) {
        let _opened_before = self.doors.all.set(all);
    }
}

impl Service<Request<Body>> for Services {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future =
        Either<<Routes as Service<Request<Body>>>::Future, Ready<Result<Response<Body>, Infallible>>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        if let Some(all) = self.doors.all.get() {
            // Routes are always ready.
            return Either::Left(all.clone().call(request));
        }
        if is_early(request.uri().path()) {
            return Either::Left(self.doors.early.clone().call(request));
        }
        Either::Right(ready(Ok(not_open().into_http())))
    }
}

fn is_early(path: &str) -> bool {
    let service = path.strip_prefix('/').and_then(|path| path.split_once('/'));
    service.is_some_and(|(service, _method)| service == HEALTH_SERVICE || service == ADMIN_SERVICE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn early_services_are_known_by_their_whole_names() {
        assert!(is_early("/grpc.health.v1.Health/Check"));
        assert!(is_early("/compozy.admin.v1.AdminService/Shutdown"));
        for path in [
            "",
            "/",
            "/grpc.health.v1.Health",
            "/grpc.health.v1.Healthy/Check",
            "/compozy.workspace.v1.WorkspaceService/GetWorkspace",
        ] {
            assert!(!is_early(path), "{path}");
        }
    }
}
