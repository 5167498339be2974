//! Directories that are held open.

use std::cell::RefCell;
use std::ffi::CStr;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsRawFd, OwnedFd};

use compozy_domain::FileIdentity;
use rustix::fs::{AtFlags, FileType, Mode, Stat, fstat, openat, statat};
use rustix::io::Errno;

use super::read::READ;
use super::resolve::{escaped, printable};
use super::{LISTABLE, directory_fault, is_shortage, words};
use crate::files::{Content, DirectoryFault, Kind, Named, Names, OpenDirectory, ReadFault, Stamp};

/// Bytes of one portion of a listing.
const LISTING_BYTES: usize = 8 * 1024;

/// Files of a listing that are remembered as such.
const REMEMBERED_MAX: usize = 64;

#[derive(Debug)]
struct Opened {
    path: String,
    stamp: Stamp,
    handle: OwnedFd,
    /// Regular files of the last listing; `None` before any.
    regular: RefCell<Option<Vec<String>>>,
}

impl Opened {
    fn boxed(path: String, stamp: Stamp, handle: OwnedFd) -> Box<dyn OpenDirectory> {
        Box::new(Self {
            path,
            stamp,
            handle,
            regular: RefCell::new(None),
        })
    }

    /// Whether the last listing says that this is a regular file. It is looked at once more when it is open; what
    /// may come in between costs an open that does not wait.
    fn was_regular(&self, name: &str) -> bool {
        let regular = self.regular.borrow();
        regular
            .as_ref()
            .is_some_and(|names| names.iter().any(|listed| listed == name))
    }
}

/// Opens a directory by path, links followed, and asks the handle for its canonical path.
pub(super) fn open(path: &str) -> Result<Box<dyn OpenDirectory>, DirectoryFault> {
    let handle = rustix::fs::open(path, LISTABLE, Mode::empty()).map_err(directory_fault)?;
    let stamp = stamp_of(&fstat(&handle).map_err(directory_fault)?);
    let link = format!("/proc/self/fd/{}", handle.as_raw_fd());
    let canonical = std::fs::read_link(link).or_else(|_| std::fs::canonicalize(path));
    let canonical =
        canonical.map_err(|error| directory_fault(Errno::from_io_error(&error).unwrap_or(Errno::IO)))?;
    let path = printable(&canonical)?;
    Ok(Opened::boxed(path, stamp, handle))
}

/// The state of what stands at an absolute path, a link in its last place not followed.
pub(super) fn stamp(path: &str) -> Result<Option<Stamp>, ReadFault> {
    match rustix::fs::lstat(path) {
        Ok(stat) => Ok(Some(stamp_of(&stat))),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        Err(errno) => Err(fault(errno)),
    }
}

impl OpenDirectory for Opened {
    fn path(&self) -> &str {
        &self.path
    }

    fn stamp(&self) -> Stamp {
        self.stamp
    }

    fn names(&self, limit: usize) -> Result<Names, ReadFault> {
        let mut names = Names::default();
        // Through the handle itself: `Dir` would open the directory once more.
        if self.regular.replace(Some(Vec::new())).is_some() {
            rustix::fs::seek(&self.handle, rustix::fs::SeekFrom::Start(0)).map_err(fault)?;
        }
        let mut buffer = Vec::with_capacity(LISTING_BYTES);
        let mut listing = rustix::fs::RawDir::new(&self.handle, buffer.spare_capacity_mut());
        while let Some(entry) = listing.next() {
            let entry = entry.map_err(fault)?;
            match text(entry.file_name()) {
                None => names.unprintable.push(escaped(entry.file_name().to_bytes())),
                Some("." | "..") => {}
                Some(name) => names.entries.push(Named {
                    name: name.to_owned(),
                    kind: match kind(entry.file_type()) {
                        Some(kind) => kind,
                        // The file system does not tell.
                        None => match self.look(name)? {
                            Some(stamp) => stamp.kind,
                            None => continue,
                        },
                    },
                }),
            }
        }
        names.entries.sort_by(|one, other| one.name.cmp(&other.name));
        names.unprintable.sort();
        names.truncated = names.entries.len() > limit;
        names.entries.truncate(limit);
        let regular = names.entries.iter().filter(|entry| entry.kind == Kind::Regular);
        let regular = regular.take(REMEMBERED_MAX).map(|entry| entry.name.clone());
        *self.regular.borrow_mut() = Some(regular.collect());
        Ok(names)
    }

