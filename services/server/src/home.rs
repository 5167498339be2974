//! The home: where it is, what lies in it, and that nobody else can look inside. Directories and modes are
//! made right at every start, whatever the umask; the content of what others put there is never touched.

mod atomic;
mod look;
mod tighten;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use compozy_domain::Random;

use crate::failure::Failure;

pub use self::atomic::{remove_leftovers, remove_leftovers_of, write_in, write_private, write_private_in};
pub use self::look::{DIRECTORIES, Finding, PRIVATE_FILES, Remedy, findings};
pub use self::tighten::{ensure_home, prepare};

/// The variable that names the home.
pub const HOME_VARIABLE: &str = "COMPOZY_HOME";

/// The directory that holds everything that the daemon owns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    path: PathBuf,
}

impl Home {
    /// Finds the home from the environment.
    ///
    /// # Errors
    /// When neither `COMPOZY_HOME` nor the user's home directory is known.
    pub fn locate() -> Result<Self, Failure> {
        let user_home = std::env::home_dir().filter(|path| !path.as_os_str().is_empty());
        let current = std::env::current_dir();
        Self::resolve(std::env::var_os(HOME_VARIABLE), user_home.as_deref(), current)
    }

    /// The rule: an empty variable is unset, a leading `~` is the user's home directory, and what is relative
    /// is made absolute once, from the current directory.
    fn resolve(
        variable: Option<OsString>,
        user_home: Option<&Path>,
        current: io::Result<PathBuf>,
    ) -> Result<Self, Failure> {
        let named = variable.filter(|value| !value.is_empty()).map(PathBuf::from);
        let path = match named {
            None => user_home.ok_or_else(no_user_home)?.join(".compozy"),
            Some(named) => match named.strip_prefix("~") {
                Ok(rest) => user_home.ok_or_else(no_user_home)?.join(rest),
                Err(_) if named.is_absolute() => named,
                Err(_) => current
                    .map_err(|error| Failure::io("make absolute", &named, &error))?
                    .join(named),
            },
        };
        Ok(Self::at(lexically_clean(&path)))
    }

    /// The home at an absolute path.
    #[must_use]
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The directory itself.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The user's configuration.
    #[must_use]
    pub fn config_path(&self) -> PathBuf {
        self.path.join("config.toml")
    }

    /// The catalog of a daemon that runs on SQLite.
    #[must_use]
    pub fn catalog_path(&self) -> PathBuf {
        self.path.join("compozy.db")
    }

    /// The host's id.
    #[must_use]
    pub fn host_path(&self) -> PathBuf {
        self.path.join("host.toml")
    }

    /// The local bearer token.
    #[must_use]
    pub fn token_path(&self) -> PathBuf {
        self.path.join("client.token")
    }

    /// The lock that one daemon holds.
    #[must_use]
    pub fn lock_path(&self) -> PathBuf {
        self.path.join("daemon.lock")
    }

    /// What the running daemon says about itself.
    #[must_use]
    pub fn daemon_file_path(&self) -> PathBuf {
        self.path.join("daemon.json")
    }

    /// Where the socket is unless its path would be too long.
    #[must_use]
    pub fn socket_path(&self) -> PathBuf {
        self.path.join("daemon.sock")
    }

    /// Where the personal directories of profiles lie.
    #[must_use]
    pub fn profiles_path(&self) -> PathBuf {
        self.path.join("profiles")
    }

    /// The log.
    #[must_use]
    pub fn log_path(&self) -> PathBuf {
        self.path.join("logs").join("compozy.log")
    }

    /// Writes a file of the home atomically, 0600.
    ///
    /// # Errors
    /// A failure that names the file. The old file is whole then.
    pub fn write(&self, path: &Path, bytes: &[u8], random: &dyn Random) -> Result<(), Failure> {
        write_private(&self.path, path, bytes, random).map_err(|error| Failure::io("write", path, &error))
    }

    /// A path for what is to be moved to `path` when it is complete. The next start removes what a crash leaves there.
    ///
    /// # Errors
    /// When there is no randomness.
    pub fn temporary_beside(&self, path: &Path, random: &dyn Random) -> Result<PathBuf, Failure> {
        let name = atomic::temporary_name(path.file_name().unwrap_or_default(), random)
            .map_err(|error| Failure::io("write", path, &error))?;
        Ok(path.with_file_name(name))
    }
}

/// Takes `.` and repeated separators out, and keeps `..`: only the file system knows what it means.
fn lexically_clean(path: &Path) -> PathBuf {
    path.components().collect()
}

fn no_user_home() -> Failure {
    Failure::config(format!("there is no home directory: set HOME or {HOME_VARIABLE}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn resolve(variable: &str) -> PathBuf {
        let home = Home::resolve(
            Some(variable.into()),
            Some(Path::new("/home/ada")),
            Ok(PathBuf::from("/t")),
        );
        home.unwrap().path().to_owned()
    }

    #[test]
    fn c147_a_tilde_expands_and_a_relative_home_is_made_absolute() {
        assert_eq!(resolve("~/x"), Path::new("/home/ada/x"));
        assert_eq!(resolve("~"), Path::new("/home/ada"));
        assert_eq!(resolve("rel"), Path::new("/t/rel"));
        assert_eq!(resolve("./rel//y/"), Path::new("/t/rel/y"));
        assert_eq!(resolve("/abs"), Path::new("/abs"));
        assert_eq!(resolve("~x"), Path::new("/t/~x"));
    }

    #[test]
    fn c148_an_empty_variable_is_unset() {
        assert_eq!(resolve(""), Path::new("/home/ada/.compozy"));
        let unset = Home::resolve(None, Some(Path::new("/home/ada")), Ok(PathBuf::from("/t"))).unwrap();
        assert_eq!(unset.path(), Path::new("/home/ada/.compozy"));
    }

    #[test]
    fn no_home_directory_is_an_error_that_says_what_to_set() {
        let failure = Home::resolve(None, None, Ok(PathBuf::from("/t"))).unwrap_err();
        assert!(failure.to_string().contains("COMPOZY_HOME"));
        let named = Home::resolve(Some("/abs".into()), None, Ok(PathBuf::from("/t"))).unwrap();
        assert_eq!(named.path(), Path::new("/abs"));
    }
}
