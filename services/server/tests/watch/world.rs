//! A world for one case: directories, a catalog, and as many servers on it as the case starts.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use compozy_server::watch::WatchSettings;
use compozy_store::{CatalogStore as _, SqlStore, StoreAddress};
use tempfile::TempDir;

use crate::clock::ShiftedClock;
use crate::server::Server;

/// Long enough for a busy machine; never waited for when all is well.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A catalog and room around it.
#[derive(Debug)]
pub(crate) struct World {
    directory: TempDir,
    pub(crate) address: StoreAddress,
    pub(crate) clock: Arc<ShiftedClock>,
    stores: Stores,
    homes: AtomicU32,
}

/// Stores to be closed at the end of the case, however it ends.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stores(Arc<Mutex<Vec<Arc<SqlStore>>>>);

/// What a server of a case differs in.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    /// Rest of its `config.toml`.
    pub(crate) config: String,
    pub(crate) settings: WatchSettings,
}

impl Default for Options {
    /// No client falls behind unless a case says so, however busy the machine is.
    fn default() -> Self {
        Self {
            config: String::new(),
            settings: WatchSettings {
                behind_after: Duration::from_secs(600),
                ..WatchSettings::default()
            },
        }
    }
}

impl Options {
    /// Every client that has more than one message to take has fallen behind.
    pub(crate) fn impatient() -> Self {
        let mut options = Self::default();
        options.settings.behind_after = Duration::ZERO;
        options
    }

    /// With this text in the configuration.
    pub(crate) fn with(config: impl Into<String>) -> Self {
        Self {
            config: config.into(),
            ..Self::default()
        }
    }
}

impl Stores {
    pub(crate) fn add(&self, store: &Arc<SqlStore>) {
        self.0.lock().unwrap().push(Arc::clone(store));
    }

    pub(crate) async fn close(&self) {
        let stores = std::mem::take(&mut *self.0.lock().unwrap());
        for store in stores {
            store.close().await;
        }
    }
}

impl World {
    pub(crate) fn new(address: StoreAddress) -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
            address,
            clock: Arc::default(),
            stores: Stores::default(),
            homes: AtomicU32::new(0),
        }
    }

    pub(crate) fn stores(&self) -> Stores {
        self.stores.clone()
    }

    /// Starts a server on the catalog. On SQLite the one before has to have ended.
    pub(crate) async fn start(&self) -> Server {
        self.start_with(Options::default()).await
    }

    pub(crate) async fn start_with(&self, options: Options) -> Server {
        let home = format!("h{}", self.homes.fetch_add(1, Ordering::Relaxed));
        Server::start(self, self.path(&home), options).await
    }

    /// A path in the room of this world.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(name)
    }

    /// Makes a directory for a root.
    pub(crate) fn root(&self, name: &str) -> String {
        let path = self.path("t").join(name);
        std::fs::create_dir_all(&path).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Whether the catalog lies on Postgres.
    pub(crate) fn is_postgres(&self) -> bool {
        matches!(self.address, StoreAddress::Postgres { .. })
    }
}

/// Waits until something is true.
pub(crate) async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let waiting = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting)
        .await
        .unwrap_or_else(|_| panic!("never happened: {what}"));
}
