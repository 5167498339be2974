//! Real projects: the definition files of five public repositories, one of which carries an identity.

use std::path::{Path, PathBuf};
use std::process::Command;

use compozy_e2e::{names, skip};

/// Relative to this crate: the archive lies beside the repository.
const ARCHIVE: &str = "../../../shared/data/definitions.tar.gz";

/// Unpacks the archive into a directory and answers the roots of the repositories; `None`, said aloud, where the
/// archive is not there.
pub(crate) fn unpack(test: &str, into: &Path) -> Option<Vec<PathBuf>> {
    let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join(ARCHIVE);
    if !archive.is_file() {
        skip(test, "definitions.tar.gz is not there");
        return None;
    }
    let mut command = Command::new("tar");
    command.arg("-xzf").arg(&archive).arg("-C").arg(into);
    assert!(command.status().unwrap().success(), "tar unpacks the archive");
    let entries = names(into).into_iter().map(|name| into.join(name));
    let roots: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    assert_eq!(roots.len(), 5, "{roots:?}");
    Some(roots)
}

/// The directory that lies deepest below a root.
pub(crate) fn deepest_directory(root: &Path) -> PathBuf {
    let mut deepest = root.to_owned();
    let mut waiting = vec![root.to_owned()];
    while let Some(directory) = waiting.pop() {
        if directory.components().count() > deepest.components().count() {
            deepest.clone_from(&directory);
        }
        for entry in std::fs::read_dir(&directory).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                waiting.push(entry.path());
            }
        }
    }
    deepest
}
