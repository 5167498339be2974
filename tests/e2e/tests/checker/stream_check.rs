//! One stream against the log: what came has to be what the filter takes of the log, in its order, from where the
//! stream began. What may be missing is what a later change of the same thing stands for, once that is there, and
//! what a `resync` names.

use std::collections::{BTreeSet, HashSet};
use std::time::Instant;

use compozy_proto::change::v1::ChangeOp;

use crate::bound::{self, Bound};
use crate::catalog::Row;
use crate::entry::Entry;
use crate::history::{Event, Origin, Received, Stream, Watcher};
use crate::reference::Reference;
use crate::violation::{Rule, Violation};

/// Messages that are shown before and after the one in question.
const AROUND: usize = 4;

pub(crate) fn check_stream(
    watcher: usize,
    all: &Watcher,
    number: usize,
    reference: &Reference,
) -> Vec<Violation> {
    let stream = &all.streams[number];
    let mut check = StreamCheck {
        name: format!("watcher {watcher} stream {number} on server {}", stream.server),
        stream,
        reference,
        bound: bound::start(all, stream, reference),
        delivered: Vec::new(),
        came: HashSet::new(),
        newest: None,
        synced: false,
        found: Vec::new(),
    };
    check.run();
    check.found
}

/// What a stream owes at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owing {
    /// It broke off: only what it went past, and that may come later in the resumed one.
    Passed,
    /// Everything up to here, now.
    Everything,
}

struct StreamCheck<'h> {
    name: String,
    stream: &'h Stream,
    reference: &'h Reference,
    /// Where the part since the start or the last `resync` begins.
    bound: Bound,
    /// What came in that part: its place and the message.
    delivered: Vec<(usize, usize)>,
    /// What came at all.
    came: HashSet<usize>,
    /// The highest place of it.
    newest: Option<usize>,
    synced: bool,
    found: Vec<Violation>,
}

