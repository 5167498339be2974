//! What every call meets: explanations of failures, deadlines, panics, limits.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use compozy_proto::admin::v1::GetServerInfoRequest;
use compozy_proto::admin::v1::admin_service_client::AdminServiceClient;
use tonic::Code;
use tonic_types::StatusExt;

use crate::bare;
use crate::running::{call, call_with, explained, reason, start};

/// Calls a path with raw bytes as the request message.
async fn raw(channel: &tonic::transport::Channel, path: &'static str, message: Bytes) -> tonic::Status {
    let mut client = tonic::client::Grpc::new(channel.clone());
    client.ready().await.unwrap();
    let request = tonic::Request::new(message);
    let path = http::uri::PathAndQuery::from_static(path);
    let answer: Result<tonic::Response<Bytes>, _> = client.unary(request, path, RawCodec).await;
    answer.unwrap_err()
}

#[derive(Debug, Clone, Copy, Default)]
struct RawCodec;

impl tonic::codec::Codec for RawCodec {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl tonic::codec::Encoder for RawCodec {
    type Item = Bytes;
    type Error = tonic::Status;

    fn encode(&mut self, item: Bytes, buffer: &mut tonic::codec::EncodeBuf<'_>) -> Result<(), tonic::Status> {
        bytes::BufMut::put(buffer, item);
        Ok(())
    }
}

impl tonic::codec::Decoder for RawCodec {
    type Item = Bytes;
    type Error = tonic::Status;

