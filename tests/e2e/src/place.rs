//! Files and directories as a test looks at them.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// A path as text.
pub fn utf8(path: impl AsRef<Path>) -> String {
    path.as_ref().to_str().unwrap().to_owned()
}

/// The identity file of a root.
pub fn identity_path(root: impl AsRef<Path>) -> PathBuf {
    root.as_ref().join(".compozy/workspace.toml")
}

/// Permission bits.
#[track_caller]
pub fn mode(path: impl AsRef<Path>) -> u32 {
    let path = path.as_ref();
    match fs::symlink_metadata(path) {
        Ok(metadata) => metadata.permissions().mode() & 0o7777,
        Err(error) => panic!("{}: {error}", path.display()),
    }
}

/// Names in a directory, sorted; none if it is not there.
pub fn names(directory: impl AsRef<Path>) -> Vec<String> {
    let Ok(entries) = fs::read_dir(directory) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Everything below a directory that a write would change: kind and mode, size, time of change and inode of each
/// entry. Contents need not be read: nobody can write a file and keep its time of change.
pub fn fingerprint(directory: impl AsRef<Path>) -> BTreeMap<PathBuf, (u32, u64, i64, i64, u64)> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![directory.as_ref().to_owned()];
    while let Some(path) = waiting.pop() {
        let metadata = fs::symlink_metadata(&path).unwrap();
        if metadata.is_dir() {
            waiting.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        let state = (
            metadata.mode(),
            metadata.size(),
            metadata.ctime(),
            metadata.ctime_nsec(),
            metadata.ino(),
        );
        found.insert(path, state);
    }
    found
}
