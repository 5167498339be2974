//! What a client has that applies everything it gets: from a snapshot, a page or the beginning of the log on it is
//! the list.

use std::collections::BTreeSet;

use crate::catalog::{Catalog, State};
use crate::entry::Record;
use crate::history::{Event, Listed, Origin, Stream, Watcher};
use crate::reference::Reference;
use crate::violation::{Rule, Violation};

/// Rows of a snapshot against what was there, for every stream with a snapshot that was completed.
pub(crate) fn check_snapshot(stream: &Stream, name: &str, reference: &Reference) -> Vec<Violation> {
    let synced = stream.received.iter().find(|one| one.event == Event::Synced);
    let (Origin::Snapshot, Some(synced)) = (&stream.origin, synced) else {
        return Vec::new();
    };
    let mut rows = Catalog::default();
    let mut found = Vec::new();
    for one in &stream.received {
        let Event::SnapshotRow(row) = &one.event else {
            continue;
        };
        if rows.get(&row.record).is_some() {
            let detail = format!("{name}: a second row of {:?}", row.record);
            found.push(Violation::new(Rule::Snapshot, detail));
        }
        if !stream.filter.shows(&row.record, &row.state) {
            let detail = format!("{name}: {row:?} is not what was asked for");
            found.push(Violation::new(Rule::Filter, detail));
        }
        if reference.place_of_state(&row.record, &row.state).is_none() {
            let detail = format!("{name}: {row:?} is not in the log");
            found.push(Violation::new(Rule::Snapshot, detail));
        }
        rows.insert(row.clone());
    }
    // The answer to one write says that those before it, too, were there.
    let before = reference.answered_before(stream.opened);
    for record in reference.records() {
        let shown =
            |state: Option<&'_ State>| state.filter(|state| stream.filter.shows(record, state)).cloned();
        let row = shown(rows.get(record));
        let at_the_call = shown(reference.state_at(record, before));
        let mut later = reference.states_from(record, before).filter(|(place, _)| {
            let begun = reference.entries[*place].begun;
            begun.is_none_or(|begun| begun < synced.at)
        });
        if row != at_the_call && !later.any(|(_, state)| shown(state) == row) {
            let detail =
                format!("{name}: the row of {record:?} is {row:?}, at the call it was at {at_the_call:?}");
            found.push(Violation::new(Rule::Snapshot, detail));
        }
    }
    found
}

/// N101, N030: the model of a complete stream and those that it resumes equals the list.
pub(crate) fn check_model(
    watcher: &Watcher,
    number: usize,
    name: &str,
    reference: &Reference,
) -> Vec<Violation> {
    let stream = &watcher.streams[number];
    if !stream.complete {
        return Vec::new();
    }
    let Some(model) = model(watcher, number, stream.received.len(), reference.floor == 0) else {
        return Vec::new();
    };
    let newest = stream
        .received
        .iter()
        .filter_map(|received| match &received.event {
            Event::Change { entry, .. } => reference.place_of(entry),
            _ => None,
        });
    let until = newest.max().map_or(0, |newest| newest + 1).max(reference.quiet);
    let knows =
        |record: &Record, state: &State| stream.filter.shows(record, state) && model.begins_with(record);
    let mut expected = reference.catalog_at(until);
    let is_unnamed = |record: &Record| {
        let last = reference.last_change(record, until);
        model.catalog.get(record).is_none()
            && last.is_some_and(|last| model.unnamed.contains(&last.workspace))
    };
    expected.retain(|record, state| knows(record, state) && !is_unnamed(record));
    let mut known = model.catalog.clone();
    // What it was not to hear of at all is one too many.
    known.retain(|record, state| knows(record, state) || !stream.filter.shows(record, state));
    if known == expected {
        return Vec::new();
    }
    let detail = format!("{name}: {}", known.difference(&expected));
    vec![Violation::new(Rule::Model, detail)]
}

/// What a client knows.
struct Model {
    catalog: Catalog,
    /// What its page listed, if it began with one.
    listed: Option<Listed>,
    /// Removed workspaces that it did not look at: it was told how many sessions they leave to it, not which.
    unnamed: BTreeSet<String>,
}

impl Model {
    /// Whether it knew from the beginning what there is of this kind.
    fn begins_with(&self, record: &Record) -> bool {
        match (record, self.listed) {
            (_, None) => true,
            (Record::Workspace(_), Some(listed)) => listed == Listed::Workspaces,
            (Record::Profile(_), Some(listed)) => listed == Listed::Profiles,
            (Record::Session(_), Some(listed)) => listed == Listed::Sessions,
            (Record::Selection(_), Some(_)) => false,
        }
    }
}

/// What was known after so many messages of a stream; `None` if it did not begin with everything, or was told that
/// something is missing.
fn model(watcher: &Watcher, number: usize, count: usize, log_is_whole: bool) -> Option<Model> {
    let stream = &watcher.streams[number];
    let empty = Model {
        catalog: Catalog::default(),
        listed: None,
        unnamed: BTreeSet::new(),
    };
    let mut model = match &stream.origin {
        Origin::Token { stream, event } => model(watcher, *stream, *event + 1, log_is_whole)?,
        Origin::Snapshot => empty,
        Origin::Earliest if log_is_whole => empty,
        Origin::Page {
            rows: Some(rows),
            listed,
            ..
        } => {
            let mut catalog = rows.clone();
            catalog.retain(|record, state| stream.filter.shows(record, state));
            Model {
                catalog,
                listed: Some(*listed),
                unnamed: BTreeSet::new(),
            }
        }
        Origin::Earliest | Origin::Page { .. } | Origin::Now | Origin::Answer { .. } => return None,
    };
    for received in &stream.received[..count] {
        match &received.event {
            Event::Change { entry, .. } => {
                model.catalog.apply(entry);
                let filter = &stream.filter;
                if filter.is_told_only_the_number_by(entry) {
                    model.unnamed.insert(entry.workspace.clone());
                }
                // Sessions of a removed workspace may be where it does not look.
                let is_out = |record: &Record, state: &State| {
                    matches!(record, Record::Session(_)) && !filter.shows(record, state)
                };
                model.catalog.retain(|record, state| !is_out(record, state));
            }
            Event::SnapshotRow(row) => model.catalog.insert(row.clone()),
            Event::Resync { .. } => return None,
            Event::Synced | Event::Heartbeat | Event::GoingAway => {}
        }
    }
    Some(model)
}