    fn decode(&mut self, buffer: &mut tonic::codec::DecodeBuf<'_>) -> Result<Option<Bytes>, tonic::Status> {
        let length = bytes::Buf::remaining(buffer);
        Ok(Some(bytes::Buf::copy_to_bytes(buffer, length)))
    }
}

const GET: &str = "/compozy.workspace.v1.WorkspaceService/GetWorkspace";

#[tokio::test]
async fn w113_a_request_above_4_mib_is_refused_and_the_connection_goes_on() {
    let server = start("").await;
    let channel = server.channel().await;
    let status = raw(&channel, GET, vec![0_u8; 4 * 1024 * 1024 + 1].into()).await;
    assert_eq!(
        (status.code(), reason(&status).as_str()),
        (Code::ResourceExhausted, "MESSAGE_TOO_LARGE")
    );
    assert_eq!(
        explained(&status).metadata["limit"],
        (4 * 1024 * 1024).to_string()
    );
    call(&channel, "").await.unwrap();
    assert!(server.end().await);
}

#[tokio::test]
async fn what_the_transport_refuses_is_explained_like_everything_else() {
    let server = start("").await;
    let channel = server.channel().await;
    let malformed = raw(&channel, GET, Bytes::from_static(&[0xff, 0xff, 0xff])).await;
    assert_eq!(
        (malformed.code(), reason(&malformed).as_str()),
        (Code::InvalidArgument, "INVALID_FIELD")
    );
    for path in [
        "/compozy.workspace.v1.NoService/Get",
        "/compozy.admin.v1.AdminService/NoMethod",
        "/grpc.health.v1.Health/NoMethod",
        "/x",
    ] {
        let unknown = raw(&channel, path, Bytes::new()).await;
        assert_eq!(
            (unknown.code(), reason(&unknown).as_str()),
            (Code::Unimplemented, "METHOD_UNKNOWN"),
            "{path}"
        );
    }
    let bare = call(&channel, "bare").await.unwrap_err();
    assert_eq!((bare.code(), reason(&bare).as_str()), (Code::Internal, "DEFECT"));
}

#[tokio::test]
async fn a_deadline_ends_a_call_and_a_stream() {
    let server = start("").await;
    let late = bare::call(
        &server.socket,
        GET,
        &[("script", "wait"), ("grpc-timeout", "50m")],
    )
    .await;
    assert_eq!(
        (late.code(), reason(&late).as_str()),
        (Code::DeadlineExceeded, "DEADLINE_EXCEEDED")
    );
    let watch = "/grpc.health.v1.Health/Watch";
    let end = bare::call(&server.socket, watch, &[("grpc-timeout", "50m")]).await;
    assert_eq!(
        (end.code(), reason(&end).as_str()),
        (Code::DeadlineExceeded, "DEADLINE_EXCEEDED")
    );
    let odd = bare::call(&server.socket, GET, &[("grpc-timeout", "soon")]).await;
    assert_eq!(
        (odd.code(), explained(&odd).metadata["field"].as_str()),
        (Code::InvalidArgument, "grpc-timeout")
    );
    let long = bare::call(&server.socket, GET, &[("grpc-timeout", "99999999H")]).await;
    assert_eq!(long.code(), Code::Ok, "{long:?}");
}

#[tokio::test]
async fn a_panic_is_an_internal_answer_and_the_server_lives() {
    let server = start("").await;
    let channel = server.channel().await;
    for script in ["panic", "defect"] {
        let status = call(&channel, script).await.unwrap_err();
        let info = explained(&status);
        assert_eq!((status.code(), info.reason.as_str()), (Code::Internal, "DEFECT"));
        assert!(
            status.message().contains(&info.metadata["trace_id"]),
            "{}",
            status.message()
        );
        assert!(!status.message().contains("secret"));
    }
    call(&channel, "").await.unwrap();
}

#[tokio::test]
async fn above_the_limit_of_calls_a_caller_is_told_when_to_come_again() {
    let server = Arc::new(start("limits.calls = 1\n").await);
    let channel = server.channel().await;
    let waiting = {
        let channel = channel.clone();
        crate::running::spawn(async move { call(&channel, "wait").await })
    };
    server.gate.waiting.acquire().await.unwrap().forget();
    let refused = call(&channel, "").await.unwrap_err();
    assert_eq!(
        (refused.code(), reason(&refused).as_str()),
        (Code::ResourceExhausted, "RATE_LIMITED")
    );
    assert!(refused.get_details_retry_info().unwrap().retry_delay.is_some());
    server.gate.open.add_permits(1);
    waiting.await.unwrap().unwrap();
    call(&channel, "").await.unwrap();
}

#[tokio::test]
async fn above_its_rate_a_caller_is_told_when_to_come_again() {
    let server = start("limits.calls_per_second = 3\n").await;
    let channel = server.channel().await;
    let mut refused = None;
    for _ in 0..1_000 {
        if let Err(status) = call(&channel, "").await {
            refused = Some(status);
            break;
        }
    }
    let refused = refused.expect("a thousand calls at once were all let through");
    assert_eq!(reason(&refused), "RATE_LIMITED");
    let wait = refused.get_details_retry_info().unwrap().retry_delay.unwrap();
    assert!(wait <= Duration::from_millis(334), "{wait:?}");
}

#[tokio::test]
async fn a_call_belongs_to_the_trace_of_its_caller() {
    let server = start("").await;
    let channel = server.channel().await;
    let traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let answer = call_with(&channel, "", &[("traceparent", traceparent)])
        .await
        .unwrap();
    assert_eq!(
        crate::running::header(&answer, "trace-id"),
        "4bf92f3577b34da6a3ce929d0e0e4736"
    );
    let out = crate::running::header(&answer, "traceparent");
    assert!(
        out.starts_with("00-4bf92f3577b34da6a3ce929d0e0e4736-") && out != traceparent,
        "{out}"
    );
    let failed = call_with(&channel, "defect", &[("traceparent", traceparent)])
        .await
        .unwrap_err();
    assert_eq!(
        explained(&failed).metadata["trace_id"],
        "4bf92f3577b34da6a3ce929d0e0e4736"
    );
    let fresh = call(&channel, "").await.unwrap();
    assert_eq!(crate::running::header(&fresh, "trace-id").len(), 32);
}

#[tokio::test]
async fn the_server_says_what_it_is() {
    let server = start("daemon.host_id = \"none\"\n").await;
    let mut client = AdminServiceClient::new(server.channel().await);
    let info = client
        .get_server_info(GetServerInfoRequest {})
        .await
        .unwrap()
        .into_inner();
    assert_eq!(info.version, env!("CARGO_PKG_VERSION"));
    assert_eq!((info.host_id.as_str(), info.directory_picker), ("none", 2));
    assert_eq!(info.process_id, i64::from(std::process::id()));
    let limits = info.limits.unwrap();
    assert_eq!(
        (
            limits.additional_dirs_max,
            limits.filter_values_max,
            limits.batch_items_max
        ),
        (64, 100, 1_000)
    );
    assert_eq!((limits.page_limit_default, limits.page_limit_max), (50, 100));
    assert_eq!(
        (limits.request_bytes_max, limits.response_bytes_max),
        (4 << 20, 3 << 20)
    );
}

#[tokio::test]
async fn a_compressed_message_is_refused_with_an_explanation() {
    let server = start("").await;
    let mut client = tonic::client::Grpc::new(server.channel().await);
    client.ready().await.unwrap();
    let mut request = tonic::Request::new(Bytes::new());
    request
        .metadata_mut()
        .insert("grpc-encoding", "gzip".parse().unwrap());
    let path = http::uri::PathAndQuery::from_static(GET);
    let answer: Result<tonic::Response<Bytes>, _> = client.unary(request, path, RawCodec).await;
    let status = answer.unwrap_err();
    assert_eq!(
        (status.code(), reason(&status).as_str()),
        (Code::Unimplemented, "METHOD_UNKNOWN")
    );
    assert!(status.message().contains("compressed"), "{}", status.message());
}
