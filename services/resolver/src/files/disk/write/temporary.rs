//! The file that content is written to before it gets its name.
//!
//! Its name tells the content that it was to hold: `.<name>.<hash>-<process>-<number>.tmp`. So an undo after
//! a crash finds what its own write left, and nothing of anybody else's.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, Dir, Mode, OFlags, openat, unlinkat};
use rustix::io::Errno;

use super::{io_fault, set_mode, write_fault};
use crate::files::disk::step::{Step, Steps};
use crate::files::{ContentHash, WriteFault};

const SUFFIX: &str = ".tmp";
/// Names that a crashed process with the same number may have left are passed over, but not for ever.
const ATTEMPTS_MAX: usize = 1_000;
static NUMBER: AtomicU64 = AtomicU64::new(0);

/// A temporary file; removed again when it is dropped.
pub(super) struct Temporary<'a> {
    parent: BorrowedFd<'a>,
    name: String,
    there: bool,
}

impl<'a> Temporary<'a> {
    /// Makes one beside `name` and brings its content to the device.
    pub(super) fn write(
        steps: &Steps,
        parent: BorrowedFd<'a>,
        name: &str,
        bytes: &[u8],
        mode: Mode,
    ) -> Result<Self, WriteFault> {
        let (temporary, mut file) = Self::make(parent, &prefix(name, &ContentHash::of(bytes)))?;
        set_mode(file.as_fd(), mode)?;
        steps.before(Step::Write).map_err(write_fault)?;
        file.write_all(bytes).map_err(|error| io_fault(&error))?;
        steps.before(Step::Flush).map_err(write_fault)?;
        file.sync_all().map_err(|error| io_fault(&error))?;
        Ok(temporary)
    }

    fn make(parent: BorrowedFd<'a>, prefix: &str) -> Result<(Self, File), WriteFault> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for _ in 0..ATTEMPTS_MAX {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let name = format!("{prefix}{}-{number}{SUFFIX}", std::process::id());
            match openat(parent, name.as_str(), flags, Mode::RUSR | Mode::WUSR) {
                Ok(opened) => {
                    let there = true;
                    return Ok((Self { parent, name, there }, File::from(opened)));
                }
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(write_fault(errno)),
            }
        }
        Err(write_fault(Errno::EXIST))
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The file has got its final name in place of this one.
    pub(super) fn taken(mut self) {
        self.there = false;
    }

    /// Takes the name away; the file may have another one.
    pub(super) fn remove(mut self) -> Result<(), WriteFault> {
        self.there = false;
        match unlinkat(self.parent, self.name.as_str(), AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(write_fault(errno)),
        }
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if self.there {
            // It is the way back from another failure, which is the one to be told.
            let _ = unlinkat(self.parent, self.name.as_str(), AtFlags::empty());
        }
    }
}

/// Removes the temporary files that writes of this content to `name` have left behind.
pub(super) fn sweep(parent: BorrowedFd<'_>, name: &str, content: &ContentHash) -> Result<(), WriteFault> {
    let prefix = prefix(name, content);
    let mut left = Vec::new();
    for entry in Dir::read_from(parent).map_err(write_fault)? {
        let entry = entry.map_err(write_fault)?;
        let name = entry.file_name().to_bytes();
        if name.starts_with(prefix.as_bytes()) && name.ends_with(SUFFIX.as_bytes()) {
            left.push(entry.file_name().to_owned());
        }
    }
    for name in left {
        match unlinkat(parent, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => return Err(write_fault(errno)),
        }
    }
    Ok(())
}

fn prefix(name: &str, content: &ContentHash) -> String {
    format!(".{name}.{}-", content.short())
}