impl StreamCheck<'_> {
    fn run(&mut self) {
        for (index, received) in self.stream.received.iter().enumerate() {
            match &received.event {
                Event::Change { .. } => self.change(index, received),
                Event::SnapshotRow(_) => self.snapshot_row(index),
                Event::Synced => self.synced(index, received.at),
                Event::Resync { workspaces, .. } => {
                    let passed = self.newest.map_or(0, |newest| newest + 1);
                    self.losses(passed, received.at, Owing::Passed);
                    self.delivered.clear();
                    let lowest = self.newest.map_or(self.bound.lowest, |newest| newest + 1);
                    self.bound.lowest = self.bound.lowest.max(lowest);
                    self.bound.after_resync(workspaces, received.at, self.reference);
                }
                Event::Heartbeat | Event::GoingAway => {}
            }
        }
        let Some(last) = self.stream.received.last() else {
            return;
        };
        if self.stream.complete {
            self.losses(self.reference.quiet, last.at, Owing::Everything);
        } else {
            self.losses(self.newest.map_or(0, |newest| newest + 1), last.at, Owing::Passed);
        }
    }

    fn change(&mut self, index: usize, received: &Received) {
        let Event::Change { entry, row } = &received.event else {
            return;
        };
        let Some(place) = self.reference.place_of(entry) else {
            return self.complain(Rule::ChangeIsLogged, index, &format!("{entry} is not in the log"));
        };
        let logged = &self.reference.entries[place].entry;
        match self.stream.filter.sees(logged) {
            None => self.complain(Rule::Filter, index, &format!("{entry} is not what was asked for")),
            Some(seen) if seen != *entry => {
                self.complain(
                    Rule::Filter,
                    index,
                    &format!("{entry:?} is to be seen as {seen:?}"),
                );
            }
            Some(_) => {}
        }
        if !self.synced && matches!(self.stream.origin, Origin::Now) {
            self.complain(Rule::Synced, index, &format!("{entry} came before synced"));
        }
        if place < self.bound.lowest && self.newest.is_none_or(|newest| newest < place) {
            self.complain(Rule::Once, index, &format!("{entry} lies before the start"));
        }
        match self.newest {
            Some(_) if self.came.contains(&place) => {
                self.complain(Rule::Once, index, &format!("{entry} came before"));
            }
            Some(newest) if place <= newest => {
                self.complain(Rule::Order, index, &format!("{entry} comes too late"));
            }
            _ => self.newest = Some(place),
        }
        self.came.insert(place);
        self.delivered.push((place, index));
        self.row(index, place, entry, row.as_ref());
    }

    fn row(&mut self, index: usize, place: usize, entry: &Entry, row: Option<&Row>) {
        let complaint = match row {
            Some(_) if !self.stream.include_rows => "a row that nobody asked for",
            Some(_) if entry.op == ChangeOp::Deleted => "the row of a removed record",
            Some(row) if row.record != entry.record() => "the row of another record",
            Some(row) if !self.reference.may_be_shown_with(place, &row.state) => {
                "a row that is older than its change, or of no state that there was"
            }
            None if self.stream.include_rows
                && entry.op == ChangeOp::Upserted
                && !self.reference.has_gone_since(place) =>
            {
                "no row of a record that is there"
            }
            _ => return,
        };
        self.complain(Rule::Row, index, &format!("{entry}: {complaint} ({row:?})"));
    }

    fn snapshot_row(&mut self, index: usize) {
        if self.synced || self.newest.is_some() || !matches!(self.stream.origin, Origin::Snapshot) {
            self.complain(Rule::Synced, index, "a row that belongs to no snapshot");
        }
    }

    /// N036: what was answered before the call came before it.
    fn synced(&mut self, index: usize, at: Instant) {
        if self.synced {
            self.complain(Rule::Synced, index, "it came before");
        }
        self.synced = true;
        let resumed = !matches!(self.stream.origin, Origin::Now | Origin::Snapshot);
        if resumed {
            let missed = self.reference.answered_before(self.stream.opened);
            self.losses(missed, at, Owing::Everything);
        }
    }

    /// What is due below `until` has come, or a later change of its thing stands for it.
    fn losses(&mut self, until: usize, at: Instant, owing: Owing) {
        let first = self.delivered.first().map(|(place, _)| *place);
        let from = first.map_or(self.bound.first_due(), |first| first.min(self.bound.first_due()));
        let came: BTreeSet<usize> = self.delivered.iter().map(|(place, _)| *place).collect();
        let mut lost = Vec::new();
        for place in from..until.min(self.reference.len()) {
            let logged = &self.reference.entries[place];
            let due = place >= self.bound.due_for(&logged.entry, &self.stream.filter)
                || first.is_some_and(|first| place > first);
            if due
                && self.stream.filter.wants(&logged.entry)
                && !came.contains(&place)
                && !(self.may_be_stood_for(place, at) && self.is_stood_for(place, until, &came, owing))
            {
                lost.push(place);
            }
        }
        let Some(first) = lost.first() else { return };
        let logged = &self.reference.entries[*first];
        let words = format!(
            "{} at {} and {} more",
            logged.entry,
            logged.position,
            lost.len() - 1
        );
        let next = self.delivered.iter().find(|(place, _)| place > first);
        let index = next.map_or(self.stream.received.len() - 1, |(_, index)| *index);
        self.complain(Rule::Lost, index, &words);
    }

    /// Whether the next change of the thing was there when the stream went past this one: nobody leaves out what
    /// nothing stands for yet.
    fn may_be_stood_for(&self, place: usize, at: Instant) -> bool {
        let Some(next) = self.next_seen(place) else {
            return false;
        };
        let passed = self.delivered.iter().find(|(other, _)| *other > place);
        let passed_at = passed.map_or(at, |(_, index)| self.stream.received[*index].at);
        !self.stream.exact
            && self.reference.entries[next]
                .begun
                .is_none_or(|begun| begun < passed_at)
    }

    /// Whether a later change of the thing came, or is looked at by itself, or is owed by whoever resumes.
    fn is_stood_for(&self, place: usize, until: usize, came: &BTreeSet<usize>, owing: Owing) -> bool {
        let mut later = self.next_seen(place);
        while let Some(next) = later {
            if next < until || owing == Owing::Passed || came.contains(&next) {
                return true;
            }
            later = self.next_seen(next);
        }
        false
    }

    /// The next entry of the thing that this stream is to see.
    fn next_seen(&self, place: usize) -> Option<usize> {
        let mut next = self.reference.entries[place].next?;
        while !self.stream.filter.wants(&self.reference.entries[next].entry) {
            next = self.reference.entries[next].next?;
        }
        Some(next)
    }

    fn complain(&mut self, rule: Rule, index: usize, words: &str) {
        let received = &self.stream.received;
        let from = index.saturating_sub(AROUND);
        let until = (index + AROUND + 1).min(received.len());
        let mut detail = format!(
            "{}, message {index}: {words}\n  from {:?}, {:?}, ended {:?}",
            self.name, self.stream.origin, self.stream.filter, self.stream.end
        );
        for (number, one) in received.iter().enumerate().take(until).skip(from) {
            let place = match &one.event {
                Event::Change { entry, .. } => self.reference.place_of(entry),
                _ => None,
            };
            let position = place.map(|place| self.reference.entries[place].position);
            let event = shown(&one.event);
            let since = one.at.duration_since(self.stream.opened);
            detail.push_str(&format!("\n  {number} +{since:?} {position:?} {event}"));
        }
        self.found.push(Violation::new(rule, detail));
    }
}

fn shown(event: &Event) -> String {
    match event {
        Event::Change { entry, row: None } => entry.to_string(),
        Event::Change { entry, row } => format!("{entry} with row {row:?}"),
        other => format!("{other:?}"),
    }
}
