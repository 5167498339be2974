//! Stand-ins for time and randomness.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use compozy_domain::{Clock, Random, RandomFailed, Timestamp};
use compozy_server::random::SystemRandom;

/// 2026-05-04T14:30:00Z.
const START: i64 = 1_777_905_000_000_000_000;

/// A clock that stands still until it is told to go on.
#[derive(Debug)]
pub(crate) struct TestClock(AtomicI64);

impl TestClock {
    pub(crate) fn new() -> Self {
        Self(AtomicI64::new(START))
    }

    pub(crate) fn advance(&self, span: Duration) {
        self.0
            .fetch_add(i64::try_from(span.as_nanos()).unwrap(), Ordering::Relaxed);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_nanos(self.0.load(Ordering::Relaxed))
    }
}

/// The system's randomness, which a case can make fail.
#[derive(Debug, Default)]
pub(crate) struct TestRandom {
    fails: AtomicBool,
}

impl TestRandom {
    pub(crate) fn fail(&self, fails: bool) {
        self.fails.store(fails, Ordering::Relaxed);
    }
}

impl Random for TestRandom {
    fn fill(&self, buffer: &mut [u8]) -> Result<(), RandomFailed> {
        if self.fails.load(Ordering::Relaxed) {
            return Err(RandomFailed);
        }
        SystemRandom.fill(buffer)
    }
}
