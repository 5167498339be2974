//! The identity file `<root>/.compozy/workspace.toml`: the durable id that travels with a directory.

mod encode;
mod file;
mod parse;
mod remedy;
mod time;

use std::sync::LazyLock;

use compozy_domain::{DurableId, Random, RandomFailed, Timestamp};

use crate::files::RelativePath;

pub use encode::{encode, with_durable_id};
pub use file::{
    Created, Found, Written, create, fork, has_directory, judge, read, repair, replace, restore, sweep,
    undo_create, undo_replace,
};
pub use parse::{IdentityProblem, parse};
pub(crate) use remedy::shell_word;
pub use remedy::{file_path, missing, not_created};

/// Bytes of an identity file at most.
pub const FILE_BYTES_MAX: usize = 64 * 1024;

const DIRECTORY: &str = ".compozy";
const FILE: &str = ".compozy/workspace.toml";
/// Its name in that directory.
pub(crate) const FILE_NAME: &str = "workspace.toml";

/// Where the file lies below a root.
static FILE_PATH: LazyLock<RelativePath> = LazyLock::new(|| relative(FILE));
static DIRECTORY_PATH: LazyLock<RelativePath> = LazyLock::new(|| relative(DIRECTORY));

fn relative(text: &str) -> RelativePath {
    RelativePath::parse(text).expect("a constant path of plain names")
}

/// Names of the keys in the file.
mod key {
    pub(super) const WORKSPACE_ID: &str = "workspace_id";
    pub(super) const CREATED_AT: &str = "created_at";
    pub(super) const REALPATH: &str = "realpath_at_creation";
    pub(super) const FORKED_FROM: &str = "forked_from";
}

/// What an identity file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The id, shared by everybody who has a copy of the file.
    pub durable_id: DurableId,
    /// When the file was made.
    pub created_at: Timestamp,
    /// Canonical path of the root for which it was made, perhaps on another machine.
    pub realpath_at_creation: String,
    /// The id that a copy had before it got its own.
    pub forked_from: Option<DurableId>,
}

impl Identity {
    /// The identity of a directory with an id that exists already.
    #[must_use]
    pub fn of(durable_id: DurableId, root: &str, now: Timestamp) -> Self {
        Self {
            durable_id,
            created_at: now,
            realpath_at_creation: root.to_owned(),
            forked_from: None,
        }
    }

    /// A new identity for a directory.
    ///
    /// # Errors
    /// [`RandomFailed`].
    pub fn generate(root: &str, now: Timestamp, random: &dyn Random) -> Result<Self, RandomFailed> {
        Ok(Self::of(DurableId::generate(now, random)?, root, now))
    }
}
