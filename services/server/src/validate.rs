//! Checking files as a daemon would read them, without one: for an editor, a hook before a commit, or a person whose
//! registration was refused.

mod directory;
mod file;

use std::path::{Path, PathBuf};

use compozy_domain::{Clock, Diagnostic};
use compozy_resolver::Disk;

use crate::failure::{Failure, FailureKind};
use crate::home::Home;

/// What a check works with.
#[derive(Debug)]
pub struct Validation<'c> {
    files: Disk,
    clock: &'c dyn Clock,
    /// The home, canonical if it is there.
    home: PathBuf,
}

impl<'c> Validation<'c> {
    /// Checks beside this home, whose files count as the user's layer. It does not have to be there.
    #[must_use]
    pub fn new(home: &Home, clock: &'c dyn Clock) -> Self {
        let path = home.path();
        Self {
            files: Disk::new(),
            clock,
            home: path.canonicalize().unwrap_or_else(|_| path.to_owned()),
        }
    }

    /// Everything that is to be said about a file, or about a directory and what a registration of it would read;
    /// sorted, each thing once.
    ///
    /// # Errors
    /// When there is nothing at the path, or nothing that this product reads.
    pub fn check(&self, path: &Path) -> Result<Vec<Diagnostic>, Failure> {
        let found = std::fs::symlink_metadata(path).map_err(|error| unusable(path, &error))?;
        let is_directory = found.is_dir() || (found.is_symlink() && path.is_dir());
        let mut diagnostics = match is_directory {
            true => self.check_directory(path)?,
            false => self.check_file(path)?,
        };
        Diagnostic::sort(&mut diagnostics);
        Ok(diagnostics)
    }

    /// The directory to check when none is named: the nearest one, from `current` upwards, that has a `.compozy`. The
    /// home counts only in itself and right beside it: no project below it is meant by it.
    ///
    /// # Errors
    /// When there is none.
    pub fn nearest(&self, current: &Path) -> Result<PathBuf, Failure> {
        let is_home = |own: &Path| own.canonicalize().is_ok_and(|own| own == self.home);
        let nearest = current.ancestors().find(|path| {
            let own = path.join(OWN);
            own.is_dir() && (*path == current || current.starts_with(&own) || !is_home(&own))
        });
        nearest.map(Path::to_owned).ok_or_else(|| {
            let message = format!(
                "neither {} nor a directory above it is a project with a {OWN}: name what is to be checked, such as `.`",
                current.display()
            );
            Failure::new(FailureKind::NotFound, message)
        })
    }
}

/// The directory in a root that holds everything of this product.
const OWN: &str = ".compozy";

fn unusable(path: &Path, error: &std::io::Error) -> Failure {
    match error.kind() {
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => {
            let message = format!("{} does not exist: name a file or a directory", path.display());
            Failure::new(FailureKind::NotFound, message)
        }
        _ => Failure::io("look at", path, error),
    }
}
