//! Opening a catalog.

use std::path::PathBuf;
use std::sync::Arc;

use compozy_domain::id::new_ulid;
use compozy_domain::{CatalogId, Random, RandomFailed, Timestamp};
use futures::FutureExt as _;

use crate::error::{Error, Result};
use crate::path_locks::LocalPathLocks;
use crate::sql::{
    Db, Founding, Inspection, Postgres, Sqlite, SqliteFile, current_boot, inspect, load_newest_instant,
    migrate,
};

/// Where a catalog lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreAddress {
    /// A file, made if it is not there; its directory has to be.
    SqliteFile(PathBuf),
    /// Memory of this process, for tests.
    SqliteMemory,
    /// A `postgres://` URL.
    Postgres {
        /// The URL, secrets included.
        url: String,
        /// Whether a transaction pooler such as PgBouncer stands before the server.
        pooler: bool,
    },
}

/// What an answered write survives on SQLite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Loss of power.
    Full,
    /// A killed process, but not always loss of power.
    Normal,
}

/// What a catalog is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// To serve it: makes it if it is new, brings its schema up to date, begins a new epoch if it is a restored
    /// backup.
    Serve,
    /// To change something beside the daemon that serves it. The schema stays as it is.
    Maintain,
    /// To look. Nothing is written, and no file is made.
    Inspect,
}

/// How to open a catalog.
#[derive(Debug)]
pub struct OpenOptions<'a> {
    /// Where it lies.
    pub address: StoreAddress,
    /// What for. A catalog in memory is always new and served.
    pub access: Access,
    /// What writes survive; Postgres decides for itself.
    pub durability: Durability,
    /// This release, as in `0.1.0`.
    pub binary: &'a str,
    /// The current instant.
    pub now: Timestamp,
    /// For the id and the key of a new catalog, and for a new epoch.
    pub random: &'a dyn Random,
}

/// A catalog on SQLite or Postgres.
#[derive(Debug)]
pub struct SqlStore {
    db: Db,
    id: CatalogId,
    paths: LocalPathLocks,
}

impl SqlStore {
    /// Opens a catalog.
    ///
    /// # Errors
    /// [`Error::TooNew`] for one of a newer release, which is left untouched; [`Error::Corrupt`] for a file
    /// that is no catalog, likewise; [`Error::Behind`] unless it is opened to serve; [`Error::Unavailable`].
    pub async fn open(options: OpenOptions<'_>) -> Result<Self> {
        let founding = founding(&options).map_err(|failed| Error::Defect(failed.to_string()))?;
        let full = options.durability == Durability::Full;
        let (db, id) = match options.address {
            StoreAddress::SqliteFile(path) => {
                let file = SqliteFile {
                    path,
                    access: options.access,
                    synchronous_full: full,
                };
                open_sqlite(Some(file), founding).await?
            }
            StoreAddress::SqliteMemory => open_sqlite(None, founding).await?,
            StoreAddress::Postgres { url, pooler } => {
                let db = Db::Postgres(Postgres::connect(&url, pooler).await?);
                let soon = std::time::Instant::now() + std::time::Duration::from_secs(60);
                let id = match options.access {
                    Access::Serve => {
                        let id = db.write(soon, Arc::new(founding)).await?;
                        db.follow_server().await?;
                        id
                    }
                    Access::Maintain | Access::Inspect => {
                        let binary = founding.binary;
                        db.read(Arc::new(Inspection { binary })).await?
                    }
                };
                (db, id)
            }
        };
        Ok(Self {
            db,
            id,
            paths: LocalPathLocks::default(),
        })
    }

    /// Makes every commit fail from now on, as if the store had gone away, or ends that.
    #[cfg(feature = "conformance")]
    pub fn fail_commits(&self, fail: bool) {
        let faults: &crate::sql::Faults = self.db.faults();
        faults
            .fail_commits
            .store(fail, std::sync::atomic::Ordering::SeqCst);
    }

    /// Waits less for the outcome of commits than the product does. Only the first call counts.
    #[cfg(feature = "conformance")]
    pub fn wait_for_commits(&self, patience: std::time::Duration) {
        let faults: &crate::sql::Faults = self.db.faults();
        let _set_before = faults.commit_patience.set(patience);
    }

    /// Lets the process believe, as after a promotion, that it served another Postgres server so far.
    #[cfg(feature = "conformance")]
    pub fn served_another_server(&self, origin: &str) {
        if let Db::Postgres(postgres) = &self.db {
            postgres.origin().set(origin.to_owned());
        }
    }

    pub(crate) fn db(&self) -> &Db {
        &self.db
    }

    pub(crate) fn id(&self) -> &CatalogId {
        &self.id
    }

    pub(crate) fn paths(&self) -> &LocalPathLocks {
        &self.paths
    }
}

async fn open_sqlite(file: Option<SqliteFile>, founding: Founding) -> Result<(Db, CatalogId)> {
    let opening = tokio::task::spawn_blocking(move || {
        let serves = file.as_ref().is_none_or(|file| file.access == Access::Serve);
        let mut id = None;
        let sqlite = Sqlite::open(file, |tx| {
            let preparing = async {
                let id = if serves {
                    migrate(tx, &founding).await?
                } else {
                    inspect(tx, &founding.binary).await?
                };
                load_newest_instant(tx).await?;
                Ok::<_, Error>(id)
            };
            let prepared = preparing.now_or_never();
            id = Some(prepared.ok_or_else(|| Error::Defect("a migration waited".into()))??);
            Ok(())
        })?;
        let id = id.ok_or_else(|| Error::Defect("the catalog was not prepared".into()))?;
        Ok((Db::Sqlite(sqlite), id))
    });
    opening
        .await
        .map_err(|error| Error::Defect(format!("opening panicked: {error}")))?
}

fn founding(options: &OpenOptions<'_>) -> std::result::Result<Founding, RandomFailed> {
    let mut key = [0_u8; 32];
    options.random.fill(&mut key)?;
    Ok(Founding {
        catalog_id: CatalogId::generate(options.now, options.random)?,
        epoch: new_ulid(options.now, options.random)?,
        key,
        now: options.now,
        binary: options.binary.to_owned(),
        boot: match options.durability {
            Durability::Full => None,
            Durability::Normal => current_boot(),
        },
    })
}
