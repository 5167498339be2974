//! SQLite, in a file and in memory.

use std::path::PathBuf;

use async_trait::async_trait;
use tempfile::TempDir;

use super::Engine;
use crate::open::StoreAddress;

/// A file in a directory of its own.
#[derive(Debug)]
pub struct SqliteFile {
    directory: TempDir,
}

impl SqliteFile {
    /// The file.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.directory.path().join("catalog.db")
    }
}

#[async_trait]
impl Engine for SqliteFile {
    const MOVES: usize = 600;
    const ENTRIES: u64 = 2_000_000;

    async fn begin(_test: &str) -> Option<Self> {
        let directory = TempDir::new().expect("a temporary directory can be made");
        Some(Self { directory })
    }

    fn address(&self) -> StoreAddress {
        StoreAddress::SqliteFile(self.path())
    }

    async fn end(&self) {}
}

/// Memory of the process.
#[derive(Debug)]
pub struct SqliteMemory;

#[async_trait]
impl Engine for SqliteMemory {
    const MOVES: usize = 10_000;
    const ENTRIES: u64 = 2_000_000;

    async fn begin(_test: &str) -> Option<Self> {
        Some(Self)
    }

    fn address(&self) -> StoreAddress {
        StoreAddress::SqliteMemory
    }

    async fn end(&self) {}
}
