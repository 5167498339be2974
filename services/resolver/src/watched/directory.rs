//! Directories that a reader has opened.

use super::unchanged::hash_of;
use super::{NAMES_MAX, Reader};
use crate::files::{Content, ContentHash, Names, OpenDirectory, ReadFault, Stamp};

/// A directory that was opened by a [`Reader`].
#[derive(Debug)]
pub struct ReadDirectory<'r, 'f> {
    reader: &'r Reader<'f>,
    opened: Box<dyn OpenDirectory>,
}

impl<'r, 'f> ReadDirectory<'r, 'f> {
    pub(super) fn new(reader: &'r Reader<'f>, opened: Box<dyn OpenDirectory>) -> Self {
        Self { reader, opened }
    }

    /// Its canonical path.
    #[must_use]
    pub fn path(&self) -> &str {
        self.opened.path()
    }

    /// Which directory it is, and its state when it was opened.
    #[must_use]
    pub fn stamp(&self) -> Stamp {
        self.opened.stamp()
    }

    /// The absolute path of a name in it.
    #[must_use]
    pub fn child(&self, name: &str) -> String {
        format!("{}/{name}", self.path().trim_end_matches('/'))
    }

    /// The names in it, sorted by bytes.
    ///
    /// # Errors
    /// [`ReadFault`].
    pub fn names(&self) -> Result<Names, ReadFault> {
        match self.opened.names(NAMES_MAX) {
            Ok(names) => {
                self.reader
                    .note_content(self.path(), self.stamp(), || hash_of(&names));
                Ok(names)
            }
            Err(fault) => {
                self.reader.note_failure(self.path(), Some(self.stamp()));
                Err(fault)
            }
        }
    }

    /// Opens a directory in it; `None` if there is none of this name, or something else, or a link.
    ///
    /// # Errors
    /// [`ReadFault`].
    pub fn enter(&self, name: &str) -> Result<Option<Self>, ReadFault> {
        if let Ok(Some(opened)) = self.opened.enter(name) {
            return Ok(Some(self.entered(opened)));
        }
        let path = self.child(name);
        let stamp = self.reader.stamp(&path);
        match self.opened.enter(name) {
            Ok(Some(opened)) => Ok(Some(self.entered(opened))),
            Ok(None) => Ok(None),
            Err(fault) => {
                self.reader.note_failure(&path, stamp.ok().flatten());
                Err(fault)
            }
        }
    }

    /// What a name stands for; `None` if there is nothing.
    ///
    /// # Errors
    /// [`ReadFault`].
    pub fn look(&self, name: &str) -> Result<Option<Stamp>, ReadFault> {
        self.reader.stamp(&self.child(name))
    }

    /// Reads a regular file in it; `None` if there is nothing of this name.
    ///
    /// # Errors
    /// [`ReadFault`].
    pub fn read(&self, name: &str, limit: usize) -> Result<Option<Vec<u8>>, ReadFault> {
        if let Ok(Some(content)) = self.opened.read(name, limit) {
            return Ok(Some(self.content(name, content)));
        }
        let path = self.child(name);
        let stamp = self.reader.stamp(&path);
        match self.opened.read(name, limit) {
            Ok(Some(content)) => Ok(Some(self.content(name, content))),
            Ok(None) => Ok(None),
            Err(fault) => {
                // The others follow from its state alone.
                if !matches!(fault, ReadFault::NotRegular | ReadFault::TooLarge { .. }) {
                    self.reader.note_failure(&path, stamp.ok().flatten());
                }
                Err(fault)
            }
        }
    }

    fn entered(&self, opened: Box<dyn OpenDirectory>) -> Self {
        self.reader.note_place(&*opened);
        Self::new(self.reader, opened)
    }

    fn content(&self, name: &str, content: Content) -> Vec<u8> {
        let Content { bytes, stamp } = content;
        self.reader
            .note_content(&self.child(name), stamp, || ContentHash::of(&bytes));
        bytes
    }
}
