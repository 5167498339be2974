//! One daemon per home: a lock that the kernel releases when its holder dies, however it dies.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};

use crate::failure::{Failure, FailureKind};
use crate::home::Home;

/// How long to insist: somebody may just be looking whether the lock is held.
const PATIENCE: Duration = Duration::from_millis(500);
const PAUSE: Duration = Duration::from_millis(20);

/// The lock of a home. Held until it is dropped.
#[derive(Debug)]
pub struct DaemonLock {
    _file: File,
}

impl DaemonLock {
    /// Takes the lock and writes this process's id into it.
    ///
    /// # Errors
    /// When another daemon has it: names its process. When the file can't be used: names the file.
    pub fn acquire(home: &Home) -> Result<Self, Failure> {
        let path = home.lock_path();
        let failed = |error: &io::Error| Failure::io("lock", &path, error);
        let mut file = open(home, OFlags::RDWR | OFlags::CREATE).map_err(|error| failed(&error))?;
        let begun = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if begun.elapsed() < PATIENCE => std::thread::sleep(PAUSE),
                Err(TryLockError::WouldBlock) => return Err(taken(home, pid_in(&mut file))),
                Err(TryLockError::Error(error)) => return Err(failed(&error)),
            }
        }
        let written = file
            .set_len(0)
            .and_then(|()| writeln!(file, "{}", std::process::id()));
        written.map_err(|error| failed(&error))?;
        Ok(Self { _file: file })
    }
}

/// The process that holds the lock of a home; `None` if nobody does.
#[must_use]
pub fn holder(home: &Home) -> Option<u32> {
    let mut file = open(home, OFlags::RDONLY).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => Some(pid_in(&mut file).unwrap_or(0)),
        _ => None,
    }
}

fn open(home: &Home, flags: OFlags) -> io::Result<File> {
    let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mode = Mode::from_raw_mode(0o600);
    let file = rustix::fs::open(home.lock_path(), flags, mode)?;
    Ok(File::from(file))
}

fn pid_in(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

fn taken(home: &Home, pid: Option<u32>) -> Failure {
    let who = pid.map_or_else(
        || "another daemon".to_owned(),
        |pid| format!("the daemon with pid {pid}"),
    );
    let message = format!(
        "{who} already runs on {}: use it, or stop it first",
        home.path().display()
    );
    Failure::new(FailureKind::Unavailable, message)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_second_one_is_told_who_has_it() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::at(directory.path());
        assert_eq!(holder(&home), None);
        let lock = DaemonLock::acquire(&home).unwrap();
        assert_eq!(holder(&home), Some(std::process::id()));
        let refused = DaemonLock::acquire(&home).unwrap_err();
        assert_eq!(refused.exit_code(), 69);
        assert!(
            refused.to_string().contains(&std::process::id().to_string()),
            "{refused}"
        );
        drop(lock);
        assert_eq!(holder(&home), None);
        assert!(DaemonLock::acquire(&home).is_ok());
    }
}
