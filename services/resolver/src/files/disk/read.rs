//! Files below a directory.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, fstat, openat, statat};
use rustix::io::Errno;

use super::{PLACE, is_shortage, open_again, words};
use crate::files::{Directory, DirectoryFault, Kind, ReadFault, RelativePath};

/// Not waiting for the writer of a pipe, and not taking a terminal for the daemon's.
pub(super) const READ: OFlags = OFlags::RDONLY
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

pub(super) fn kind(root: &Directory, path: &RelativePath) -> Result<Option<Kind>, ReadFault> {
    let (directories, name) = path.split();
    let opened = open_again(root).map_err(ReadFault::Directory)?;
    let Some(parent) = walk(opened, &directories)? else {
        return Ok(None);
    };
    kind_in(&parent, name).map_err(|errno| fault(errno, directories.is_empty()))
}

pub(super) fn file(
    root: &Directory,
    path: &RelativePath,
    limit: usize,
) -> Result<Option<Vec<u8>>, ReadFault> {
    let (directories, name) = path.split();
    let opened = open_again(root).map_err(ReadFault::Directory)?;
    let Some(parent) = walk(opened, &directories)? else {
        return Ok(None);
    };
    // Looked at before it is opened: opening a pipe wakes its writer, opening a device may do anything.
    match kind_in(&parent, name).map_err(|errno| fault(errno, directories.is_empty()))? {
        None => Ok(None),
        Some(Kind::Regular) => content(&parent, name, limit),
        Some(_) => Err(ReadFault::NotRegular),
    }
}

/// The content of a file in an opened directory.
pub(super) fn content(parent: impl AsFd, name: &str, limit: usize) -> Result<Option<Vec<u8>>, ReadFault> {
    let opened = match openat(parent, name, READ, Mode::empty()) {
        Ok(opened) => opened,
        Err(Errno::NOENT) => return Ok(None),
        // A link or a socket has come in the meantime.
        Err(Errno::LOOP | Errno::NXIO) => return Err(ReadFault::NotRegular),
        Err(errno) => return Err(fault(errno, false)),
    };
    let stat = fstat(&opened).map_err(|errno| fault(errno, false))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(ReadFault::NotRegular);
    }
    let mut bytes = Vec::new();
    // One byte more than allowed tells whether there are more, whatever the size said.
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    match File::from(opened).take(most).read_to_end(&mut bytes) {
        Ok(length) if length > limit => Err(ReadFault::TooLarge { limit }),
        Ok(_) => Ok(Some(bytes)),
        Err(_) => Err(ReadFault::Unreadable),
    }
}

pub(super) fn kind_in(parent: impl AsFd, name: &str) -> Result<Option<Kind>, Errno> {
    match statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Kind::Regular,
            FileType::Directory => Kind::Directory,
            FileType::Symlink => Kind::Link,
            _ => Kind::Special,
        })),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno),
    }
}

/// Opens the directories one below the other; `None` if one is not there, or is a link or no directory.
fn walk(root: OwnedFd, directories: &[&str]) -> Result<Option<OwnedFd>, ReadFault> {
    let mut place = root;
    for (depth, directory) in directories.iter().enumerate() {
        place = match openat(&place, *directory, PLACE | OFlags::NOFOLLOW, Mode::empty()) {
            Ok(opened) => opened,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
            Err(errno) => return Err(fault(errno, depth == 0)),
        };
    }
    Ok(Some(place))
}

/// Looking a name up needs a permission on the directory that holds it: directly below the root, on the root.
fn fault(errno: Errno, in_root: bool) -> ReadFault {
    if is_shortage(errno) {
        return ReadFault::Other {
            problem: words(errno),
        };
    }
    if in_root {
        return ReadFault::Directory(DirectoryFault::Unreadable);
    }
    ReadFault::Unreadable
}
