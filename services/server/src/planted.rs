//! Bugs that the watch checker has to find, and bounds that it sets smaller so that they show. Compiled in with the
//! feature `planted-bugs` only, which no release has.

use std::time::Duration;

use compozy_domain::ChangeEntry;

use crate::watch::WatchSettings;

/// Every so many positions a bug shows.
const EVERY: i64 = 23;

/// Whether a bug is planted.
pub(crate) fn is(bug: &str) -> bool {
    compozy_store::planted::is(bug)
}

/// Whether a bug is planted that shows at this entry.
pub(crate) fn hits(bug: &str, entry: &ChangeEntry) -> bool {
    is(bug) && entry.position % EVERY == 0
}

/// The bounds of watches, smaller where the environment says so.
pub(crate) fn watch_settings(settings: WatchSettings) -> WatchSettings {
    let bytes = number("COMPOZY_TEST_WATCH_BEHIND_BYTES").and_then(|bytes| bytes.try_into().ok());
    WatchSettings {
        behind_bytes: bytes.unwrap_or(settings.behind_bytes),
        behind_after: millis("COMPOZY_TEST_WATCH_BEHIND_AFTER_MS").unwrap_or(settings.behind_after),
        ..settings
    }
}

/// How often old things are looked for, if the environment says so.
pub(crate) fn upkeep_period() -> Option<Duration> {
    millis("COMPOZY_TEST_UPKEEP_PERIOD_MS")
}

/// How often sessions are swept, if the environment says so.
pub(crate) fn sweep_period() -> Option<Duration> {
    millis("COMPOZY_TEST_SWEEP_PERIOD_MS")
}

fn millis(variable: &str) -> Option<Duration> {
    number(variable).map(Duration::from_millis)
}

#[cfg(feature = "planted-bugs")]
fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

#[cfg(not(feature = "planted-bugs"))]
const fn number(_variable: &str) -> Option<u64> {
    None
}
