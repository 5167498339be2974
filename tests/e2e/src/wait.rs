//! Waiting for what another process brings about: for a condition, never for a time.

use std::future::Future;
use std::time::{Duration, Instant};

/// How long a condition may take to come true.
const LIMIT: Duration = Duration::from_secs(120);
/// Pause between two looks.
const PAUSE: Duration = Duration::from_millis(5);

/// Waits until `condition` holds.
#[track_caller]
pub fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < LIMIT, "waited in vain for: {what}");
        std::thread::sleep(PAUSE);
    }
}

/// Waits until `condition` holds, on a runtime.
pub async fn until_async<F: Future<Output = bool>>(what: &str, mut condition: impl FnMut() -> F) {
    let begun = Instant::now();
    while !condition().await {
        assert!(begun.elapsed() < LIMIT, "waited in vain for: {what}");
        tokio::time::sleep(PAUSE).await;
    }
}
