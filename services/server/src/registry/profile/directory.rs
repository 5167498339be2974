//! The personal directories of profiles, `$COMPOZY_HOME/profiles/<name>`. Nothing is written through a link, and nothing
//! that is there is ever replaced.

use std::os::fd::OwnedFd;

use compozy_domain::{CatalogError, PathFault, ProfileName};
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, RenameFlags, fchmod, fsync, mkdirat, openat, renameat_with, statat,
    unlinkat,
};
use rustix::io::Errno;

const PROFILES: &str = "profiles";
/// Nobody else may look inside.
const PRIVATE: Mode = Mode::RWXU;
const OPEN: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// The directories of all profiles of one home.
#[derive(Debug, Clone)]
pub(in crate::registry) struct Directories {
    home: String,
}

/// Whether a directory had to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::registry) enum Ensured {
    /// It was not there before.
    Made,
    /// It was, and is as it was.
    Adopted,
}

impl Directories {
    /// Of the home at this canonical path.
    pub(in crate::registry) fn of(home: &str) -> Self {
        Self {
            home: home.trim_end_matches('/').to_owned(),
        }
    }

    /// The path of one.
    pub(in crate::registry) fn path(&self, name: &ProfileName) -> String {
        format!("{}/{PROFILES}/{name}", self.home)
    }

    /// Makes sure that there is one.
    pub(in crate::registry) fn ensure(&self, name: &ProfileName) -> Result<Ensured, CatalogError> {
        let all = self.open()?;
        let path = || self.path(name);
        match mkdirat(&all, name.as_str(), PRIVATE) {
            Ok(()) => {
                let made = openat(&all, name.as_str(), OPEN, Mode::empty());
                let made = made.map_err(|errno| fault(errno, path()))?;
                // Whatever the umask took away.
                fchmod(&made, PRIVATE).map_err(|errno| fault(errno, path()))?;
                fsync(&all).map_err(|errno| fault(errno, path()))?;
                Ok(Ensured::Made)
            }
            Err(Errno::EXIST) if is_directory(&all, name)? => Ok(Ensured::Adopted),
            Err(Errno::EXIST) => Err(unwritable(path())),
            Err(errno) => Err(fault(errno, path())),
        }
    }

    /// Takes one away that was made for nothing. One that holds anything stays.
    pub(in crate::registry) fn remove_empty(&self, name: &ProfileName) -> Result<(), CatalogError> {
        let all = self.open()?;
        match unlinkat(&all, name.as_str(), AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY) => Ok(()),
            Err(errno) => Err(fault(errno, self.path(name))),
        }
    }

    /// Whether anything has this name.
    pub(in crate::registry) fn exists(&self, name: &ProfileName) -> Result<bool, CatalogError> {
        let all = self.open()?;
        match statat(&all, name.as_str(), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(errno) => Err(fault(errno, self.path(name))),
        }
    }

    /// Gives one another name. A missing one is nothing to rename.
    pub(in crate::registry) fn rename(
        &self,
        from: &ProfileName,
        to: &ProfileName,
    ) -> Result<(), CatalogError> {
        let all = self.open()?;
        match renameat_with(&all, from.as_str(), &all, to.as_str(), RenameFlags::NOREPLACE) {
            Ok(()) => fsync(&all).map_err(|errno| fault(errno, self.path(to))),
            Err(Errno::NOENT) => Ok(()),
            Err(Errno::EXIST | Errno::NOTEMPTY) => {
                Err(CatalogError::ProfileDirectoryExists { path: self.path(to) })
            }
            Err(errno) => Err(fault(errno, self.path(to))),
        }
    }

    /// The directory that holds them all; made if somebody took it away.
    fn open(&self) -> Result<OwnedFd, CatalogError> {
        let path = || format!("{}/{PROFILES}", self.home);
        let home = rustix::fs::open(self.home.as_str(), OPEN, Mode::empty());
        let home = home.map_err(|errno| fault(errno, self.home.clone()))?;
        match mkdirat(&home, PROFILES, PRIVATE) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(fault(errno, path())),
        }
        openat(&home, PROFILES, OPEN, Mode::empty()).map_err(|errno| fault(errno, path()))
    }
}

