//! Reading a small file that somebody else may have put there: regular files only, bounded, never blocking.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags};
use thiserror::Error;

/// Whether a symbolic link may stand where the file is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// Mounted secrets are links: they are followed.
    Follow,
    /// Files of the home are never links.
    Refuse,
}

/// Why a file can't be read.
#[derive(Debug, Error)]
pub enum ReadFault {
    /// It is a link, a directory, a device or a FIFO.
    #[error("is no regular file: replace it by one")]
    NotRegular,
    /// It is too long.
    #[error("is longer than {0} bytes: shorten it")]
    TooLong(u64),
    /// It is not UTF-8.
    #[error("is not UTF-8 text: save it as UTF-8")]
    NotText,
    /// The system says no.
    #[error("can't be read ({0}): check its permissions")]
    Io(#[from] io::Error),
}

/// Reads a whole text file of at most `limit` bytes; `None` if there is none.
///
/// # Errors
/// [`ReadFault`].
pub fn read(path: &Path, limit: u64, links: Links) -> Result<Option<String>, ReadFault> {
    let bytes = read_bytes(path, limit, links)?;
    let text = bytes.map(String::from_utf8).transpose();
    text.map_err(|_| ReadFault::NotText)
}

/// Reads a whole file of at most `limit` bytes; `None` if there is none.
///
/// # Errors
/// [`ReadFault`].
pub fn read_bytes(path: &Path, limit: u64, links: Links) -> Result<Option<Vec<u8>>, ReadFault> {
    let opened = open(rustix::fs::CWD, path.as_os_str(), links)?;
    opened.map(|(file, _)| bytes_of(file, limit)).transpose()
}

/// Reads a whole file of at most `limit` bytes that lies in an open directory, and its mode; `None` if there is none.
/// A link is refused.
///
/// # Errors
/// [`ReadFault`].
pub fn read_in(
    directory: BorrowedFd<'_>,
    name: &OsStr,
    limit: u64,
) -> Result<Option<(Vec<u8>, Mode)>, ReadFault> {
    let Some((file, mode)) = open(directory, name, Links::Refuse)? else {
        return Ok(None);
    };
    Ok(Some((bytes_of(file, limit)?, mode)))
}

fn bytes_of(file: OwnedFd, limit: u64) -> Result<Vec<u8>, ReadFault> {
    let mut bytes = Vec::new();
    File::from(file).take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(ReadFault::TooLong(limit));
    }
    Ok(bytes)
}

fn open(directory: BorrowedFd<'_>, path: &OsStr, links: Links) -> Result<Option<(OwnedFd, Mode)>, ReadFault> {
    // NONBLOCK: opening a FIFO that nobody writes must not wait for ever.
    let mut flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    if links == Links::Refuse {
        flags |= OFlags::NOFOLLOW;
    }
    let file = match rustix::fs::openat(directory, path, flags, Mode::empty()) {
        Ok(file) => file,
        Err(rustix::io::Errno::NOENT) => return Ok(None),
        Err(rustix::io::Errno::LOOP) => return Err(ReadFault::NotRegular),
        Err(error) => return Err(ReadFault::Io(error.into())),
    };
    let found = rustix::fs::fstat(&file).map_err(io::Error::from)?;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return Err(ReadFault::NotRegular);
    }
    Ok(Some((file, Mode::from_raw_mode(found.st_mode))))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn only_small_regular_text_files_are_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("f");
        assert!(read(&path, 4, Links::Refuse).unwrap().is_none());
        std::fs::write(&path, "1234").unwrap();
        assert_eq!(read(&path, 4, Links::Refuse).unwrap().unwrap(), "1234");
        assert!(matches!(
            read(&path, 3, Links::Refuse),
            Err(ReadFault::TooLong(3))
        ));
        std::fs::write(&path, [0xff, 0xfe]).unwrap();
        assert!(matches!(read(&path, 4, Links::Refuse), Err(ReadFault::NotText)));
        assert!(matches!(
            read(directory.path(), 4, Links::Refuse),
            Err(ReadFault::NotRegular)
        ));
    }

    #[test]
    fn a_link_is_followed_only_where_that_is_meant_and_a_fifo_never_blocks() {
        let directory = tempfile::tempdir().unwrap();
        let (file, link, fifo) = (
            directory.path().join("f"),
            directory.path().join("l"),
            directory.path().join("p"),
        );
        std::fs::write(&file, "x").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, FileType::Fifo, Mode::RUSR, 0).unwrap();
        assert!(matches!(
            read(&link, 9, Links::Refuse),
            Err(ReadFault::NotRegular)
        ));
        assert_eq!(read(&link, 9, Links::Follow).unwrap().unwrap(), "x");
        assert!(matches!(
            read(&fifo, 9, Links::Refuse),
            Err(ReadFault::NotRegular)
        ));
    }
}
