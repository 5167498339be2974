//! The floor of a call: a bare method on the same tonic, which answers with as many bytes as the call that it is
//! held against.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::uri::PathAndQuery;
use tonic::body::Body;
use tonic::server::{NamedService, UnaryService};
use tonic::transport::Channel;
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;
use tower::Service;

const METHOD: &str = "/compozy.bench.Echo/Echo";

/// Some bytes: the request as long as that of the call in question, the answer as long as its answer.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Payload {
    #[prost(bytes = "bytes", tag = "1")]
    pub(crate) bytes: Bytes,
}

impl Payload {
    /// A message whose encoding has about this length.
    pub(crate) fn of_length(length: usize) -> Self {
        Self {
            bytes: vec![b'x'; length.saturating_sub(3)].into(),
        }
    }
}

#[derive(Debug, Clone)]
struct Echo {
    answer: Payload,
}

impl NamedService for Echo {
    const NAME: &'static str = "compozy.bench.Echo";
}

impl UnaryService<Payload> for Echo {
    type Response = Payload;
    type Future = Ready<Result<Response<Payload>, Status>>;

    fn call(&mut self, _: Request<Payload>) -> Self::Future {
        ready(Ok(Response::new(self.answer.clone())))
    }
}

impl Service<http::Request<Body>> for Echo {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let method = self.clone();
        Box::pin(async move {
            let mut grpc = tonic::server::Grpc::new(ProstCodec::<Payload, Payload>::default());
            Ok(grpc.unary(method, request).await)
        })
    }
}

/// Serves until the process ends.
pub(crate) async fn serve(address: SocketAddr, answer_length: usize) {
    let echo = Echo {
        answer: Payload::of_length(answer_length),
    };
    tonic::transport::Server::builder()
        .add_service(echo)
        .serve(address)
        .await
        .unwrap();
}

/// One call.
pub(crate) async fn call(channel: Channel, request: Payload) -> Payload {
    let mut grpc = tonic::client::Grpc::new(channel);
    grpc.ready().await.unwrap();
    let codec = ProstCodec::<Payload, Payload>::default();
    let method = PathAndQuery::from_static(METHOD);
    grpc.unary(Request::new(request), method, codec)
        .await
        .unwrap()
        .into_inner()
}
