//! The new directory of a backup. Everything goes through the handle of the directory that was made, so that
//! nobody can put another one in its place.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use compozy_domain::{AbsolutePath, CatalogError, FileIdentity, PathFault, Random};
use compozy_resolver::{AllowedRoots, Directory, Files};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use crate::home::write_private_in;

const FIELD: &str = "directory";
const DIRECTORY_MODE: Mode = Mode::from_raw_mode(0o700);
const OPEN: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// A directory that was made for a backup.
#[derive(Debug)]
pub(super) struct NewDirectory {
    parent: OwnedFd,
    name: String,
    handle: OwnedFd,
    path: String,
}

/// Where a caller may have backups written: as with every other path, callers on the socket everywhere unless roots
/// are configured, others only below those.
pub(super) fn allowed(files: &dyn Files, configured: &[PathBuf], local: bool) -> AllowedRoots {
    if configured.is_empty() && local {
        return AllowedRoots::Everything;
    }
    let found = configured
        .iter()
        .filter_map(|root| files.directory(root.to_str()?).ok());
    AllowedRoots::Only(found.map(|directory| directory.path).collect())
}

impl NewDirectory {
    /// Makes it in a directory that is there.
    pub(super) fn make(
        files: &dyn Files,
        roots: &AllowedRoots,
        wanted: &AbsolutePath,
    ) -> Result<Self, CatalogError> {
        let text = wanted.as_str();
        let (Some(above), Some(name)) = (Path::new(text).parent(), Path::new(text).file_name()) else {
            let problem = "must be the path of a directory that can be made: not '/', not ending in '..'";
            return Err(CatalogError::invalid_field(FIELD, problem));
        };
        let above = AbsolutePath::parse(&above.to_string_lossy(), FIELD)?;
        let parent = roots.directory(files, &above, FIELD)?;
        let name = name.to_string_lossy().into_owned();
        let path = format!("{}/{name}", parent.path.trim_end_matches('/'));
        let opened = open_again(&parent).map_err(|errno| refusal(errno, &parent.path))?;
        rustix::fs::mkdirat(&opened, &name, DIRECTORY_MODE).map_err(|errno| refusal(errno, &path))?;
        let handle = rustix::fs::openat(&opened, &name, OPEN, Mode::empty())
            // The umask may have taken bits away; the directory is ours and new.
            .and_then(|handle| rustix::fs::fchmod(&handle, DIRECTORY_MODE).map(|()| handle));
        match handle {
            Ok(handle) => Ok(Self {
                parent: opened,
                name,
                handle,
                path,
            }),
            Err(errno) => {
                // Empty still. The error that matters is that one.
                let _ = rustix::fs::unlinkat(&opened, &name, AtFlags::REMOVEDIR);
                Err(refusal(errno, &path))
            }
        }
    }

    /// Its canonical path.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// Opens a file of it.
    pub(super) fn open(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(File::from(rustix::fs::openat(
            &self.handle,
            name,
            flags,
            Mode::empty(),
        )?))
    }

    /// Writes a small file of it, whole, and makes sure that all of it is on the disk.
    pub(super) fn write(&self, name: &OsStr, bytes: &[u8], random: &dyn Random) -> io::Result<()> {
        write_private_in(self.handle.as_fd(), name, bytes, random)?;
        Ok(rustix::fs::fsync(&self.parent)?)
    }

    /// Removes it with these files. What somebody else put into it stays, and then it stays itself.
    pub(super) fn remove(&self, names: &[&str]) {
        for name in names {
            // Those that were not made yet are not there.
            let _ = rustix::fs::unlinkat(&self.handle, *name, AtFlags::empty());
        }
        if let Err(error) = rustix::fs::unlinkat(&self.parent, &self.name, AtFlags::REMOVEDIR) {
            tracing::warn!(%error, path = self.path, "the directory of a failed backup could not be removed");
        }
    }
}

/// Opens a directory that was looked at, if it is still the same one.
fn open_again(directory: &Directory) -> Result<OwnedFd, Errno> {
    let opened = rustix::fs::open(directory.path.as_str(), OPEN, Mode::empty())?;
    let found = rustix::fs::fstat(&opened)?;
    let file = FileIdentity {
        device: found.st_dev,
        inode: found.st_ino,
    };
    if file == directory.file {
        Ok(opened)
    } else {
        Err(Errno::NOENT)
    }
}

fn refusal(errno: Errno, path: &str) -> CatalogError {
    let fault = match errno {
        Errno::EXIST => {
            return CatalogError::DirectoryExists {
                path: path.to_owned(),
            };
        }
        Errno::NOSPC | Errno::DQUOT => return CatalogError::DiskFull,
        Errno::NAMETOOLONG => {
            return CatalogError::invalid_field(FIELD, "is longer than the file system takes");
        }
        Errno::NOENT => PathFault::NotFound,
        Errno::NOTDIR | Errno::LOOP => PathFault::NotDirectory,
        // The contract has no reason of its own for a directory that can't be written to.
        _ => PathFault::Unreadable,
    };
    CatalogError::path(FIELD, path, fault)
}
