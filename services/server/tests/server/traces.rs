//! Spans reach a collector, and a collector that is down holds nobody.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::trace::v1::Span;
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{Request, Response, Status};

use crate::binary::{Place, SOON};
use crate::running::{call_with, socket_channel, spawn, until};

#[derive(Debug, Clone, Default)]
struct Collector(Arc<Mutex<Vec<Span>>>);

#[tonic::async_trait]
impl TraceService for Collector {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        let spans = request
            .into_inner()
            .resource_spans
            .into_iter()
            .flat_map(|resource| resource.scope_spans);
        self.0.lock().unwrap().extend(spans.flat_map(|scope| scope.spans));
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

#[tokio::test]
async fn a_call_is_a_span_below_its_callers() {
    let collector = Collector::default();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let service = TraceServiceServer::new(collector.clone());
    let server = tonic::transport::Server::builder().add_service(service);
    spawn(server.serve_with_incoming(TcpListenerStream::new(listener)));

    let place = Place::new();
    let mut command = place.command(&["run"]);
    command
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
        .env("OTEL_BSP_SCHEDULE_DELAY", "50");
    let daemon = place.serving(command).await;
    let channel = socket_channel(&daemon.socket).await;
    let traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let failed = call_with(&channel, "", &[("traceparent", traceparent)])
        .await
        .unwrap_err();
    assert!(failed.metadata().get("trace-id").unwrap() == "4bf92f3577b34da6a3ce929d0e0e4736");
    let find = || {
        let spans = collector.0.lock().unwrap();
        spans
            .iter()
            .find(|span| span.trace_id == 0x4bf92f3577b34da6a3ce929d0e0e4736_u128.to_be_bytes())
            .cloned()
    };
    until("the span", async || find().is_some()).await;
    let span = find().unwrap();
    assert_eq!(span.name, "compozy.workspace.v1.WorkspaceService/GetWorkspace");
    assert_eq!(span.parent_span_id, 0x00f067aa0ba902b7_u64.to_be_bytes());
    let out = failed
        .metadata()
        .get("traceparent")
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned();
    let span_id: String = span.span_id.iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(out.contains(&span_id), "{out} does not name {span_id}");
    assert!(daemon.stop().await.success());
}

#[tokio::test]
async fn a_collector_that_never_answers_does_not_hold_the_end() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let place = Place::new();
    let mut command = place.command(&["run"]);
    command.env(
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        format!("http://{}", silent.local_addr().unwrap()),
    );
    let daemon = place.serving(command).await;
    call_with(&socket_channel(&daemon.socket).await, "", &[])
        .await
        .unwrap_err();
    let begun = Instant::now();
    assert!(daemon.stop().await.success());
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
}
