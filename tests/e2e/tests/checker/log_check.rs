//! The log by itself, against what the writers were told and against the lists.

use std::collections::{BTreeMap, HashMap, HashSet};

use compozy_proto::change::v1::{ChangeKind, ChangeReason};

use crate::catalog::State;
use crate::entry::{Entry, Record};
use crate::history::{History, Outcome, Write};
use crate::reference::{Reference, told_as};
use crate::transition_check::{check_transitions, is_archived};
use crate::violation::{Rule, Violation};

pub(crate) fn check_log(history: &History, reference: &Reference) -> Vec<Violation> {
    let mut found = Vec::new();
    positions(history, reference, &mut found);
    versions(reference, &mut found);
    check_transitions(reference, &mut found);
    answers(history, reference, &mut found);
    strangers(history, reference, &mut found);
    order_in_time(reference, &mut found);
    lists(history, reference, &mut found);
    found
}

/// N186: dense, each once, and nothing appears below what was read before.
fn positions(history: &History, reference: &Reference, found: &mut Vec<Violation>) {
    for position in &history.log.unsteady {
        let detail = format!("position {position} was found late, or with something else");
        found.push(Violation::new(Rule::LogDense, detail));
    }
    let mut seen = HashSet::new();
    for (place, logged) in reference.entries.iter().enumerate() {
        let expected = reference.entries[0].position + i64::try_from(place).unwrap();
        if logged.position != expected {
            let detail = format!("position {expected} is missing before {}", logged.entry);
            found.push(Violation::new(Rule::LogDense, detail));
            break;
        }
        if !seen.insert(&logged.entry) {
            let detail = format!("{} stands at {} again", logged.entry, logged.position);
            found.push(Violation::new(Rule::LogOnce, detail));
        }
    }
}

/// Of each record from 1 on, dense, in order, and nothing after the removal. A move carries the version at its time.
///
/// A session that a removed workspace leaves behind is at its next version without an entry of its own.
fn versions(reference: &Reference, found: &mut Vec<Violation>) {
    let mut newest: HashMap<Record, &Entry> = HashMap::new();
    for (place, logged) in reference.entries.iter().enumerate() {
        let entry = &logged.entry;
        let before = newest.get(&entry.record()).copied();
        let last = match reference.state_at(&entry.record(), place) {
            Some(State::Session { version, .. }) => *version,
            _ => before.map_or(0, |before| before.version),
        };
        let gone = before.is_some_and(Entry::is_removal);
        let expected = last + i64::from(entry.is_of_record());
        // A selection is never created: it is updated for the first time.
        let begins = match entry.kind {
            ChangeKind::Selection => last == 0,
            _ => entry.reason == ChangeReason::Created,
        };
        if entry.version != expected || gone || (last == 0) != begins {
            let detail = match before {
                Some(before) => format!("{entry} follows {before}"),
                None => format!("{entry} is the first of its record"),
            };
            found.push(Violation::new(Rule::LogVersions, detail));
        }
        if entry.is_of_record() {
            newest.insert(entry.record(), entry);
        }
    }
}

/// N021: an answered write that changed something has an entry of its own.
fn answers(history: &History, reference: &Reference, found: &mut Vec<Violation>) {
    let mut taken = HashSet::new();
    for write in &history.writes {
        let Outcome::Answered { wrote: true, .. } = write.outcome else {
            continue;
        };
        if write.action.is_nameless() {
            continue;
        }
        let place = reference.place_of_write(write);
        let entry = place.map(|place| &reference.entries[place].entry);
        if entry.is_none_or(|entry| (entry.kind, entry.reason) != told_as(write.action)) {
            let detail = format!("{write:?} was answered and is not in the log ({entry:?})");
            found.push(Violation::new(Rule::LogHoldsAnswers, detail));
        } else if !taken.insert(place) {
            let detail = format!("{write:?} was answered with the version of another");
            found.push(Violation::new(Rule::LogHoldsAnswers, detail));
        }
    }
}

/// Of each record and action: no fewer entries than answers, and no more than answers and open questions. What the
/// observer notes belongs to no writer.
fn strangers(history: &History, reference: &Reference, found: &mut Vec<Violation>) {
    #[derive(Debug, Default)]
    struct Count {
        entries: usize,
        answered: usize,
        open: usize,
    }
    let mut counts: BTreeMap<Key, Count> = BTreeMap::new();
    for logged in &reference.entries {
        let entry = &logged.entry;
        if !matches!(entry.reason, ChangeReason::Status | ChangeReason::Identity) {
            counts.entry(key_of_entry(entry)).or_default().entries += 1;
        }
    }
    for write in &history.writes {
        let count = counts.entry(key_of_write(write)).or_default();
        match write.outcome {
            Outcome::Answered { wrote, .. } => count.answered += usize::from(wrote),
            Outcome::Refused => {}
            Outcome::Unsaid | Outcome::Unknown => count.open += 1,
        }
    }
    for (key, count) in counts {
        if count.entries < count.answered {
            let detail = format!("{key:?}: {count:?}");
            found.push(Violation::new(Rule::LogHoldsAnswers, detail));
        }
        if count.entries > count.answered + count.open {
            let detail = format!("{key:?}: {count:?}");
            found.push(Violation::new(Rule::LogHoldsNothingElse, detail));
        }
    }
}

/// What is counted together: kind and reason, the record, and the profile that is selected. Nobody knows the id of
/// what was made without an answer, so of those there is no record.
type Key = (ChangeKind, ChangeReason, Option<Record>, String);

fn key_of_entry(entry: &Entry) -> Key {
    let selects = if entry.kind == ChangeKind::Selection {
        entry.profile.clone()
    } else {
        String::new()
    };
    key((entry.kind, entry.reason), entry.record(), selects)
}

fn key_of_write(write: &Write) -> Key {
    key(told_as(write.action), write.record.clone(), write.selects.clone())
}

fn key((kind, reason): (ChangeKind, ChangeReason), record: Record, selects: String) -> Key {
    let record = Some(record).filter(|_| reason != ChangeReason::Created);
    (kind, reason, record, selects)
}

fn order_in_time(reference: &Reference, found: &mut Vec<Violation>) {
    let mut earliest_end: Option<usize> = None;
    for (place, logged) in reference.entries.iter().enumerate().rev() {
        if let (Some(begun), Some(later)) = (logged.begun, earliest_end) {
            let later = &reference.entries[later];
            if later.ended.is_some_and(|ended| ended < begun) {
                let detail = format!("{} was answered before {} was begun", later.entry, logged.entry);
                found.push(Violation::new(Rule::LogOrder, detail));
            }
        }
        let earlier = logged.ended.is_some()
            && earliest_end.is_none_or(|held| reference.entries[held].ended > logged.ended);
        if earlier {
            earliest_end = Some(place);
        }
    }
}

/// A selection of an archived profile is remembered, and nobody is told of it before the profile is back in use.
fn lists(history: &History, reference: &Reference, found: &mut Vec<Violation>) {
    let mut expected = reference.catalog_at(reference.len());
    expected.retain(|_, state| match state {
        State::Selected(profile) => !is_archived(reference, profile),
        State::Version(_) | State::Session { .. } => true,
    });
    for (server, list) in history.lists.iter().enumerate() {
        if *list != expected {
            let detail = format!("server {server}: {}", list.difference(&expected));
            found.push(Violation::new(Rule::ListIsLog, detail));
        }
    }
}
