//! What the frame needs from the catalog behind it: whether it can be used, and which services it serves.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use compozy_domain::{CatalogError, CatalogId, Clock, HostId, Random};
use compozy_proto::admin::v1::StoreKind;
use compozy_proto::admin::v1::admin_service_server::SERVICE_NAME as ADMIN;
use compozy_proto::change::v1::catalog_change_service_server::SERVICE_NAME as CHANGES;
use compozy_proto::profile::v1::profile_service_server::SERVICE_NAME as PROFILES;
use compozy_proto::session::v1::session_catalog_service_server::SERVICE_NAME as SESSIONS;
use compozy_proto::workspace::v1::workspace_service_server::SERVICE_NAME as WORKSPACES;
use tonic::service::RoutesBuilder;

use crate::backup::Copies;
use crate::config::Config;
use crate::home::Home;
use crate::shutdown::Shutdown;
use crate::tasks::Tasks;
use crate::telemetry::Metrics;

/// The services of the contract, for health: it names them before the catalog is open and they are there.
pub const SERVICE_NAMES: [&str; 5] = [ADMIN, CHANGES, PROFILES, SESSIONS, WORKSPACES];

/// Whether the store answers. Asked every second, so an answer has to be cheap.
#[tonic::async_trait]
pub trait Readiness: Send + Sync + fmt::Debug {
    /// Asks the store. The caller gives it two seconds.
    ///
    /// # Errors
    /// Why it can't be used right now.
    async fn check(&self) -> Result<(), CatalogError>;
}

/// What a catalog may use while it is opened and afterwards.
#[derive(Debug, Clone)]
pub struct CatalogContext {
    /// The home.
    pub home: Home,
    /// The configuration.
    pub config: Arc<Config>,
    /// Whose disk this is; `none` for a daemon that looks at no disk.
    pub host_id: HostId,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub random: Arc<dyn Random>,
    /// Where writes and background loops are started. Loops end with [`Tasks::stopping`].
    pub tasks: Tasks,
    /// Whether the server drains, and when watches are to say goodbye.
    pub shutdown: Shutdown,
    /// Where numbers are registered.
    pub metrics: Arc<Metrics>,
}

/// Adds services to the routes.
pub type AddServices = Box<dyn FnOnce(&mut RoutesBuilder) + Send>;
/// What remains to be done when nothing uses the catalog any more.
pub type Close = Pin<Box<dyn Future<Output = ()> + Send>>;

/// An open catalog.
pub struct Catalog {
    /// The catalog's id.
    pub id: CatalogId,
    /// The engine below.
    pub store_kind: StoreKind,
    /// Whether the store answers.
    pub readiness: Arc<dyn Readiness>,
    /// Copies the store for a backup.
    pub copies: Arc<dyn Copies>,
    /// Adds its services.
    pub add_services: AddServices,
    /// Closes the store.
    pub close: Close,
}

impl fmt::Debug for Catalog {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Catalog")
            .field("id", &self.id)
            .field("store_kind", &self.store_kind)
            .finish_non_exhaustive()
    }
}
