//! What a client that did not read has missed: the last change of each thing, in the order of the last changes. The
//! map has a bound in bytes; what does not fit stays in the log until there is room.

use std::collections::{BTreeMap, HashMap};
use std::mem::size_of;

use compozy_domain::{ChangeEntry, Thing};

/// The map.
#[derive(Debug, Default)]
pub struct Behind {
    places: HashMap<Thing, i64>,
    entries: BTreeMap<i64, ChangeEntry>,
    bytes: usize,
}

impl Behind {
    /// Takes a later change than all before. Says whether it replaced one.
    pub fn put(&mut self, entry: ChangeEntry) -> bool {
        let thing = Thing::of(&entry.change);
        let replaced = self
            .places
            .insert(thing, entry.position)
            .and_then(|place| self.entries.remove(&place));
        self.bytes += cost(&entry);
        if let Some(replaced) = &replaced {
            self.bytes -= cost(replaced);
        }
        self.entries.insert(entry.position, entry);
        replaced.is_some()
    }

    /// The earliest change.
    pub fn pop(&mut self) -> Option<ChangeEntry> {
        let (_, entry) = self.entries.pop_first()?;
        self.places.remove(&Thing::of(&entry.change));
        self.bytes -= cost(&entry);
        if self.entries.is_empty() {
            // Gives its memory back: most watchers never fall behind again.
            *self = Self::default();
        }
        Some(entry)
    }

    /// Whether nothing is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// About how much memory it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// About how much memory an entry takes: itself, its texts twice (the key holds them too), and the nodes of both maps.
fn cost(entry: &ChangeEntry) -> usize {
    let change = &entry.change;
    let texts = change.host_id.as_str().len()
        + change.workspace_id.as_ref().map_or(0, |id| id.as_str().len())
        + change
            .from_workspace_id
            .as_ref()
            .map_or(0, |id| id.as_str().len())
        + change.session_id.as_ref().map_or(0, |id| id.as_str().len())
        + change.profile_id.as_ref().map_or(0, |id| id.as_str().len());
    2 * (size_of::<ChangeEntry>() + size_of::<Thing>() + texts)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use compozy_domain::{ChangeKind, ChangeOp, ChangeReason, HostId, NewChange, Timestamp, WorkspaceId};

    use super::*;

    fn entry(position: i64, id: &str, op: ChangeOp) -> ChangeEntry {
        let reason = match op {
            ChangeOp::Upserted => ChangeReason::Renamed,
            ChangeOp::Deleted => ChangeReason::RemovedSessionsKept,
        };
        let change = NewChange::of_workspace(
            ChangeKind::Workspace,
            (op, reason),
            &HostId::parse("h1").unwrap(),
            &WorkspaceId::from_stored(id.to_owned()),
            position,
            Timestamp::from_nanos(position),
        );
        ChangeEntry { position, change }
    }

    fn drain(behind: &mut Behind) -> Vec<(i64, ChangeOp)> {
        std::iter::from_fn(|| behind.pop())
            .map(|entry| (entry.position, entry.change.op))
            .collect()
    }

    #[test]
    fn n106_of_several_changes_of_one_thing_the_last_comes_at_the_later_place() {
        let mut behind = Behind::default();
        assert!(!behind.put(entry(1, "a", ChangeOp::Upserted)));
        assert!(!behind.put(entry(2, "b", ChangeOp::Upserted)));
        assert!(behind.put(entry(3, "a", ChangeOp::Upserted)));
        let expected = [(2, ChangeOp::Upserted), (3, ChangeOp::Upserted)];
        assert_eq!(drain(&mut behind), expected);
    }

    #[test]
    fn n193_a_thing_that_came_and_went_is_told_as_gone() {
        let mut behind = Behind::default();
        behind.put(entry(1, "a", ChangeOp::Upserted));
        behind.put(entry(2, "a", ChangeOp::Deleted));
        assert_eq!(drain(&mut behind), [(2, ChangeOp::Deleted)]);
    }

    #[test]
    fn its_size_goes_back_to_nothing() {
        let mut behind = Behind::default();
        for position in 0..1_000 {
            behind.put(entry(
                position,
                &format!("ws_{}", position % 10),
                ChangeOp::Upserted,
            ));
        }
        let ten = behind.bytes();
        behind.put(entry(1_000, "ws_x", ChangeOp::Upserted));
        assert!(ten > 0 && behind.bytes() > ten);
        assert_eq!(drain(&mut behind).len(), 11);
        assert_eq!(behind.bytes(), 0);
    }
}
