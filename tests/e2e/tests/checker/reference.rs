//! The log in order, with what the writers know of each entry. Bounds are places in it: what lies at a bound or
//! behind it comes next.

use std::collections::{BTreeMap, HashMap};
use std::time::Instant;

use compozy_proto::change::v1::{ChangeKind, ChangeReason};

use crate::catalog::{Catalog, Row, State};
use crate::entry::{Entry, Position, Record};
use crate::history::{Action, History, Outcome, Write};

#[derive(Debug)]
pub(crate) struct Reference {
    pub(crate) entries: Vec<Logged>,
    places: HashMap<Entry, usize>,
    /// Places of the versions of each record.
    versions: BTreeMap<Record, BTreeMap<i64, usize>>,
    /// What became of each record, in order: its state from a place on, or that it is gone.
    states: BTreeMap<Record, Vec<(usize, Option<State>)>>,
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
        let mut versions: BTreeMap<Record, BTreeMap<i64, usize>> = BTreeMap::new();
        let mut states: BTreeMap<Record, Vec<(usize, Option<State>)>> = BTreeMap::new();
        let mut catalog = Catalog::default();
        let mut last_of_thing: HashMap<(ChangeKind, Record), usize> = HashMap::new();
        for (place, (position, entry)) in history.log.entries.iter().enumerate() {
            let thing = (entry.kind, entry.record());
            if let Some(before) = last_of_thing.insert(thing, place) {
                entries[before].next = Some(place);
            }
            places.insert(entry.identity(), place);
            if entry.is_of_record() {
                let versions = versions.entry(entry.record()).or_default();
                versions.insert(entry.version, place);
            }
            for record in catalog.apply(entry) {
                let state = catalog.get(&record).cloned();
                states.entry(record).or_default().push((place, state));
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
            versions,
            states,
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
        let mut asked: BTreeMap<&Record, Vec<&Write>> = BTreeMap::new();
        for write in writes.iter().filter(|write| write.action.is_move()) {
            asked.entry(&write.record).or_default().push(write);
        }
        let mut logged: BTreeMap<Record, Vec<usize>> = BTreeMap::new();
        for (place, one) in self.entries.iter().enumerate() {
            if one.entry.reason == ChangeReason::Moved {
                logged.entry(one.entry.record()).or_default().push(place);
            }
        }
        for (record, places) in logged {
            let writes = asked.remove(&record).unwrap_or_default();
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
    /// all of one version, and selections are known by their profile when it is selected for the first time.
    pub(crate) fn place_of_write(&self, write: &Write) -> Option<usize> {
        let Outcome::Answered { version, wrote, .. } = write.outcome else {
            return None;
        };
        match write.action {
            _ if !wrote => None,
            Action::Move | Action::SelectAgain | Action::Forget => None,
            Action::MoveSession | Action::Attach | Action::Detach => None,
            Action::Remove | Action::DeleteProfile | Action::DeleteSession => {
                let (_, last) = self.versions.get(&write.record)?.last_key_value()?;
                self.entries[*last].entry.is_removal().then_some(*last)
            }
            Action::Select => self.place_of_state(&write.record, &State::Selected(write.selects.clone())),
            Action::Register
            | Action::Retitle
            | Action::Rename
            | Action::Relink
            | Action::CreateProfile
            | Action::UpdateProfile
            | Action::RenameProfile
            | Action::ArchiveProfile
            | Action::UnarchiveProfile
            | Action::CreateSession
            | Action::RenameSession
            | Action::LabelSession
            | Action::ChangeState
            | Action::Beat
            | Action::ArchiveSession
            | Action::UnarchiveSession
            | Action::Enter => self.place_of_state(&write.record, &State::Version(version)),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn place_of(&self, entry: &Entry) -> Option<usize> {
        self.places.get(&entry.identity()).copied()
    }

    /// The first entry that led to a state.
    pub(crate) fn place_of_state(&self, record: &Record, state: &State) -> Option<usize> {
        if let State::Version(version) = state {
            return self.versions.get(record)?.get(version).copied();
        }
        let mut states = self.states.get(record)?.iter();
        let (place, _) = states.find(|(_, other)| other.as_ref() == Some(state))?;
        Some(*place)
    }

    /// Every record that there ever was.
    pub(crate) fn records(&self) -> impl Iterator<Item = &Record> {
        self.states.keys()
    }

    /// What there was when the log went up to a place.
    pub(crate) fn catalog_at(&self, until: usize) -> Catalog {
        let rows = self.states.keys().filter_map(|record| {
            let state = self.state_at(record, until)?.clone();
            let record = record.clone();
            Some(Row { record, state })
        });
        Catalog::of(rows)
    }

    /// The state of a record when the log went up to a place.
    pub(crate) fn state_at(&self, record: &Record, until: usize) -> Option<&State> {
        let states = self.states.get(record)?;
        let count = states.partition_point(|(place, _)| *place < until);
        states[count.checked_sub(1)?].1.as_ref()
    }

    /// What changed a record last when the log went up to a place.
    pub(crate) fn last_change(&self, record: &Record, until: usize) -> Option<&Entry> {
        let states = self.states.get(record)?;
        let count = states.partition_point(|(place, _)| *place < until);
        let (place, _) = states[count.checked_sub(1)?];
        Some(&self.entries[place].entry)
    }

    /// The states that a record got at a place or behind it, each with that place.
    pub(crate) fn states_from(
        &self,
        record: &Record,
        first: usize,
    ) -> impl Iterator<Item = (usize, Option<&State>)> {
        let states = self.states.get(record).map_or(&[][..], Vec::as_slice);
        let count = states.partition_point(|(place, _)| *place < first);
        states[count..]
            .iter()
            .map(|(place, state)| (*place, state.as_ref()))
    }

    /// Whether a row that goes with the entry at a place may show this: the record was so then, or later.
    pub(crate) fn may_be_shown_with(&self, place: usize, state: &State) -> bool {
        let record = self.entries[place].entry.record();
        self.state_at(&record, place + 1) == Some(state)
            || self
                .states_from(&record, place)
                .any(|(_, later)| later == Some(state))
    }

    /// Whether what the entry at a place is about was gone at any time behind it.
    pub(crate) fn has_gone_since(&self, place: usize) -> bool {
        let record = self.entries[place].entry.record();
        self.states_from(&record, place + 1)
            .any(|(_, state)| state.is_none())
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
            Outcome::Unsaid | Outcome::Unknown => return None,
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

/// Kind and reason of the entries that an action writes.
pub(crate) fn told_as(action: Action) -> (ChangeKind, ChangeReason) {
    match action {
        Action::Register => (ChangeKind::Workspace, ChangeReason::Created),
        Action::Retitle => (ChangeKind::Workspace, ChangeReason::Updated),
        Action::Rename => (ChangeKind::Workspace, ChangeReason::Renamed),
        Action::Relink => (ChangeKind::Workspace, ChangeReason::Relinked),
        Action::Move => (ChangeKind::WorkspaceOrder, ChangeReason::Moved),
        Action::Remove => (ChangeKind::Workspace, ChangeReason::Removed),
        Action::CreateProfile => (ChangeKind::Profile, ChangeReason::Created),
        Action::UpdateProfile => (ChangeKind::Profile, ChangeReason::Updated),
        Action::RenameProfile => (ChangeKind::Profile, ChangeReason::Renamed),
        Action::ArchiveProfile => (ChangeKind::Profile, ChangeReason::Archived),
        Action::UnarchiveProfile => (ChangeKind::Profile, ChangeReason::Unarchived),
        Action::DeleteProfile => (ChangeKind::Profile, ChangeReason::Removed),
        Action::Select | Action::SelectAgain => (ChangeKind::Selection, ChangeReason::Updated),
        Action::Forget => (ChangeKind::Selection, ChangeReason::Removed),
        Action::CreateSession => (ChangeKind::Session, ChangeReason::Created),
        Action::RenameSession => (ChangeKind::Session, ChangeReason::Renamed),
        Action::LabelSession => (ChangeKind::Session, ChangeReason::Updated),
        Action::ChangeState => (ChangeKind::Session, ChangeReason::State),
        Action::Beat => (ChangeKind::Session, ChangeReason::Badge),
        Action::ArchiveSession => (ChangeKind::Session, ChangeReason::Archived),
        Action::UnarchiveSession => (ChangeKind::Session, ChangeReason::Unarchived),
        Action::Enter => (ChangeKind::Session, ChangeReason::AttachLease),
        Action::DeleteSession => (ChangeKind::Session, ChangeReason::Removed),
        Action::Attach => (ChangeKind::Session, ChangeReason::Attached),
        Action::Detach => (ChangeKind::Session, ChangeReason::Detached),
        Action::MoveSession => (ChangeKind::AccountOrder, ChangeReason::Moved),
    }
}
