//! Backups: a directory with a copy of the catalog and a manifest of digests, written last. A directory without a
//! manifest is no backup.

mod digest;
mod dump;
mod manifest;
mod place;
mod restore;

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use compozy_domain::{AbsolutePath, CatalogError, CatalogId, Clock, HostId, PathFault, Principal, Random};
use compozy_resolver::Files;
use tokio_util::sync::CancellationToken;

use self::digest::pass;
use self::manifest::Manifest;
pub use self::manifest::{FORMAT, FileEntry, MANIFEST};
use self::place::NewDirectory;
pub use self::restore::Backup;
use crate::clock::rfc3339;
use crate::config::Config;
use crate::tasks::Tasks;

/// The copy of the catalog, in a backup and in a home.
pub const CATALOG: &str = "compozy.db";

/// Copies the catalog while it is used.
#[tonic::async_trait]
pub trait Copies: Send + Sync + fmt::Debug {
    /// Writes a copy into a new file; `false` if the catalog lies in no file. Ends soon after `stop` is cancelled.
    ///
    /// # Errors
    /// Why there is no copy. Nothing of the file is left then.
    async fn copy_to(&self, path: &Path, stop: &CancellationToken) -> Result<bool, CatalogError>;
}

/// What backups are made with.
#[derive(Debug)]
pub struct Parts {
    /// The catalog.
    pub copies: Arc<dyn Copies>,
    /// The disk.
    pub files: Arc<dyn Files>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub random: Arc<dyn Random>,
    /// Owner of the work, which goes on until it has cleaned up even when its caller goes away.
    pub tasks: Tasks,
    /// The catalog's id.
    pub catalog_id: CatalogId,
    /// Whose disk the catalog speaks of.
    pub host_id: HostId,
    /// The configuration.
    pub config: Arc<Config>,
}

/// Makes backups.
#[derive(Debug, Clone)]
pub struct Backups(Arc<Parts>);

/// What became of a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BackupDone {
    /// It is written.
    Written {
        /// Its directory, canonical.
        directory: String,
        /// Its files, without the manifest.
        files: Vec<FileEntry>,
    },
    /// The catalog lies on Postgres: this command dumps it.
    Dump {
        /// For a shell; holds no password.
        command: String,
    },
}

impl Backups {
    /// A maker of backups.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }

    /// Writes a backup into a new directory. Ends early, with nothing left, when it is dropped.
    ///
    /// # Errors
    /// [`CatalogError`] of paths, [`CatalogError::DirectoryExists`], [`CatalogError::DiskFull`], and what the store
    /// answers. Nothing is left behind then.
    pub async fn write(&self, caller: &Principal, wanted: &AbsolutePath) -> Result<BackupDone, CatalogError> {
        let store = &self.0.config.store;
        if store.is_postgres() {
            let command = dump::command(&store.url, wanted.as_str());
            return Ok(BackupDone::Dump { command });
        }
        let stop = self.0.tasks.stopping().child_token();
        let _stops_with_its_caller = stop.clone().drop_guard();
        let (parts, wanted, local) = (Arc::clone(&self.0), wanted.clone(), caller.local);
        let writing = self
            .0
            .tasks
            .spawn(async move { write_directory(&parts, &wanted, local, &stop).await });
        writing.await.map_err(|failed| defect(&failed))?
    }
}

async fn write_directory(
    parts: &Arc<Parts>,
    wanted: &AbsolutePath,
    local: bool,
    stop: &CancellationToken,
) -> Result<BackupDone, CatalogError> {
    let (made_by, wanted) = (Arc::clone(parts), wanted.clone());
    let directory = on_the_disk(move || {
        let roots = place::allowed(
            made_by.files.as_ref(),
            &made_by.config.workspaces.allowed_roots,
            local,
        );
        NewDirectory::make(made_by.files.as_ref(), &roots, &wanted)
    })
    .await??;
    let directory = Arc::new(directory);
    match fill(parts, &directory, stop).await {
        Ok(files) => Ok(BackupDone::Written {
            directory: directory.path().to_owned(),
            files,
        }),
        Err(error) => {
            on_the_disk(move || directory.remove(&[CATALOG, MANIFEST])).await?;
            Err(error)
        }
    }
}

async fn fill(
    parts: &Arc<Parts>,
    directory: &Arc<NewDirectory>,
    stop: &CancellationToken,
) -> Result<Vec<FileEntry>, CatalogError> {
    let made_at = parts.clock.now();
    let target = Path::new(directory.path()).join(CATALOG);
    if !parts.copies.copy_to(&target, stop).await? {
        return Err(CatalogError::Defect {
            detail: "an SQLite catalog lies in no file".to_owned(),
        });
    }
    let (parts, directory, stop) = (Arc::clone(parts), Arc::clone(directory), stop.clone());
    on_the_disk(move || {
        // Opened through the directory that was made, so that it is this one that is told of.
        let mut copy = directory.open(CATALOG)?;
        let digest = pass(&mut copy, &mut io::sink(), &stop)?;
        let files = vec![FileEntry {
            path: CATALOG.to_owned(),
            size: digest.size,
            sha256: digest.sha256,
        }];
        let manifest = Manifest {
            format: FORMAT,
            release: env!("CARGO_PKG_VERSION").to_owned(),
            catalog_id: parts.catalog_id.to_string(),
            host_id: (!parts.host_id.is_none()).then(|| parts.host_id.to_string()),
            made_at: rfc3339(made_at),
            files: files.clone(),
        };
        directory.write(OsStr::new(MANIFEST), &manifest.encode(), parts.random.as_ref())?;
        Ok(files)
    })
    .await?
    .map_err(|error: io::Error| unwritten(&target, &error))
}

/// Works on a thread made for blocking, to the end.
async fn on_the_disk<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, CatalogError> {
    let working = tokio::task::spawn_blocking(work);
    working.await.map_err(|failed| defect(&failed))
}

fn defect(failed: &tokio::task::JoinError) -> CatalogError {
    CatalogError::Defect {
        detail: format!("a backup failed: {failed}"),
    }
}

fn unwritten(path: &Path, error: &io::Error) -> CatalogError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => CatalogError::DiskFull,
        io::ErrorKind::Interrupted => CatalogError::DeadlineExceeded,
        _ => {
            tracing::warn!(%error, path = %path.display(), "a backup could not be written");
            // The contract has no reason of its own for a directory that can't be written to.
            CatalogError::path("directory", path.to_string_lossy(), PathFault::Unreadable)
        }
    }
}
