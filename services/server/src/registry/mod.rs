//! The registry's use cases: what the catalog does with workspaces, without the wire. Rows go through the
//! store, files through one seam to the disk, time and randomness are passed in.
//!
//! A caller's scope is checked before a use case is asked; which workspaces exist for the caller is checked
//! here and in the store. A write runs as a task of its own, so that it ends well when its caller goes away.

mod call;
pub mod directory;
mod discover;
mod disk;
mod file;
pub mod home;
pub mod identity;
mod in_flight;
mod list;
mod observer;
mod order;
mod paths;
pub mod profile;
mod prune;
mod recovery;
mod reference;
pub mod register;
mod relink;
mod remove;
mod resolve;
pub mod session;
mod status;
mod update;

use std::future::Future;
use std::sync::Arc;
use std::time::Instant;

use compozy_domain::{CatalogError, Clock, HostId, Random, Timestamp};
use compozy_resolver::Files;
use compozy_store::{Intent, Store};
use tokio::sync::{Notify, Semaphore, watch};
use tokio_util::sync::CancellationToken;

pub use call::{Caller, Encode, Repeat, Reply, WriteCall};
pub use discover::{Discovered, DiscoveryMethod};
pub use list::{ListQuery, Seen, SeenPage};
pub use order::MoveWanted;
pub use paths::NamedPath;
pub use prune::PruneWanted;
pub use reference::Reference;
pub use relink::{RelinkWanted, Relinked};
pub use remove::RemoveWanted;
pub use update::{DirsWanted, UpdateWanted};

use crate::config::SessionsConfig;
use crate::resolution::Resolution;
use crate::tasks::Tasks;

/// What the configuration says about workspaces.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// `$COMPOZY_HOME`, canonical: nothing in it can be a workspace.
    pub catalog_home: String,
    /// The operator's home directory, if there is one.
    pub operator_home: Option<String>,
    /// Paths must lie below one of these; empty allows everything to callers on the socket and nothing to others.
    pub allowed_roots: Vec<String>,
    /// Whether a registration makes the identity file of a directory that has none.
    pub auto_create: bool,
    /// Whether the first start registers the operator's home.
    pub register_home: bool,
    /// How long things about sessions may take.
    pub sessions: SessionsConfig,
}

/// What the registry works with.
#[derive(Debug, Clone)]
pub struct Parts {
    /// Rows.
    pub store: Arc<dyn Store>,
    /// Files.
    pub files: Arc<dyn Files>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub random: Arc<dyn Random>,
    /// Owner of the tasks that writes run in.
    pub tasks: Tasks,
    /// Whose disk this daemon looks at.
    pub host: HostId,
    /// This start of the daemon: a ULID that its intents carry.
    pub owner: String,
    /// The configuration.
    pub settings: Settings,
}

/// What calls that wait for a change have to hear.
#[derive(Debug, Clone)]
pub struct News {
    /// Changes when there is something new in the change log.
    pub log_moved: watch::Receiver<()>,
    /// Is cancelled when callers are to leave: nobody waits any longer.
    pub parting: CancellationToken,
}

/// The registry of workspaces.
#[derive(Debug)]
pub struct Registry {
    store: Arc<dyn Store>,
    files: Arc<dyn Files>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    tasks: Tasks,
    host: HostId,
    owner: String,
    settings: Settings,
    in_flight: in_flight::InFlight,
    looks: status::Looks,
    /// Intents of this process whose work could not be undone yet.
    unfinished: std::sync::Mutex<Vec<Intent>>,
    resolution: Arc<Resolution>,
    observer_wake: Notify,
    observer_wanted: std::sync::Mutex<observer::Wanted>,
    /// Turns of calls that wait for a stop.
    stop_waits: Semaphore,
    /// What calls that wait are told, where somebody tells it.
    news: std::sync::OnceLock<News>,
}

impl Registry {
    /// A registry over its parts.
    #[must_use]
    pub fn new(parts: Parts) -> Arc<Self> {
        let Parts {
            store,
            files,
            clock,
            random,
            tasks,
            host,
            owner,
            settings,
        } = parts;
        let stop_waits = settings.sessions.stop_waits;
        let resolution = Resolution::new(Arc::clone(&files), Arc::clone(&clock), tasks.clone());
        Arc::new(Self {
            store,
            files,
            clock,
            random,
            tasks,
            host,
            owner,
            settings,
            in_flight: in_flight::InFlight::default(),
            looks: status::Looks::default(),
            unfinished: std::sync::Mutex::default(),
            resolution: Arc::new(resolution),
            observer_wake: Notify::new(),
            observer_wanted: std::sync::Mutex::default(),
            stop_waits: Semaphore::new(stop_waits),
            news: std::sync::OnceLock::new(),
        })
    }

    /// Whose disk this daemon looks at.
    #[must_use]
    pub fn host(&self) -> &HostId {
        &self.host
    }

    /// From now on calls that wait for a change hear these news. Only the first ones count.
    pub fn hear(&self, news: News) {
        let _heard_before = self.news.set(news);
    }

    /// Where snapshots are made and kept.
    #[must_use]
    pub fn resolution(&self) -> &Arc<Resolution> {
        &self.resolution
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Every call that needs a disk fails on a daemon that looks at none.
    fn require_host(&self) -> Result<(), CatalogError> {
        if self.host.is_none() {
            Err(CatalogError::HostNotServed)
        } else {
            Ok(())
        }
    }
}

/// Waits for the store until a deadline. Only for reads: a write that is dropped may have happened.
async fn within<T, E>(deadline: Instant, work: impl Future<Output = Result<T, E>>) -> Result<T, CatalogError>
where
    CatalogError: From<E>,
{
    match tokio::time::timeout_at(deadline.into(), work).await {
        Ok(outcome) => outcome.map_err(CatalogError::from),
        Err(_) => Err(CatalogError::DeadlineExceeded),
    }
}
