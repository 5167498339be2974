//! A sign of life on stderr, for people who wait longer than half a second.

use std::future::Future;
use std::io::{IsTerminal, stderr};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Nothing is shown of what is done by then.
const PATIENCE: Duration = Duration::from_millis(500);
/// Pause between two pictures.
const TICK: Duration = Duration::from_millis(100);

/// Does the work, and shows that it goes on.
pub(crate) async fn during<T>(doing: &'static str, work: impl Future<Output = T>) -> T {
    if !stderr().is_terminal() {
        return work.await;
    }
    tokio::pin!(work);
    if let Ok(done) = tokio::time::timeout(PATIENCE, &mut work).await {
        return done;
    }
    let _shown = Shown::new(doing);
    work.await
}

/// A spinner that goes away with its owner, also when the work is given up.
struct Shown(ProgressBar);

impl Shown {
    fn new(doing: &'static str) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
            bar.set_style(style);
        }
        bar.set_message(doing);
        bar.enable_steady_tick(TICK);
        Self(bar)
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
