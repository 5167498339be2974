//! How long a connection is waited for. A server that was not reached is not waited for at length again until it
//! has been: its callers have retries of their own, and a deadline.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::sql::postgres::fault;

/// While the server answers, a wait for a free connection.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
/// While it does not.
const PATIENCE_WHILE_AWAY: Duration = Duration::from_millis(300);

/// Whether the server was reached when it was last tried.
#[derive(Debug, Default)]
pub(super) struct Reach {
    away: AtomicBool,
}

impl Reach {
    /// Waits for a connection of a pool.
    pub(super) async fn wait_for<T>(&self, acquiring: impl Future<Output = sqlx::Result<T>>) -> Result<T> {
        let away = self.away.load(Ordering::Relaxed);
        let patience = if away { PATIENCE_WHILE_AWAY } else { PATIENCE };
        let outcome = match tokio::time::timeout(patience, acquiring).await {
            Ok(outcome) => outcome.map_err(fault),
            Err(_) => Err(Error::Unavailable {
                outcome_unknown: false,
                detail: "no connection in time".into(),
            }),
        };
        match &outcome {
            Ok(_) => self.away.store(false, Ordering::Relaxed),
            Err(Error::Unavailable { .. }) => self.away.store(true, Ordering::Relaxed),
            Err(_) => {}
        }
        outcome
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_server_that_was_not_reached_is_waited_for_briefly_until_it_is_back() {
        let reach = Reach::default();
        let never = || std::future::pending::<sqlx::Result<()>>();
        let took = |begun: tokio::time::Instant| begun.elapsed();
        for patience in [PATIENCE, PATIENCE_WHILE_AWAY, PATIENCE_WHILE_AWAY] {
            let begun = tokio::time::Instant::now();
            assert!(matches!(
                reach.wait_for(never()).await,
                Err(Error::Unavailable { .. })
            ));
            assert!(took(begun) >= patience && took(begun) < patience + Duration::from_millis(50));
        }
        reach.wait_for(async { Ok(()) }).await.unwrap();
        let begun = tokio::time::Instant::now();
        reach.wait_for(never()).await.unwrap_err();
        assert!(took(begun) >= PATIENCE);
    }
}
