//! A server in this process, its home, and clients of it.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::future::ready;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use compozy_domain::{CatalogError, CatalogId};
use compozy_proto::admin::v1::StoreKind;
use compozy_proto::workspace::v1::workspace_service_client::WorkspaceServiceClient;
use compozy_proto::workspace::v1::{GetWorkspaceRequest, GetWorkspaceResponse};
use compozy_server::app::{App, Setup, Starting};
use compozy_server::backup::Copies;
use compozy_server::catalog::{Catalog, Readiness};
use compozy_server::clock::SystemClock;
use compozy_server::config::{Config, Overrides};
use compozy_server::failure::Failure;
use compozy_server::home::{self, Home};
use compozy_server::random::SystemRandom;
use compozy_server::shutdown::Shutdown;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpStream, UnixStream};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Response, Status};
use tonic_types::{ErrorInfo, StatusExt};

use crate::script::{Gate, SCRIPT, Script};

/// Long enough for a busy machine; never waited for when all is well.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A store that is there or away, as the test wants it.
#[derive(Debug, Default)]
pub struct Store {
    pub away: AtomicBool,
}

#[tonic::async_trait]
impl Readiness for Store {
    async fn check(&self) -> Result<(), CatalogError> {
        if self.away.load(Ordering::SeqCst) {
            return Err(CatalogError::StoreUnavailable {
                outcome_unknown: false,
            });
        }
        Ok(())
    }
}

#[tonic::async_trait]
impl Copies for Store {
    async fn copy_to(&self, _path: &Path, _stop: &CancellationToken) -> Result<bool, CatalogError> {
        Ok(false)
    }
}

/// A running server.
pub struct Running {
    pub home: Home,
    pub socket: PathBuf,
    pub addresses: Vec<std::net::SocketAddr>,
    pub telemetry: Vec<std::net::SocketAddr>,
    pub shutdown: Shutdown,
    finished: JoinHandle<bool>,
}

/// A running server with the scripted service and a store that is there or away.
pub struct Scripted {
    pub gate: Arc<Gate>,
    pub store: Arc<Store>,
    running: Running,
    _directory: tempfile::TempDir,
}

impl Deref for Scripted {
    type Target = Running;

    fn deref(&self) -> &Running {
        &self.running
    }
}

/// Starts a server with the scripted service; `config` is the text of its `config.toml`.
pub async fn start(config: &str) -> Scripted {
    try_start(config, |_| {}).await.unwrap()
}

/// Starts a server in a home that `prepare` has put files into.
pub async fn try_start(config: &str, prepare: impl FnOnce(&Home)) -> Result<Scripted, Failure> {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::at(directory.path().join("home"));
    home::prepare(&home)?;
    prepare(&home);
    let (script, gate) = Script::new();
    let store = Arc::new(Store::default());
    let starting = Starting::listen(setup(&home, config)?, Shutdown::new()).await?;
    let app = starting.open(|_| ready(Ok(catalog(&script, &store)))).await?;
    Ok(Scripted {
        gate,
        store,
        running: Running::of(&home, app.expect("nothing ended it")),
        _directory: directory,
    })
}

/// A catalog that serves the script.
pub fn catalog(script: &Script, store: &Arc<Store>) -> Catalog {
    let script = script.clone();
    Catalog {
        id: CatalogId::from_stored("01HXJ9YR4QZ0V7M3T5B8N2C6KD".to_owned()),
        store_kind: StoreKind::Sqlite,
        readiness: Arc::clone(store) as _,
        copies: Arc::clone(store) as _,
        add_services: Box::new(|routes| {
            routes.add_service(script);
        }),
        close: Box::pin(async {}),
    }
}

/// What a server of this home is made from.
pub fn setup(home: &Home, config: &str) -> Result<Setup, Failure> {
    Ok(Setup {
        home: home.clone(),
        config: Arc::new(Config::parse(home, config, &Overrides::default())?),
        runtime_dir: None,
        clock: Arc::new(SystemClock),
        random: Arc::new(SystemRandom),
    })
}

/// Background work of a test; it is joined by whoever needs its result.
#[expect(
    clippy::disallowed_methods,
    reason = "a test's own tasks end with its runtime"
)]
pub fn spawn<F>(work: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    tokio::spawn(work)
}

impl Running {
    /// Runs it to its end.
    pub fn of(home: &Home, app: App) -> Self {
        Self {
            home: home.clone(),
            socket: app.socket().to_owned(),
            addresses: app.addresses().to_vec(),
            telemetry: app.telemetry_addresses().to_vec(),
            shutdown: app.shutdown(),
            finished: spawn(app.finish()),
        }
    }

    /// A new connection to the socket.
    pub async fn channel(&self) -> Channel {
        socket_channel(&self.socket).await
    }

