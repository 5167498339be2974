//! What a caller of the store can act on.

use compozy_domain::CatalogError;
use thiserror::Error;

/// A failed operation. Nothing of it was applied, unless `outcome_unknown` says otherwise.
#[derive(Debug, Clone, Error)]
pub enum Error {
    /// A rule of the catalog refused it.
    #[error(transparent)]
    Rejected(#[from] CatalogError),
    /// The database can't be reached. With `outcome_unknown` a write may have happened all the same.
    #[error("the database can't be reached: {detail}")]
    Unavailable {
        /// Whether a commit was sent and its answer lost.
        outcome_unknown: bool,
        /// For the log.
        detail: String,
    },
    /// Stored bytes are damaged.
    #[error("the database is damaged: {0}")]
    Corrupt(String),
    /// No room for the write.
    #[error("the disk is full")]
    DiskFull,
    /// The deadline passed before the write was begun or committed.
    #[error("the deadline passed")]
    DeadlineExceeded,
    /// The catalog was written by a release that this one can't stand in for.
    #[error(
        "the catalog needs release {oldest_binary} or newer (it is at schema {version}), this is release {binary}: \
         install a newer release"
    )]
    TooNew {
        /// Schema version of the catalog.
        version: i64,
        /// Oldest release that may open it.
        oldest_binary: String,
        /// This release.
        binary: String,
    },
    /// The catalog is not at the schema of this release, and the opening was not to bring it there.
    #[error(
        "the catalog is at schema {version} and this release works on {newest}: start compozyd, which brings it there"
    )]
    Behind {
        /// Schema version of the catalog; 0 when there is none yet.
        version: i64,
        /// Schema version of this release.
        newest: i64,
    },
    /// The transaction met another one and has to be repeated. Does not leave the store.
    #[error("the transaction has to be repeated: {0}")]
    Repeat(String),
    /// The connection broke. Does not leave the store.
    #[error("the connection was lost: {0}")]
    Lost(String),
    /// A defect of this program.
    #[error("{0}")]
    Defect(String),
}

/// Shorthand of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl From<Error> for CatalogError {
    fn from(error: Error) -> Self {
        match error {
            Error::Rejected(error) => error,
            Error::Unavailable { outcome_unknown, .. } => Self::StoreUnavailable { outcome_unknown },
            Error::Repeat(_) | Error::Lost(_) => Self::StoreUnavailable {
                outcome_unknown: false,
            },
            Error::Corrupt(_) => Self::StoreCorrupt,
            Error::DiskFull => Self::DiskFull,
            Error::DeadlineExceeded => Self::DeadlineExceeded,
            error @ (Error::TooNew { .. } | Error::Behind { .. } | Error::Defect(_)) => Self::Defect {
                detail: error.to_string(),
            },
        }
    }
}
