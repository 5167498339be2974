//! What a kill leaves on disk.

use std::fs;
use std::path::PathBuf;

use compozy_e2e::{identity_path, names, until};

use crate::operation::Operation;
use crate::worker::Worker;

/// What became, on disk, of a registration that was not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    /// No identity file, as before.
    Nothing,
    /// One that this registration made.
    File,
    /// One that this registration made, and that a person changed since.
    ChangedFile,
    /// One that was there before.
    OldFile,
}

/// Looks at the directory of a registration that the kill interrupted, while no daemon runs.
pub(crate) fn left_behind(operation: &Operation) -> Left {
    let Operation::Register { root, identity, .. } = operation else {
        return Left::Nothing;
    };
    match (identity, identity_path(root).exists()) {
        (Some(_), true) => Left::OldFile,
        (Some(_), false) => panic!("{} lost its identity", root.display()),
        (None, true) => Left::File,
        (None, false) => Left::Nothing,
    }
}

/// W316: a person adds a line while the daemon is down.
pub(crate) fn change_by_hand(operation: &Operation) -> Left {
    let Operation::Register { root, .. } = operation else {
        unreachable!("only a registration leaves a file")
    };
    let file = identity_path(root);
    let text = fs::read_to_string(&file).unwrap();
    fs::write(file, format!("{text}# mine\n")).unwrap();
    Left::ChangedFile
}

/// A registration whose row is not there: what it made is gone once the recovery has looked, and nothing else is.
pub(crate) fn assert_undone(operation: &Operation, left: Left) {
    let Operation::Register { root, identity, .. } = operation else {
        return;
    };
    match left {
        // W283, with what the kill may have left before the file had its name.
        Left::File | Left::Nothing => {
            until("what an interrupted registration made to be gone", || {
                names(root).is_empty()
            });
        }
        Left::ChangedFile => {
            let text = fs::read_to_string(identity_path(root)).unwrap();
            assert!(text.ends_with("# mine\n"), "{text}");
        }
        // W284.
        Left::OldFile => assert_eq!(fs::read(identity_path(root)).ok().as_ref(), identity.as_ref()),
    }
}

/// What is, or once was, registered keeps its identity; nobody takes it away.
pub(crate) fn assert_identities_kept(worker: &Worker) {
    for root in worker.rows.iter().map(|row| &row.root).chain(&worker.spare) {
        let file = identity_path(root);
        assert!(file.is_file(), "{} is gone", file.display());
    }
}

/// Files that should not be there: a directory has an identity, and nothing beside it, or nothing at all.
pub(crate) fn stray_files(worker: &Worker) -> Vec<PathBuf> {
    let mut stray = Vec::new();
    for group in names(&worker.folder) {
        for name in names(worker.folder.join(&group)) {
            let root = worker.folder.join(&group).join(name);
            let identity = root.join(".compozy");
            stray.extend(
                names(&root)
                    .iter()
                    .map(|name| root.join(name))
                    .filter(|path| *path != identity),
            );
            let inside = names(&identity);
            if identity.exists() && inside.is_empty() {
                stray.push(identity.clone());
            }
            stray.extend(
                inside
                    .iter()
                    .filter(|name| *name != "workspace.toml")
                    .map(|name| identity.join(name)),
            );
        }
    }
    stray
}
