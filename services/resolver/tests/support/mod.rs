//! Directories, files and sources of randomness that the tests of this crate share.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use compozy_domain::{DurableId, Random, RandomFailed, Timestamp};
use compozy_resolver::identity::Identity;
use compozy_resolver::{Directory, Disk, Files};
use tempfile::TempDir;

pub const ID1: &str = "01HXJ9YR4QZ0V7M3T5B8N2C6KD";
pub const ID2: &str = "01J0ZK3M5N7P9Q1R3S5T7V9WXY";
/// 2026-05-04T14:30:00Z
pub const NOW: Timestamp = Timestamp::from_nanos(1_777_905_000_000_000_000);
pub const FILE: &str = ".compozy/workspace.toml";

/// A fresh directory, `$T` of the cases.
pub struct Place {
    directory: TempDir,
    pub path: String,
}

impl Place {
    pub fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let path = std::fs::canonicalize(directory.path()).unwrap();
        Self {
            directory,
            path: path.to_str().unwrap().to_owned(),
        }
    }

    pub fn at(&self, below: &str) -> String {
        format!("{}/{below}", self.path)
    }

    /// Makes a directory and looks at it.
    pub fn make(&self, below: &str) -> Directory {
        std::fs::create_dir_all(self.at(below)).unwrap();
        Disk::new().directory(&self.at(below)).unwrap()
    }

    /// Makes a root with this content in its identity file.
    pub fn make_with(&self, below: &str, content: impl AsRef<[u8]>) -> Directory {
        self.write(&format!("{below}/{FILE}"), content);
        self.make(below)
    }

    pub fn write(&self, below: &str, content: impl AsRef<[u8]>) {
        let path = self.at(below);
        std::fs::create_dir_all(Path::new(&path).parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub fn read(&self, below: &str) -> Vec<u8> {
        std::fs::read(self.at(below)).unwrap()
    }

    pub fn link(&self, target: &str, below: &str) {
        std::os::unix::fs::symlink(target, self.at(below)).unwrap();
    }

    pub fn exists(&self, below: &str) -> bool {
        std::fs::symlink_metadata(self.at(below)).is_ok()
    }

    pub fn mode(&self, below: &str) -> u32 {
        std::fs::metadata(self.at(below)).unwrap().permissions().mode() & 0o7777
    }

    /// Sets a mode until the answer is dropped, so that the place can be removed afterwards.
    pub fn set_mode(&self, below: &str, mode: u32) -> ModeSet {
        let path = self.at(below);
        let before = std::fs::metadata(&path).unwrap().permissions();
        std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        ModeSet { path, before }
    }

    /// Everything that tells whether a file was touched.
    pub fn state(&self, below: &str) -> (Vec<u8>, i64, i64, u64, u32) {
        let metadata = std::fs::metadata(self.at(below)).unwrap();
        (
            self.read(below),
            metadata.mtime(),
            metadata.mtime_nsec(),
            metadata.ino(),
            metadata.mode(),
        )
    }

    /// Names in a directory, sorted.
    pub fn names(&self, below: &str) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.at(below))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

pub struct ModeSet {
    path: String,
    before: Permissions,
}

impl Drop for ModeSet {
    fn drop(&mut self) {
        let _ = std::fs::set_permissions(&self.path, self.before.clone());
    }
}

/// Makes a pipe that nobody writes to.
pub fn make_pipe(path: &str) {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

pub fn durable(text: &str) -> DurableId {
    DurableId::parse(text).unwrap()
}

pub fn identity(id: &str, root: &str) -> Identity {
    Identity::of(durable(id), root, NOW)
}

/// A valid identity file.
pub fn file(id: &str) -> String {
    format!(
        "workspace_id = \"{id}\"\ncreated_at = \"2026-05-04T14:30:00Z\"\nrealpath_at_creation = \"/home/u/dev/x\"\n"
    )
}

#[derive(Debug)]
pub struct Ones;

impl Random for Ones {
    fn fill(&self, buffer: &mut [u8]) -> Result<(), RandomFailed> {
        buffer.fill(1);
        Ok(())
    }
}

#[derive(Debug)]
pub struct NoRandom;

impl Random for NoRandom {
    fn fill(&self, _buffer: &mut [u8]) -> Result<(), RandomFailed> {
        Err(RandomFailed)
    }
}
