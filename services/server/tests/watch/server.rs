//! One server on the catalog of a world: the real frame around the real services, over a store that is watched.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use compozy_domain::id::new_ulid;
use compozy_domain::{CatalogError, Clock as _, HostId};
use compozy_proto::admin::v1::StoreKind;
use compozy_proto::change::v1 as pb;
use compozy_proto::change::v1::catalog_change_service_server::CatalogChangeServiceServer;
use compozy_proto::profile::v1::profile_service_client::ProfileServiceClient;
use compozy_proto::profile::v1::profile_service_server::ProfileServiceServer;
use compozy_proto::session::v1::session_catalog_service_client::SessionCatalogServiceClient;
use compozy_proto::session::v1::session_catalog_service_server::SessionCatalogServiceServer;
use compozy_proto::workspace::v1::workspace_service_client::WorkspaceServiceClient;
use compozy_proto::workspace::v1::workspace_service_server::WorkspaceServiceServer;
use compozy_resolver::Disk;
use compozy_server::app::{App, Setup, Starting};
use compozy_server::backup::Copies;
use compozy_server::catalog::{Catalog, CatalogContext, Readiness};
use compozy_server::config::{Config, Overrides};
use compozy_server::failure::Failure;
use compozy_server::home::{self, Home};
use compozy_server::random::SystemRandom;
use compozy_server::registry::{Parts, Registry, Settings};
use compozy_server::resume_token;
use compozy_server::seal::Seal;
use compozy_server::service::change::ChangeApi;
use compozy_server::service::profile::ProfileApi;
use compozy_server::service::session::SessionApi;
use compozy_server::service::workspace::WorkspaceApi;
use compozy_server::shutdown::Shutdown;
use compozy_server::watch::{self, Log, Rows, WatchMetrics, WatchSettings};
use compozy_store::{Access, CatalogStore as _, Durability, OpenOptions, SqlStore, Store};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, UnixStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tonic::Status;
use tonic::transport::{Channel, Endpoint};

use crate::client::Watching;
use crate::watched_store::WatchedStore;
use crate::world::{Options, PATIENCE, World};

/// Stream window of a client that is made for watches.
pub(crate) const SMALL_WINDOW: u32 = 64 * 1024;

/// A running server. What a case leaves running ends with its runtime.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) store: Arc<SqlStore>,
    pub(crate) watched: Arc<WatchedStore>,
    pub(crate) watches: Arc<watch::Parts>,
    pub(crate) home: Home,
    /// A connection to the socket.
    pub(crate) channel: Channel,
    socket: PathBuf,
    address: SocketAddr,
    telemetry: SocketAddr,
    shutdown: Shutdown,
    running: JoinSet<bool>,
}

impl Server {
    pub(crate) async fn start(world: &World, home: PathBuf, options: Options) -> Self {
        let home = Home::at(home);
        home::prepare(&home).unwrap();
        let store = open(world).await;
        world.stores().add(&store);
        let watched = Arc::new(WatchedStore::over(&store));
        let config = format!(
            "workspaces.register_home = false\ndaemon.host_id = \"h1\"\ndaemon.drain_timeout = \"5s\"\n\
             grpc.listen = \"127.0.0.1:0\"\ntelemetry.listen = \"127.0.0.1:0\"\n{}",
            options.config
        );
        let setup = Setup {
            home: home.clone(),
            config: Arc::new(Config::parse(&home, &config, &Overrides::default()).unwrap()),
            runtime_dir: None,
            clock: Arc::clone(&world.clock) as _,
            random: Arc::new(SystemRandom),
        };
        let shutdown = Shutdown::new();
        let starting = Starting::listen(setup, shutdown.clone()).await.unwrap();
        let watches = Arc::new(Mutex::new(None));
        let app = starting.open(|context| {
            let opened = (Arc::clone(&store), Arc::clone(&watched));
            let watches = Arc::clone(&watches);
            async move {
                let (catalog, parts) = catalog(context, opened, options.settings).await;
                *watches.lock().unwrap() = Some(parts);
                Ok::<Catalog, Failure>(catalog)
            }
        });
        let app = app.await.unwrap().unwrap();
        let watches = watches.lock().unwrap().take().unwrap();
        let (socket, address, telemetry) = places(&app);
        let mut running = JoinSet::new();
        running.spawn(app.finish());
        Self {
            channel: connect(&socket, None).await,
            store,
            watched,
            watches,
            home,
            socket,
            address,
            telemetry,
            shutdown,
            running,
        }
    }

