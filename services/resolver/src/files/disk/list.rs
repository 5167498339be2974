//! Child directories, for a picker.

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{AtFlags, Dir, FileType, Mode, openat, statat};

use super::{LISTABLE, directory_fault, open_again};
use crate::files::{Directory, DirectoryFault, ListedDirectory, Listing};

/// Keeps the first `limit` names and one more, however many there are.
pub(super) fn directories(directory: &Directory, limit: usize) -> Result<Listing, DirectoryFault> {
    let place = open_again(directory)?;
    let listable = openat(&place, ".", LISTABLE, Mode::empty()).map_err(directory_fault)?;
    let mut names: BTreeSet<String> = BTreeSet::new();
    for entry in Dir::read_from(&listable).map_err(directory_fault)? {
        let entry = entry.map_err(directory_fault)?;
        let Some(name) = printable(entry.file_name()) else {
            continue;
        };
        let full = names.len() > limit;
        if full && names.last().is_some_and(|last| last.as_str() < name) {
            continue;
        }
        if !leads_to_directory(listable.as_fd(), name, entry.file_type()) {
            continue;
        }
        names.insert(name.to_owned());
        if full {
            names.pop_last();
        }
    }
    let truncated = names.len() > limit;
    Ok(Listing {
        entries: names.into_iter().take(limit).map(listed).collect(),
        truncated,
    })
}

fn listed(name: String) -> ListedDirectory {
    let hidden = name.starts_with('.');
    ListedDirectory { name, hidden }
}

fn printable(name: &CStr) -> Option<&str> {
    let name = name.to_str().ok()?;
    (!matches!(name, "." | "..") && !name.contains(char::is_control)).then_some(name)
}

/// Follows links, and looks where the file system does not tell the type of its entries.
fn leads_to_directory(listed: BorrowedFd<'_>, name: &str, file_type: FileType) -> bool {
    match file_type {
        FileType::Directory => true,
        FileType::Symlink | FileType::Unknown => statat(listed, name, AtFlags::empty())
            .is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Directory),
        _ => false,
    }
}
