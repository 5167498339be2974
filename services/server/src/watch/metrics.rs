//! Numbers of the change stream.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;

use crate::telemetry::Metrics;

/// Why a watcher was told to read again.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ResyncLabels {
    reason: &'static str,
}

/// Counters and gauges.
#[derive(Debug)]
pub struct WatchMetrics {
    /// Watches that are open.
    pub watchers: Gauge,
    /// Changes that were told to watchers.
    pub delivered: Counter<u64, AtomicU64>,
    /// Changes that a later one of the same thing replaced, because a client did not read.
    pub coalesced: Counter<u64, AtomicU64>,
    /// Entries that this process gave a position.
    pub numbered: Counter<u64, AtomicU64>,
    /// Reads of the log below what is in memory.
    pub older_reads: Counter<u64, AtomicU64>,
    resyncs: Family<ResyncLabels, Counter<u64, AtomicU64>>,
    head: Gauge,
    floor: Gauge,
}

impl WatchMetrics {
    /// Everything at zero, and known to whoever reads the numbers.
    #[must_use]
    pub fn new(metrics: &Metrics) -> Arc<Self> {
        let own = Self {
            watchers: Gauge::default(),
            delivered: Counter::default(),
            coalesced: Counter::default(),
            numbered: Counter::default(),
            older_reads: Counter::default(),
            resyncs: Family::default(),
            head: metrics.change_log_head.clone(),
            floor: metrics.change_log_floor.clone(),
        };
        for reason in ["expired", "epoch", "behind"] {
            drop(own.resyncs.get_or_create(&ResyncLabels { reason }));
        }
        metrics.register(|registry| {
            registry.register("compozy_watchers", "Open watches", own.watchers.clone());
            registry.register(
                "compozy_watch_changes_delivered",
                "Changes told to watchers",
                own.delivered.clone(),
            );
            registry.register(
                "compozy_watch_changes_coalesced",
                "Changes that a later one of the same thing replaced for a slow client",
                own.coalesced.clone(),
            );
            registry.register(
                "compozy_watch_resyncs",
                "Watchers that were told to read again, by reason",
                own.resyncs.clone(),
            );
            registry.register(
                "compozy_watch_older_reads",
                "Reads of the change log below what is in memory",
                own.older_reads.clone(),
            );
            registry.register(
                "compozy_change_log_numbered",
                "Entries of the change log that this process gave a position",
                own.numbered.clone(),
            );
        });
        Arc::new(own)
    }

    /// Counts a resync.
    pub fn count_resync(&self, reason: &'static str) {
        self.resyncs.get_or_create(&ResyncLabels { reason }).inc();
    }

    /// Says how far the log has got.
    pub fn told_head(&self, head: i64, floor: i64) {
        self.head.set(head);
        self.floor.set(floor);
    }
}
