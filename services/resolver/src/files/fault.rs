//! What goes wrong on a disk, named so that a caller can act on it.

use compozy_domain::{CatalogError, PathFault};
use thiserror::Error;

/// Why a path leads to no usable directory.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DirectoryFault {
    /// It does not exist, leads to nothing, or is another directory than before.
    #[error("not found")]
    NotFound,
    /// It, or something on the way, is no directory.
    #[error("not a directory")]
    NotDirectory,
    /// Links lead in a circle.
    #[error("a cycle of symbolic links")]
    Loop,
    /// The daemon's user may not look at it, or the device fails.
    #[error("not readable")]
    Unreadable,
    /// Its canonical path is not valid UTF-8, or holds control characters.
    #[error("the path is no printable text: {escaped}")]
    NotText {
        /// The path, with what can't be printed escaped.
        escaped: String,
    },
    /// The path or one of its names is longer than the file system takes.
    #[error("a name is too long")]
    NameTooLong,
    /// The daemon itself is short of something, such as file handles.
    #[error("{problem}")]
    Other {
        /// What the system said.
        problem: String,
    },
}

/// Why a file below a directory can't be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReadFault {
    /// The directory itself can't be used.
    #[error("the directory: {0}")]
    Directory(DirectoryFault),
    /// No permission, or an error of the device.
    #[error("not readable")]
    Unreadable,
    /// A link, a directory, a pipe, a device.
    #[error("not a regular file")]
    NotRegular,
    /// It is larger than the limit.
    #[error("larger than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// The daemon itself is short of something, such as file handles.
    #[error("{problem}")]
    Other {
        /// What the system said.
        problem: String,
    },
}

/// Why a file below a directory can't be written.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WriteFault {
    /// The directory itself can't be used.
    #[error("the directory: {0}")]
    Directory(DirectoryFault),
    /// There is a file already, made by somebody else.
    #[error("it is there already")]
    AlreadyThere,
    /// The file is not what it was thought to be.
    #[error("it changed in the meantime")]
    Changed,
    /// No permission, a read-only file system, something in the way, an error of the device.
    #[error("{problem}")]
    Unwritable {
        /// What stands in the way, without the path.
        problem: String,
    },
    /// No space, or no quota, is left.
    #[error("the disk is full")]
    DiskFull,
}

/// Why a directory can't be made.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CreateFault {
    /// The parent can't be used.
    #[error("the parent: {0}")]
    Parent(DirectoryFault),
    /// The name would not be that of a child.
    #[error("not the name of a child")]
    BadName,
    /// The name is longer than the file system takes.
    #[error("the name is too long")]
    NameTooLong,
    /// Something has this name.
    #[error("it exists")]
    Exists,
    /// No permission, a read-only file system, an error of the device.
    #[error("{problem}")]
    Unwritable {
        /// What the system said.
        problem: String,
    },
    /// No space, or no quota, is left.
    #[error("the disk is full")]
    DiskFull,
}

impl DirectoryFault {
    /// The error for a caller who gave `path` in `field`; the field is empty for a path of a record.
    #[must_use]
    pub fn into_error(self, field: &str, path: &str) -> CatalogError {
        let fault = match self {
            Self::NotFound => PathFault::NotFound,
            Self::NotDirectory => PathFault::NotDirectory,
            Self::Loop => PathFault::Loop,
            Self::Unreadable => PathFault::Unreadable,
            Self::NotText { escaped } => {
                let problem = format!(
                    "leads to '{escaped}', which is not valid UTF-8 without control characters: rename it"
                );
                return CatalogError::invalid_field(field, problem);
            }
            Self::NameTooLong => {
                return CatalogError::invalid_field(field, "is longer than the file system takes");
            }
            Self::Other { problem } => {
                return CatalogError::Defect {
                    detail: format!("looking at '{path}': {problem}"),
                };
            }
        };
        CatalogError::path(field, path, fault)
    }
}

impl CreateFault {
    /// The error for a caller who wanted `name` below `parent`.
    #[must_use]
    pub fn into_error(self, parent: &str, name: &str) -> CatalogError {
        match self {
            Self::Parent(fault) => fault.into_error("parent", parent),
            Self::BadName => CatalogError::invalid_field("name", "must be the name of one directory"),
            Self::NameTooLong => CatalogError::invalid_field("name", "is longer than the file system takes"),
            Self::Exists => CatalogError::DirectoryExists {
                path: format!("{}/{name}", parent.trim_end_matches('/')),
            },
            // The contract has no reason of its own for a directory that can't be written to.
            Self::Unwritable { .. } => CatalogError::path("parent", parent, PathFault::Unreadable),
            Self::DiskFull => CatalogError::DiskFull,
        }
    }
}
