//! What tells one state of a file or directory from another without reading it.

use compozy_domain::FileIdentity;

use super::Kind;

/// The state of something on the disk. Two equal stamps of one path mean the same content, unless it was changed
/// twice within a tick of the file system's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// What it is; a link is not followed.
    pub kind: Kind,
    /// Device and inode.
    pub file: FileIdentity,
    /// Bytes.
    pub size: u64,
    /// Permissions of its mode, so that a change of them is seen on file systems without a time of change.
    pub mode: u32,
    /// Last modification, nanoseconds since 1970.
    pub modified: i64,
    /// Last change of the inode, nanoseconds since 1970. Nobody can set it back.
    pub changed: i64,
}

impl Stamp {
    /// The later of its two times.
    #[must_use]
    pub fn latest(&self) -> i64 {
        self.modified.max(self.changed)
    }
}
