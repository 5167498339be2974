//! From the log to what is told next: entry by entry while the client keeps up, by way of the map once it has fallen
//! behind.

use compozy_domain::{CatalogError, ChangeEntry, limits};

use super::super::log::Piece;
use super::super::patience::patiently;
use super::super::recent::Chunk;
use super::{Lost, Phase, Watcher};
use crate::convert::change as convert;
use crate::planted;

/// Changes of a message when rows ride along, which may be long.
const ROWS_OF_A_MESSAGE: usize = 32;

impl Watcher {
    /// Makes the next changes ready. `false` if there are none.
    pub(super) async fn gather(&mut self) -> Result<bool, CatalogError> {
        if self.ready.is_empty() && self.behind.is_empty() {
            // What lies between was hidden, or told by a resync: a token never goes back behind it.
            self.told = self.cursor;
        }
        if !self.behind.is_empty() && self.has_collected() {
            self.take_from_behind();
        } else {
            match patiently(self.parts.log.behind(&self.epoch, self.cursor)).await? {
                Piece::Nothing => {
                    self.behind_until = None;
                    return Ok(false);
                }
                Piece::Recent(chunk) => self.take_recent(&chunk),
                Piece::Older(chunk) => self.take(&chunk, true),
                Piece::Trimmed => self.lose(Lost::Behind),
                Piece::OtherEpoch => self.lose(Lost::Epoch),
            }
        }
        // A filter that hides everything must not keep the thread.
        tokio::task::consume_budget().await;
        Ok(true)
    }

    /// Takes entries of a chunk, and of those that follow in memory as long as they fit into the message.
    fn take_recent(&mut self, chunk: &Chunk) {
        self.take(chunk, false);
        while !self.ready.is_empty() && self.ready.len() < self.batch() && self.behind_until.is_none() {
            match self.parts.log.in_memory(&self.epoch, self.cursor) {
                Some(chunk) => self.take(&chunk, false),
                None => return,
            }
        }
    }

    /// Takes entries of a chunk: to tell them, or to collect them while the client is behind.
    fn take(&mut self, chunk: &Chunk, is_old: bool) {
        let settings = self.parts.settings;
        let is_late = chunk.arrived.elapsed() > settings.behind_after || is_old;
        let has_paused = self.pause > settings.behind_after;
        if self.behind_until.is_none() && (has_paused || (is_late && matches!(self.phase, Phase::Live))) {
            self.behind_until = Some(self.parts.log.known().head);
        }
        let Some(until) = self.behind_until else {
            return self.take_to_tell(chunk);
        };
        for entry in chunk.above(self.cursor) {
            if entry.position > until || self.behind.bytes() >= settings.behind_bytes {
                if planted::is("drop_on_overflow") {
                    self.cursor = until;
                }
                break;
            }
            self.cursor = entry.position;
            if self
                .filter
                .see(&entry.change, &self.principal.visibility)
                .is_some()
                && self.behind.put(entry.clone())
            {
                self.parts.metrics.coalesced.inc();
            }
        }
        if self.cursor >= until && self.behind.is_empty() {
            self.behind_until = None;
        }
    }

    fn take_to_tell(&mut self, chunk: &Chunk) {
        let entries = chunk.above(self.cursor);
        let mut tokens: &[Box<str>] = &[];
        if self.is_unfiltered {
            if let Some(all) = chunk.unfiltered_tokens(&mut self.tokens) {
                tokens = &all[all.len() - entries.len()..];
            }
            let room = self.batch() - self.ready.len();
            self.ready.reserve_exact(entries.len().min(room));
        }
        for (at, entry) in entries.iter().enumerate() {
            self.cursor = entry.position;
            self.make_ready(entry, tokens.get(at).map(|token| &**token));
            if self.ready.len() >= self.batch() {
                break;
            }
        }
        if self.ready.is_empty() {
            // Everything was hidden: a watcher that waits holds no memory.
            self.ready = Vec::new();
        }
    }

    /// Whether the map is to be told now: it is full, or holds everything that it is to hold.
    pub(super) fn has_collected(&self) -> bool {
        self.behind.bytes() >= self.parts.settings.behind_bytes
            || self.behind_until.is_none_or(|until| self.cursor >= until)
    }

    /// Tells the whole map, in as many messages as it takes, before more is read.
    fn take_from_behind(&mut self) {
        while self.ready.len() < self.batch() {
            let Some(entry) = self.behind.pop() else { break };
            self.make_ready(&entry, None);
        }
        if self.behind.is_empty() && self.behind_until.is_some_and(|until| self.cursor >= until) {
            self.behind_until = None;
        }
    }

    fn make_ready(&mut self, entry: &ChangeEntry, token: Option<&str>) {
        let Some(seen) = self.filter.see(&entry.change, &self.principal.visibility) else {
            return;
        };
        if planted::hits("skip_one", entry) {
            return;
        }
        let token = token.map_or_else(|| self.tokens.at(entry.position), str::to_owned);
        let change = convert::change(&entry.change, &seen, token);
        if planted::hits("repeat_one", entry) {
            self.ready.push(change.clone());
            self.ready_at.push(entry.position);
        }
        self.ready.push(change);
        self.ready_at.push(entry.position);
        if planted::is("reorder_two") && self.ready.len() > 1 {
            let last = self.ready.len() - 1;
            self.ready.swap(last - 1, last);
        }
    }

    fn batch(&self) -> usize {
        if self.include_rows {
            ROWS_OF_A_MESSAGE
        } else {
            limits::BATCH_CHANGES_MAX
        }
    }

    fn lose(&mut self, lost: Lost) {
        self.lost = Some(lost);
    }
}
