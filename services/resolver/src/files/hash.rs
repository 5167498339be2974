//! The fingerprint by which content is known again.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

/// SHA-256 of the content of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    /// The hash of some content.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// A hash that was stored.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The hash, to store it.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The first eight bytes in hex: enough to tell the files of one directory apart.
    pub(crate) fn short(&self) -> String {
        let mut text = String::with_capacity(16);
        for byte in &self.0[..8] {
            // Writing to a String can't fail.
            let _ = write!(text, "{byte:02x}");
        }
        text
    }
}