fn is_directory(all: &OwnedFd, name: &ProfileName) -> Result<bool, CatalogError> {
    match statat(all, name.as_str(), AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) => Ok(FileType::from_raw_mode(found.st_mode) == FileType::Directory),
        Err(Errno::NOENT) => Ok(false),
        Err(errno) => Err(fault(errno, name.to_string())),
    }
}

fn fault(errno: Errno, path: String) -> CatalogError {
    match errno {
        Errno::NOSPC | Errno::DQUOT => CatalogError::DiskFull,
        Errno::MFILE | Errno::NFILE | Errno::NOMEM => CatalogError::Defect {
            detail: format!("the directory of a profile: {errno}"),
        },
        _ => unwritable(path),
    }
}

fn unwritable(path: String) -> CatalogError {
    CatalogError::path("", path, PathFault::Unwritable)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn home() -> (tempfile::TempDir, Directories) {
        let home = tempfile::tempdir().unwrap();
        let directories = Directories::of(home.path().to_str().unwrap());
        (home, directories)
    }

    fn name(text: &str) -> ProfileName {
        ProfileName::parse(text).unwrap()
    }

    #[test]
    fn r103_r119_one_is_made_private_or_adopted_as_it_is() {
        let (home, directories) = home();
        assert_eq!(directories.ensure(&name("p")).unwrap(), Ensured::Made);
        let made = home.path().join("profiles/p");
        assert_eq!(fs::metadata(&made).unwrap().permissions().mode() & 0o7777, 0o700);
        fs::write(made.join("config.toml"), "x").unwrap();
        fs::set_permissions(&made, fs::Permissions::from_mode(0o750)).unwrap();
        assert_eq!(directories.ensure(&name("p")).unwrap(), Ensured::Adopted);
        assert_eq!(fs::metadata(&made).unwrap().permissions().mode() & 0o7777, 0o750);
        assert_eq!(fs::read(made.join("config.toml")).unwrap(), b"x");
    }

    #[test]
    fn c152_nothing_is_written_through_a_link() {
        let (home, directories) = home();
        let elsewhere = tempfile::tempdir().unwrap();
        symlink(elsewhere.path(), home.path().join("profiles")).unwrap();
        let refused = directories.ensure(&name("p")).unwrap_err();
        assert!(refused.to_string().contains("profiles"), "{refused}");
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_link_or_a_file_in_the_place_of_one_is_refused() {
        let (home, directories) = home();
        fs::create_dir(home.path().join("profiles")).unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        symlink(elsewhere.path(), home.path().join("profiles/p")).unwrap();
        fs::write(home.path().join("profiles/q"), "").unwrap();
        assert!(directories.ensure(&name("p")).is_err());
        assert!(directories.ensure(&name("q")).is_err());
    }

    #[test]
    fn r105_a_rename_moves_all_and_replaces_nothing() {
        let (home, directories) = home();
        let at = |path: &str| home.path().join("profiles").join(path);
        directories.ensure(&name("p")).unwrap();
        fs::write(at("p/config.toml"), "x").unwrap();
        directories.rename(&name("p"), &name("q")).unwrap();
        assert_eq!(fs::read(at("q/config.toml")).unwrap(), b"x");
        assert!(!at("p").exists());
        directories.rename(&name("p"), &name("r")).unwrap();
        assert!(!at("r").exists());
        directories.ensure(&name("p")).unwrap();
        let taken = directories.rename(&name("q"), &name("p")).unwrap_err();
        assert!(matches!(taken, CatalogError::ProfileDirectoryExists { .. }));
        assert_eq!(fs::read(at("q/config.toml")).unwrap(), b"x");
    }

    #[test]
    fn what_holds_anything_is_not_removed() {
        let (home, directories) = home();
        directories.ensure(&name("p")).unwrap();
        fs::write(home.path().join("profiles/p/x"), "").unwrap();
        directories.remove_empty(&name("p")).unwrap();
        assert!(directories.exists(&name("p")).unwrap());
        fs::remove_file(home.path().join("profiles/p/x")).unwrap();
        directories.remove_empty(&name("p")).unwrap();
        assert!(!directories.exists(&name("p")).unwrap());
    }
}
