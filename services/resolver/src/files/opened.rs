//! A directory that is held open: whatever becomes of its path, what is read through it is in it.

use std::fmt::Debug;

use super::{Kind, ReadFault, Stamp};

/// An open directory. No operation follows a link, so none leads out of it.
pub trait OpenDirectory: Send + Debug {
    /// Its canonical path when it was opened.
    fn path(&self) -> &str;

    /// Its state when it was opened.
    fn stamp(&self) -> Stamp;

    /// The names in it, sorted by bytes: the first `limit` of them.
    ///
    /// # Errors
    /// [`ReadFault`].
    fn names(&self, limit: usize) -> Result<Names, ReadFault>;

    /// Opens a directory in it; `None` if there is none of this name, or something else.
    ///
    /// # Errors
    /// [`ReadFault`].
    fn enter(&self, name: &str) -> Result<Option<Box<dyn OpenDirectory>>, ReadFault>;

    /// What a name stands for, its state included; `None` if there is nothing.
    ///
    /// # Errors
    /// [`ReadFault`].
    fn look(&self, name: &str) -> Result<Option<Stamp>, ReadFault>;

    /// Reads a regular file in it; `None` if there is nothing of this name. Never waits for a pipe.
    ///
    /// # Errors
    /// [`ReadFault`]; [`ReadFault::TooLarge`] beyond `limit` bytes.
    fn read(&self, name: &str, limit: usize) -> Result<Option<Content>, ReadFault>;
}

/// The content of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// All of it.
    pub bytes: Vec<u8>,
    /// Its state before it was read.
    pub stamp: Stamp,
}

/// Names in a directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    /// The names that are text, sorted by bytes.
    pub entries: Vec<Named>,
    /// Names that are no text or hold control characters, escaped. Nobody could speak of them.
    pub unprintable: Vec<String>,
    /// Whether there are more.
    pub truncated: bool,
}

/// One name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The name.
    pub name: String,
    /// What it stands for.
    pub kind: Kind,
}
