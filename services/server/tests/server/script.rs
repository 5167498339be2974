//! A service that does what a header of the call says, under the name of the workspace service.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use compozy_domain::CatalogError;
use compozy_proto::workspace::v1::{GetWorkspaceRequest, GetWorkspaceResponse};
use compozy_server::status::status;
use http::{Request, Response};
use tokio::sync::Semaphore;
use tonic::Status;
use tonic::body::Body;
use tonic::server::{Grpc, NamedService, UnaryService};
use tonic_prost::ProstCodec;
use tower::Service;

/// The header with what to do.
pub const SCRIPT: &str = "script";

/// What calls wait for, and how a test sees that they came.
#[derive(Debug)]
pub struct Gate {
    /// A permit for each call that has begun to wait.
    pub waiting: Semaphore,
    /// A permit lets a waiting call go on.
    pub open: Semaphore,
}

#[derive(Debug, Clone)]
pub struct Script {
    gate: Arc<Gate>,
}

impl Script {
    pub fn new() -> (Self, Arc<Gate>) {
        let gate = Arc::new(Gate {
            waiting: Semaphore::new(0),
            open: Semaphore::new(0),
        });
        (
            Self {
                gate: Arc::clone(&gate),
            },
            gate,
        )
    }
}

impl NamedService for Script {
    const NAME: &'static str = "compozy.workspace.v1.WorkspaceService";
}

impl Service<Request<Body>> for Script {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let handler = Handler(Arc::clone(&self.gate));
        let codec = ProstCodec::<GetWorkspaceResponse, GetWorkspaceRequest>::default();
        Box::pin(async move {
            let mut grpc = Grpc::new(codec);
            Ok(grpc.unary(handler, request).await)
        })
    }
}

struct Handler(Arc<Gate>);

impl UnaryService<GetWorkspaceRequest> for Handler {
    type Response = GetWorkspaceResponse;
    type Future = Pin<Box<dyn Future<Output = Result<tonic::Response<GetWorkspaceResponse>, Status>> + Send>>;

    fn call(&mut self, request: tonic::Request<GetWorkspaceRequest>) -> Self::Future {
        let gate = Arc::clone(&self.0);
        let script = request
            .metadata()
            .get(SCRIPT)
            .map(|value| value.to_str().unwrap().to_owned());
        Box::pin(async move {
            match script.as_deref() {
                Some("panic") => panic!("by the test"),
                Some("defect") => {
                    return Err(status(CatalogError::Defect {
                        detail: "secret".to_owned(),
                    }));
                }
                Some("away") => {
                    return Err(status(CatalogError::StoreUnavailable {
                        outcome_unknown: false,
                    }));
                }
                Some("wait") => {
                    gate.waiting.add_permits(1);
                    gate.open.acquire().await.unwrap().forget();
                }
                Some("bare") => return Err(bare()),
                _ => {}
            }
            Ok(tonic::Response::new(GetWorkspaceResponse::default()))
        })
    }
}

#[expect(clippy::disallowed_methods, reason = "what a library below would answer")]
fn bare() -> Status {
    Status::unknown("no details")
}
