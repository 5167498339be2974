//! Files that are there wholly or not at all, also after a crash.

mod made;
pub(super) mod remove;
mod temporary;
mod way;

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, Mode, RenameFlags, fchmod, linkat, renameat, renameat_with, statat};
use rustix::io::Errno;

use self::made::{MadeEntry, make_directory};
use self::temporary::Temporary;
use self::way::{enter, flush, open_root, walk};
use super::read::{content, kind_in};
use super::step::{Step, Steps};
use super::words;
use crate::files::{ContentHash, Directory, Kind, Made, ReadFault, RelativePath, WriteFault};

const FILE_MODE: Mode = Mode::from_raw_mode(0o644);
/// Content that is compared before it is replaced or removed is never larger; what is larger differs anyway.
const COMPARED_BYTES_MAX: usize = 16 * 1024 * 1024;

pub(super) fn create(
    steps: &Steps,
    root: &Directory,
    path: &RelativePath,
    bytes: &[u8],
) -> Result<Made, WriteFault> {
    let (directories, name) = path.split();
    let root = open_root(root)?;
    let Some((last, outer)) = directories.split_last() else {
        link_new(steps, root.as_fd(), name, bytes)?.keep();
        return Ok(Made { directory: false });
    };
    let above = walk(root, outer)?;
    let made = make_directory(above.as_fd(), last)?;
    let parent = enter(above.as_fd(), last)?;
    if made.is_some() {
        made::open_up(&parent)?;
    }
    let linked = link_new(steps, parent.as_fd(), name, bytes)?;
    let directory = made.is_some();
    if directory {
        // Both are taken back if this fails, the file first.
        flush_directory(steps, above.as_fd())?;
    }
    linked.keep();
    if let Some(made) = made {
        made.keep();
    }
    Ok(Made { directory })
}

pub(super) fn replace(
    steps: &Steps,
    root: &Directory,
    path: &RelativePath,
    bytes: &[u8],
    expected: Option<&ContentHash>,
) -> Result<(), WriteFault> {
    let (directories, name) = path.split();
    let parent = walk(open_root(root)?, &directories)?;
    // An undo that was cut off is done again, and finds what it left the first time.
    temporary::sweep(parent.as_fd(), name, &ContentHash::of(bytes))?;
    refuse_changed(parent.as_fd(), name, expected)?;
    let temporary = Temporary::write(steps, parent.as_fd(), name, bytes, mode_of(&parent, name))?;
    // Writing takes its time.
    refuse_changed(parent.as_fd(), name, expected)?;
    steps.before(Step::Rename).map_err(write_fault)?;
    renameat(&parent, temporary.name(), &parent, name).map_err(write_fault)?;
    temporary.taken();
    flush_directory(steps, parent.as_fd())
}

/// Writes a temporary file and gives it the final name if that is free.
fn link_new<'a>(
    steps: &Steps,
    parent: BorrowedFd<'a>,
    name: &'a str,
    bytes: &[u8],
) -> Result<MadeEntry<'a>, WriteFault> {
    let temporary = Temporary::write(steps, parent, name, bytes, FILE_MODE)?;
    steps.before(Step::Link).map_err(write_fault)?;
    match linkat(parent, temporary.name(), parent, name, AtFlags::empty()) {
        Ok(()) => {}
        Err(Errno::EXIST) => return Err(WriteFault::AlreadyThere),
        // A file system without hard links.
        Err(Errno::PERM | Errno::NOTSUP | Errno::NOSYS) => rename_new(parent, temporary.name(), name)?,
        Err(errno) => return Err(write_fault(errno)),
    }
    let linked = MadeEntry::file(parent, name);
    temporary.remove()?;
    flush_directory(steps, parent)?;
    Ok(linked)
}

fn rename_new(parent: BorrowedFd<'_>, temporary: &str, name: &str) -> Result<(), WriteFault> {
    match renameat_with(parent, temporary, parent, name, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(()),
        Err(Errno::EXIST) => Err(WriteFault::AlreadyThere),
        Err(errno) => Err(write_fault(errno)),
    }
}

fn flush_directory(steps: &Steps, directory: BorrowedFd<'_>) -> Result<(), WriteFault> {
    steps.before(Step::FlushDirectory).map_err(write_fault)?;
    flush(directory)
}

fn refuse_changed(
    parent: BorrowedFd<'_>,
    name: &str,
    expected: Option<&ContentHash>,
) -> Result<(), WriteFault> {
    match expected {
        Some(expected) if !has_content(parent, name, expected)? => Err(WriteFault::Changed),
        _ => Ok(()),
    }
}

fn has_content(parent: BorrowedFd<'_>, name: &str, expected: &ContentHash) -> Result<bool, WriteFault> {
    if kind_in(parent, name).map_err(write_fault)? != Some(Kind::Regular) {
        return Ok(false);
    }
    match content(parent, name, COMPARED_BYTES_MAX) {
        Ok(found) => Ok(found.is_some_and(|bytes| ContentHash::of(&bytes) == *expected)),
        Err(ReadFault::NotRegular | ReadFault::TooLarge { .. }) => Ok(false),
        Err(fault) => Err(WriteFault::Unwritable {
            problem: fault.to_string(),
        }),
    }
}

fn mode_of(parent: &OwnedFd, name: &str) -> Mode {
    match statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile => {
            Mode::from_raw_mode(stat.st_mode) & Mode::from_raw_mode(0o777)
        }
        _ => FILE_MODE,
    }
}

/// A file system without modes, such as FAT, refuses to set one; that is no reason to write nothing.
fn set_mode(file: BorrowedFd<'_>, mode: Mode) -> Result<(), WriteFault> {
    match fchmod(file, mode) {
        Ok(()) | Err(Errno::PERM | Errno::NOTSUP) => Ok(()),
        Err(errno) => Err(write_fault(errno)),
    }
}

fn write_fault(errno: Errno) -> WriteFault {
    match errno {
        Errno::NOSPC | Errno::DQUOT => WriteFault::DiskFull,
        errno => WriteFault::Unwritable {
            problem: words(errno),
        },
    }
}

fn io_fault(error: &std::io::Error) -> WriteFault {
    write_fault(Errno::from_io_error(error).unwrap_or(Errno::IO))
}
