//! Time as the catalog keeps it. Nothing reads the system's clock but an implementation of [`Clock`].

use std::time::Duration;

/// An instant: nanoseconds since 1970-01-01T00:00:00Z, negative before it. Reaches to the year 2262.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// From nanoseconds since the epoch.
    #[must_use]
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// From whole seconds and nanoseconds of the second; `None` outside the years that fit.
    #[must_use]
    pub fn from_parts(seconds: i64, nanos: u32) -> Option<Self> {
        seconds
            .checked_mul(1_000_000_000)?
            .checked_add(i64::from(nanos))
            .map(Self)
    }

    /// Nanoseconds since the epoch.
    #[must_use]
    pub const fn nanos(self) -> i64 {
        self.0
    }

    /// Whole seconds since the epoch, rounded down, and the nanoseconds of that second.
    #[must_use]
    pub const fn parts(self) -> (i64, u32) {
        (
            self.0.div_euclid(1_000_000_000),
            self.0.rem_euclid(1_000_000_000) as u32,
        )
    }

    /// Milliseconds since the epoch, not below 0, as a ULID carries them.
    #[must_use]
    pub fn millis(self) -> u64 {
        u64::try_from(self.0 / 1_000_000).unwrap_or(0)
    }

    /// This instant plus a span; saturates.
    #[must_use]
    pub fn plus(self, span: Duration) -> Self {
        Self(
            self.0
                .saturating_add(i64::try_from(span.as_nanos()).unwrap_or(i64::MAX)),
        )
    }

    /// This instant minus a span; saturates.
    #[must_use]
    pub fn minus(self, span: Duration) -> Self {
        Self(
            self.0
                .saturating_sub(i64::try_from(span.as_nanos()).unwrap_or(i64::MAX)),
        )
    }
}

/// Where the current time comes from.
pub trait Clock: Send + Sync + std::fmt::Debug {
    /// The current instant.
    fn now(&self) -> Timestamp;
}
