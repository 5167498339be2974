//! The time between the first answer and the catalog: callers are connected and health says NOT_SERVING.

use std::future::Future;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use compozy_domain::{HostId, Timestamp};
use compozy_proto::admin::v1::admin_service_server::AdminServiceServer;
use compozy_resolver::Disk;
use prost_types::FileDescriptorSet;
use tokio_util::sync::CancellationToken;
use tonic::service::{Routes, RoutesBuilder};

use super::early;
use super::front::Front;
use super::listening::{Frame, Listeners};
use super::services::Services;
use super::waiting::until_there;
use super::{App, Setup};
use crate::accept::TlsSource;
use crate::backup::{self, Backups};
use crate::catalog::{Catalog, CatalogContext, SERVICE_NAMES};
use crate::failure::Failure;
use crate::health::HealthBoard;
use crate::layer::{self, CallLimits};
use crate::methods::Methods;
use crate::service::admin::{self, Admin, Settings};
use crate::shutdown::Shutdown;
use crate::tasks::Tasks;
use crate::telemetry::Metrics;
use crate::token::Tokens;
use crate::{descriptors, host, readiness, reflection};

/// A server that answers health and can be ended, and nothing else yet.
pub struct Starting {
    front: Front,
    services: Services,
    descriptors: FileDescriptorSet,
    metrics: Arc<Metrics>,
    host_id: HostId,
    started_at: Timestamp,
}

impl Starting {
    /// Starts everything that needs no catalog. When this returns, callers are answered: health says NOT_SERVING,
    /// Shutdown works, everything else is STORE_UNAVAILABLE.
    ///
    /// # Errors
    /// A failure that names the file, key or address. Nothing listens then.
    pub async fn listen(setup: Setup, shutdown: Shutdown) -> Result<Self, Failure> {
        let Setup {
            home,
            config,
            runtime_dir,
            clock,
            random,
        } = setup.clone();
        let started_at = clock.now();
        let host_id = host::host_id(&home, config.host_id.as_ref(), clock.as_ref(), random.as_ref())?;
        let tokens = Tokens::load(&home, config.tokens_file.as_deref(), clock, random.as_ref())?;
        let tls = config.tls.clone().map(TlsSource::load).transpose()?;
        let descriptors = descriptors::all()?;
        let listeners = Listeners::bind(&home, &config, runtime_dir.as_deref()).await?;

        let (tasks, connections, close) = (Tasks::new(), Tasks::new(), CancellationToken::new());
        let (board, metrics) = (HealthBoard::new(&SERVICE_NAMES, close.clone()), Metrics::new());
        let health = Routes::new(board.service()).prepare();
        let services = Services::new(early::services(&board, shutdown.clone()));
        let frame = Frame {
            services: services.clone(),
            health,
            parts: layer::Parts {
                methods: Methods::of(&descriptors),
                metrics: Arc::clone(&metrics),
                shutdown: shutdown.clone(),
                tokens: Arc::new(tokens),
                limits: CallLimits::new(&config.limits),
                random,
            },
            tls: tls.map(Arc::new),
            limits: config.limits.clone(),
            connections: connections.clone(),
            close: close.clone(),
        };
        let listening = listeners.serve(&frame, &tasks);
        let front = Front {
            setup,
            listening,
            shutdown,
            close,
            connections,
            tasks,
            board,
        };
        Ok(Self {
            front,
            services,
            descriptors,
            metrics,
            host_id,
            started_at,
        })
    }

    /// Opens the catalog and serves it. While what it needs is away, this goes on trying for a minute. `None` if
    /// the end began meanwhile: everything has been ended then.
    ///
    /// # Errors
    /// A failure that says why there is no catalog. Everything has been ended then, too.
    pub async fn open<O, F>(self, mut open_catalog: O) -> Result<Option<App>, Failure>
    where
        O: FnMut(CatalogContext) -> F,
        F: Future<Output = Result<Catalog, Failure>>,
    {
        let draining = self.front.shutdown.draining();
        // On the heap: opening is a large step, and is taken once.
        let opening = until_there(|| Box::pin(open_catalog(self.context())));
        match draining.run_until_cancelled(opening).await {
            Some(Ok(catalog)) => self.serve(catalog).await.map(Some),
            Some(Err(failure)) => {
                self.front.shutdown.begin("the start failed");
                self.abandon().await;
                Err(failure)
            }
            None => {
                // What had begun inside the store is undone by it, as after a kill.
                self.abandon().await;
                tracing::info!("stopped before the catalog was open");
                Ok(None)
            }
        }
    }

    /// The socket that it really listens on.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.front.listening.socket
    }

    /// The TCP addresses that it listens on, with their real ports.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.front.listening.addresses
    }

    async fn abandon(self) {
        self.front.take_leave().await;
        self.front.end_tasks().await;
    }

    fn context(&self) -> CatalogContext {
        let Setup {
            home,
            config,
            runtime_dir: _,
            clock,
            random,
        } = self.front.setup.clone();
        CatalogContext {
            home,
            config,
            host_id: self.host_id.clone(),
            clock,
            random,
            tasks: self.front.tasks.clone(),
            shutdown: self.front.shutdown.clone(),
            metrics: Arc::clone(&self.metrics),
        }
    }

    /// Health says SERVING last, when every way to find the server leads to one that can be used.
    async fn serve(self, catalog: Catalog) -> Result<App, Failure> {
        let admin = self.admin(&catalog);
        let Self {
            front,
            services,
            descriptors,
            metrics,
            host_id: _,
            started_at,
        } = self;
        let reflection = reflection::service(&descriptors);
        let mut routes = RoutesBuilder::default();
        routes.add_service(front.board.service());
        routes.add_service(reflection::Alpha(reflection.clone()));
        routes.add_service(reflection);
        routes.add_service(AdminServiceServer::new(admin));
        (catalog.add_services)(&mut routes);
        services.open(routes.routes().prepare());

        let announced = front.announce(started_at);
        let (board, shutdown) = (front.board.clone(), front.shutdown.clone());
        let observing = readiness::observe(catalog.readiness, board, metrics, shutdown);
        let app = App {
            observer: front.tasks.spawn(observing),
            front,
            close_catalog: catalog.close,
        };
        if let Err(failure) = announced {
            app.front.shutdown.begin("the start failed");
            app.finish().await;
            return Err(failure);
        }
        Ok(app)
    }

    fn admin(&self, catalog: &Catalog) -> Admin {
        let Front {
            setup,
            tasks,
            shutdown,
            ..
        } = &self.front;
        let backups = Backups::new(backup::Parts {
            copies: Arc::clone(&catalog.copies),
            files: Arc::new(Disk::default()),
            clock: Arc::clone(&setup.clock),
            random: Arc::clone(&setup.random),
            tasks: tasks.clone(),
            catalog_id: catalog.id.clone(),
            host_id: self.host_id.clone(),
            config: Arc::clone(&setup.config),
        });
        let settings = Settings::new(
            &setup.config,
            &self.host_id,
            setup.home.clone(),
            Arc::clone(&setup.random),
            tasks.clone(),
        );
        Admin::new(admin::Parts {
            catalog_id: &catalog.id,
            host_id: &self.host_id,
            store_kind: catalog.store_kind,
            started_at: self.started_at,
            shutdown: shutdown.clone(),
            backups,
            settings,
            watchers_max: setup.config.limits.watchers,
        })
    }
}

impl std::fmt::Debug for Starting {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Starting")
            .field("front", &self.front)
            .finish_non_exhaustive()
    }
}