    /// Ends the server as SIGTERM does, and says whether everything ended by itself.
    pub(crate) async fn stop(mut self) -> bool {
        self.shutdown.begin("the test");
        let ended = tokio::time::timeout(PATIENCE, self.running.join_next()).await;
        ended.expect("the server ends").unwrap().unwrap()
    }

    /// What ends it.
    pub(crate) fn shutdown(&self) -> Shutdown {
        self.shutdown.clone()
    }

    /// The workspaces, for the caller on the socket.
    pub(crate) fn workspaces(&self) -> WorkspaceServiceClient<Channel> {
        WorkspaceServiceClient::new(self.channel.clone())
    }

    /// The profiles, for the caller on the socket.
    pub(crate) fn profiles(&self) -> ProfileServiceClient<Channel> {
        ProfileServiceClient::new(self.channel.clone())
    }

    /// The sessions, for the caller on the socket.
    pub(crate) fn sessions(&self) -> SessionCatalogServiceClient<Channel> {
        SessionCatalogServiceClient::new(self.channel.clone())
    }

    /// A new connection to the socket with this window for each stream.
    pub(crate) async fn connect(&self, stream_window: Option<u32>) -> Channel {
        connect(&self.socket, stream_window).await
    }

    /// Where it listens for TCP.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// A new connection over TCP.
    pub(crate) async fn network(&self) -> Channel {
        let endpoint = Endpoint::from_shared(format!("http://{}", self.address)).unwrap();
        endpoint.connect().await.unwrap()
    }

    /// A TCP connection whose streams have a window of this size.
    pub(crate) async fn network_with(&self, stream_window: u32) -> Channel {
        let endpoint = Endpoint::from_shared(format!("http://{}", self.address)).unwrap();
        let endpoint = endpoint.initial_stream_window_size(stream_window);
        endpoint.connect().await.unwrap()
    }

    /// Watches over the socket, on a connection of its own.
    pub(crate) async fn watch(&self, request: pb::WatchCatalogRequest) -> Watching {
        let channel = self.connect(Some(SMALL_WINDOW)).await;
        Watching::begin(channel, request, None).await.unwrap()
    }

    /// Watches over TCP, showing this token if there is one.
    pub(crate) async fn watch_as(
        &self,
        token: Option<&str>,
        request: pb::WatchCatalogRequest,
    ) -> Result<Watching, Status> {
        Watching::begin(self.network().await, request, token).await
    }

    /// A watch of everything from now on, past its `synced`.
    pub(crate) async fn w(&self) -> Watching {
        self.synced(pb::WatchCatalogRequest::default()).await
    }

    /// A watch that has got nothing but its `synced`.
    pub(crate) async fn synced(&self, request: pb::WatchCatalogRequest) -> Watching {
        let mut watching = self.watch(request).await;
        watching.synced().await;
        watching
    }

    /// How a watch ends that can't begin, with its headers or behind them.
    pub(crate) async fn refused(&self, request: pb::WatchCatalogRequest) -> Status {
        match Watching::begin(self.channel.clone(), request, None).await {
            Ok(watching) => watching.refused().await,
            Err(status) => status,
        }
    }

    /// The position that a token stands for. Clients never know it.
    pub(crate) async fn position(&self, token: &str) -> i64 {
        resume_token::decode(&self.watches.seal, token)
            .await
            .unwrap()
            .revision
            .position
    }

    /// The text at `/metrics`.
    pub(crate) async fn metrics(&self) -> String {
        let mut stream = TcpStream::connect(self.telemetry).await.unwrap();
        let request = "GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        let read = tokio::time::timeout(PATIENCE, stream.read_to_string(&mut answer)).await;
        read.expect("numbers are told").unwrap();
        answer
    }

    /// One number of `/metrics`.
    pub(crate) async fn metric(&self, name: &str) -> f64 {
        let text = self.metrics().await;
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {name} in {text}"))
            .parse()
            .unwrap()
    }
}

