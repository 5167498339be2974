//! Reading that remembers what it saw, so that it can be told later, without reading again, whether anything is
//! different now.
//!
//! - What is remembered of a path is its state *before* the look that was acted upon. A change in between makes the
//!   next comparison fail; it is never missed.
//! - A path that was seen in two states makes every comparison fail: what was read is a mixture.
//! - A file or directory that had changed so shortly before that another change could carry the same time is
//!   compared by content until it has come to rest.
//! - A directory that was only passed through counts by what it is, one that was listed by its whole state: a new
//!   file beside the ones that matter is no change.

mod directory;
mod seen;
mod unchanged;

use std::cell::RefCell;
use std::collections::BTreeMap;

use compozy_domain::FileIdentity;

pub use self::directory::ReadDirectory;
use self::seen::{Moment, Seen};
pub use self::unchanged::Watched;
use crate::files::{
    ContentHash, Directory, DirectoryFault, Files, Kind, OpenDirectory, ReadFault, RootPresence, Stamp,
    prefixes,
};

/// Names of a directory that are looked at.
const NAMES_MAX: usize = 100_000;

/// Reads through a [`Files`] and remembers the state of everything that it looked at, present or absent.
#[derive(Debug)]
pub struct Reader<'f> {
    files: &'f dyn Files,
    started: Moment,
    seen: RefCell<BTreeMap<String, Seen>>,
    /// What paths lead to, links followed; of those where that says more than the path's own state.
    leads: RefCell<BTreeMap<String, Lead>>,
}

/// What a path leads to, links followed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Lead {
    presence: RootPresence,
    /// Opening it failed in this way, which its state does not explain.
    fault: Option<DirectoryFault>,
}

impl<'f> Reader<'f> {
    /// A reader that has seen nothing yet.
    #[must_use]
    pub fn new(files: &'f dyn Files) -> Self {
        Self {
            files,
            started: Moment::now(files),
            seen: RefCell::default(),
            leads: RefCell::default(),
        }
    }

    /// The disk. What is looked at through it is not remembered.
    #[must_use]
    pub fn files(&self) -> &'f dyn Files {
        self.files
    }

    /// Opens a directory by its absolute path, links followed; `None` if there is nothing.
    ///
    /// # Errors
    /// [`DirectoryFault`] when something is there and is no directory that can be read.
    pub fn open(&self, path: &str) -> Result<Option<ReadDirectory<'_, 'f>>, DirectoryFault> {
        if let Ok(opened) = self.files.open(path) {
            return Ok(Some(self.opened(path, opened)));
        }
        let is_absent = matches!(self.stamp(path), Ok(None));
        let presence = self.files.root_presence(path);
        match self.files.open(path) {
            Ok(opened) => Ok(Some(self.opened(path, opened))),
            Err(fault) => {
                let is_plain = is_absent && fault == DirectoryFault::NotFound;
                self.note_lead(path, presence, Some(fault.clone()));
                if is_plain { Ok(None) } else { Err(fault) }
            }
        }
    }

    /// The directory that a path leads to, links followed, without opening it for reading.
    ///
    /// # Errors
    /// [`DirectoryFault`].
    pub fn follow(&self, path: &str) -> Result<Directory, DirectoryFault> {
        let presence = self.files.root_presence(path);
        match self.files.directory(path) {
            Ok(found) => {
                self.note_lead(path, RootPresence::Present(found.file), None);
                self.note_ways(&found.path);
                self.note(&found.path, Seen::Way);
                Ok(found)
            }
            Err(fault) => {
                self.note_lead(path, presence, Some(fault.clone()));
                Err(fault)
            }
        }
    }

    /// The state of what stands at an absolute path, a link in its last place not followed.
    ///
    /// # Errors
    /// [`ReadFault`].
    pub fn stamp(&self, path: &str) -> Result<Option<Stamp>, ReadFault> {
        let found = self.files.stamp(path);
        self.note(
            path,
            match &found {
                Ok(Some(stamp)) => Seen::Settled(*stamp),
                Ok(None) => Seen::Absent,
                Err(_) => Seen::Unknown,
            },
        );
        found
    }

    /// Everything that was looked at.
    #[must_use]
    pub fn into_watched(self) -> Watched {
        Watched::of(self.seen.into_inner(), self.leads.into_inner())
    }

    fn opened(&self, path: &str, opened: Box<dyn OpenDirectory>) -> ReadDirectory<'_, 'f> {
        self.note_ways(opened.path());
        if path != opened.path() {
            self.note_lead(path, RootPresence::Present(opened.stamp().file), None);
        }
        self.note_place(&*opened);
        ReadDirectory::new(self, opened)
    }

    /// A directory that is passed through: which one it is, and who may.
    fn note_place(&self, opened: &dyn OpenDirectory) {
        let Stamp { file, mode, .. } = opened.stamp();
        self.note(opened.path(), Seen::Place { file, mode });
    }

    /// The directories above a canonical path: it is canonical as long as none of them is a link.
    fn note_ways(&self, canonical: &str) {
        for above in prefixes(canonical).skip(1) {
            if self.seen.borrow().contains_key(above) {
                continue;
            }
            let seen = match self.files.stamp(above) {
                Ok(Some(stamp)) if stamp.kind == Kind::Directory => Seen::Way,
                Ok(_) => Seen::Torn,
                Err(_) => Seen::Unknown,
            };
            self.note(above, seen);
        }
    }

    fn note_lead(&self, path: &str, presence: RootPresence, fault: Option<DirectoryFault>) {
        let lead = Lead { presence, fault };
        let mut leads = self.leads.borrow_mut();
        match leads.get(path) {
            Some(before) if before.presence != lead.presence => {
                drop(leads);
                self.note(path, Seen::Torn);
            }
            Some(before) if before.fault.is_some() => {}
            _ => {
                leads.insert(path.to_owned(), lead);
            }
        }
    }

    /// Content that was read after its stamp was taken.
    fn note_content(&self, path: &str, stamp: Stamp, hash: impl FnOnce() -> ContentHash) {
        let seen = if self.started.is_recent(&stamp) {
            Seen::recent(stamp, hash())
        } else {
            Seen::Settled(stamp)
        };
        self.note(path, seen);
    }

    /// A failure that the state of the path does not explain, so that only another try can tell whether it is over.
    fn note_failure(&self, path: &str, stamp: Option<Stamp>) {
        self.note(path, Seen::Failing(stamp));
    }

    fn note(&self, path: &str, seen: Seen) {
        let mut all = self.seen.borrow_mut();
        match all.get_mut(path) {
            Some(before) => before.join(seen),
            None => {
                all.insert(path.to_owned(), seen);
            }
        }
    }
}

impl Lead {
    fn is_unchanged(&self, files: &dyn Files, path: &str) -> bool {
        if files.root_presence(path) != self.presence {
            return false;
        }
        match (&self.fault, self.presence) {
            // A directory that can't be opened: perhaps it can now.
            (Some(fault), RootPresence::Present(_) | RootPresence::Unreadable) => {
                files.open(path).err().as_ref() == Some(fault)
            }
            // What is not there, and what is no directory, is explained by that.
            _ => true,
        }
    }
}

/// Whether a directory is the one that was opened, and may be read by the same people.
fn is_same_place(stamp: &Stamp, file: FileIdentity, mode: u32) -> bool {
    stamp.kind == Kind::Directory && stamp.file == file && stamp.mode == mode
}
