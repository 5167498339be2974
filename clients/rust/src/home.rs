//! The home: where the local daemon keeps its socket, its token and the note about itself. The
//! client only reads here.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::Error;

/// Bytes that are read of a small file of the home, at most; what is longer is not what it should be.
const SMALL_FILE_MAX: u64 = 64 * 1024;

/// The directory that a local daemon owns: `$COMPOZY_HOME`, else `~/.compozy`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    path: PathBuf,
}

/// What a running daemon writes about itself into `daemon.json`. A killed daemon leaves it behind.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct DaemonFile {
    /// Process id of the daemon.
    pub pid: u32,
    /// Version of the daemon, as in "0.1.0".
    #[serde(default)]
    pub version: String,
    /// Absolute path of the socket that it really listens on.
    pub socket: PathBuf,
    /// Addresses that it listens on for TCP.
    #[serde(default)]
    pub addresses: Vec<String>,
    /// When it started, RFC 3339.
    #[serde(default)]
    pub started_at: String,
}

impl Home {
    /// Finds the home from the environment. `COMPOZY_HOME` may start with `~` and is made absolute
    /// from the current directory; an empty one counts as unset.
    ///
    /// # Errors
    ///
    /// A configuration error when neither `COMPOZY_HOME` nor the user's home directory is known.
    pub fn locate() -> Result<Self, Error> {
        let user_home = std::env::home_dir().filter(|path| !path.as_os_str().is_empty());
        let named = std::env::var_os("COMPOZY_HOME").filter(|value| !value.is_empty());
        let Some(named) = named else {
            let user_home = user_home.ok_or_else(no_user_home)?;
            return Ok(Self {
                path: user_home.join(".compozy"),
            });
        };
        let named = PathBuf::from(named);
        let expanded = match named.strip_prefix("~") {
            Ok(rest) => user_home.ok_or_else(no_user_home)?.join(rest),
            Err(_) => named,
        };
        let path = std::path::absolute(&expanded).map_err(|error| {
            Error::configuration(format!(
                "COMPOZY_HOME {} cannot be made absolute: {error}",
                expanded.display()
            ))
        })?;
        Ok(Self { path })
    }

    /// The home at `path`, which should be absolute.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The directory itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the daemon writes its JSON log.
    pub fn log_path(&self) -> PathBuf {
        self.path.join("logs").join("compozy.log")
    }

    /// Where the local bearer token lies.
    pub fn token_path(&self) -> PathBuf {
        self.path.join("client.token")
    }

    /// Where the note of a running daemon lies.
    pub fn daemon_file_path(&self) -> PathBuf {
        self.path.join("daemon.json")
    }

    /// What the last daemon wrote about itself; `None` if there is nothing usable. The daemon it
    /// speaks of may be gone.
    pub fn daemon_file(&self) -> Option<DaemonFile> {
        let text = read_small(&self.daemon_file_path()).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// The socket that a daemon of this home listens on: the one that it noted, else
    /// `daemon.sock`. Need not exist.
    pub fn socket_path(&self) -> PathBuf {
        let noted = self
            .daemon_file()
            .map(|file| file.socket)
            .filter(|path| path.is_absolute());
        match noted {
            // A note that was left behind must not hide a daemon on the usual socket.
            Some(socket) if socket.exists() => socket,
            _ => self.path.join("daemon.sock"),
        }
    }
}

/// Reads a text file of at most 64 KiB.
pub(crate) fn read_small(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?
        .take(SMALL_FILE_MAX + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > SMALL_FILE_MAX {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "is longer than 64 KiB",
        ));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "is not text"))
}

fn no_user_home() -> Error {
    Error::configuration("there is no home directory: set HOME or COMPOZY_HOME".to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_noted_socket_is_used_while_it_exists() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::at(directory.path());
        let socket = directory.path().join("elsewhere.sock");
        let note = serde_json::json!({"pid": 7, "version": "0.1.0", "socket": socket, "addresses": [],
            "started_at": "2026-05-04T14:30:00Z"});
        std::fs::write(home.daemon_file_path(), note.to_string()).unwrap();
        assert_eq!(home.socket_path(), directory.path().join("daemon.sock"));
        std::fs::write(&socket, "").unwrap();
        assert_eq!(home.socket_path(), socket);
    }

    #[test]
    fn a_note_that_is_too_long_empty_or_no_json_is_not_there() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::at(directory.path());
        let valid = serde_json::json!({"pid": 7, "socket": "/s"}).to_string();
        let padded = format!("{valid}{}", " ".repeat(10 * 1024 * 1024));
        for text in ["", "no json", padded.as_str()] {
            std::fs::write(home.daemon_file_path(), text).unwrap();
            assert_eq!(home.daemon_file(), None);
        }
        std::fs::write(home.daemon_file_path(), valid).unwrap();
        assert_eq!(home.daemon_file().unwrap().pid, 7);
    }
}
