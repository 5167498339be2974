//! Numbers of the cache of snapshots.

use std::sync::atomic::{AtomicU64, Ordering};

use compozy_resolver::cache::Counts;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Unit;

use crate::telemetry::Metrics;

/// Counters and gauges.
#[derive(Debug, Default)]
pub struct ResolutionMetrics {
    /// Snapshots that were answered as they were kept.
    pub hits: Counter<u64, AtomicU64>,
    /// Snapshots that had to be made.
    pub misses: Counter<u64, AtomicU64>,
    /// Snapshots that are kept.
    pub entries: Gauge,
    /// Bytes of them, roughly.
    pub bytes: Gauge,
}

impl ResolutionMetrics {
    /// Says how the cache stands.
    pub(super) fn tell(&self, counts: Counts) {
        let Counts {
            hits,
            misses,
            entries,
            bytes,
        } = counts;
        // Told by several callers at once, in any order: a counter never falls.
        self.hits.inner().fetch_max(hits, Ordering::Relaxed);
        self.misses.inner().fetch_max(misses, Ordering::Relaxed);
        self.entries.set(i64::try_from(entries).unwrap_or(i64::MAX));
        self.bytes.set(i64::try_from(bytes).unwrap_or(i64::MAX));
    }

    /// Makes the numbers known to whoever reads them.
    pub fn register(&self, metrics: &Metrics) {
        metrics.register(|registry| {
            registry.register(
                "compozy_snapshot_cache_hits",
                "Snapshots of workspaces that were answered from memory",
                self.hits.clone(),
            );
            registry.register(
                "compozy_snapshot_cache_misses",
                "Snapshots of workspaces that had to be made",
                self.misses.clone(),
            );
            registry.register(
                "compozy_snapshot_cache_entries",
                "Snapshots of workspaces in memory",
                self.entries.clone(),
            );
            registry.register_with_unit(
                "compozy_snapshot_cache",
                "Memory that these snapshots take, roughly",
                Unit::Bytes,
                self.bytes.clone(),
            );
        });
    }
}
