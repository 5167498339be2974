//! The system's time, a span away from it.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use compozy_domain::{Clock, Timestamp};
use compozy_server::clock::SystemClock;

#[derive(Debug, Default)]
pub(crate) struct ShiftedClock(AtomicI64);

impl ShiftedClock {
    /// Sets it ahead.
    pub(crate) fn ahead(&self, span: Duration) {
        let nanos = i64::try_from(span.as_nanos()).unwrap();
        self.0.fetch_add(nanos, Ordering::Relaxed);
    }

    /// Sets it back.
    pub(crate) fn back(&self, span: Duration) {
        let nanos = i64::try_from(span.as_nanos()).unwrap();
        self.0.fetch_sub(nanos, Ordering::Relaxed);
    }
}

impl Clock for ShiftedClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_nanos(SystemClock.now().nanos() + self.0.load(Ordering::Relaxed))
    }
}
