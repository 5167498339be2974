//! What exactly is wrong with a thing that an error is about.

/// What is wrong with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathFault {
    /// It is relative.
    NotAbsolute,
    /// It does not exist.
    NotFound,
    /// It is no directory.
    NotDirectory,
    /// It leads through a cycle of links.
    Loop,
    /// The daemon's user may not read it.
    Unreadable,
    /// It lies outside the allowed roots.
    NotAllowed,
    /// It can't be written, or a link or a file stands where a directory of the daemon's own has to be.
    Unwritable,
}

/// What is wrong with an identity file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdentityFault {
    /// Its content breaks a rule.
    Invalid {
        /// Line of the problem, from 1; `None` when it is about the file as a whole.
        line: Option<u32>,
        /// Which rule.
        problem: String,
    },
    /// It can't be read.
    Unreadable,
    /// It can't be written.
    Unwritable {
        /// Why.
        problem: String,
    },
}

/// What is wrong with a cursor or token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CursorFault {
    /// No cursor of this product, or an edited one.
    Malformed,
    /// Longer than any cursor.
    TooLarge,
    /// Made for another method, filter or order.
    OtherQuery,
    /// Made by another catalog.
    OtherCatalog,
    /// Its key is no longer valid.
    KeyRetired,
}

impl CursorFault {
    /// The word in the error's metadata.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::TooLarge => "too_large",
            Self::OtherQuery => "other_query",
            Self::OtherCatalog => "other_catalog",
            Self::KeyRetired => "key_retired",
        }
    }
}

/// What stands in the way of a registration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathConflict {
    /// The directory is registered, with other values in these fields.
    Registered {
        /// Names of the fields that differ.
        fields: Vec<&'static str>,
    },
    /// The directory is a copy of a registered one, and copies were to be refused.
    Copy {
        /// Root of the registered one.
        original: String,
    },
    /// Another registration has this root.
    RootTaken,
}

/// Why the directory of a session can't be on the account of a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionCwdFault {
    /// Another workspace owns it, or none does.
    Mismatch,
    /// None is recorded.
    Absent,
    /// It does not exist right now.
    NotFound,
    /// It is no directory right now.
    NotDirectory,
}

impl SessionCwdFault {
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Mismatch => "does not belong to the workspace: choose the workspace that owns it",
            Self::Absent => "is not recorded: such a session can be on no account",
            Self::NotFound => "does not exist right now: bring it back first",
            Self::NotDirectory => "is no directory right now: bring the directory back first",
        }
    }
}

/// In which way a root can't be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RootFault {
    /// It does not exist.
    Missing,
    /// It is no directory.
    NotDirectory,
    /// It can't be read.
    Unreadable,
}

impl RootFault {
    pub(super) const fn root_words(self) -> &'static str {
        match self {
            Self::Missing => "does not exist right now: bring it back, or relink the workspace",
            Self::NotDirectory => "is no directory: bring the directory back, or relink the workspace",
            Self::Unreadable => "can't be read by the daemon: check its permissions",
        }
    }
}
