//! Filling an empty home from a backup. Everything is checked before anything is written, and the catalog is put in
//! its place last.

use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use compozy_domain::{Clock, HostId, Random};
use tokio_util::sync::CancellationToken;

use super::digest::{Digest, pass};
use super::manifest::Manifest;
use super::{CATALOG, FileEntry, MANIFEST};
use crate::config::StoreConfig;
use crate::failure::{Failure, FailureKind};
use crate::home::{self, Home};
use crate::lock::{self, DaemonLock};
use crate::{host, plug};

/// A backup whose bytes are those that were written.
#[derive(Debug)]
pub struct Backup {
    directory: PathBuf,
    manifest: Manifest,
}

impl Backup {
    /// Reads a backup and compares every digest.
    ///
    /// # Errors
    /// A failure that names what is missing or damaged.
    pub fn open(directory: &Path) -> Result<Self, Failure> {
        let manifest = Manifest::read(directory)?;
        let backup = Self {
            directory: directory.to_owned(),
            manifest,
        };
        for entry in &backup.manifest.files {
            backup.copy(entry, &mut io::sink())?;
        }
        Ok(backup)
    }

    /// When it was made, RFC 3339.
    #[must_use]
    pub fn made_at(&self) -> &str {
        &self.manifest.made_at
    }

    /// The catalog that it was made of.
    #[must_use]
    pub fn catalog_id(&self) -> &str {
        &self.manifest.catalog_id
    }

    /// Looks whether this release can use the catalog in it.
    ///
    /// # Errors
    /// A failure that says why not.
    pub async fn check_catalog(&self, clock: &dyn Clock, random: &dyn Random) -> Result<(), Failure> {
        let path = self.directory.join(CATALOG);
        let place = StoreConfig {
            url: format!("sqlite://{}", path.display()),
            full_durability: true,
            transaction_pooler: false,
        };
        let Some(found) = plug::look_at(&place, clock, random).await? else {
            return Err(Failure::config(format!(
                "{} holds no catalog: use another backup",
                path.display()
            )));
        };
        let (id, wanted) = (
            compozy_store::CatalogStore::catalog_id(&found).to_string(),
            self.catalog_id(),
        );
        compozy_store::CatalogStore::close(&found).await;
        if id == wanted {
            return Ok(());
        }
        Err(Failure::config(format!(
            "{} belongs to catalog {id}, its manifest to {wanted}: use another backup",
            path.display()
        )))
    }

    /// Fills a home that is empty or not there.
    ///
    /// # Errors
    /// When the home is not empty or a daemon runs on it; it is left as it was. Otherwise a failure that names the
    /// file, and nothing of the catalog is left.
    pub fn fill(&self, home: &Home, random: &dyn Random) -> Result<(), Failure> {
        require_empty(home)?;
        let was_there = home.path().exists();
        home::ensure_home(home)?;
        let locked = DaemonLock::acquire(home)?;
        let filled = require_empty(home).and_then(|()| self.fill_locked(home, random));
        if filled.is_err() {
            // Only what was made here, and only if nothing came beside it.
            let _ = std::fs::remove_file(home.lock_path());
            drop(locked);
            if !was_there {
                let _ = std::fs::remove_dir(home.path());
            }
        }
        filled
    }

    fn fill_locked(&self, home: &Home, random: &dyn Random) -> Result<(), Failure> {
        let temporary = home.temporary_beside(&home.catalog_path(), random)?;
        let filled = self
            .bring(&temporary)
            .and_then(|()| self.name_host(home, random))
            .and_then(|()| put_in_place(&temporary, home));
        if filled.is_err() {
            for path in [&temporary, &home.host_path()] {
                let _ = std::fs::remove_file(path);
            }
            return filled;
        }
        // From here on it is restored; what is missing is made by the start.
        home::prepare(home).map(drop)
    }

    fn bring(&self, target: &Path) -> Result<(), Failure> {
        let unwritten = |error: io::Error| Failure::io("write", target, &error);
        let mut file = std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(target)
            .map_err(unwritten)?;
        for entry in &self.manifest.files {
            self.copy(entry, &mut file)?;
        }
        file.sync_all().map_err(unwritten)
    }

    /// The restored home goes on as the host whose disk the catalog speaks of.
    fn name_host(&self, home: &Home, random: &dyn Random) -> Result<(), Failure> {
        let Some(text) = &self.manifest.host_id else {
            return Ok(());
        };
        let id = HostId::parse(text).filter(|id| !id.is_none()).ok_or_else(|| {
            let manifest = self.directory.join(MANIFEST);
            Failure::config(format!(
                "{} holds a host_id that is not valid",
                manifest.display()
            ))
        })?;
        host::write(home, &id, random)
    }

    /// Passes a file on, and compares it with what the manifest says.
    fn copy(&self, entry: &FileEntry, to: &mut impl io::Write) -> Result<(), Failure> {
        let path = self.directory.join(&entry.path);
        let unread = |error: io::Error| Failure::io("copy", &path, &error);
        let mut file = File::open(&path).map_err(unread)?;
        let Digest { size, sha256 } = pass(&mut file, to, &CancellationToken::new()).map_err(unread)?;
        if (size, sha256.as_str()) == (entry.size, entry.sha256.as_str()) {
            return Ok(());
        }
        Err(Failure::new(
            FailureKind::Config,
            format!(
                "{} is not what the manifest says: use another backup",
                path.display()
            ),
        ))
    }
}

/// Nothing may lie in the home but the lock that is held while it is filled.
fn require_empty(home: &Home) -> Result<(), Failure> {
    let path = home.path();
    if let Some(pid) = lock::holder(home).filter(|pid| *pid != std::process::id()) {
        return Err(Failure::new(
            FailureKind::Unavailable,
            format!(
                "a daemon with pid {pid} runs on {}: restore into another home",
                path.display()
            ),
        ));
    }
    let entries = match std::fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Failure::io("look into", path, &error)),
    };
    for entry in entries {
        let found = entry
            .map_err(|error| Failure::io("look into", path, &error))?
            .path();
        if found != home.lock_path() {
            return Err(Failure::config(format!(
                "{} is not empty ({} lies in it): restore into an empty home",
                path.display(),
                found.display()
            )));
        }
    }
    Ok(())
}

fn put_in_place(temporary: &Path, home: &Home) -> Result<(), Failure> {
    let target = home.catalog_path();
    std::fs::rename(temporary, &target)
        .and_then(|()| File::open(home.path())?.sync_all())
        .map_err(|error| Failure::io("write", &target, &error))?;
    // The home may be new itself. A directory above it that can't be read can't be flushed.
    if let Some(above) = home.path().parent() {
        let _ = File::open(above).and_then(|above| above.sync_all());
    }
    Ok(())
}
