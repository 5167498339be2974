//! Making the home's directories and modes right.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags};

use super::Home;
use super::look::{
    DIRECTORIES, DIRECTORY_MODE, FILE_MODE, Finding, Remedy, kind_of, look, open_home, passes_a_link,
};
use crate::failure::Failure;

/// Makes the home's own directory, so that its lock can be taken before anything in it is changed.
///
/// # Errors
/// A failure that names it.
pub fn ensure_home(home: &Home) -> Result<(), Failure> {
    make_home(home.path()).map(drop)
}

/// Makes what is missing and tightens what is too open. What is a link or of another kind is left alone and
/// reported.
///
/// # Errors
/// When the home itself can't be made or used.
pub fn prepare(home: &Home) -> Result<Vec<Finding>, Failure> {
    let directory = make_home(home.path())?;
    for relative in DIRECTORIES {
        make_directory(directory.as_fd(), relative)
            .map_err(|error| Failure::io("make", &home.path().join(relative), &error))?;
    }
    for finding in look(home, directory.as_fd()) {
        if finding.remedy == Remedy::Prepare {
            mend(home, directory.as_fd(), &finding)
                .map_err(|error| Failure::io("change the mode of", &finding.path, &error))?;
        }
    }
    Ok(look(home, directory.as_fd()))
}

fn make_home(path: &Path) -> Result<OwnedFd, Failure> {
    match open_home(path) {
        Ok(directory) => return Ok(directory),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(Failure::config(format!(
                "{} is no directory: remove it, or set {} to a directory",
                path.display(),
                super::HOME_VARIABLE
            )));
        }
        Err(error) => return Err(Failure::io("open", path, &error)),
    }
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .and_then(|()| open_home(path))
        .map_err(|error| Failure::io("make the home", path, &error))
}

fn make_directory(home: BorrowedFd<'_>, relative: &str) -> io::Result<()> {
    // A linked parent is reported by `look` and used by nobody.
    if kind_of(home, relative)?.is_some() || passes_a_link(home, relative)? {
        return Ok(());
    }
    rustix::fs::mkdirat(home, relative, DIRECTORY_MODE)?;
    // The umask may have taken bits away; the directory is ours and new.
    rustix::fs::chmodat(home, relative, DIRECTORY_MODE, AtFlags::empty())?;
    Ok(())
}

fn mend(home: &Home, directory: BorrowedFd<'_>, finding: &Finding) -> io::Result<()> {
    if finding.path == home.path() {
        return Ok(rustix::fs::fchmod(directory, DIRECTORY_MODE)?);
    }
    let relative = finding.path.strip_prefix(home.path()).map_err(io::Error::other)?;
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let entry = rustix::fs::openat(directory, relative, flags, Mode::empty())?;
    let is_directory = FileType::from_raw_mode(rustix::fs::fstat(&entry)?.st_mode) == FileType::Directory;
    let mode = if is_directory { DIRECTORY_MODE } else { FILE_MODE };
    Ok(rustix::fs::chmodat(directory, relative, mode, AtFlags::empty())?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::home::findings;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    fn set_mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn c145_what_is_too_open_is_tightened_once() {
        let outer = tempfile::tempdir().unwrap();
        let home = Home::at(outer.path().join("h"));
        assert_eq!(prepare(&home).unwrap(), []);
        let (agents, catalog) = (home.path().join("agents"), home.catalog_path());
        std::fs::write(&catalog, "rows").unwrap();
        set_mode(&agents, 0o755);
        set_mode(&catalog, 0o644);
        assert_eq!(findings(&home).unwrap().len(), 2);
        assert_eq!(prepare(&home).unwrap(), []);
        assert_eq!((mode(&agents), mode(&catalog)), (0o700, 0o600));
        let changed = std::fs::metadata(&catalog).unwrap().modified().unwrap();
        assert_eq!(prepare(&home).unwrap(), []);
        assert_eq!(std::fs::metadata(&catalog).unwrap().modified().unwrap(), changed);
    }

    #[test]
    fn a_link_is_reported_and_its_target_left_alone() {
        let outer = tempfile::tempdir().unwrap();
        let elsewhere = outer.path().join("elsewhere");
        std::fs::create_dir(&elsewhere).unwrap();
        set_mode(&elsewhere, 0o755);
        let home = Home::at(outer.path().join("h"));
        std::fs::create_dir(home.path()).unwrap();
        std::os::unix::fs::symlink(&elsewhere, home.path().join("profiles")).unwrap();
        let left = prepare(&home).unwrap();
        assert_eq!(left.len(), 1);
        assert_eq!(
            (&left[0].path, left[0].remedy),
            (&home.path().join("profiles"), Remedy::Person)
        );
        assert_eq!(mode(&elsewhere), 0o755);
        assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
    }
}