async fn open(world: &World) -> Arc<SqlStore> {
    let opened = SqlStore::open(OpenOptions {
        address: world.address.clone(),
        access: Access::Serve,
        durability: Durability::Normal,
        binary: "0.1.0",
        now: world.clock.now(),
        random: &SystemRandom,
    });
    Arc::new(opened.await.unwrap())
}

/// What the binary puts into the frame, with bounds of the test's own.
async fn catalog(
    context: CatalogContext,
    (store, watched): (Arc<SqlStore>, Arc<WatchedStore>),
    settings: WatchSettings,
) -> (Catalog, Arc<watch::Parts>) {
    let settings = WatchSettings {
        watchers: context.config.limits.watchers,
        ..settings
    };
    let stored: Arc<dyn Store> = watched;
    let seal = Arc::new(Seal::load(Arc::clone(&stored)).await.unwrap());
    let registry = Registry::new(Parts {
        store: Arc::clone(&stored),
        files: Arc::new(Disk::new()),
        clock: Arc::clone(&context.clock),
        random: Arc::clone(&context.random),
        tasks: context.tasks.clone(),
        host: HostId::parse("h1").unwrap(),
        owner: new_ulid(context.clock.now(), context.random.as_ref()).unwrap(),
        settings: Settings {
            catalog_home: context.home.path().to_str().unwrap().to_owned(),
            auto_create: true,
            ..Settings::default()
        },
    });
    let metrics = WatchMetrics::new(&context.metrics);
    let log = Log::open(Arc::clone(&stored), settings, Arc::clone(&metrics))
        .await
        .unwrap();
    let rows = Rows::new(Arc::clone(&stored), Arc::clone(&context.clock));
    let (tasks, stop) = (&context.tasks, context.tasks.stopping());
    tasks.spawn(Arc::clone(&seal).keep_fresh(stop.clone()));
    tasks.spawn(Arc::clone(&log).follow(stop.clone()));
    tasks.spawn(Arc::clone(&rows).serve(stop));
    let parts = Arc::new(watch::Parts {
        log,
        rows,
        registry: Arc::clone(&registry),
        seal: Arc::clone(&seal),
        clock: Arc::clone(&context.clock),
        random: Arc::clone(&context.random),
        settings,
        metrics,
    });
    let changes = ChangeApi::new(Arc::clone(&parts), context.shutdown.clone());
    let profiles = ProfileApi::new(Arc::clone(&registry), Arc::clone(&seal));
    let sessions = SessionApi::new(Arc::clone(&registry), Arc::clone(&seal));
    let workspaces = WorkspaceApi::new(registry, seal);
    let catalog = Catalog {
        id: store.catalog_id().clone(),
        store_kind: StoreKind::Sqlite,
        readiness: Arc::new(Ready),
        copies: Arc::new(Ready),
        add_services: Box::new(move |routes| {
            routes.add_service(WorkspaceServiceServer::new(workspaces));
            routes.add_service(ProfileServiceServer::new(profiles));
            routes.add_service(SessionCatalogServiceServer::new(sessions));
            routes.add_service(CatalogChangeServiceServer::new(changes));
        }),
        close: Box::pin(async move { store.close().await }),
    };
    (catalog, parts)
}

/// Health and backups are other tests' concern.
#[derive(Debug)]
struct Ready;

#[tonic::async_trait]
impl Readiness for Ready {
    async fn check(&self) -> Result<(), CatalogError> {
        Ok(())
    }
}

#[tonic::async_trait]
impl Copies for Ready {
    async fn copy_to(&self, _path: &Path, _stop: &CancellationToken) -> Result<bool, CatalogError> {
        Ok(false)
    }
}

fn places(app: &App) -> (PathBuf, SocketAddr, SocketAddr) {
    (
        app.socket().to_owned(),
        app.addresses()[0],
        app.telemetry_addresses()[0],
    )
}

async fn connect(socket: &Path, stream_window: Option<u32>) -> Channel {
    let socket = socket.to_owned();
    let connector = tower::service_fn(move |_: http::Uri| {
        let socket = socket.clone();
        async move { UnixStream::connect(socket).await.map(TokioIo::new) }
    });
    Endpoint::from_static("http://localhost")
        .initial_stream_window_size(stream_window)
        .connect_with_connector(connector)
        .await
        .unwrap()
}
