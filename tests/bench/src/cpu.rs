//! Cores and what a process costs, from the kernel.

use std::collections::HashMap;
use std::fs;
use std::time::Duration;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Which core a process has for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Core {
    /// The measured server, and whatever stands for its floor.
    Measured,
    /// This process, and a database that the server asks.
    Asking,
}

/// Pins this thread, and what it starts from now on.
pub(crate) fn pin(core: Core) {
    let mut set = CpuSet::new();
    set.set(cores()[usize::from(core == Core::Asking)]);
    sched_setaffinity(None, &set).unwrap();
}

/// Starts something on a core. What it starts inherits the core of this thread.
pub(crate) fn on<T>(core: Core, start: impl FnOnce() -> T) -> T {
    pin(core);
    let started = start();
    pin(Core::Asking);
    started
}

/// The first and the last core of the machine; the same one if it has only one.
fn cores() -> [usize; 2] {
    static CORES: std::sync::OnceLock<[usize; 2]> = std::sync::OnceLock::new();
    *CORES.get_or_init(|| {
        let allowed = sched_getaffinity(None).unwrap();
        let mut cores = (0..CpuSet::MAX_CPU).filter(|&core| allowed.is_set(core));
        let first = cores.next().unwrap();
        [first, cores.next_back().unwrap_or(first)]
    })
}

/// Time that the threads of a process have run, by thread. A thread that ends takes its time with it, so a window
/// is measured with threads that outlive it.
#[derive(Debug)]
pub(crate) struct Busy(HashMap<String, u64>);

impl Busy {
    /// Reads the scheduler's statistics of a process.
    pub(crate) fn of(pid: u32) -> Self {
        let mut threads = HashMap::new();
        for entry in fs::read_dir(format!("/proc/{pid}/task")).unwrap() {
            let entry = entry.unwrap();
            let Ok(statistics) = fs::read_to_string(entry.path().join("schedstat")) else {
                continue;
            };
            let nanos = statistics.split(' ').next().unwrap().parse().unwrap();
            threads.insert(entry.file_name().to_str().unwrap().to_owned(), nanos);
        }
        Self(threads)
    }

    /// What has been added since.
    pub(crate) fn since(&self, before: &Self) -> Duration {
        let added = self
            .0
            .iter()
            .map(|(thread, nanos)| nanos - before.0.get(thread).unwrap_or(&0));
        Duration::from_nanos(added.sum())
    }
}

/// Memory of a process that is in RAM, in bytes.
pub(crate) fn resident_bytes(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .unwrap();
    let kibibytes: u64 = line.trim().trim_end_matches("kB").trim().parse().unwrap();
    kibibytes * 1024
}
