//! Configuration in layers: what each key is, how it is read, checked and merged, and where every effective value
//! comes from.
//!
//! [`keys`] is the one table that all of it is made of. A file goes through reading (text to a tree with places),
//! checking (tree against the table) and merging (trees on top of one another, with the memory of who said what).
//! Every step tells everything that is wrong, and none of them repeats a value.

mod check;
mod depth;
mod edit;
mod effective;
mod file;
pub mod key;
pub mod keys;
mod kind;
mod merge;
mod nearest;
mod problem;
mod read;
mod resolve;
mod schema;
pub mod secrets;
pub(crate) mod sources;

use std::fmt;

use compozy_domain::Layer;

pub use check::UnknownKeys;
pub use edit::{Edited, set, unset};
pub use effective::{EffectiveConfig, Leaf};
pub use file::{ConfigFile, FileCheck, check_file, check_file_with, read_user_file};
pub use kind::span;
pub use problem::{CONFIG_BYTES_MAX, not_a_directory, not_regular, too_large, unread, unreadable};
pub use resolve::resolve;
pub use schema::{SchemaEntry, schema};

/// A layer's files, as read. Layers come in their order, lowest first.
#[derive(Debug, Clone)]
pub struct LayerFiles {
    /// [`Layer::User`], [`Layer::Profile`], [`Layer::Workspace`] or [`Layer::WorkspaceProfile`].
    pub layer: Layer,
    /// Its `config.toml`, if there is one.
    pub config: Option<SourceFile>,
    /// The `mcp.json` beside it, if there is one.
    pub mcp: Option<SourceFile>,
}

/// A file that was read.
#[derive(Clone)]
pub struct SourceFile {
    /// Its absolute path.
    pub path: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// A place that says something about a key.
#[derive(Debug, Clone, PartialEq)]
pub struct Origin {
    /// The layer.
    pub layer: Layer,
    /// The file; `None` for layers without one.
    pub path: Option<String>,
    /// Line in it, from 1.
    pub line: Option<u32>,
    /// Column in characters, from 1.
    pub column: Option<u32>,
}

impl fmt::Debug for SourceFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("SourceFile");
        shown.field("path", &self.path).field("bytes", &self.bytes.len());
        shown.finish_non_exhaustive()
    }
}
