//! Where the catalog is put into the frame: the store is opened, the registry and its loops are started, and the
//! services are made here and only here.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use compozy_domain::id::new_ulid;
use compozy_domain::{CatalogError, Clock, Random};
use compozy_proto::admin::v1::StoreKind;
use compozy_proto::change::v1::catalog_change_service_server::CatalogChangeServiceServer;
use compozy_proto::profile::v1::profile_service_server::ProfileServiceServer;
use compozy_proto::session::v1::session_catalog_service_server::SessionCatalogServiceServer;
use compozy_proto::workspace::v1::workspace_service_server::WorkspaceServiceServer;
use compozy_resolver::Disk;
use compozy_store::{
    Access, CatalogStore, ChangeLog, Durability, LogHead, OpenOptions, SqlStore, Store, StoreAddress,
};
use tokio_util::sync::CancellationToken;

use crate::backup::Copies;
use crate::catalog::{Catalog, CatalogContext, Readiness};
use crate::config::{Config, StoreConfig};
use crate::failure::{Failure, FailureKind};
use crate::planted;
use crate::registry::session::sweep_metrics::SweepMetrics;
use crate::registry::{News, Parts, Registry, Settings};
use crate::seal::Seal;
use crate::service::change::ChangeApi;
use crate::service::profile::ProfileApi;
use crate::service::session::SessionApi;
use crate::service::workspace::WorkspaceApi;
use crate::telemetry::Metrics;
use crate::upkeep::{self, Retention};
use crate::watch::{self, Log, Rows, WatchMetrics, WatchSettings};

/// What the store says of a server that takes a connection and then nothing comes; held by
/// `n168_n183_a_start_that_waits_for_a_silent_database_ends_in_order`.
const SILENT: &str = "the Postgres server does not answer";
/// Bytes of a request for a watch at most: 100 workspaces, each named by the longest path.
const WATCH_REQUEST_BYTES: usize = 512 * 1024;
/// How long a start waits for the registration of the home directory.
const HOME_PATIENCE: Duration = Duration::from_secs(2);

/// Opens the catalog that the configuration names and starts what belongs to it.
///
/// # Errors
/// A failure that says what to do about the store.
pub async fn open(context: CatalogContext) -> Result<Catalog, Failure> {
    let config = &context.config.store;
    let opened = open_store(
        config,
        Access::Serve,
        context.clock.as_ref(),
        context.random.as_ref(),
    )
    .await;
    let store: Arc<dyn Store> = Arc::new(opened.map_err(|error| not_opened(config, &error))?);
    let kind = match CatalogStore::kind(store.as_ref()) {
        compozy_store::StoreKind::Sqlite => StoreKind::Sqlite,
        compozy_store::StoreKind::Postgres => StoreKind::Postgres,
    };
    let seal = Arc::new(
        Seal::load(Arc::clone(&store))
            .await
            .map_err(|error| unusable(&error))?,
    );
    let registry = registry(&context, Arc::clone(&store))?;
    registry.recover().await.map_err(|error| unusable(&error))?;
    registry
        .recover_renames()
        .await
        .map_err(|error| unusable(&error))?;
    let watches = watches(&context, &store, &registry, &seal).await;
    let watches = watches.map_err(|error| unusable(&error))?;
    registry.hear(News {
        log_moved: watches.log.moved(),
        parting: context.shutdown.parting(),
    });
    let watches = ChangeApi::new(watches, context.shutdown.clone());
    // Last: an attempt that fails is made again, and must have left nothing behind.
    start_loops(&context, &store, &registry, &seal);
    // Before anybody is answered, so that a first list is not empty; a disk that hangs does not hold up the start.
    let first_start = Arc::clone(&registry);
    let registering = context.tasks.spawn(async move {
        if let Err(error) = first_start.register_home().await {
            tracing::warn!(%error, "the home directory could not be registered");
        }
    });
    if tokio::time::timeout(HOME_PATIENCE, registering).await.is_err() {
        tracing::warn!("the home directory is still being registered");
    }

    let id = store.catalog_id().clone();
    let profiles = ProfileApi::new(Arc::clone(&registry), Arc::clone(&seal));
    let sessions = SessionApi::new(Arc::clone(&registry), Arc::clone(&seal));
    let api = WorkspaceApi::new(registry, seal);
    let (closing, copied) = (Arc::clone(&store), Arc::clone(&store));
    Ok(Catalog {
        id,
        store_kind: kind,
        readiness: Arc::new(StoreReadiness {
            store,
            metrics: context.metrics,
        }),
        copies: Arc::new(StoreCopies(copied)),
        add_services: Box::new(move |routes| {
            routes.add_service(WorkspaceServiceServer::new(api));
            routes.add_service(ProfileServiceServer::new(profiles));
            routes.add_service(SessionCatalogServiceServer::new(sessions));
            routes.add_service(
                CatalogChangeServiceServer::new(watches).max_decoding_message_size(WATCH_REQUEST_BYTES),
            );
        }),
        close: Box::pin(async move { closing.close().await }),
    })
}

