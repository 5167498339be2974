//! How many connections, how silent, how old.

use std::sync::atomic::Ordering;

use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tonic::Code;

use crate::running::{PATIENCE, call_with, reason, spawn, start, until};

const TCP: &str = "grpc.listen = \"127.0.0.1:0\"\n";

#[tokio::test]
async fn an_old_connection_says_goaway_and_its_calls_finish() {
    let server = start(&format!("{TCP}grpc.connection_age = \"100ms\"\n")).await;
    let token = format!("Bearer {}", server.token());
    let (channel, made) = server.counted_network();
    let old = {
        let (channel, token) = (channel.clone(), token.clone());
        spawn(async move { call_with(&channel, "wait", &[("authorization", &token)]).await })
    };
    server.gate.waiting.acquire().await.unwrap().forget();
    until("a second connection", async || {
        let answer = call_with(&channel, "", &[("authorization", &token)]).await;
        // A call that crosses with GOAWAY is told to come again; none is answered wrongly.
        if let Err(status) = answer {
            assert!(
                matches!(status.code(), Code::Cancelled | Code::Unavailable | Code::Unknown),
                "{status:?}"
            );
        }
        made.load(Ordering::SeqCst) > 1
    })
    .await;
    server.gate.open.add_permits(1);
    old.await
        .unwrap()
        .expect("the call on the old connection was answered");
}

#[tokio::test]
async fn the_streams_of_an_old_connection_are_cut_after_the_grace() {
    let config = format!("{TCP}grpc.connection_age = \"50ms\"\ngrpc.connection_age_grace = \"50ms\"\n");
    let server = start(&config).await;
    let token = format!("Bearer {}", server.token());
    let channel = server.network().await;
    let cut = call_with(&channel, "wait", &[("authorization", &token)])
        .await
        .unwrap_err();
    assert_ne!(cut.code(), Code::DeadlineExceeded);
}

#[tokio::test]
async fn a_connection_that_never_says_anything_is_closed() {
    let server = start(&format!("{TCP}grpc.handshake_timeout = \"50ms\"\n")).await;
    let mut silent = TcpStream::connect(server.addresses[0]).await.unwrap();
    let read = tokio::time::timeout(PATIENCE, silent.read(&mut [0_u8; 64]))
        .await
        .expect("it was never closed");
    assert!(matches!(read, Ok(0) | Err(_)), "{read:?}");
}

#[tokio::test]
async fn above_the_limit_a_connection_is_closed_and_the_others_go_on() {
    let server = start(&format!("{TCP}limits.connections = 1\n")).await;
    let token = format!("Bearer {}", server.token());
    let first = server.network().await;
    call_with(&first, "", &[("authorization", &token)]).await.unwrap();
    let mut second = TcpStream::connect(server.addresses[0]).await.unwrap();
    let read = tokio::time::timeout(PATIENCE, second.read(&mut [0_u8; 64]))
        .await
        .expect("it was never closed");
    assert!(matches!(read, Ok(0) | Err(_)), "{read:?}");
    call_with(&first, "", &[("authorization", &token)]).await.unwrap();
    // The socket has a limit of its own: strangers can't lock the owner out.
    crate::running::call(&server.channel().await, "").await.unwrap();
}

#[tokio::test]
async fn c142_beyond_this_machine_without_tls_the_start_is_refused_and_nothing_listens() {
    for tokens in ["", "auth.tokens_file = \"$COMPOZY_HOME/tokens.toml\"\n"] {
        let config = format!("grpc.listen = \"0.0.0.0:0\"\n{tokens}");
        let mut socket = None;
        let started = crate::running::try_start(&config, |home| {
            std::fs::write(home.path().join("tokens.toml"), "").unwrap();
            socket = Some(home.socket_path());
        });
        let failure = started.await.err().expect("it started");
        assert!(
            failure.to_string().contains("grpc.listen") && failure.to_string().contains("grpc.tls"),
            "{failure}"
        );
        assert!(!socket.unwrap().exists());
    }
}

#[tokio::test]
async fn much_metadata_is_fine() {
    let server = start("").await;
    let long = "x".repeat(20 * 1024);
    call_with(&server.channel().await, "", &[("x-long", &long)])
        .await
        .unwrap();
    assert_eq!(
        reason(&call_with(&server.channel().await, "away", &[]).await.unwrap_err()),
        "STORE_UNAVAILABLE"
    );
}
