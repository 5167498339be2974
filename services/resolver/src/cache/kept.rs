//! The entries of the cache, within their bounds: the one that was not used for longest goes first.

use std::collections::HashMap;
use std::sync::Arc;

use compozy_domain::{Timestamp, WorkspaceId};

use super::{Bounds, Key};
use crate::snapshot::{Request, Snapshot};
use crate::watched::Watched;

/// A kept snapshot.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) request: Request,
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) watched: Watched,
    weight: usize,
}

#[derive(Debug)]
struct Used {
    entry: Entry,
    last: Timestamp,
    /// Orders uses within one instant, and when the clock was set back.
    turn: u64,
}

#[derive(Debug)]
pub(super) struct Kept {
    bounds: Bounds,
    entries: HashMap<Key, Used>,
    bytes: usize,
    turns: u64,
}

impl Entry {
    pub(super) fn new(request: &Request, snapshot: Arc<Snapshot>, watched: Watched) -> Self {
        let texts = request.additional_dirs.iter().chain(&request.profile_names);
        let texts: usize = texts.map(|text| size_of::<String>() + text.len()).sum();
        let weight = snapshot.weight() + watched.weight() + size_of::<Used>() + texts;
        Self {
            request: request.clone(),
            snapshot,
            watched,
            weight,
        }
    }
}

impl Kept {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            entries: HashMap::new(),
            bytes: 0,
            turns: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn take(&mut self, key: &Key) -> Option<Entry> {
        let used = self.entries.remove(key)?;
        self.bytes -= used.entry.weight;
        Some(used.entry)
    }

    /// Keeps an entry as the one that was used last; one that is larger than everything may be is not kept.
    pub(super) fn put(&mut self, key: Key, entry: Entry, now: Timestamp) {
        self.take(&key);
        if entry.weight > self.bounds.bytes || self.bounds.entries == 0 {
            return;
        }
        while self.entries.len() >= self.bounds.entries || self.bytes + entry.weight > self.bounds.bytes {
            self.drop_oldest();
        }
        self.bytes += entry.weight;
        self.turns += 1;
        let turn = self.turns;
        self.entries.insert(
            key,
            Used {
                entry,
                last: now,
                turn,
            },
        );
    }

    pub(super) fn remove_all(&mut self, workspace_id: &WorkspaceId) {
        self.retain(|key, _| key.workspace_id != *workspace_id);
    }

    /// Drops what was not used for the idle time.
    pub(super) fn expire(&mut self, now: Timestamp) {
        let oldest = now.minus(self.bounds.idle);
        self.retain(|_, used| {
            // A clock that was set back does not make an entry live longer than from now.
            used.last = used.last.min(now);
            used.last > oldest
        });
    }

    fn retain(&mut self, mut keep: impl FnMut(&Key, &mut Used) -> bool) {
        let mut bytes = 0;
        self.entries.retain(|key, used| {
            let kept = keep(key, used);
            bytes += if kept { used.entry.weight } else { 0 };
            kept
        });
        self.bytes = bytes;
    }

    fn drop_oldest(&mut self) {
        let oldest = self.entries.iter().min_by_key(|(_, used)| used.turn);
        if let Some(key) = oldest.map(|(key, _)| key.clone()) {
            self.take(&key);
        }
    }
}
