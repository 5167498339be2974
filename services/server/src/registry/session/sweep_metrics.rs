//! Numbers of the sweep.

use std::sync::atomic::AtomicU64;

use compozy_store::Swept;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;

use crate::telemetry::Metrics;

/// Counters and gauges.
#[derive(Debug, Clone, Default)]
pub struct SweepMetrics {
    /// Runs that failed.
    pub failed: Counter<u64, AtomicU64>,
    /// Runtime leases, as last counted.
    pub live_leases: Gauge,
    runs: Counter<u64, AtomicU64>,
    stopped: Counter<u64, AtomicU64>,
    granted: Counter<u64, AtomicU64>,
    attach_lapsed: Counter<u64, AtomicU64>,
    edges: Counter<u64, AtomicU64>,
    unusable: Gauge,
}

impl SweepMetrics {
    /// Everything at zero, and known to whoever reads the numbers.
    #[must_use]
    pub fn new(metrics: &Metrics) -> Self {
        let own = Self::default();
        metrics.register(|registry| {
            for (name, help, counter) in [
                (
                    "compozy_sweeps",
                    "Sweeps of the sessions that were done",
                    &own.runs,
                ),
                (
                    "compozy_sweeps_failed",
                    "Sweeps of the sessions that failed",
                    &own.failed,
                ),
                (
                    "compozy_sweep_sessions_stopped",
                    "Sessions that a sweep gave up",
                    &own.stopped,
                ),
                (
                    "compozy_sweep_leases_granted",
                    "Leases that a sweep prolonged because the catalog had been away",
                    &own.granted,
                ),
                (
                    "compozy_sweep_attach_leases_lapsed",
                    "Leases of operators that a sweep ended",
                    &own.attach_lapsed,
                ),
                (
                    "compozy_sweep_edges",
                    "Sessions whose health or badge time had changed",
                    &own.edges,
                ),
            ] {
                registry.register(name, help, counter.clone());
            }
            registry.register(
                "compozy_sweep_sessions_unusable",
                "Sessions whose rows the last sweep could not use",
                own.unusable.clone(),
            );
            registry.register(
                "compozy_runtime_leases",
                "Runtime leases, counted every minute",
                own.live_leases.clone(),
            );
        });
        own
    }

    /// Counts a run.
    pub fn count(&self, swept: &Swept) {
        let Swept {
            stopped,
            granted_count,
            attach_lapsed_count,
            edge_count,
            unusable,
        } = swept;
        let size = |length: usize| u64::try_from(length).unwrap_or(u64::MAX);
        self.runs.inc();
        self.stopped.inc_by(size(stopped.len()));
        self.granted.inc_by(*granted_count);
        self.attach_lapsed.inc_by(*attach_lapsed_count);
        self.edges.inc_by(*edge_count);
        self.unusable
            .set(i64::try_from(unusable.len()).unwrap_or(i64::MAX));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_counted_with_everything_that_it_did() {
        let metrics = Metrics::new();
        let sweeps = SweepMetrics::new(&metrics);
        sweeps.count(&Swept {
            granted_count: 2,
            attach_lapsed_count: 3,
            edge_count: 4,
            unusable: vec![(String::new(), String::new())],
            ..Swept::default()
        });
        sweeps.failed.inc();
        let text = metrics.text();
        for line in [
            "compozy_sweeps_total 1",
            "compozy_sweeps_failed_total 1",
            "compozy_sweep_sessions_stopped_total 0",
            "compozy_sweep_leases_granted_total 2",
            "compozy_sweep_attach_leases_lapsed_total 3",
            "compozy_sweep_edges_total 4",
            "compozy_sweep_sessions_unusable 1",
            "compozy_runtime_leases 0",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
    }
}