/// Opens the catalog beside the daemon that serves it, to change something small.
///
/// # Errors
/// A failure that says what to do about the store.
pub(crate) async fn maintain(
    config: &StoreConfig,
    clock: &dyn Clock,
    random: &dyn Random,
) -> Result<SqlStore, Failure> {
    let opened = open_store(config, Access::Maintain, clock, random).await;
    opened.map_err(|error| not_opened(config, &error))
}

/// Opens the catalog to look at it; nothing is written. `None` if there is no catalog yet.
///
/// # Errors
/// A failure that says what to do about the store.
pub(crate) async fn look_at(
    config: &StoreConfig,
    clock: &dyn Clock,
    random: &dyn Random,
) -> Result<Option<SqlStore>, Failure> {
    match open_store(config, Access::Inspect, clock, random).await {
        Ok(store) => Ok(Some(store)),
        Err(compozy_store::Error::Behind { version: 0, .. }) => Ok(None),
        Err(error) => Err(not_opened(config, &error)),
    }
}

async fn open_store(
    config: &StoreConfig,
    access: Access,
    clock: &dyn Clock,
    random: &dyn Random,
) -> Result<SqlStore, compozy_store::Error> {
    let options = OpenOptions {
        address: address(config),
        access,
        durability: if config.full_durability {
            Durability::Full
        } else {
            Durability::Normal
        },
        binary: env!("CARGO_PKG_VERSION"),
        now: clock.now(),
        random,
    };
    SqlStore::open(options).await
}

/// Where the configuration says that the catalog lies.
pub(crate) fn address(config: &StoreConfig) -> StoreAddress {
    match config.url.strip_prefix("sqlite://") {
        Some(path) => StoreAddress::SqliteFile(PathBuf::from(path)),
        None => StoreAddress::Postgres {
            url: config.url.clone(),
            pooler: config.transaction_pooler,
        },
    }
}

/// Where the catalog lies, for a person. A URL may hold a password and is not repeated.
pub(crate) fn place(config: &StoreConfig) -> &str {
    config
        .url
        .strip_prefix("sqlite://")
        .unwrap_or("the Postgres of store.url")
}

fn not_opened(config: &StoreConfig, error: &compozy_store::Error) -> Failure {
    use compozy_store::Error;
    let place = place(config);
    let runs = "check store.url and that the database runs";
    let (kind, advice) = match error {
        error if may_be_there_soon(error) => (FailureKind::Away, runs),
        Error::Unavailable { .. } => (FailureKind::Unavailable, runs),
        Error::Corrupt(_) => (
            FailureKind::Io,
            "nothing was changed: restore a backup into an empty home with `compozyd restore`",
        ),
        Error::DiskFull => (FailureKind::Io, "free some space"),
        Error::TooNew { .. } | Error::Behind { .. } => (FailureKind::Config, "nothing was changed"),
        _ => (FailureKind::Internal, "see the log"),
    };
    Failure::new(
        kind,
        format!("the catalog at {place} can't be opened: {error}; {advice}"),
    )
}

/// Whether a database was not reached or is only just starting, so that another attempt may meet it. One that
/// answered and refused will do so again.
fn may_be_there_soon(error: &compozy_store::Error) -> bool {
    use compozy_store::Error;
    match error {
        // A deadline passes while another replica migrates.
        Error::Lost(_) | Error::Repeat(_) | Error::DeadlineExceeded => true,
        Error::Unavailable { detail, .. } => detail == SILENT,
        _ => false,
    }
}

fn unusable(error: &CatalogError) -> Failure {
    let kind = match error {
        // It was there a moment ago.
        CatalogError::StoreUnavailable { .. } => FailureKind::Away,
        _ => FailureKind::Unavailable,
    };
    Failure::new(kind, format!("the catalog can't be used: {error}"))
}

