//! Writing a file of the home so that a reader, a crash or a full disk only ever meets the old or the new one.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use compozy_domain::Random;
use rustix::fs::{AtFlags, Mode, OFlags};

/// Files of the home are for the daemon's user alone.
const PRIVATE: Mode = Mode::from_raw_mode(0o600);
/// How a temporary file ends; a crash may leave one, the next start removes it.
const TEMPORARY_SUFFIX: &str = ".compozy-tmp";

/// Replaces `path`, which lies in or below `home`, by these bytes, with mode 0600.
///
/// # Errors
/// What the system says; the old file is untouched then and no temporary file is left. A directory between
/// `home` and the file that is a symbolic link is refused.
pub fn write_private(home: &Path, path: &Path, bytes: &[u8], random: &dyn Random) -> io::Result<()> {
    let (directory, name) = open_parent(home, path)?;
    write_private_in(directory.as_fd(), name, bytes, random)
}

/// As [`write_private`], for a file that lies in an open directory.
///
/// # Errors
/// As [`write_private`].
pub fn write_private_in(
    directory: BorrowedFd<'_>,
    name: &OsStr,
    bytes: &[u8],
    random: &dyn Random,
) -> io::Result<()> {
    write_in(directory, name, bytes, PRIVATE, random)
}

/// As [`write_private_in`], with this mode whatever the umask.
///
/// # Errors
/// As [`write_private`].
pub fn write_in(
    directory: BorrowedFd<'_>,
    name: &OsStr,
    bytes: &[u8],
    mode: Mode,
    random: &dyn Random,
) -> io::Result<()> {
    let temporary = temporary_name(name, random)?;
    let written = fill(directory, &temporary, bytes, mode).and_then(|()| {
        Ok(rustix::fs::renameat(
            directory,
            temporary.as_str(),
            directory,
            name,
        )?)
    });
    if let Err(error) = written {
        // The write failed; the error that matters is that one.
        let _ = rustix::fs::unlinkat(directory, temporary.as_str(), AtFlags::empty());
        return Err(error);
    }
    rustix::fs::fsync(directory)?;
    Ok(())
}

/// Removes temporary files that a crash left in the home. Only for the holder of its lock: another daemon may be
/// writing. Nothing depends on it.
pub fn remove_leftovers(home: &Path) {
    let Ok(entries) = std::fs::read_dir(home) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with('.') && name.ends_with(TEMPORARY_SUFFIX) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Removes what a write of this file left behind when its process was killed. Only for whoever holds a lock that keeps
/// other writers of the file away.
///
/// # Errors
/// What the system says.
pub fn remove_leftovers_of(directory: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
    let start = format!(".{}.", name.to_string_lossy());
    for entry in rustix::fs::Dir::read_from(directory)? {
        let entry = entry?;
        let Ok(found) = entry.file_name().to_str() else {
            continue;
        };
        let between = found
            .strip_prefix(&start)
            .and_then(|rest| rest.strip_suffix(TEMPORARY_SUFFIX));
        if between
            .is_some_and(|random| random.len() == 16 && random.bytes().all(|byte| byte.is_ascii_hexdigit()))
        {
            rustix::fs::unlinkat(directory, entry.file_name(), AtFlags::empty())?;
        }
    }
    Ok(())
}

/// Opens the file's directory step by step from the home, through no link.
fn open_parent<'a>(home: &Path, path: &'a Path) -> io::Result<(OwnedFd, &'a OsStr)> {
    let outside = || io::Error::new(io::ErrorKind::InvalidInput, "the file does not lie in the home");
    let below = path.strip_prefix(home).map_err(|_| outside())?;
    let name = below.file_name().ok_or_else(outside)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut directory = rustix::fs::open(home, flags, Mode::empty())?;
    for step in below.parent().into_iter().flat_map(Path::iter) {
        directory = rustix::fs::openat(&directory, step, flags | OFlags::NOFOLLOW, Mode::empty())?;
    }
    Ok((directory, name))
}

fn fill(directory: BorrowedFd<'_>, name: &str, bytes: &[u8], mode: Mode) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let file = rustix::fs::openat(directory, name, flags, PRIVATE)?;
    // The umask may have taken bits away; others may look only at what they are meant to see.
    rustix::fs::fchmod(&file, mode)?;
    let mut file = File::from(file);
    file.write_all(bytes)?;
    file.sync_all()
}

/// The name of a temporary file beside one of this name.
pub(super) fn temporary_name(name: &OsStr, random: &dyn Random) -> io::Result<String> {
    let mut bytes = [0_u8; 8];
    random.fill(&mut bytes).map_err(io::Error::other)?;
    let mut text = format!(".{}.", name.to_string_lossy());
    for byte in bytes {
        // Writing to a String can't fail.
        let _ = write!(text, "{byte:02x}");
    }
    text.push_str(TEMPORARY_SUFFIX);
    Ok(text)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::random::SystemRandom;

    #[test]
    fn a_file_is_replaced_and_private() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("host.toml");
        std::fs::write(&path, "old").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        write_private(home.path(), &path, b"new", &SystemRandom).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(
            std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_linked_directory_inside_the_home_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), home.path().join("profiles")).unwrap();
        let path = home.path().join("profiles/x");
        assert!(write_private(home.path(), &path, b"new", &SystemRandom).is_err());
        assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_failed_rename_leaves_the_old_file_and_no_other() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("taken");
        std::fs::create_dir_all(path.join("full")).unwrap();
        assert!(write_private(home.path(), &path, b"new", &SystemRandom).is_err());
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 1);
        assert!(path.join("full").is_dir());
    }

    #[test]
    fn c154_after_a_crash_before_the_rename_the_old_file_is_whole_and_the_new_one_goes() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("host.toml");
        write_private(home.path(), &path, b"old", &SystemRandom).unwrap();
        // What a process leaves that dies between the two steps.
        let (directory, name) = open_parent(home.path(), &path).unwrap();
        let temporary = temporary_name(name, &SystemRandom).unwrap();
        fill(directory.as_fd(), &temporary, b"half", PRIVATE).unwrap();
        let theirs = home.path().join(".other.tmp");
        std::fs::write(&theirs, "whole").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        remove_leftovers(home.path());
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert!(theirs.exists() && !home.path().join(&temporary).exists());
    }
}