    fn enter(&self, name: &str) -> Result<Option<Box<dyn OpenDirectory>>, ReadFault> {
        let flags = LISTABLE | rustix::fs::OFlags::NOFOLLOW;
        let handle = match openat(&self.handle, name, flags, Mode::empty()) {
            Ok(handle) => handle,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
            Err(errno) => return Err(fault(errno)),
        };
        let stamp = stamp_of(&fstat(&handle).map_err(fault)?);
        Ok(Some(Self::boxed(join(&self.path, name), stamp, handle)))
    }

    fn look(&self, name: &str) -> Result<Option<Stamp>, ReadFault> {
        match statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stamp_of(&stat))),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(errno) => Err(fault(errno)),
        }
    }

    fn read(&self, name: &str, limit: usize) -> Result<Option<Content>, ReadFault> {
        // Looked at before it is opened: opening a pipe wakes its writer, opening a device may do anything.
        if !self.was_regular(name) {
            match self.look(name)? {
                None => return Ok(None),
                Some(found) if found.kind != Kind::Regular => return Err(ReadFault::NotRegular),
                Some(_) => {}
            }
        }
        let handle = match openat(&self.handle, name, READ, Mode::empty()) {
            Ok(handle) => handle,
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP | Errno::NXIO) => return Err(ReadFault::NotRegular),
            Err(errno) => return Err(fault(errno)),
        };
        let stamp = stamp_of(&fstat(&handle).map_err(fault)?);
        if stamp.kind != Kind::Regular {
            return Err(ReadFault::NotRegular);
        }
        let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
        let expected = usize::try_from(stamp.size.min(most)).unwrap_or(limit);
        let mut bytes = Vec::with_capacity(expected + 1);
        let first = rustix::io::read(&handle, rustix::buffer::spare_capacity(&mut bytes));
        // There was room for one byte more, so this was the end of the file.
        if first == Ok(expected) && expected > 0 && expected <= limit {
            return Ok(Some(Content { bytes, stamp }));
        }
        if first.is_err() {
            return Err(ReadFault::Unreadable);
        }
        let most = most.saturating_sub(bytes.len() as u64);
        match File::from(handle).take(most).read_to_end(&mut bytes) {
            Ok(_) if bytes.len() > limit => Err(ReadFault::TooLarge { limit }),
            Ok(_) => Ok(Some(Content { bytes, stamp })),
            Err(_) => Err(ReadFault::Unreadable),
        }
    }
}

fn join(directory: &str, name: &str) -> String {
    format!("{}/{name}", directory.trim_end_matches('/'))
}

fn text(name: &CStr) -> Option<&str> {
    name.to_str().ok().filter(|name| !name.contains(char::is_control))
}

fn kind(file_type: FileType) -> Option<Kind> {
    match file_type {
        FileType::RegularFile => Some(Kind::Regular),
        FileType::Directory => Some(Kind::Directory),
        FileType::Symlink => Some(Kind::Link),
        FileType::Unknown => None,
        _ => Some(Kind::Special),
    }
}

fn stamp_of(stat: &Stat) -> Stamp {
    let nanos = |seconds: i64, nanos: u64| {
        let nanos = i64::try_from(nanos).unwrap_or_default();
        seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
    };
    Stamp {
        kind: kind(FileType::from_raw_mode(stat.st_mode)).unwrap_or(Kind::Special),
        file: FileIdentity {
            device: stat.st_dev,
            inode: stat.st_ino,
        },
        size: u64::try_from(stat.st_size).unwrap_or_default(),
        mode: stat.st_mode & 0o7777,
        modified: nanos(stat.st_mtime, stat.st_mtime_nsec),
        changed: nanos(stat.st_ctime, stat.st_ctime_nsec),
    }
}

fn fault(errno: Errno) -> ReadFault {
    if is_shortage(errno) {
        return ReadFault::Other {
            problem: words(errno),
        };
    }
    ReadFault::Unreadable
}
