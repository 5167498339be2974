//! The floor of a stream: bare methods on the same tonic. What a client gives it to keep comes first in each stream,
//! then what is told, which a broadcast inside the process hands to all. Messages are encoded for each stream, as by
//! every method of tonic; there is no database, no filter, no token, no layer.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use bytes::Bytes;
use compozy_proto::change::v1::WatchCatalogResponse;
use futures::stream::{self, BoxStream, StreamExt as _};
use http::uri::PathAndQuery;
use prost::Message as _;
use tokio::sync::broadcast;
use tonic::body::Body;
use tonic::server::{Grpc, NamedService, ServerStreamingService, UnaryService};
use tonic::transport::Channel;
use tonic::{Request, Response, Status};
use tower::Service;

use super::raw::{Raw, Shared};

const KEEP: &str = "/compozy.bench.Bare/Keep";
const TELL: &str = "/compozy.bench.Bare/Tell";
pub(crate) const WATCH: &str = "/compozy.bench.Bare/Watch";
/// As the daemon has it.
const STREAMS_OF_A_CONNECTION_MAX: u32 = 256;
/// Messages that a stream may be behind.
const TOLD_AT_MOST: usize = 4_096;

type Shown = Arc<WatchCatalogResponse>;

#[derive(Debug, Clone)]
struct Bare {
    kept: Arc<Mutex<Vec<Shown>>>,
    told: broadcast::Sender<Shown>,
}

impl NamedService for Bare {
    const NAME: &'static str = "compozy.bench.Bare";
}

fn shown(request: Request<Bytes>) -> Shown {
    Arc::new(WatchCatalogResponse::decode(request.into_inner()).unwrap())
}

#[derive(Debug)]
struct Keep(Bare);

impl UnaryService<Bytes> for Keep {
    type Response = Bytes;
    type Future = Ready<Result<Response<Bytes>, Status>>;

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        self.0.kept.lock().unwrap().push(shown(request));
        ready(Ok(Response::new(Bytes::new())))
    }
}

#[derive(Debug)]
struct Tell(Bare);

impl UnaryService<Bytes> for Tell {
    type Response = Bytes;
    type Future = Ready<Result<Response<Bytes>, Status>>;

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        // Nobody may be there.
        let _ = self.0.told.send(shown(request));
        ready(Ok(Response::new(Bytes::new())))
    }
}

#[derive(Debug)]
struct Watch(Bare);

impl ServerStreamingService<Bytes> for Watch {
    type Response = Shown;
    type ResponseStream = BoxStream<'static, Result<Shown, Status>>;
    type Future = Ready<Result<Response<Self::ResponseStream>, Status>>;

    fn call(&mut self, _: Request<Bytes>) -> Self::Future {
        let told = stream::unfold(self.0.told.subscribe(), async |mut told| {
            let message = told.recv().await.ok()?;
            Some((Ok(message), told))
        });
        let kept = self.0.kept.lock().unwrap().clone();
        let messages = stream::iter(kept.into_iter().map(Ok)).chain(told);
        ready(Ok(Response::new(messages.boxed())))
    }
}

impl Service<http::Request<Body>> for Bare {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let bare = self.clone();
        Box::pin(async move {
            let mut unary = Grpc::new(Raw);
            Ok(match request.uri().path() {
                KEEP => unary.unary(Keep(bare), request).await,
                TELL => unary.unary(Tell(bare), request).await,
                _ => Grpc::new(Shared).server_streaming(Watch(bare), request).await,
            })
        })
    }
}

/// Serves until the process ends.
pub(crate) async fn serve(address: SocketAddr) {
    let bare = Bare {
        kept: Arc::default(),
        told: broadcast::Sender::new(TOLD_AT_MOST),
    };
    tonic::transport::Server::builder()
        .max_concurrent_streams(STREAMS_OF_A_CONNECTION_MAX)
        .add_service(bare)
        .serve(address)
        .await
        .unwrap();
}

/// Has every stream from now on begin with these messages.
pub(crate) async fn keep(channel: &Channel, messages: &[Bytes]) {
    for message in messages {
        call(channel, KEEP, message.clone()).await;
    }
}

/// Has all streams told this message.
pub(crate) async fn tell(channel: &Channel, message: Bytes) {
    call(channel, TELL, message).await;
}

async fn call(channel: &Channel, method: &'static str, message: Bytes) {
    let mut grpc = tonic::client::Grpc::new(channel.clone());
    grpc.ready().await.unwrap();
    let method = PathAndQuery::from_static(method);
    grpc.unary(Request::new(message), method, Raw).await.unwrap();
}
