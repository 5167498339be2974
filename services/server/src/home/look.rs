//! What the home should look like, and what is not so. Changes nothing.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};

use super::Home;
use crate::failure::Failure;

/// Directories of every home, parents first.
pub const DIRECTORIES: [&str; 10] = [
    "agents",
    "skills",
    "loops",
    "profiles",
    "profiles/default",
    "profiles/default/memory",
    "sessions",
    "logs",
    "gateway",
    "gateway/credentials",
];

/// Files of the home that only the daemon writes.
pub const PRIVATE_FILES: [&str; 8] = [
    "compozy.db",
    "compozy.db-wal",
    "compozy.db-shm",
    "host.toml",
    "client.token",
    "daemon.lock",
    "daemon.json",
    "logs/compozy.log",
];

pub(super) const DIRECTORY_MODE: Mode = Mode::from_raw_mode(0o700);
pub(super) const FILE_MODE: Mode = Mode::from_raw_mode(0o600);

/// Something in the home that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Where.
    pub path: PathBuf,
    /// What is wrong.
    pub problem: String,
    /// Who can mend it.
    pub remedy: Remedy,
}

/// Who can mend a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// The next start does.
    Prepare,
    /// Only a person can decide.
    Person,
}

/// What is not right in the home. Changes nothing.
///
/// # Errors
/// When the home can't be opened.
pub fn findings(home: &Home) -> Result<Vec<Finding>, Failure> {
    let directory = open_home(home.path()).map_err(|error| Failure::io("open", home.path(), &error))?;
    Ok(look(home, directory.as_fd()))
}

pub(super) fn open_home(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

pub(super) fn look(home: &Home, directory: BorrowedFd<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    found.extend(look_at(home, directory, "", FileType::Directory, DIRECTORY_MODE));
    for relative in DIRECTORIES {
        let missing = kind_of(directory, relative).is_ok_and(|kind| kind.is_none());
        if missing && !passes_a_link(directory, relative).unwrap_or(true) {
            found.push(finding(home, relative, "is missing".to_owned(), Remedy::Prepare));
            continue;
        }
        found.extend(look_at(
            home,
            directory,
            relative,
            FileType::Directory,
            DIRECTORY_MODE,
        ));
    }
    for relative in PRIVATE_FILES {
        found.extend(look_at(
            home,
            directory,
            relative,
            FileType::RegularFile,
            FILE_MODE,
        ));
    }
    found
}

/// What is wrong with one entry, if it is there. The home itself is the empty path.
fn look_at(
    home: &Home,
    directory: BorrowedFd<'_>,
    relative: &str,
    kind: FileType,
    mode: Mode,
) -> Option<Finding> {
    let stat = match stat_of(directory, relative) {
        Ok(stat) => stat?,
        Err(error) => {
            return Some(finding(
                home,
                relative,
                format!("can't be looked at ({error})"),
                Remedy::Person,
            ));
        }
    };
    if passes_a_link(directory, relative).unwrap_or(false) {
        return None;
    }
    let found = FileType::from_raw_mode(stat.st_mode);
    if found == FileType::Symlink {
        let problem = "is a symbolic link: replace it by what it leads to".to_owned();
        return Some(finding(home, relative, problem, Remedy::Person));
    }
    if found != kind {
        let wanted = if kind == FileType::Directory {
            "a directory"
        } else {
            "a regular file"
        };
        return Some(finding(
            home,
            relative,
            format!("is not {wanted}: move it away"),
            Remedy::Person,
        ));
    }
    let has = Mode::from_raw_mode(stat.st_mode);
    (has != mode).then(|| {
        let problem = format!(
            "has mode {:04o}, it should be {:04o}",
            has.as_raw_mode(),
            mode.as_raw_mode()
        );
        finding(home, relative, problem, Remedy::Prepare)
    })
}

fn finding(home: &Home, relative: &str, problem: String, remedy: Remedy) -> Finding {
    let path = if relative.is_empty() {
        home.path().to_owned()
    } else {
        home.path().join(relative)
    };
    Finding {
        path,
        problem,
        remedy,
    }
}

fn stat_of(directory: BorrowedFd<'_>, relative: &str) -> io::Result<Option<rustix::fs::Stat>> {
    if relative.is_empty() {
        return Ok(Some(rustix::fs::fstat(directory)?));
    }
    match rustix::fs::statat(directory, relative, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat)),
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

pub(super) fn kind_of(directory: BorrowedFd<'_>, relative: &str) -> io::Result<Option<FileType>> {
    Ok(stat_of(directory, relative)?.map(|stat| FileType::from_raw_mode(stat.st_mode)))
}

/// Whether a directory on the way to the entry is a link.
pub(super) fn passes_a_link(directory: BorrowedFd<'_>, relative: &str) -> io::Result<bool> {
    for (at, _) in relative.match_indices('/') {
        if kind_of(directory, &relative[..at])? == Some(FileType::Symlink) {
            return Ok(true);
        }
    }
    Ok(false)
}
