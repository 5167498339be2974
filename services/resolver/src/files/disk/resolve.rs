//! From a path in any spelling to a directory, and what stands at the path of a root.

use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, Stat};
use rustix::io::Errno;

use super::{PLACE, directory_fault, identity};
use crate::files::{Directory, DirectoryFault, RootPresence, prefixes};

/// Opens the path first and asks the handle for its canonical path, so that both speak of one directory.
pub(super) fn directory(path: &str) -> Result<Directory, DirectoryFault> {
    let opened = rustix::fs::open(path, PLACE, Mode::empty()).map_err(directory_fault)?;
    let file = identity(&rustix::fs::fstat(&opened).map_err(directory_fault)?);
    let canonical = path_of(&opened, path)?;
    // A removed directory has a path with a remark behind it, and one outside this process's root has none.
    let found = rustix::fs::stat(&canonical).map_err(directory_fault)?;
    if !canonical.is_absolute() || identity(&found) != file {
        return Err(DirectoryFault::NotFound);
    }
    Ok(Directory {
        path: printable(&canonical)?,
        file,
    })
}

fn path_of(opened: &OwnedFd, path: &str) -> Result<PathBuf, DirectoryFault> {
    let link = format!("/proc/self/fd/{}", opened.as_raw_fd());
    let answer = match std::fs::read_link(link) {
        Ok(canonical) => Ok(canonical),
        // Without /proc the path is walked once more; the caller compares what it leads to.
        Err(_) => std::fs::canonicalize(path),
    };
    answer.map_err(|error| directory_fault(Errno::from_io_error(&error).unwrap_or(Errno::IO)))
}

pub(super) fn printable(path: &Path) -> Result<String, DirectoryFault> {
    match path.to_str() {
        Some(text) if !text.contains(char::is_control) => Ok(text.to_owned()),
        _ => Err(DirectoryFault::NotText {
            escaped: escaped(path.as_os_str().as_bytes()),
        }),
    }
}

/// Text stays as it is, control characters and bytes that are no text are escaped.
pub(super) fn escaped(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            if character.is_control() {
                text.extend(character.escape_default());
            } else {
                text.push(character);
            }
        }
        text.extend(chunk.invalid().escape_ascii().map(char::from));
    }
    text
}

pub(super) fn root_presence(root: &str) -> RootPresence {
    match rustix::fs::stat(root) {
        Ok(found) if is_directory(&found) => RootPresence::Present(identity(&found)),
        Ok(_) | Err(Errno::NOTDIR) => RootPresence::NotDirectory,
        Err(Errno::NOENT) => missing(root),
        Err(_) => RootPresence::Unreadable,
    }
}

fn missing(root: &str) -> RootPresence {
    for ancestor in prefixes(root).skip(1) {
        match rustix::fs::stat(ancestor) {
            Ok(found) => {
                return RootPresence::Missing {
                    ancestor_device: found.st_dev,
                };
            }
            Err(Errno::NOENT) => {}
            Err(_) => return RootPresence::Unreadable,
        }
    }
    RootPresence::Unreadable
}

pub(super) fn ancestors(canonical: &str) -> Vec<Directory> {
    let mut found = Vec::new();
    for path in prefixes(canonical) {
        if let Ok(stat) = rustix::fs::stat(path) {
            found.push(Directory {
                path: path.to_owned(),
                file: identity(&stat),
            });
        }
    }
    found
}

fn is_directory(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Directory
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn w082_only_what_is_no_text_is_escaped() {
        assert_eq!(escaped(b"/w/caf\xe9"), "/w/caf\\xe9");
        assert_eq!(escaped("/w/é\u{1b}x".as_bytes()), "/w/é\\u{1b}x");
    }
}
