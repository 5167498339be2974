//! Who streams, the daemon or the floor, and how its streams are opened.

use std::net::SocketAddr;

use bytes::Bytes;
use compozy_proto::change::v1::{WatchCatalogRequest, WatchStart};
use http::uri::PathAndQuery;
use prost::Message as _;
use tonic::client::Grpc;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Streaming};

use super::raw::Raw;
use crate::wire;

const WATCH: &str = "/compozy.change.v1.CatalogChangeService/WatchCatalog";
/// Streams that share a connection.
pub(crate) const STREAMS_OF_A_CONNECTION: usize = 100;
/// What a client may be sent ahead of its reading, as in the SDK.
const STREAM_WINDOW: u32 = 64 * 1024;

/// A server that streams.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    address: SocketAddr,
    authorization: Option<MetadataValue<Ascii>>,
    method: &'static str,
    /// The process to measure.
    pub(crate) pid: u32,
}

impl Source {
    /// The daemon.
    pub(crate) fn daemon(address: SocketAddr, token: &str, pid: u32) -> Self {
        Self {
            address,
            authorization: Some(format!("Bearer {token}").parse().unwrap()),
            method: WATCH,
            pid,
        }
    }

    /// The floor.
    pub(crate) fn bare(address: SocketAddr, method: &'static str, pid: u32) -> Self {
        Self {
            address,
            authorization: None,
            method,
            pid,
        }
    }

    /// Connections for so many streams.
    pub(crate) async fn connect(&self, streams: usize) -> Vec<Channel> {
        let mut channels = Vec::new();
        for _ in 0..streams.div_ceil(STREAMS_OF_A_CONNECTION) {
            channels.push(wire::connect(&self.endpoint()).await);
        }
        channels
    }

    fn endpoint(&self) -> Endpoint {
        // A stream that nobody reads must not take the connection's window from the others.
        let all = STREAM_WINDOW * u32::try_from(STREAMS_OF_A_CONNECTION).unwrap();
        wire::endpoint(self.address)
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(all)
    }

    /// Opens a stream.
    pub(super) async fn open(&self, channel: Channel, request: Bytes) -> Streaming<Bytes> {
        let mut grpc = Grpc::new(channel);
        grpc.ready().await.unwrap();
        let mut request = Request::new(request);
        if let Some(authorization) = &self.authorization {
            let metadata = request.metadata_mut();
            metadata.insert("authorization", authorization.clone());
        }
        let method = PathAndQuery::from_static(self.method);
        let opened = grpc.server_streaming(request, method, Raw).await;
        opened.unwrap().into_inner()
    }
}

/// A request for everything from now on.
pub(crate) fn from_now() -> Bytes {
    starting(WatchStart::Now)
}

/// A request for everything that is retained.
pub(crate) fn from_earliest() -> Bytes {
    starting(WatchStart::Earliest)
}

/// A request for everything behind a token.
pub(crate) fn behind(token: &str) -> Bytes {
    let request = WatchCatalogRequest {
        resume_token: token.to_owned(),
        ..Default::default()
    };
    request.encode_to_vec().into()
}

fn starting(start: WatchStart) -> Bytes {
    let request = WatchCatalogRequest {
        start: start.into(),
        ..Default::default()
    };
    request.encode_to_vec().into()
}
