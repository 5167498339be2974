//! What there is at a moment, as somebody has it who applies one entry of the log after the other.

use std::collections::BTreeMap;

use compozy_proto::change::v1::{ChangeKind, ChangeOp, RemovedSessions};

use crate::entry::{Entry, Record};

/// What can be told of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum State {
    /// Of a workspace or a profile.
    Version(i64),
    /// Of a selection: the profile. Its row has no version.
    Selected(String),
    /// Of a session: also where it belongs, or nowhere.
    Session {
        /// Its version.
        version: i64,
        /// The workspace, or empty.
        workspace: String,
    },
}

/// A record as an answer, a snapshot or a change shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) record: Record,
    pub(crate) state: State,
}

/// All records.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Catalog {
    states: BTreeMap<Record, State>,
}

impl Catalog {
    pub(crate) fn of(rows: impl IntoIterator<Item = Row>) -> Self {
        let states = rows.into_iter().map(|row| (row.record, row.state));
        Self {
            states: states.collect(),
        }
    }

    pub(crate) fn get(&self, record: &Record) -> Option<&State> {
        self.states.get(record)
    }

    pub(crate) fn insert(&mut self, row: Row) {
        self.states.insert(row.record, row.state);
    }

    pub(crate) fn retain(&mut self, mut keeps: impl FnMut(&Record, &State) -> bool) {
        self.states.retain(|record, state| keeps(record, state));
    }

    /// Applies an entry, and answers the records that it stands for. That of a workspace takes its selection along and
    /// what becomes of its sessions, and that of a profile every selection of it.
    pub(crate) fn apply(&mut self, entry: &Entry) -> Vec<Record> {
        if !entry.is_of_record() {
            return Vec::new();
        }
        let mut changed = vec![entry.record()];
        match (entry.op, entry.kind) {
            (ChangeOp::Deleted, kind) => {
                changed.extend(self.selections_with(entry));
                for record in &changed {
                    self.states.remove(record);
                }
                if kind == ChangeKind::Workspace {
                    changed.extend(self.let_sessions_go(entry));
                }
            }
            (_, ChangeKind::Session) => self.apply_to_session(entry),
            (_, ChangeKind::Selection) => {
                self.states
                    .insert(entry.record(), State::Selected(entry.profile.clone()));
            }
            _ => {
                // A page or a snapshot may be ahead of the changes that follow it.
                let known = self.states.entry(entry.record());
                let known = known.or_insert(State::Version(entry.version));
                if let State::Version(version) = known {
                    *version = entry.version.max(*version);
                }
            }
        }
        changed
    }

    /// A page or a snapshot may be ahead of the changes that follow it.
    fn apply_to_session(&mut self, entry: &Entry) {
        let known = self.states.get(&entry.record());
        let is_ahead = matches!(known, Some(State::Session { version, .. }) if *version > entry.version);
        if !is_ahead {
            let state = State::Session {
                version: entry.version,
                workspace: entry.workspace.clone(),
            };
            self.states.insert(entry.record(), state);
        }
    }

    /// The sessions of a removed workspace go, or stay without one: as their next version, without an entry.
    fn let_sessions_go(&mut self, entry: &Entry) -> Vec<Record> {
        let of_it = |state: &State| matches!(state, State::Session { workspace, .. } if *workspace == entry.workspace);
        let sessions = self.states.iter().filter(|(_, state)| of_it(state));
        let sessions: Vec<Record> = sessions.map(|(record, _)| record.clone()).collect();
        for record in &sessions {
            if entry.removed == RemovedSessions::Deleted {
                self.states.remove(record);
            } else if let Some(State::Session { version, workspace }) = self.states.get_mut(record) {
                *version += 1;
                workspace.clear();
            }
        }
        sessions
    }

    /// The selections that go with a removed record.
    fn selections_with(&self, entry: &Entry) -> Vec<Record> {
        let goes = |record: &Record, state: &State| match (record, entry.kind) {
            (Record::Selection(workspace), ChangeKind::Workspace) => *workspace == entry.workspace,
            (Record::Selection(_), ChangeKind::Profile) => *state == State::Selected(entry.profile.clone()),
            _ => false,
        };
        let gone = self.states.iter().filter(|(record, state)| goes(record, state));
        gone.map(|(record, _)| record.clone()).collect()
    }

    /// Where it differs from what it should be, in a few words.
    pub(crate) fn difference(&self, expected: &Self) -> String {
        let mut words = Vec::new();
        for (record, state) in &expected.states {
            let seen = self.get(record);
            if seen != Some(state) {
                words.push(format!("{record:?} is {state:?}, seen {seen:?}"));
            }
        }
        for (record, state) in &self.states {
            if !expected.states.contains_key(record) {
                words.push(format!("{record:?} {state:?} is gone, but seen"));
            }
        }
        words.truncate(5);
        words.join("; ")
    }
}
