//! The system's clock: the one place that reads it.

use std::time::{SystemTime, UNIX_EPOCH};

use compozy_domain::{Clock, Timestamp};

/// Time as the machine has it.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads the wall clock"
    )]
    fn now(&self) -> Timestamp {
        from_system(SystemTime::now())
    }
}

/// A file's time, or any other time of the system, as the catalog keeps it.
#[must_use]
pub fn from_system(time: SystemTime) -> Timestamp {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => Timestamp::from_nanos(0).plus(since),
        Err(before) => Timestamp::from_nanos(0).minus(before.duration()),
    }
}

/// An instant for people and files: RFC 3339 in UTC. Years that no calendar holds read as the epoch.
#[must_use]
pub fn rfc3339(at: Timestamp) -> String {
    let instant = jiff::Timestamp::from_nanosecond(i128::from(at.nanos())).unwrap_or_default();
    format!("{instant:.6}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_print_as_rfc_3339() {
        assert_eq!(
            rfc3339(Timestamp::from_nanos(1_800_000_000_123_456_789)),
            "2027-01-15T08:00:00.123456Z"
        );
        assert_eq!(
            rfc3339(Timestamp::from_nanos(-1_000)),
            "1969-12-31T23:59:59.999999Z"
        );
    }

    #[test]
    fn times_before_the_epoch_are_negative() {
        let before = UNIX_EPOCH - std::time::Duration::from_secs(5);
        assert_eq!(from_system(before).nanos(), -5_000_000_000);
    }
}
