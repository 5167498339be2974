//! `daemon.json`: what the running daemon says about itself, so that clients find it. A killed daemon leaves it
//! behind; whether it speaks the truth is known by the lock.

use std::path::PathBuf;

use compozy_domain::{Random, Timestamp};
use serde::{Deserialize, Serialize};

use crate::clock::rfc3339;
use crate::failure::{Failure, FailureKind};
use crate::home::Home;
use crate::small_file::{self, Links};

/// Bytes that are read at most; what is longer is not what it should be.
const BYTES_MAX: u64 = 64 * 1024;

/// What a daemon says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DaemonFile {
    /// Its process id.
    pub pid: u32,
    /// Its version.
    pub version: String,
    /// The socket that it really listens on, absolute.
    pub socket: PathBuf,
    /// The addresses that it listens on for TCP.
    #[serde(default)]
    pub addresses: Vec<String>,
    /// When it started, RFC 3339.
    pub started_at: String,
}

impl DaemonFile {
    /// What this process says.
    #[must_use]
    pub fn of_this_process(socket: PathBuf, addresses: Vec<String>, started_at: Timestamp) -> Self {
        Self {
            pid: std::process::id(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            socket,
            addresses,
            started_at: rfc3339(started_at),
        }
    }

    /// Writes it into the home.
    ///
    /// # Errors
    /// A failure that names the file.
    pub fn write(&self, home: &Home, random: &dyn Random) -> Result<(), Failure> {
        let mut text = serde_json::to_vec_pretty(self)
            .map_err(|error| Failure::new(FailureKind::Internal, format!("daemon.json: {error}")))?;
        text.push(b'\n');
        home.write(&home.daemon_file_path(), &text, random)
    }

    /// What the last daemon wrote; `None` if there is nothing usable. That daemon may be gone.
    #[must_use]
    pub fn read(home: &Home) -> Option<Self> {
        let text = small_file::read(&home.daemon_file_path(), BYTES_MAX, Links::Refuse).ok()??;
        serde_json::from_str(&text).ok()
    }

    /// What the running daemon wrote; `None` if none runs.
    #[must_use]
    pub fn of_running(home: &Home) -> Option<Self> {
        let holder = crate::lock::holder(home)?;
        Self::read(home).filter(|file| file.pid == holder)
    }

    /// Removes the file of this process at its end. Another daemon's file stays.
    pub fn remove_own(home: &Home) {
        if Self::read(home).is_some_and(|file| file.pid == std::process::id()) {
            // A stale file is recognised, so leaving it does no harm.
            let _ = std::fs::remove_file(home.daemon_file_path());
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::lock::DaemonLock;
    use crate::random::SystemRandom;

    fn file() -> DaemonFile {
        DaemonFile::of_this_process(
            "/s".into(),
            vec!["127.0.0.1:1".to_owned()],
            Timestamp::from_nanos(0),
        )
    }

    #[test]
    fn a_file_without_its_daemon_is_stale() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::at(directory.path());
        file().write(&home, &SystemRandom).unwrap();
        assert_eq!(DaemonFile::read(&home), Some(file()));
        assert_eq!(DaemonFile::of_running(&home), None);
        let _lock = DaemonLock::acquire(&home).unwrap();
        assert_eq!(DaemonFile::of_running(&home), Some(file()));
        let other = DaemonFile { pid: 1, ..file() };
        other.write(&home, &SystemRandom).unwrap();
        assert_eq!(
            DaemonFile::of_running(&home),
            None,
            "it speaks of another process"
        );
        DaemonFile::remove_own(&home);
        assert_eq!(DaemonFile::read(&home), Some(other));
    }

    #[test]
    fn c133_a_file_that_is_huge_empty_or_no_json_counts_as_none() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::at(directory.path());
        let huge = format!(
            "{}{}",
            serde_json::to_string(&file()).unwrap(),
            " ".repeat(10 * 1024 * 1024)
        );
        for text in ["", "no json", "{}", huge.as_str()] {
            std::fs::write(home.daemon_file_path(), text).unwrap();
            assert_eq!(DaemonFile::read(&home), None);
        }
    }
}
