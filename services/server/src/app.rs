//! The wiring: everything is made here, in order, and ended here, in the opposite order.

mod ending;
mod listening;

use std::future::Future;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use compozy_domain::{Clock, Random, Timestamp};
use compozy_proto::admin::v1::admin_service_server::AdminServiceServer;
use compozy_resolver::Disk;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tonic::service::{Routes, RoutesBuilder};

use self::listening::Listeners;
use crate::accept::TlsSource;
use crate::backup::{self, Backups};
use crate::catalog::{Catalog, CatalogContext, Close};
use crate::config::Config;
use crate::daemon_file::DaemonFile;
use crate::failure::Failure;
use crate::health::HealthBoard;
use crate::home::Home;
use crate::layer::{self, CallLimits};
use crate::methods::Methods;
use crate::service::admin::{ADMIN_SERVICE, Admin};
use crate::shutdown::Shutdown;
use crate::tasks::Tasks;
use crate::telemetry::Metrics;
use crate::token::Tokens;
use crate::{descriptors, host, readiness, reflection};

/// What a server is made from. Whoever makes it holds the home's lock.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The home, prepared.
    pub home: Home,
    /// The configuration.
    pub config: Arc<Config>,
    /// `$XDG_RUNTIME_DIR`, for a socket whose path would be too long in the home.
    pub runtime_dir: Option<PathBuf>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub random: Arc<dyn Random>,
}

/// A running server.
pub struct App {
    setup: Setup,
    socket: PathBuf,
    addresses: Vec<SocketAddr>,
    telemetry: Vec<SocketAddr>,
    shutdown: Shutdown,
    close: CancellationToken,
    connections: Tasks,
    tasks: Tasks,
    board: HealthBoard,
    observer: JoinHandle<()>,
    close_catalog: Close,
}

impl App {
    /// Starts everything. When this returns, callers are answered; health says when the catalog can be used.
    ///
    /// # Errors
    /// A failure that names the file, key or address. Nothing listens then.
    pub async fn start<O, F>(setup: Setup, open_catalog: O) -> Result<Self, Failure>
    where
        O: FnOnce(CatalogContext) -> F,
        F: Future<Output = Result<Catalog, Failure>>,
    {
        let Setup {
            home,
            config,
            runtime_dir,
            clock,
            random,
        } = setup.clone();
        let started_at = clock.now();
        let host_id = host::host_id(&home, config.host_id.as_ref(), clock.as_ref(), random.as_ref())?;
        let tokens = Tokens::load(
            &home,
            config.tokens_file.as_deref(),
            Arc::clone(&clock),
            random.as_ref(),
        )?;
        let tls = config.tls.clone().map(TlsSource::load).transpose()?;
        let listeners = Listeners::bind(&home, &config, runtime_dir.as_deref()).await?;

        let (metrics, shutdown) = (Metrics::new(), Shutdown::new());
        let (tasks, connections, close) = (Tasks::new(), Tasks::new(), CancellationToken::new());
        let context = CatalogContext {
            home: home.clone(),
            config: Arc::clone(&config),
            host_id: host_id.clone(),
            clock: Arc::clone(&clock),
            random: Arc::clone(&random),
            tasks: tasks.clone(),
            shutdown: shutdown.clone(),
            metrics: Arc::clone(&metrics),
        };
        let catalog = open_catalog(context).await?;

        let backups = Backups::new(backup::Parts {
            copies: catalog.copies,
            files: Arc::new(Disk::default()),
            clock: Arc::clone(&clock),
            random: Arc::clone(&random),
            tasks: tasks.clone(),
            catalog_id: catalog.id.clone(),
            host_id: host_id.clone(),
            config: Arc::clone(&config),
        });
        let admin = Admin::new(
            &catalog.id,
            &host_id,
            catalog.store_kind,
            started_at,
            shutdown.clone(),
            backups,
        );
        let names: Vec<&str> = catalog
            .service_names
            .iter()
            .copied()
            .chain([ADMIN_SERVICE])
            .collect();
        let board = HealthBoard::new(&names, close.clone());
        let descriptors = descriptors::all()?;
        let parts = layer::Parts {
            methods: Methods::of(&descriptors),
            metrics: Arc::clone(&metrics),
            shutdown: shutdown.clone(),
            tokens: Arc::new(tokens),
            limits: CallLimits::new(&config.limits),
            random: Arc::clone(&random),
        };
        let reflection = reflection::service(&descriptors);
        let mut routes = RoutesBuilder::default();
        routes.add_service(board.service());
        routes.add_service(reflection::Alpha(reflection.clone()));
        routes.add_service(reflection);
        routes.add_service(AdminServiceServer::new(admin));
        (catalog.add_services)(&mut routes);

        let frame = listening::Frame {
            routes: routes.routes().prepare(),
            health: Routes::new(board.service()).prepare(),
            parts,
            tls: tls.map(Arc::new),
            limits: config.limits.clone(),
            connections: connections.clone(),
            close: close.clone(),
        };
        let listening = listeners.serve(&frame, &tasks);
        let observing = readiness::observe(catalog.readiness, board.clone(), metrics, shutdown.clone());
        let observer = tasks.spawn(observing);
        let app = Self {
            setup,
            socket: listening.socket,
            addresses: listening.addresses,
            telemetry: listening.telemetry,
            shutdown,
            close,
            connections,
            tasks,
            board,
            observer,
            close_catalog: catalog.close,
        };
        app.announce(started_at)?;
        Ok(app)
    }

    /// The socket that it really listens on.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// The TCP addresses that it listens on, with their real ports.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// The addresses of `telemetry.listen`, with their real ports.
    #[must_use]
    pub fn telemetry_addresses(&self) -> &[SocketAddr] {
        &self.telemetry
    }

    /// What ends it.
    #[must_use]
    pub fn shutdown(&self) -> Shutdown {
        self.shutdown.clone()
    }

    /// Its health.
    #[must_use]
    pub fn health(&self) -> &HealthBoard {
        &self.board
    }

    fn announce(&self, started_at: Timestamp) -> Result<(), Failure> {
        let addresses = self.addresses.iter().map(ToString::to_string).collect();
        let file = DaemonFile::of_this_process(self.socket.clone(), addresses, started_at);
        file.write(&self.setup.home, self.setup.random.as_ref())?;
        tracing::info!(
            version = file.version,
            pid = file.pid,
            socket = %self.socket.display(),
            addresses = file.addresses.join(","),
            "started"
        );
        Ok(())
    }
}

impl std::fmt::Debug for App {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("App")
            .field("socket", &self.socket)
            .field("addresses", &self.addresses)
            .finish_non_exhaustive()
    }
}