fn registry(context: &CatalogContext, store: Arc<dyn Store>) -> Result<Arc<Registry>, Failure> {
    Ok(Registry::new(Parts {
        store,
        files: Arc::new(Disk::default()),
        clock: Arc::clone(&context.clock),
        random: Arc::clone(&context.random),
        tasks: context.tasks.clone(),
        host: context.host_id.clone(),
        owner: new_ulid(context.clock.now(), context.random.as_ref())?,
        settings: settings(context),
    }))
}

fn settings(context: &CatalogContext) -> Settings {
    let Config {
        workspaces,
        sessions,
        memory_auto_create,
        ..
    } = context.config.as_ref();
    let text = |path: PathBuf| path.to_string_lossy().into_owned();
    let home = context.home.path();
    Settings {
        catalog_home: text(home.canonicalize().unwrap_or_else(|_| home.to_owned())),
        operator_home: std::env::home_dir().filter(|path| path.is_absolute()).map(text),
        allowed_roots: workspaces.allowed_roots.iter().cloned().map(text).collect(),
        auto_create: *memory_auto_create,
        register_home: workspaces.register_home,
        sessions: *sessions,
    }
}

/// Everything that goes on beside the calls; ends with the tasks.
fn start_loops(context: &CatalogContext, store: &Arc<dyn Store>, registry: &Arc<Registry>, seal: &Arc<Seal>) {
    let (tasks, stop) = (&context.tasks, context.tasks.stopping());
    tasks.spawn(Arc::clone(seal).keep_fresh(stop.clone()));
    tasks.spawn(Arc::clone(registry).run_recovery(stop.clone()));
    tasks.spawn(Arc::clone(registry).run_observer(stop.clone()));
    tasks.spawn(Arc::clone(registry).run_sweep(SweepMetrics::new(&context.metrics), stop.clone()));
    registry.resolution().metrics().register(&context.metrics);
    tasks.spawn(Arc::clone(registry.resolution()).keep_small(stop.clone()));
    let retention = Retention {
        changes_for: context.config.changes_retain,
        changes: context.config.changes_retain_entries,
    };
    tasks.spawn(upkeep::keep_up(
        Arc::clone(store),
        Arc::clone(&context.clock),
        retention,
        stop,
    ));
}

/// What all watches work with, and the two loops behind them: the reader of the log and that of rows.
async fn watches(
    context: &CatalogContext,
    store: &Arc<dyn Store>,
    registry: &Arc<Registry>,
    seal: &Arc<Seal>,
) -> Result<Arc<watch::Parts>, CatalogError> {
    let settings = planted::watch_settings(WatchSettings {
        watchers: context.config.limits.watchers,
        ..WatchSettings::default()
    });
    let metrics = WatchMetrics::new(&context.metrics);
    let log = Log::open(Arc::clone(store), settings, Arc::clone(&metrics)).await?;
    let rows = Rows::new(Arc::clone(store), Arc::clone(&context.clock));
    let stop = context.tasks.stopping();
    context.tasks.spawn(Arc::clone(&log).follow(stop.clone()));
    context.tasks.spawn(Arc::clone(&rows).serve(stop));
    Ok(Arc::new(watch::Parts {
        log,
        rows,
        registry: Arc::clone(registry),
        seal: Arc::clone(seal),
        clock: Arc::clone(&context.clock),
        random: Arc::clone(&context.random),
        settings,
        metrics,
    }))
}

#[derive(Debug)]
struct StoreCopies(Arc<dyn Store>);

#[tonic::async_trait]
impl Copies for StoreCopies {
    async fn copy_to(&self, path: &Path, stop: &CancellationToken) -> Result<bool, CatalogError> {
        let copied = self.0.backup_to(path, stop).await;
        Ok(copied.inspect_err(|error| tracing::warn!(%error, "the catalog could not be copied"))?)
    }
}

/// Whether the store answers, and the numbers that it answers with.
#[derive(Debug)]
struct StoreReadiness {
    store: Arc<dyn Store>,
    metrics: Arc<Metrics>,
}

#[tonic::async_trait]
impl Readiness for StoreReadiness {
    async fn check(&self) -> Result<(), CatalogError> {
        CatalogStore::check(self.store.as_ref()).await?;
        let LogHead {
            head,
            floor,
            pending,
            lag,
        } = ChangeLog::head(self.store.as_ref()).await?;
        self.metrics.change_log_head.set(head.position);
        self.metrics.change_log_floor.set(floor);
        self.metrics
            .change_log_pending
            .set(i64::try_from(pending).unwrap_or(i64::MAX));
        self.metrics.numbering_lag.set(lag.as_secs_f64());
        Ok(())
    }
}
