//! Directories of a case, and what has to stay the same about them.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use sha2::{Digest as _, Sha256};

/// Everything below a directory that a case can see: kind, mode, inode, time of change, content.
pub(crate) type Tree = BTreeMap<String, String>;

/// Looks at everything below a directory. What can't be entered is only named.
pub(crate) fn tree(top: &str) -> Tree {
    let mut tree = Tree::new();
    visit(Path::new(top), &mut tree);
    tree
}

fn visit(directory: &Path, tree: &mut Tree) {
    let Ok(entries) = fs::read_dir(directory) else {
        return;
    };
    for entry in entries {
        let path = entry.unwrap().path();
        let stat = fs::symlink_metadata(&path).unwrap();
        let content = match stat.file_type() {
            kind if kind.is_file() => format!(
                "{:x?}",
                fs::read(&path).map(|bytes| Sha256::digest(bytes).to_vec())
            ),
            kind if kind.is_symlink() => format!("{:?}", fs::read_link(&path)),
            _ => String::new(),
        };
        // A directory in which something was made and undone has another time of change, and nothing else.
        let modified = if stat.is_dir() {
            (0, 0)
        } else {
            (stat.mtime(), stat.mtime_nsec())
        };
        let line = format!("{:o} {} {modified:?} {content}", stat.mode(), stat.ino());
        tree.insert(path.to_string_lossy().into_owned(), line);
        if stat.is_dir() {
            visit(&path, tree);
        }
    }
}

/// A valid identity file with this id, made for another directory.
pub(crate) fn identity_file(id: &str) -> String {
    format!(
        "workspace_id = \"{id}\"\ncreated_at = \"2026-05-04T14:30:00Z\"\nrealpath_at_creation = \"/elsewhere/x\"\n"
    )
}

/// Sets the mode of a file or directory.
pub(crate) fn chmod(path: &str, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// The permission bits of a file or directory.
pub(crate) fn mode(path: &str) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

/// Copies a directory with all that is in it, as `cp -a` does.
pub(crate) fn copy(from: &str, to: &str) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let (from, to) = (format!("{from}/{name}"), format!("{to}/{name}"));
        if entry.file_type().unwrap().is_dir() {
            copy(&from, &to);
        } else {
            fs::copy(&from, &to).unwrap();
        }
    }
}

/// Whether anything is at a path, links not followed.
pub(crate) fn exists(path: &str) -> bool {
    fs::symlink_metadata(path).is_ok()
}
