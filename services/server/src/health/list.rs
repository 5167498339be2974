//! `Health.List`, which the protocol has and the library's generated service has not yet: answered in front of it.

use std::collections::HashMap;
use std::convert::Infallible;
use std::task::{Context, Poll};

use http::{Request, Response};
use tonic::body::Body;
use tonic::server::{Grpc, NamedService, UnaryService};
use tonic_health::pb::HealthCheckResponse;
use tonic_health::pb::health_server::HealthServer;
use tonic_prost::ProstCodec;
use tower::Service;

use super::{HealthBoard, answer};
use crate::layer::Answer;
use crate::methods::HEALTH_SERVICE;

const PATH: &str = "/grpc.health.v1.Health/List";

/// `grpc.health.v1.HealthListRequest`.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub(super) struct HealthListRequest {}

/// `grpc.health.v1.HealthListResponse`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct HealthListResponse {
    /// The state of every served name.
    #[prost(map = "string, message", tag = "1")]
    pub(super) statuses: HashMap<String, HealthCheckResponse>,
}

/// The whole health service.
#[derive(Debug, Clone)]
pub struct HealthService {
    board: HealthBoard,
    inner: HealthServer<HealthBoard>,
}

impl HealthService {
    pub(super) fn new(board: HealthBoard, inner: HealthServer<HealthBoard>) -> Self {
        Self { board, inner }
    }
}

impl NamedService for HealthService {
    const NAME: &'static str = HEALTH_SERVICE;
}

impl Service<Request<Body>> for HealthService {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Answer;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Answer {
        if request.uri().path() != PATH {
            return self.inner.call(request);
        }
        let list = List(self.board.clone());
        let codec = ProstCodec::<HealthListResponse, HealthListRequest>::default();
        Box::pin(async move { Ok(Grpc::new(codec).unary(list, request).await) })
    }
}

struct List(HealthBoard);

impl UnaryService<HealthListRequest> for List {
    type Response = HealthListResponse;
    type Future = std::future::Ready<Result<tonic::Response<HealthListResponse>, tonic::Status>>;

    fn call(&mut self, _request: tonic::Request<HealthListRequest>) -> Self::Future {
        let statuses = self
            .0
            .all()
            .map(|(name, state)| (name.clone(), answer(state)))
            .collect();
        std::future::ready(Ok(tonic::Response::new(HealthListResponse { statuses })))
    }
}
