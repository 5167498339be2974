//! How long a repository takes, cold and warm, beside the bare work on the same paths in the same run.

use std::path::Path;
use std::time::{Duration, Instant};

use compozy_domain::Timestamp;
use compozy_resolver::Disk;
use compozy_resolver::snapshot::{Request, resolve};

use crate::Result;

/// Each is the median of so many.
const RUNS: usize = 15;

/// Medians. The files are in the page cache.
#[derive(Debug)]
pub(crate) struct Times {
    /// Paths that are watched.
    pub(crate) watched: usize,
    /// A resolve.
    pub(crate) cold: Duration,
    /// Opening and reading the files among the watched paths.
    pub(crate) bare_reads: Duration,
    /// Telling that nothing has changed.
    pub(crate) warm: Duration,
    /// `lstat` of the watched paths.
    pub(crate) bare_stats: Duration,
}

impl Times {
    pub(crate) fn measure(request: &Request) -> Result<Self> {
        let files = Disk::new();
        let once =
            || resolve(&files, request, Timestamp::from_nanos(0)).map_err(|fault| format!("{fault:?}"));
        let (_, mut watched) = once()?;
        let paths: Vec<String> = watched.paths().map(str::to_owned).collect();
        // What was just unpacked comes to rest first.
        while watched.has_recent() {
            std::thread::yield_now();
            watched.is_unchanged(&files);
        }
        Ok(Self {
            watched: paths.len(),
            cold: median(|| once().is_ok()),
            bare_reads: median(|| paths.iter().filter(|path| read(path)).count()),
            warm: median(|| watched.is_unchanged(&files)),
            bare_stats: median(|| {
                paths
                    .iter()
                    .filter(|path| Path::new(path).symlink_metadata().is_ok())
                    .count()
            }),
        })
    }
}

fn read(path: &str) -> bool {
    let path = Path::new(path);
    path.symlink_metadata().is_ok_and(|found| found.is_file()) && std::fs::read(path).is_ok()
}

fn median<T>(work: impl FnMut() -> T) -> Duration {
    let mut work = work;
    let mut spans: Vec<Duration> = (0..RUNS)
        .map(|_| {
            let started = Instant::now();
            std::hint::black_box(work());
            started.elapsed()
        })
        .collect();
    spans.sort();
    spans[RUNS / 2]
}
