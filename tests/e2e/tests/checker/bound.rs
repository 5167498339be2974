//! Where a stream begins, as far as that can be known: what lies before `lowest` must not come, what lies at `due`
//! or behind it must.

use std::collections::BTreeMap;
use std::time::Instant;

use crate::entry::{Entry, Filter};
use crate::history::{Event, Origin, Stream, Watcher};
use crate::reference::Reference;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bound {
    pub(crate) lowest: usize,
    due: usize,
    /// Of workspaces that a `resync` named: where their changes are due from.
    due_of: BTreeMap<String, usize>,
}

impl Bound {
    pub(crate) fn between(lowest: usize, due: usize) -> Self {
        Self {
            lowest,
            due: due.max(lowest),
            due_of: BTreeMap::new(),
        }
    }

    /// Right behind a place.
    pub(crate) fn behind(place: usize) -> Self {
        Self::between(place + 1, place + 1)
    }

    /// From where on the changes of a workspace have to come.
    pub(crate) fn due(&self, workspace: &str) -> usize {
        self.due_of.get(workspace).copied().unwrap_or(self.due)
    }

    /// From where on an entry has to come to a filter. One that belongs to no workspace comes for those of the filter:
    /// it is due where the last of them is.
    pub(crate) fn due_for(&self, entry: &Entry, filter: &Filter) -> usize {
        let seen = filter.sees(entry);
        let workspace = seen.as_ref().map_or("", |seen| seen.workspace.as_str());
        if !workspace.is_empty() || filter.workspaces.is_empty() {
            return self.due(workspace);
        }
        let dues = filter.workspaces.iter().map(|workspace| self.due(workspace));
        dues.max().unwrap_or(self.due)
    }

    /// The lowest place that is due for anything.
    pub(crate) fn first_due(&self) -> usize {
        self.due_of.values().copied().fold(self.due, usize::min)
    }

    /// After a `resync` that was read at an instant: what it names is due again once it was begun after that.
    pub(crate) fn after_resync(&mut self, workspaces: &[String], at: Instant, reference: &Reference) {
        let again = reference.begun_after(at).max(self.lowest);
        if workspaces.is_empty() {
            self.due = again;
            self.due_of.clear();
        }
        for workspace in workspaces {
            self.due_of.insert(workspace.clone(), again);
        }
    }
}

/// The bound at which a stream begins.
pub(crate) fn start(watcher: &Watcher, stream: &Stream, reference: &Reference) -> Bound {
    let synced = stream.received.iter().find(|one| one.event == Event::Synced);
    // Without it nothing was promised yet.
    let live = synced.map_or(reference.len(), |synced| reference.begun_after(synced.at));
    match &stream.origin {
        Origin::Now => Bound::between(reference.answered_before(stream.opened), live),
        // May repeat what its rows show.
        Origin::Snapshot => Bound::between(0, live),
        Origin::Earliest => Bound::between(0, reference.floor),
        Origin::Token { stream, event } => at(watcher, *stream, *event, reference),
        // May repeat what the page shows.
        Origin::Page { answered, .. } => Bound::between(0, reference.begun_after(*answered)),
        Origin::Answer { record, state } => {
            let own = reference.place_of_state(record, state);
            Bound::between(0, own.unwrap_or(reference.len()))
        }
    }
}

/// The bound behind a message of a stream. Only what came since the last change matters, if there was one.
pub(crate) fn at(watcher: &Watcher, number: usize, event: usize, reference: &Reference) -> Bound {
    let stream = &watcher.streams[number];
    let read = &stream.received[..=event];
    let last = read
        .iter()
        .enumerate()
        .rev()
        .find_map(|(index, received)| match &received.event {
            Event::Change { entry, .. } => reference.place_of(entry).map(|place| (index, place)),
            _ => None,
        });
    let (mut bound, since) = match last {
        Some((index, place)) => (Bound::behind(place), &read[index + 1..]),
        None => (start(watcher, stream, reference), read),
    };
    for received in since {
        if let Event::Resync { workspaces, .. } = &received.event {
            bound.after_resync(workspaces, received.at, reference);
        }
    }
    bound
}
