//! What a client has that applies everything it gets: from a snapshot, a page or the beginning of the log on it is
//! the list.

use std::collections::BTreeMap;

use compozy_proto::change::v1::ChangeOp;

use crate::history::{Event, Origin, Stream, Watcher};
use crate::log_check::difference;
use crate::reference::Reference;
use crate::violation::{Rule, Violation};

/// Rows of a snapshot against what was there, for every stream with a snapshot that was completed.
pub(crate) fn check_snapshot(stream: &Stream, name: &str, reference: &Reference) -> Vec<Violation> {
    let synced = stream.received.iter().find(|one| one.event == Event::Synced);
    let (Origin::Snapshot, Some(synced), true) = (&stream.origin, synced, stream.filter.follows_records())
    else {
        return Vec::new();
    };
    let mut rows = BTreeMap::new();
    let mut found = Vec::new();
    for one in &stream.received {
        if let Event::SnapshotRow { workspace, version } = &one.event
            && rows.insert(workspace.clone(), *version).is_some()
        {
            let detail = format!("{name}: a second row of {workspace}");
            found.push(Violation::new(Rule::Snapshot, detail));
        }
    }
    let before = reference.answered_before(stream.opened);
    for (workspace, versions) in reference.records() {
        let row = rows.remove(workspace);
        if !stream.filter.holds(workspace) {
            if let Some(row) = row {
                let detail = format!("{name}: {workspace} v{row} is not what was asked for");
                found.push(Violation::new(Rule::Filter, detail));
            }
            continue;
        }
        // The answer to one write says that those before it, too, were there.
        let known = |place: usize| (0..before).contains(&place);
        let least = versions
            .iter()
            .filter(|(_, place)| known(**place))
            .map(|(version, _)| *version)
            .max();
        let removal = reference.removal_of(workspace);
        let may_be_gone = removal.is_some_and(|gone| gone.begun.is_none_or(|begun| begun < synced.at));
        let sound = match row {
            None => least.is_none() || may_be_gone,
            Some(row) => {
                versions.get(&row).is_some_and(|place| {
                    let logged = &reference.entries[*place];
                    !logged.entry.is_removal() && logged.begun.is_none_or(|begun| begun < synced.at)
                }) && least.is_none_or(|least| row >= least)
            }
        };
        if !sound {
            let detail =
                format!("{name}: the row of {workspace} is {row:?}, at the call it was at {least:?}");
            found.push(Violation::new(Rule::Snapshot, detail));
        }
    }
    for (workspace, row) in rows {
        let detail = format!("{name}: {workspace} v{row} is not in the log");
        found.push(Violation::new(Rule::Snapshot, detail));
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
    if !stream.complete || !stream.filter.follows_records() {
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
    let mut expected = reference.list_at(until);
    expected.retain(|workspace, _| stream.filter.holds(workspace));
    if model == expected {
        return Vec::new();
    }
    let detail = format!("{name}: {}", difference(&model, &expected));
    vec![Violation::new(Rule::Model, detail)]
}

/// What was known after so many messages of a stream; `None` if it did not begin with everything, or was told that
/// something is missing.
fn model(
    watcher: &Watcher,
    number: usize,
    count: usize,
    log_is_whole: bool,
) -> Option<BTreeMap<String, i64>> {
    let stream = &watcher.streams[number];
    let mut model = match &stream.origin {
        Origin::Token { stream, event } => model(watcher, *stream, *event + 1, log_is_whole)?,
        Origin::Snapshot => BTreeMap::new(),
        Origin::Earliest if log_is_whole => BTreeMap::new(),
        Origin::Page { rows: Some(rows), .. } => {
            let mut rows = rows.clone();
            rows.retain(|workspace, _| stream.filter.holds(workspace));
            rows
        }
        Origin::Earliest | Origin::Page { .. } | Origin::Now | Origin::Answer { .. } => return None,
    };
    for received in &stream.received[..count] {
        match &received.event {
            Event::Change { entry, .. } if entry.is_of_record() => {
                if entry.op == ChangeOp::Deleted {
                    model.remove(&entry.workspace);
                } else {
                    // A page or a snapshot may be ahead of the changes that follow it.
                    let known = model.entry(entry.workspace.clone()).or_default();
                    *known = entry.version.max(*known);
                }
            }
            Event::SnapshotRow { workspace, version } => {
                model.insert(workspace.clone(), *version);
            }
            Event::Resync { .. } => return None,
            Event::Change { .. } | Event::Synced | Event::Heartbeat | Event::GoingAway => {}
        }
    }
    Some(model)
}
