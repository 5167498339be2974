//! The log's file: rotated when it is too big or too old. Lines are written whole, so none is lost or torn;
//! the oldest file goes when there are too many.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use compozy_domain::{Clock, Timestamp};
use rustix::fs::{FileType, Mode, OFlags};

use crate::clock::from_system;
use crate::config::LogConfig;

/// A file that begins anew when it is full. One writer.
#[derive(Debug)]
pub struct RotatingFile {
    path: PathBuf,
    file: File,
    bytes: u64,
    begun_at: Timestamp,
    max_bytes: u64,
    max_age: Duration,
    keep: usize,
    clock: Arc<dyn Clock>,
}

impl RotatingFile {
    /// Opens the file to append to it, or makes it, 0600.
    ///
    /// # Errors
    /// What the system says. A link is refused.
    pub fn open(path: &Path, config: &LogConfig, clock: Arc<dyn Clock>) -> io::Result<Self> {
        let file = open(path)?;
        let metadata = file.metadata()?;
        let begun_at = metadata.created().map_or_else(|_| clock.now(), from_system);
        Ok(Self {
            path: path.to_owned(),
            bytes: metadata.len(),
            file,
            begun_at,
            max_bytes: config.max_bytes,
            max_age: config.max_age,
            keep: config.keep,
            clock,
        })
    }

    fn is_full(&self, more: usize) -> bool {
        let too_big = self.bytes.saturating_add(more as u64) > self.max_bytes;
        self.bytes > 0 && (too_big || self.clock.now() >= self.begun_at.plus(self.max_age))
    }

    /// Moves `log` to `log.1`, `log.1` to `log.2` and so on, and begins a new one.
    fn rotate(&mut self) -> io::Result<()> {
        for number in (1..self.keep).rev() {
            match std::fs::rename(self.numbered(number), self.numbered(number + 1)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        std::fs::rename(&self.path, self.numbered(1))?;
        self.file = open(&self.path)?;
        self.bytes = 0;
        self.begun_at = self.clock.now();
        Ok(())
    }

    fn numbered(&self, number: usize) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(format!(".{number}"));
        name.into()
    }
}

impl Write for RotatingFile {
    /// Writes one whole line.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.is_full(line.len()) {
            // If it can't be rotated now, the line still belongs into the log.
            let _ = self.rotate();
        }
        self.file.write_all(line)?;
        self.bytes += line.len() as u64;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::WRONLY
        | OFlags::CREATE
        | OFlags::APPEND
        | OFlags::CLOEXEC
        | OFlags::NOFOLLOW
        | OFlags::NONBLOCK;
    let mode = Mode::from_raw_mode(0o600);
    let file = rustix::fs::open(path, flags, mode)?;
    if FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode) != FileType::RegularFile {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is no regular file",
        ));
    }
    rustix::fs::fchmod(&file, mode)?;
    Ok(File::from(file))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::unix::fs::PermissionsExt;
    use std::sync::atomic::{AtomicI64, Ordering};

    use super::*;
    use crate::config::LogStderr;

    #[derive(Debug, Default)]
    struct Settable(AtomicI64);

    impl Clock for Settable {
        fn now(&self) -> Timestamp {
            Timestamp::from_nanos(self.0.load(Ordering::Relaxed))
        }
    }

    fn config(max_bytes: u64, keep: usize) -> LogConfig {
        let max_age = Duration::from_secs(60);
        LogConfig {
            level: "info".to_owned(),
            max_bytes,
            max_age,
            keep,
            stderr: LogStderr::None,
        }
    }

    #[test]
    fn c141_a_full_file_is_rotated_and_every_line_stays_whole() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("compozy.log");
        let mut log = RotatingFile::open(&path, &config(4_096, 100), Arc::new(Settable::default())).unwrap();
        for number in 0..2_000 {
            log.write_all(format!("{{\"n\":{number}}}\n").as_bytes()).unwrap();
        }
        let mut numbers = Vec::new();
        for entry in std::fs::read_dir(directory.path()).unwrap() {
            let file = entry.unwrap().path();
            assert_eq!(
                std::fs::metadata(&file).unwrap().permissions().mode() & 0o777,
                0o600
            );
            let text = std::fs::read_to_string(&file).unwrap();
            assert!(text.len() <= 4_096 && text.ends_with('\n'));
            for line in text.lines() {
                let object: serde_json::Value = serde_json::from_str(line).unwrap();
                numbers.push(object["n"].as_u64().unwrap());
            }
        }
        numbers.sort_unstable();
        assert_eq!(numbers, (0..2_000).collect::<Vec<_>>());
        assert!(path.exists() && directory.path().join("compozy.log.1").exists());
    }

    #[test]
    fn an_old_file_is_rotated_and_only_so_many_are_kept() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("compozy.log");
        let clock = Arc::new(Settable::default());
        let mut log = RotatingFile::open(&path, &config(1 << 20, 2), clock.clone()).unwrap();
        log.begun_at = clock.now();
        for number in 0..5 {
            log.write_all(format!("{number}\n").as_bytes()).unwrap();
            clock.0.fetch_add(60_000_000_000, Ordering::Relaxed);
        }
        let read = |name: &str| std::fs::read_to_string(directory.path().join(name)).unwrap();
        assert_eq!(
            (read("compozy.log"), read("compozy.log.1"), read("compozy.log.2")),
            ("4\n".into(), "3\n".into(), "2\n".into())
        );
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 3);
    }

    #[test]
    fn a_link_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("compozy.log");
        std::os::unix::fs::symlink(directory.path().join("target"), &path).unwrap();
        assert!(RotatingFile::open(&path, &config(4_096, 1), Arc::new(Settable::default())).is_err());
        assert!(!directory.path().join("target").exists());
    }
}
