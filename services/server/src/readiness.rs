//! Asks the store again and again whether it answers, and tells health and the metrics.

use std::sync::Arc;
use std::time::Duration;

use crate::catalog::Readiness;
use crate::health::HealthBoard;
use crate::shutdown::Shutdown;
use crate::telemetry::Metrics;

/// Time for one answer.
const PATIENCE: Duration = Duration::from_secs(2);
const WHILE_READY: Duration = Duration::from_secs(1);
const WHILE_AWAY: Duration = Duration::from_millis(250);

/// Runs until the server drains.
pub async fn observe(
    readiness: Arc<dyn Readiness>,
    board: HealthBoard,
    metrics: Arc<Metrics>,
    shutdown: Shutdown,
) {
    let draining = shutdown.draining();
    let mut known = None;
    loop {
        let problem = tokio::select! {
            biased;
            () = draining.cancelled() => return,
            answer = tokio::time::timeout(PATIENCE, readiness.check()) => match answer {
                Ok(Ok(())) => None,
                Ok(Err(error)) => Some(error.to_string()),
                Err(_) => Some("it does not answer".to_owned()),
            },
        };
        let ready = problem.is_none();
        board.set_serving(ready);
        metrics.store_ready.set(i64::from(ready));
        if known.replace(ready) != Some(ready) {
            match &problem {
                None => tracing::info!("serving"),
                Some(problem) => tracing::warn!(problem, "not serving: the store can't be used"),
            }
        }
        tokio::select! {
            () = draining.cancelled() => return,
            () = tokio::time::sleep(if ready { WHILE_READY } else { WHILE_AWAY }) => {}
        }
    }
}
