//! The log in order, with what the writers know of each entry. Bounds are places in it: what lies at a bound or
//! behind it comes next.

use std::collections::{BTreeMap, HashMap};
use std::time::Instant;

use compozy_proto::change::v1::{ChangeKind, ChangeReason};

use crate::entry::{Entry, Position};
use crate::history::{Action, History, Outcome, Write};

#[derive(Debug)]
pub(crate) struct Reference {
    pub(crate) entries: Vec<Logged>,
    places: HashMap<Entry, usize>,
    records: BTreeMap<String, BTreeMap<i64, usize>>,
    /// Ends of writes, ascending, each with the highest place of it and those before.
    ends: Vec<(Instant, usize)>,
    /// Beginnings of writes, ascending, each with the lowest place of it and those after.
    beginnings: Vec<(Instant, usize)>,
    /// The first place that was not trimmed in the end.
    pub(crate) floor: usize,
    /// The first place behind what complete streams owe.
    pub(crate) quiet: usize,
}

/// An entry of the log.
#[derive(Debug)]
pub(crate) struct Logged {
    pub(crate) position: Position,
    pub(crate) entry: Entry,
    /// When its write began and was answered, where that is known.
    pub(crate) begun: Option<Instant>,
    pub(crate) ended: Option<Instant>,
    /// The next entry of the same thing.
    pub(crate) next: Option<usize>,
}

impl Reference {
    pub(crate) fn of(history: &History) -> Self {
        let mut entries: Vec<Logged> = Vec::with_capacity(history.log.entries.len());
        let mut places = HashMap::new();
        let mut records: BTreeMap<String, BTreeMap<i64, usize>> = BTreeMap::new();
        let mut last_of_thing: HashMap<(ChangeKind, String), usize> = HashMap::new();
        for (place, (position, entry)) in history.log.entries.iter().enumerate() {
            let thing = (entry.kind, entry.workspace.clone());
            if let Some(before) = last_of_thing.insert(thing, place) {
                entries[before].next = Some(place);
            }
            places.insert(entry.clone(), place);
            if entry.is_of_record() {
                let versions = records.entry(entry.workspace.clone()).or_default();
                versions.insert(entry.version, place);
            }
            entries.push(Logged {
                position: *position,
                entry: entry.clone(),
                begun: None,
                ended: None,
                next: None,
            });
        }
        let floor = entries.partition_point(|logged| logged.position <= history.log.floor);
        let quiet = entries.partition_point(|logged| logged.position <= history.log.quiet);
        let mut reference = Self {
            entries,
            places,
            records,
            ends: Vec::new(),
            beginnings: Vec::new(),
            floor,
            quiet,
        };
        reference.take_times(&history.writes);
        reference
    }

    fn take_times(&mut self, writes: &[Write]) {
        for write in writes {
            let Some(place) = self.place_of_write(write) else {
                continue;
            };
            let Outcome::Answered { ended, .. } = write.outcome else {
                continue;
            };
            self.entries[place].begun = Some(write.begun);
            self.entries[place].ended = Some(ended);
        }
        self.take_times_of_moves(writes);
        let mut ends = Vec::new();
        let mut beginnings = Vec::new();
        for (place, logged) in self.entries.iter().enumerate() {
            ends.extend(logged.ended.map(|ended| (ended, place)));
            beginnings.extend(logged.begun.map(|begun| (begun, place)));
        }
        ends.sort_unstable();
        beginnings.sort_unstable();
        for index in 1..ends.len() {
            ends[index].1 = ends[index].1.max(ends[index - 1].1);
        }
        for index in (1..beginnings.len()).rev() {
            beginnings[index - 1].1 = beginnings[index - 1].1.min(beginnings[index].1);
        }
        (self.ends, self.beginnings) = (ends, beginnings);
    }

    /// An answer to a move does not say which entry is its own. Where all moves of a workspace were answered, those
    /// that did not overlap are known by their order; of those that did the widest span holds.
    fn take_times_of_moves(&mut self, writes: &[Write]) {
        let mut asked: BTreeMap<&str, Vec<&Write>> = BTreeMap::new();
        for write in writes.iter().filter(|write| write.action == Action::Move) {
            asked.entry(&write.workspace).or_default().push(write);
        }
        let mut logged: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (place, one) in self.entries.iter().enumerate() {
            if one.entry.reason == ChangeReason::Moved {
                logged.entry(one.entry.workspace.clone()).or_default().push(place);
            }
        }
        for (workspace, places) in logged {
            let writes = asked.remove(workspace.as_str()).unwrap_or_default();
            let Some(spans) = spans_of_all(&writes).filter(|spans| spans.len() == places.len()) else {
                continue;
            };
            for (place, (begun, ended)) in places.into_iter().zip(spans) {
                self.entries[place].begun = Some(begun);
                self.entries[place].ended = Some(ended);
            }
        }
    }

