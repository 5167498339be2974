//! Undoing what a write made, also one that was cut off by the death of its process.

use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{AtFlags, unlinkat};
use rustix::io::Errno;

use super::way::{Blocked, enter, flush, open_root, walk};
use super::{has_content, temporary, write_fault};
use crate::files::{ContentHash, Directory, DirectoryFault, RelativePath, WriteFault};

pub(in crate::files::disk) fn remove_if(
    root: &Directory,
    path: &RelativePath,
    content: &ContentHash,
    remove_directory: bool,
) -> Result<bool, WriteFault> {
    let (directories, name) = path.split();
    let root = match open_root(root) {
        Ok(opened) => opened,
        // Where nothing is, nothing is left.
        Err(WriteFault::Directory(DirectoryFault::NotFound | DirectoryFault::NotDirectory)) => {
            return Ok(false);
        }
        Err(fault) => return Err(fault),
    };
    let Some((last, outer)) = directories.split_last() else {
        return remove_file(root.as_fd(), name, content);
    };
    let above = match walk(root, outer) {
        Ok(above) => above,
        Err(Blocked::Missing | Blocked::InTheWay { .. }) => return Ok(false),
        Err(Blocked::Fault(fault)) => return Err(fault),
    };
    let removed = match enter(above.as_fd(), last) {
        Ok(parent) => remove_file(parent.as_fd(), name, content)?,
        Err(Blocked::Missing | Blocked::InTheWay { .. }) => return Ok(false),
        Err(Blocked::Fault(fault)) => return Err(fault),
    };
    if remove_directory {
        remove_empty(above.as_fd(), last)?;
    }
    Ok(removed)
}

/// Removes what a write left half-written, and nothing else.
pub(in crate::files::disk) fn sweep(
    root: &Directory,
    path: &RelativePath,
    content: &ContentHash,
) -> Result<(), WriteFault> {
    let (directories, name) = path.split();
    let root = match open_root(root) {
        Ok(opened) => opened,
        Err(WriteFault::Directory(DirectoryFault::NotFound | DirectoryFault::NotDirectory)) => return Ok(()),
        Err(fault) => return Err(fault),
    };
    match walk(root, &directories) {
        Ok(parent) => temporary::sweep(parent.as_fd(), name, content),
        Err(Blocked::Missing | Blocked::InTheWay { .. }) => Ok(()),
        Err(Blocked::Fault(fault)) => Err(fault),
    }
}

fn remove_file(parent: BorrowedFd<'_>, name: &str, content: &ContentHash) -> Result<bool, WriteFault> {
    temporary::sweep(parent, name, content)?;
    if !has_content(parent, name, content)? {
        return Ok(false);
    }
    unlinkat(parent, name, AtFlags::empty()).map_err(write_fault)?;
    flush(parent)?;
    Ok(true)
}

fn remove_empty(above: BorrowedFd<'_>, name: &str) -> Result<(), WriteFault> {
    match unlinkat(above, name, AtFlags::REMOVEDIR) {
        Ok(()) => flush(above),
        // Somebody has put something there, or was quicker.
        Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOENT | Errno::NOTDIR) => Ok(()),
        Err(errno) => Err(write_fault(errno)),
    }
}
