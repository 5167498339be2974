//! The plain port for Prometheus and probes.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tonic::transport::Endpoint;
use tonic_health::pb::health_check_response::ServingStatus;

use crate::health::check;
use crate::running::{PATIENCE, Running, call, start, until};

async fn get(server: &Running, path: &str) -> String {
    get_at(&server.telemetry[0].to_string(), path).await
}

async fn get_at(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    tokio::time::timeout(PATIENCE, stream.read_to_string(&mut answer))
        .await
        .expect("no answer")
        .unwrap();
    answer
}

/// How many calls are under way.
pub async fn calls_in_flight(server: &Running) -> u32 {
    calls_in_flight_at(&server.telemetry[0].to_string()).await
}

/// The same of a server that is known by the address of its telemetry.
pub async fn calls_in_flight_at(address: &str) -> u32 {
    value_at(address, "rpc_server_calls_in_flight")
        .await
        .parse()
        .unwrap()
}

/// One number of a server.
pub async fn number(server: &Running, name: &str) -> f64 {
    let value = value_at(&server.telemetry[0].to_string(), name).await;
    value.parse().unwrap()
}

async fn value_at(address: &str, name: &str) -> String {
    let text = get_at(address, "/metrics").await;
    let value = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    let value = value.unwrap_or_else(|| panic!("no {name} in {text}"));
    value.trim().to_owned()
}

#[tokio::test]
async fn calls_are_counted_by_method_and_status() {
    let server = start("telemetry.listen = \"127.0.0.1:0\"\n").await;
    let channel = server.channel().await;
    call(&channel, "").await.unwrap();
    call(&channel, "away").await.unwrap_err();
    let line = |code: &str| {
        format!(
            "rpc_server_call_duration_seconds_count{{rpc_system_name=\"grpc\",\
             rpc_method=\"compozy.workspace.v1.WorkspaceService/GetWorkspace\",rpc_response_status_code=\"{code}\"}} 1"
        )
    };
    until("both counts", async || {
        let text = get(&server, "/metrics").await;
        text.contains(&line("OK"))
            && text.contains(&line("UNAVAILABLE"))
            && text.contains("compozy_store_ready 1")
    })
    .await;
    let text = get(&server, "/metrics").await;
    assert!(
        text.starts_with("HTTP/1.1 200") && text.contains("openmetrics-text"),
        "{text}"
    );
    assert!(
        text.contains("compozy_connections ") && text.contains("rpc_server_calls_in_flight 0"),
        "{text}"
    );
    assert!(get(&server, "/anything").await.starts_with("HTTP/1.1 404"));
}

#[tokio::test]
async fn probes_ask_for_health_there_without_a_token() {
    let server = start("telemetry.listen = \"127.0.0.1:0\"\n").await;
    let address = format!("http://{}", server.telemetry[0]);
    let channel = Endpoint::from_shared(address).unwrap().connect().await.unwrap();
    assert_eq!(check(&channel, "liveness").await, ServingStatus::Serving);
    until("serving", async || {
        check(&channel, "").await == ServingStatus::Serving
    })
    .await;
    assert!(call(&channel, "").await.is_err(), "nothing else is there");
}
