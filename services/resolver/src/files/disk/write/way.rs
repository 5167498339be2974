//! The way down from a root to the directory that is written in.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags, fsync, openat};
use rustix::io::Errno;

use super::write_fault;
use crate::files::disk::read::kind_in;
use crate::files::disk::{LISTABLE, open_again};
use crate::files::{Directory, Kind, WriteFault};

/// Why there is no way down.
pub(super) enum Blocked {
    /// A directory is not there.
    Missing,
    /// A link or a file is in its place.
    InTheWay {
        /// What it is.
        problem: String,
    },
    /// It can't be opened.
    Fault(WriteFault),
}

impl From<Blocked> for WriteFault {
    fn from(blocked: Blocked) -> Self {
        match blocked {
            Blocked::Missing => Self::Changed,
            Blocked::InTheWay { problem } => Self::Unwritable { problem },
            Blocked::Fault(fault) => fault,
        }
    }
}

/// Opens a root so that it can be flushed, if it is still the same directory.
pub(super) fn open_root(root: &Directory) -> Result<OwnedFd, WriteFault> {
    let place = open_again(root).map_err(WriteFault::Directory)?;
    openat(&place, ".", LISTABLE, Mode::empty()).map_err(write_fault)
}

/// Opens existing directories one below the other.
pub(super) fn walk(root: OwnedFd, directories: &[&str]) -> Result<OwnedFd, Blocked> {
    let mut place = root;
    for directory in directories {
        place = enter(place.as_fd(), directory)?;
    }
    Ok(place)
}

/// Opens one existing directory, not through a link.
pub(super) fn enter(above: BorrowedFd<'_>, name: &str) -> Result<OwnedFd, Blocked> {
    match openat(above, name, LISTABLE | OFlags::NOFOLLOW, Mode::empty()) {
        Ok(opened) => Ok(opened),
        Err(Errno::NOENT) => Err(Blocked::Missing),
        Err(Errno::NOTDIR | Errno::LOOP) => Err(Blocked::InTheWay {
            problem: in_the_way(above, name),
        }),
        Err(errno) => Err(Blocked::Fault(write_fault(errno))),
    }
}

fn in_the_way(above: BorrowedFd<'_>, name: &str) -> String {
    let what = match kind_in(above, name) {
        Ok(Some(Kind::Link)) => "a symbolic link",
        Ok(Some(Kind::Regular)) => "a file",
        _ => "no directory",
    };
    format!("'{name}' is {what}")
}

/// Brings the names in a directory to the device. Some file systems have nothing to flush there and say so.
pub(super) fn flush(directory: BorrowedFd<'_>) -> Result<(), WriteFault> {
    match fsync(directory) {
        Ok(()) | Err(Errno::INVAL | Errno::NOTSUP) => Ok(()),
        Err(errno) => Err(write_fault(errno)),
    }
}
