//! One new directory, for a picker.

use rustix::fs::{Mode, fsync, mkdirat, openat};
use rustix::io::Errno;

use super::{LISTABLE, open_again, words};
use crate::files::relative::is_plain_name;
use crate::files::{CreateFault, Directory, DirectoryFault};

/// As mkdir does it: what the umask takes away stays away.
pub(super) fn directory(parent: &Directory, name: &str) -> Result<(), CreateFault> {
    if !is_plain_name(name) {
        return Err(CreateFault::BadName);
    }
    let opened = open_again(parent).map_err(CreateFault::Parent)?;
    mkdirat(&opened, name, Mode::from_raw_mode(0o755)).map_err(fault)?;
    // A parent that can be written but not read can't be flushed; the directory is there all the same.
    if let Ok(listable) = openat(&opened, ".", LISTABLE, Mode::empty()) {
        let _ = fsync(listable);
    }
    Ok(())
}

fn fault(errno: Errno) -> CreateFault {
    match errno {
        Errno::EXIST => CreateFault::Exists,
        Errno::NAMETOOLONG => CreateFault::NameTooLong,
        Errno::NOENT => CreateFault::Parent(DirectoryFault::NotFound),
        Errno::NOSPC | Errno::DQUOT => CreateFault::DiskFull,
        errno => CreateFault::Unwritable {
            problem: words(errno),
        },
    }
}
