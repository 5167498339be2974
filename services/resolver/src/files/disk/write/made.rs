//! What a write made, and takes back when a later step fails.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, fstat, mkdirat, unlinkat};
use rustix::io::Errno;

use super::{set_mode, write_fault};
use crate::files::WriteFault;

const DIRECTORY_MODE: Mode = Mode::from_raw_mode(0o755);

/// A new name in a directory; removed again when it is dropped without being kept.
pub(super) struct MadeEntry<'a> {
    directory: BorrowedFd<'a>,
    name: &'a str,
    flags: AtFlags,
    kept: bool,
}

impl<'a> MadeEntry<'a> {
    pub(super) const fn file(directory: BorrowedFd<'a>, name: &'a str) -> Self {
        let flags = AtFlags::empty();
        let kept = false;
        Self {
            directory,
            name,
            flags,
            kept,
        }
    }

    pub(super) fn keep(mut self) {
        self.kept = true;
    }
}

impl Drop for MadeEntry<'_> {
    fn drop(&mut self) {
        if !self.kept {
            // It is the way back from another failure, which is the one to be told.
            let _ = unlinkat(self.directory, self.name, self.flags);
        }
    }
}

/// Makes the directory, unless something has its name.
pub(super) fn make_directory<'a>(
    above: BorrowedFd<'a>,
    name: &'a str,
) -> Result<Option<MadeEntry<'a>>, WriteFault> {
    match mkdirat(above, name, DIRECTORY_MODE) {
        Ok(()) => Ok(Some(MadeEntry {
            directory: above,
            name,
            flags: AtFlags::REMOVEDIR,
            kept: false,
        })),
        Err(Errno::EXIST) => Ok(None),
        Err(errno) => Err(write_fault(errno)),
    }
}

/// Gives a new directory back what the umask took away. The group that a parent hands down stays.
pub(super) fn open_up(directory: &OwnedFd) -> Result<(), WriteFault> {
    let stat = fstat(directory).map_err(write_fault)?;
    let handed_down = Mode::from_raw_mode(stat.st_mode) & Mode::SGID;
    set_mode(directory.as_fd(), DIRECTORY_MODE | handed_down)
}