    /// A new connection over TCP.
    pub async fn network(&self) -> Channel {
        self.endpoint().connect().await.unwrap()
    }

    pub fn endpoint(&self) -> Endpoint {
        Endpoint::from_shared(format!("http://{}", self.addresses[0])).unwrap()
    }

    /// A connection over TCP that counts how often it was made anew.
    pub fn counted_network(&self) -> (Channel, Arc<AtomicUsize>) {
        let made = Arc::new(AtomicUsize::new(0));
        let (counter, address) = (Arc::clone(&made), self.addresses[0]);
        let connector = tower::service_fn(move |_: http::Uri| {
            counter.fetch_add(1, Ordering::SeqCst);
            async move { TcpStream::connect(address).await.map(TokioIo::new) }
        });
        (self.endpoint().connect_with_connector_lazy(connector), made)
    }

    /// The home's own token.
    pub fn token(&self) -> String {
        std::fs::read_to_string(self.home.token_path())
            .unwrap()
            .trim()
            .to_owned()
    }

    /// Ends the server and says whether everything ended by itself.
    pub async fn end(self) -> bool {
        self.shutdown.begin("the test");
        self.ended().await
    }

    /// Waits for the end that something else began.
    pub async fn ended(self) -> bool {
        tokio::time::timeout(PATIENCE, self.finished)
            .await
            .expect("the server never ended")
            .unwrap()
    }
}

impl Scripted {
    /// Ends the server and says whether everything ended by itself.
    pub async fn end(self) -> bool {
        self.running.end().await
    }

    /// Waits for the end that something else began.
    pub async fn ended(self) -> bool {
        self.running.ended().await
    }
}

/// A new connection to a socket.
pub async fn socket_channel(socket: &Path) -> Channel {
    let socket = socket.to_owned();
    let connector = tower::service_fn(move |_: http::Uri| {
        let socket = socket.clone();
        async move { UnixStream::connect(socket).await.map(TokioIo::new) }
    });
    Endpoint::from_static("http://localhost")
        .connect_with_connector(connector)
        .await
        .unwrap()
}

/// A scripted call.
pub async fn call(channel: &Channel, script: &str) -> Result<Response<GetWorkspaceResponse>, Status> {
    call_with(channel, script, &[]).await
}

/// A scripted call with further headers.
pub async fn call_with(
    channel: &Channel,
    script: &str,
    headers: &[(&'static str, &str)],
) -> Result<Response<GetWorkspaceResponse>, Status> {
    let mut request = with_headers(GetWorkspaceRequest::default(), headers);
    request.metadata_mut().insert(SCRIPT, script.parse().unwrap());
    let mut client = WorkspaceServiceClient::new(channel.clone());
    tokio::time::timeout(PATIENCE, client.get_workspace(request))
        .await
        .expect("the call was never answered")
}

pub fn with_headers<T>(message: T, headers: &[(&'static str, &str)]) -> Request<T> {
    let mut request = Request::new(message);
    for (name, value) in headers {
        request.metadata_mut().insert(*name, value.parse().unwrap());
    }
    request
}

/// The one explanation of a failure, after checking that there is exactly one.
pub fn explained(status: &Status) -> ErrorInfo {
    let details = status.get_error_details_vec();
    let mut infos = details.into_iter().filter_map(|detail| match detail {
        tonic_types::ErrorDetail::ErrorInfo(info) => Some(info),
        _ => None,
    });
    let info = infos.next().unwrap_or_else(|| panic!("no ErrorInfo: {status:?}"));
    assert!(infos.next().is_none(), "two ErrorInfo: {status:?}");
    assert_eq!(info.domain, "compozy.dev");
    info
}

/// The reason of a failure.
pub fn reason(status: &Status) -> String {
    explained(status).reason
}

/// Waits until something is true.
pub async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let waiting = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting)
        .await
        .unwrap_or_else(|_| panic!("never happened: {what}"));
}

/// A tokens file: for each id a token `token-<id>` with these scopes.
pub fn tokens_file(entries: &[(&str, &[&str])]) -> String {
    let mut text = String::new();
    for (id, scopes) in entries {
        let hash = compozy_server::token::hash(&format!("token-{id}"));
        let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        writeln!(
            text,
            "[[tokens]]\nid = \"{id}\"\nsha256 = \"{hash}\"\nscopes = {scopes:?}"
        )
        .unwrap();
    }
    text
}

/// Headers of an answer, for those that look at several.
pub fn header<T>(response: &Response<T>, name: &str) -> String {
    let headers: HashMap<_, _> = response.metadata().as_ref().iter().collect();
    let found = headers.iter().find(|(key, _)| key.as_str() == name);
    found
        .map(|(_, value)| value.to_str().unwrap().to_owned())
        .unwrap_or_default()
}
