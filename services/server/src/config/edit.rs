//! One key of a `config.toml` on disk, set or taken out: whole or not at all, and only if the file can be used then.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use compozy_domain::{Diagnostic, Layer, Random, Severity};
use compozy_resolver::config::{self, Edited};
use compozy_resolver::files;
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::CONFIG_BYTES_MAX;
use crate::home::{remove_leftovers_of, write_in};
use crate::small_file::{self, ReadFault};

/// How long another edit of the same directory is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often it is looked whether that one is done.
const LOOK_AGAIN: Duration = Duration::from_millis(10);
/// The user's file may hold secrets; a workspace's is shared with whoever shares the workspace.
const PRIVATE: Mode = Mode::from_raw_mode(0o600);
const SHARED: Mode = Mode::from_raw_mode(0o644);
/// The directory in a root, made for the first key that is set in it.
const OWN: &str = ".compozy";

/// Looks at the new content of a file, and tells what is wrong with it.
pub type Check<'c> = dyn Fn(&[u8]) -> Result<(), Vec<Diagnostic>> + 'c;

/// What is wanted.
#[derive(Clone, Copy)]
pub struct EditWanted<'w> {
    /// The file; it does not have to be there.
    pub path: &'w Path,
    /// Its layer.
    pub layer: Layer,
    /// Dotted key.
    pub key: &'w str,
    /// A TOML value, or a bare text for keys that take one; `None` takes the key out.
    pub value: Option<&'w str>,
    /// What else has to be so, besides the rules of every file.
    pub check: &'w Check<'w>,
}

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EditDone {
    /// Line of the key, from 1; `None` if it is not in the file.
    pub line: Option<u32>,
    /// Whether the file is another one than before.
    pub changed: bool,
}

/// Why nothing was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditFault {
    /// Everything that is wrong, with the file or the edit; sorted.
    Problems(Vec<Diagnostic>),
    /// No space, or no quota, is left.
    DiskFull,
}

/// Edits a file. Blocks; waits a little for another edit of the same directory.
///
/// # Errors
/// [`EditFault`]; the file is as it was then.
pub fn edit(wanted: &EditWanted<'_>, random: &dyn Random) -> Result<EditDone, EditFault> {
    let Some(name) = wanted.path.file_name() else {
        return Err(wanted.refused("config_unreadable", "this is no path of a file", "name the file"));
    };
    let directory = wanted.open()?;
    // Held until the directory is closed.
    wanted.lock(directory.as_fd())?;
    let (text, mode) = wanted.read(directory.as_fd(), name)?;
    let path = wanted.path.to_string_lossy();
    let edited = match wanted.value {
        Some(value) => config::set(wanted.layer, &path, &text, wanted.key, value),
        None => config::unset(wanted.layer, &path, &text, wanted.key),
    };
    let Edited { text, line, changed } = edited.map_err(EditFault::Problems)?;
    if changed {
        (wanted.check)(text.as_bytes()).map_err(|problems| EditFault::Problems(without_places(problems)))?;
        remove_leftovers_of(directory.as_fd(), name)
            .and_then(|()| write_in(directory.as_fd(), name, text.as_bytes(), mode, random))
            .map_err(|error| wanted.unwritten(&error))?;
    }
    Ok(EditDone { line, changed })
}

impl EditWanted<'_> {
    /// Opens the directory. In a workspace it is no link, which could lead out of it.
    fn open(&self) -> Result<OwnedFd, EditFault> {
        let parent = match self.path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let mut flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        if self.layer != Layer::User {
            flags |= OFlags::NOFOLLOW;
        }
        let mut opened = rustix::fs::open(parent, flags, Mode::empty());
        if opened.as_ref().err() == Some(&Errno::NOENT) && parent.ends_with(OWN) && self.value.is_some() {
            // Whoever makes it first makes it for both.
            let _made = rustix::fs::mkdir(parent, Mode::from_raw_mode(0o755));
            opened = rustix::fs::open(parent, flags, Mode::empty());
        }
        opened.map_err(|error| match error {
            Errno::NOTDIR | Errno::LOOP => {
                let message = "what it lies in is a link or no directory";
                self.refused("config_not_directory", message, "put a directory in its place")
            }
            Errno::NOENT => {
                let message = "the directory that it lies in does not exist";
                self.refused("config_unwritable", message, "make the directory first")
            }
            error => self.unwritten(&error.into()),
        })
    }

    fn lock(&self, directory: BorrowedFd<'_>) -> Result<(), EditFault> {
        let begun = Instant::now();
        loop {
            match rustix::fs::flock(directory, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(()),
                Err(Errno::WOULDBLOCK | Errno::INTR) if begun.elapsed() < PATIENCE => sleep(LOOK_AGAIN),
                Err(Errno::WOULDBLOCK) => {
                    let message = "somebody else is editing it all the time";
                    return Err(self.refused("config_busy", message, "try again in a moment"));
                }
                Err(error) => return Err(self.unwritten(&error.into())),
            }
        }
    }

    /// The content and the mode that it is to have.
    fn read(&self, directory: BorrowedFd<'_>, name: &OsStr) -> Result<(String, Mode), EditFault> {
        let path = self.path.to_string_lossy();
        let read = small_file::read_in(directory, name, CONFIG_BYTES_MAX).map_err(|fault| {
            let problem = config::unread(self.layer, &path, &read_fault(&fault));
            EditFault::Problems(vec![problem])
        })?;
        let usual = match self.layer {
            Layer::User | Layer::Profile => PRIVATE,
            _ => SHARED,
        };
        let Some((bytes, mode)) = read else {
            return Ok((String::new(), usual));
        };
        let mode = match self.layer {
            Layer::User | Layer::Profile => PRIVATE,
            _ => mode,
        };
        let text = String::from_utf8(bytes).map_err(|error| {
            let found = config::check_file(self.layer, &path, error.as_bytes());
            EditFault::Problems(found.problems)
        })?;
        Ok((text, mode))
    }

    fn unwritten(&self, error: &io::Error) -> EditFault {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => EditFault::DiskFull,
            _ => {
                let message = format!("it can't be written: {error}");
                self.refused("config_unwritable", &message, "let the daemon's user write it")
            }
        }
    }

    fn refused(&self, code: &'static str, message: &str, remedy: &str) -> EditFault {
        let path = self.path.to_string_lossy();
        let found = Diagnostic::new(code, Severity::Error, self.layer, path, message, remedy);
        EditFault::Problems(vec![found])
    }
}

/// The places are those of a text that is never written.
fn without_places(problems: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let problems = problems.into_iter();
    let placeless = problems.map(|problem| Diagnostic {
        line: None,
        column: None,
        ..problem
    });
    placeless.collect()
}

fn read_fault(fault: &ReadFault) -> files::ReadFault {
    match fault {
        ReadFault::NotRegular => files::ReadFault::NotRegular,
        ReadFault::TooLong(limit) => files::ReadFault::TooLarge {
            limit: usize::try_from(*limit).unwrap_or(usize::MAX),
        },
        ReadFault::Io(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            files::ReadFault::Unreadable
        }
        ReadFault::NotText | ReadFault::Io(_) => files::ReadFault::Other {
            problem: fault.to_string(),
        },
    }
}

impl std::fmt::Debug for EditWanted<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The value may be a secret.
        let mut shown = formatter.debug_struct("EditWanted");
        shown.field("path", &self.path).field("key", &self.key);
        shown.finish_non_exhaustive()
    }
}
