//! The end of the log in memory: what watchers that keep up are served from, without a query.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

use compozy_domain::ChangeEntry;
use tokio::time::Instant;

use crate::resume_token::WatchTokens;

/// Entries that were read together. Positions are dense and entries never change, so a chunk stays true as long as
/// its epoch lasts, also when the log below it is trimmed.
#[derive(Debug)]
pub struct Chunk {
    /// The position before its first entry.
    pub after: i64,
    /// When this process read it.
    pub arrived: Instant,
    /// Its entries, ascending, without a gap.
    pub entries: Vec<ChangeEntry>,
    /// The tokens of all its entries for watches without any filter, made by the first of them, and the number of the
    /// key that was the newest then.
    unfiltered: OnceLock<(i64, Vec<Box<str>>)>,
}

impl Chunk {
    /// Entries that were read at this moment.
    #[must_use]
    pub fn new(after: i64, entries: Vec<ChangeEntry>) -> Self {
        Self {
            after,
            arrived: Instant::now(),
            entries,
            unfiltered: OnceLock::new(),
        }
    }

    /// The tokens of its entries, in their order. `tokens` has to be that of a watch without any filter: thousands of
    /// these are told the same changes, and a token costs more than the rest of its change. `None` after the key has
    /// changed: tokens of an old key do not last.
    pub fn unfiltered_tokens(&self, tokens: &mut WatchTokens) -> Option<&[Box<str>]> {
        let key = tokens.key_number();
        let (made_with, all) = self.unfiltered.get_or_init(|| {
            let all = self.entries.iter().map(|entry| tokens.at(entry.position));
            (key, all.map(String::into_boxed_str).collect())
        });
        (*made_with == key).then_some(all)
    }

    /// The position of its last entry.
    #[must_use]
    pub fn last(&self) -> i64 {
        self.entries.last().map_or(self.after, |entry| entry.position)
    }

    /// Its entries above a position.
    #[must_use]
    pub fn above(&self, position: i64) -> &[ChangeEntry] {
        let from = self.entries.partition_point(|entry| entry.position <= position);
        &self.entries[from..]
    }
}

/// The newest entries.
#[derive(Debug, Default)]
pub struct Recent {
    chunks: VecDeque<Arc<Chunk>>,
    count: usize,
}

impl Recent {
    /// Adds what follows, and lets the oldest go above a number of entries.
    pub fn push(&mut self, chunk: Chunk, limit: usize) {
        self.count += chunk.entries.len();
        self.chunks.push_back(Arc::new(chunk));
        while self.count > limit && self.chunks.len() > 1 {
            if let Some(oldest) = self.chunks.pop_front() {
                self.count -= oldest.entries.len();
            }
        }
    }

    /// The chunk that holds the entry behind a position; `None` if it is older or not there yet.
    #[must_use]
    pub fn behind(&self, position: i64) -> Option<Arc<Chunk>> {
        let at = self.chunks.partition_point(|chunk| chunk.last() <= position);
        let chunk = self.chunks.get(at)?;
        (chunk.after <= position).then(|| Arc::clone(chunk))
    }

    /// Forgets everything: another epoch has begun.
    pub fn clear(&mut self) {
        self.chunks.clear();
        self.count = 0;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use compozy_domain::{ChangeKind, ChangeOp, ChangeReason, HostId, NewChange, Timestamp, WorkspaceId};

    use super::*;

    fn chunk(positions: std::ops::RangeInclusive<i64>) -> Chunk {
        let entry = |position| ChangeEntry {
            position,
            change: NewChange::of_workspace(
                ChangeKind::Workspace,
                (ChangeOp::Upserted, ChangeReason::Updated),
                &HostId::parse("h1").unwrap(),
                &WorkspaceId::from_stored("ws_0123456789abcdef".to_owned()),
                position,
                Timestamp::from_nanos(position),
            ),
        };
        Chunk::new(positions.start() - 1, positions.map(entry).collect())
    }

    #[tokio::test]
    async fn what_follows_a_position_is_found_as_long_as_it_is_kept() {
        let mut recent = Recent::default();
        assert!(recent.behind(0).is_none());
        recent.push(chunk(11..=13), 6);
        recent.push(chunk(14..=14), 6);
        recent.push(chunk(15..=17), 6);
        assert!(recent.behind(10).is_none(), "the oldest chunk had to go");
        assert!(recent.behind(12).is_none());
        for (position, first) in [(13, 14), (14, 15), (15, 16), (16, 17)] {
            let chunk = recent.behind(position).unwrap();
            assert_eq!(chunk.above(position)[0].position, first);
        }
        assert!(recent.behind(17).is_none(), "nothing follows yet");
        recent.push(chunk(18..=40), 6);
        assert_eq!(
            recent.behind(20).unwrap().above(20).len(),
            20,
            "the newest always stays"
        );
        recent.clear();
        assert!(recent.behind(20).is_none());
    }
}
