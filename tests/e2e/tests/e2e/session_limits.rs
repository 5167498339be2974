//! Sessions and the limits of the daemon, by a client that does not try again by itself.

use std::path::PathBuf;
use std::time::Duration;

use compozy_e2e::{Daemon, Environment, register};
use compozy_proto::session::v1::session_catalog_service_client::SessionCatalogServiceClient;
use compozy_proto::session::v1::{GetSessionRequest, RuntimeBinding, StopCause};
use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;
use tokio::task::JoinSet;
use tonic::transport::{Channel, Endpoint, Uri};
use tonic::{Code, Status};
use tonic_types::StatusExt as _;

use crate::sessions::{new_in, stop};

/// Calls at once, more than any rate of these tests lets through.
const CALLS: usize = 1_000;

fn raw(environment: &Environment) -> SessionCatalogServiceClient<Channel> {
    let socket: PathBuf = environment.client_home().socket_path();
    let connector = tower::service_fn(move |_: Uri| {
        let socket = socket.clone();
        async move { Ok::<_, std::io::Error>(TokioIo::new(UnixStream::connect(socket).await?)) }
    });
    let channel = Endpoint::from_static("http://localhost").connect_with_connector_lazy(connector);
    SessionCatalogServiceClient::new(channel)
}

fn limited(limits: &str) -> Environment {
    let environment = Environment::new();
    environment.configure(&format!(
        "[workspaces]\nregister_home = false\n[limits]\n{limits}\n"
    ));
    environment
}

#[track_caller]
fn assert_told_to_wait(refused: &Status) {
    let info = refused.get_details_error_info().unwrap();
    assert_eq!(
        (refused.code(), info.reason.as_str()),
        (Code::ResourceExhausted, "RATE_LIMITED")
    );
    let told = refused.get_details_retry_info().unwrap().retry_delay.unwrap();
    assert!(told > Duration::ZERO, "{told:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn s333_calls_above_their_rate_are_told_when_to_come_again() {
    let environment = limited("calls_per_second = 3");
    let _daemon = Daemon::start(&environment).await;
    let mut sessions = raw(&environment);
    let mut refused = None;
    for _ in 0..CALLS {
        let request = GetSessionRequest {
            session_id: "sess-00000000000000ff".to_owned(),
            ..Default::default()
        };
        let status = sessions.get_session(request).await.unwrap_err();
        if status.code() != Code::NotFound {
            refused = Some(status);
            break;
        }
    }
    assert_told_to_wait(&refused.expect("all of them were let through"));
}

#[tokio::test(flavor = "multi_thread")]
async fn s333_calls_above_their_number_are_told_when_to_come_again() {
    let environment = limited("calls = 1");
    let daemon = Daemon::start(&environment).await;
    let registered = register(daemon.client(), environment.make("a")).await.unwrap();
    let mut sessions = raw(&environment);
    let mut request = new_in(&registered.workspace.unwrap().id);
    request.bind = Some(RuntimeBinding {
        holder: "h1".to_owned(),
        ttl: None,
    });
    let made = sessions.create_session(request).await.unwrap().into_inner();
    let id = made.session.unwrap().id;
    // Its runtime never answers, so this call is under way for as long as it waits.
    let mut stopping = stop(&id, StopCause::User, "");
    stopping.wait = Some(prost_types::Duration { seconds: 2, nanos: 0 });
    let mut waiting = JoinSet::new();
    let mut other = raw(&environment);
    waiting.spawn(async move { other.stop_session(stopping).await });
    let get = GetSessionRequest {
        session_id: id,
        ..Default::default()
    };
    // One of the two meets the other; nothing else calls.
    let refused = loop {
        if let Err(status) = sessions.get_session(get.clone()).await {
            break status;
        }
        if let Some(ended) = waiting.try_join_next() {
            break ended.unwrap().expect_err("nothing was refused meanwhile");
        }
    };
    assert_told_to_wait(&refused);
    while let Some(ended) = waiting.join_next().await {
        ended.unwrap().unwrap();
    }
    sessions.get_session(get).await.unwrap();
}
