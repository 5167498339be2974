//! The sweep: runs on every process, finds what time has changed, and brings the kept counts together.

use std::sync::Arc;
use std::time::{Duration, Instant};

use compozy_domain::session::filter::{Archive, SessionFilter};
use compozy_domain::session::{RuntimeState, StopReason};
use compozy_domain::{CatalogError, SessionId, Visibility};
use compozy_store::{CountSessions, Sweep, Swept};
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use super::sweep_metrics::SweepMetrics;
use crate::planted;
use crate::registry::{Registry, within};

/// How often it runs: often enough that the catalog never counts as having been away while it runs.
const PERIOD: Duration = Duration::from_secs(5);
/// How long one run may take, so that the next one begins in time; it goes on where this one ended.
const PATIENCE: Duration = Duration::from_secs(4);
/// How long everything beside it may take.
const PATIENCE_BESIDE: Duration = Duration::from_secs(2);
/// Runs between two counts of the live leases.
const RUNS_A_COUNT: u64 = 12;
/// Sessions that are looked up at once.
const NAMED_AT_ONCE: usize = 100;

impl Registry {
    /// Sweeps until it is told to stop. Health tells when the store is away; it is tried again soon.
    pub async fn run_sweep(self: Arc<Self>, metrics: SweepMetrics, stop: CancellationToken) {
        let mut ticks = tokio::time::interval(planted::sweep_period().unwrap_or(PERIOD));
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        // Rows that can't be used, and were told.
        let mut unusable = Vec::new();
        for run in 0_u64.. {
            tokio::select! {
                () = stop.cancelled() => return,
                _ = ticks.tick() => {}
            }
            match self.sweep_sessions().await {
                Ok(swept) => {
                    metrics.count(&swept);
                    self.tell_stopped(&swept.stopped).await;
                    if swept.unusable != unusable {
                        tell_unusable(&swept.unusable);
                        unusable = swept.unusable;
                    }
                }
                Err(error) => {
                    metrics.failed.inc();
                    tracing::debug!(%error, "the sessions could not be swept");
                }
            }
            if let Err(error) = self.fold_counts(&stop).await {
                tracing::debug!(%error, "the counts of sessions could not be folded");
            }
            if run % RUNS_A_COUNT == 0
                && let Ok(live) = self.count_live_leases().await
            {
                metrics.live_leases.set(live);
            }
        }
    }

    /// Looks once at every live session.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn sweep_sessions(&self) -> Result<Swept, CatalogError> {
        let sessions = &self.settings.sessions;
        let sweep = Sweep {
            start_timeout: sessions.start_timeout,
            stale_after: sessions.stale_after,
            now: self.now(),
            deadline: Instant::now() + PATIENCE,
        };
        // The store ends at the deadline by itself; what does not is left behind.
        within(sweep.deadline + PATIENCE_BESIDE, self.store.sweep(sweep)).await
    }

    async fn fold_counts(&self, stop: &CancellationToken) -> Result<(), CatalogError> {
        let deadline = Instant::now() + PATIENCE_BESIDE;
        while !stop.is_cancelled() && within(deadline, self.store.fold_counts()).await? > 0 {}
        Ok(())
    }

    async fn count_live_leases(&self) -> Result<i64, CatalogError> {
        let count = CountSessions {
            filter: SessionFilter {
                runtimes: vec![RuntimeState::Bound],
                archive: Archive::Include,
                include_internal: true,
                ..SessionFilter::default()
            },
            visibility: Visibility::All,
            now: self.now(),
            stale_after: self.settings.sessions.stale_after,
        };
        let totals = within(
            Instant::now() + PATIENCE_BESIDE,
            self.store.count_sessions(&count),
        )
        .await?;
        Ok(totals.by_state.iter().map(|(_, count)| count).sum())
    }

    /// One line for each session that was given up.
    async fn tell_stopped(&self, stopped: &[SessionId]) {
        for ids in stopped.chunks(NAMED_AT_ONCE) {
            let found = self.store.find_sessions(ids, &Visibility::All, self.now());
            // The line is worth more than the reason in it.
            let found = within(Instant::now() + PATIENCE_BESIDE, found)
                .await
                .unwrap_or_default();
            for id in ids {
                let session = found.iter().find(|at| at.session.id == *id);
                let stop = session.and_then(|at| at.session.stop.as_ref());
                let reason = stop.and_then(|stop| stop.reason);
                let reason = reason.map_or("unknown", StopReason::as_str);
                tracing::warn!(session = %id, reason, "a session was given up: its runtime is lost, or it did not start");
            }
        }
    }
}

fn tell_unusable(unusable: &[(String, String)]) {
    for (id, defect) in unusable {
        tracing::warn!(session = %id, %defect, "a session can't be swept: its row can't be used");
    }
}
