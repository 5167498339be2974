//! The manifest of a backup: what was copied, when, from which catalog, with which bytes.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::CATALOG;
use crate::failure::{Failure, FailureKind};
use crate::small_file::{self, Links};

/// Name of the file.
pub const MANIFEST: &str = "manifest.json";
/// The format that this release writes. A number above it is of a newer release.
pub const FORMAT: u32 = 1;
/// Bytes of a manifest at most.
const BYTES_MAX: u64 = 16 * 1024 * 1024;

/// What a backup says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Manifest {
    /// Of the manifest and of what lies beside it.
    pub(super) format: u32,
    /// The release that wrote it.
    pub(super) release: String,
    /// The catalog that was copied.
    pub(super) catalog_id: String,
    /// Whose disk the catalog speaks of: a restored home goes on as that host. Absent for a daemon that looks at
    /// no disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) host_id: Option<String>,
    /// When the copying began, RFC 3339.
    pub(super) made_at: String,
    /// Every other file.
    pub(super) files: Vec<FileEntry>,
}

/// One file of a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// Below the directory.
    pub path: String,
    /// Bytes.
    pub size: u64,
    /// In lower-case hex.
    pub sha256: String,
}

/// What every format begins with.
#[derive(Deserialize)]
struct Head {
    format: u32,
    release: String,
}

impl Manifest {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).expect("texts and numbers are always JSON");
        bytes.push(b'\n');
        bytes
    }

    /// Reads the manifest of a directory.
    ///
    /// # Errors
    /// A failure that names the file.
    pub(super) fn read(directory: &Path) -> Result<Self, Failure> {
        let path = directory.join(MANIFEST);
        let refused =
            |problem: &str| Failure::new(FailureKind::Config, format!("{} {problem}", path.display()));
        let text = small_file::read(&path, BYTES_MAX, Links::Refuse)
            .map_err(|fault| refused(&fault.to_string()))?
            .ok_or_else(|| refused("is not there: the directory holds no complete backup"))?;
        let damaged = |_| refused("can't be read as a manifest: use another backup");
        let head: Head = serde_json::from_str(&text).map_err(damaged)?;
        if head.format > FORMAT {
            let problem = format!(
                "was written by release {}, which this release ({}) can't restore: use a newer one",
                head.release,
                env!("CARGO_PKG_VERSION")
            );
            return Err(refused(&problem));
        }
        let manifest: Self = serde_json::from_str(&text).map_err(damaged)?;
        // A name in it becomes a name in the home.
        match manifest.files.as_slice() {
            [entry] if entry.path == CATALOG => Ok(manifest),
            _ => Err(refused(
                "must list compozy.db and nothing else: use another backup",
            )),
        }
    }
}