    /// The entry of an answered write, where the answer tells which one it is: several moves of one workspace are
    /// all of one version.
    pub(crate) fn place_of_write(&self, write: &Write) -> Option<usize> {
        let Outcome::Answered { version, wrote, .. } = write.outcome else {
            return None;
        };
        match write.action {
            _ if !wrote => None,
            Action::Move => None,
            Action::Remove => {
                let (_, last) = self.records.get(&write.workspace)?.last_key_value()?;
                self.entries[*last].entry.is_removal().then_some(*last)
            }
            Action::Register | Action::Retitle | Action::Rename | Action::Relink => {
                self.place_of_version(&write.workspace, version)
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn place_of(&self, entry: &Entry) -> Option<usize> {
        self.places.get(entry).copied()
    }

    pub(crate) fn place_of_version(&self, workspace: &str, version: i64) -> Option<usize> {
        self.records.get(workspace)?.get(&version).copied()
    }

    /// The records that the log tells of, each with the places of its versions.
    pub(crate) fn records(&self) -> &BTreeMap<String, BTreeMap<i64, usize>> {
        &self.records
    }

    /// The list as it was when the log went up to a place.
    pub(crate) fn list_at(&self, until: usize) -> BTreeMap<String, i64> {
        let mut list = BTreeMap::new();
        for logged in &self.entries[..until] {
            if logged.entry.is_removal() {
                list.remove(&logged.entry.workspace);
            } else if logged.entry.is_of_record() {
                list.insert(logged.entry.workspace.clone(), logged.entry.version);
            }
        }
        list
    }

    /// Whether a workspace was removed, by the log.
    pub(crate) fn removal_of(&self, workspace: &str) -> Option<&Logged> {
        let (_, last) = self.records.get(workspace)?.last_key_value()?;
        Some(&self.entries[*last]).filter(|logged| logged.entry.is_removal())
    }

    /// What was answered before an instant lies before this bound.
    pub(crate) fn answered_before(&self, instant: Instant) -> usize {
        let count = self.ends.partition_point(|(ended, _)| *ended < instant);
        count.checked_sub(1).map_or(0, |last| self.ends[last].1 + 1)
    }

    /// What was begun after an instant lies at this bound or behind it.
    pub(crate) fn begun_after(&self, instant: Instant) -> usize {
        let first = self.beginnings.partition_point(|(begun, _)| *begun <= instant);
        self.beginnings.get(first).map_or(self.len(), |(_, place)| *place)
    }
}

/// Spans of the writes that changed something, by their beginnings, with those that overlap made one; `None` if one
/// was not answered.
fn spans_of_all(writes: &[&Write]) -> Option<Vec<(Instant, Instant)>> {
    let mut spans = Vec::new();
    for write in writes {
        match write.outcome {
            Outcome::Answered {
                ended, wrote: true, ..
            } => spans.push((write.begun, ended)),
            Outcome::Answered { wrote: false, .. } | Outcome::Refused => {}
            Outcome::Unknown => return None,
        }
    }
    spans.sort_unstable();
    let mut first = 0;
    for index in 1..=spans.len() {
        let end = spans[first..index].iter().map(|(_, ended)| *ended).max()?;
        if index == spans.len() || spans[index].0 > end {
            let begun = spans[first].0;
            spans[first..index].fill((begun, end));
            first = index;
        }
    }
    Some(spans)
}

/// The reason of the entries that an action writes.
pub(crate) fn reason_of(action: Action) -> ChangeReason {
    match action {
        Action::Register => ChangeReason::Created,
        Action::Retitle => ChangeReason::Updated,
        Action::Rename => ChangeReason::Renamed,
        Action::Relink => ChangeReason::Relinked,
        Action::Move => ChangeReason::Moved,
        Action::Remove => ChangeReason::Removed,
    }
}
