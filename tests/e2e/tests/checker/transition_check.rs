//! Each entry of the log against what there was before it: nothing is selected that is not there, and nothing is told
//! that changes nothing.

use std::collections::HashSet;

use compozy_proto::change::v1::{ChangeKind, ChangeOp, ChangeReason};

use crate::catalog::{Catalog, State};
use crate::entry::{Entry, Record};
use crate::reference::Reference;
use crate::violation::{Rule, Violation};

/// Id of the profile that is always there.
const PERMANENT: &str = "default";

pub(crate) fn check_transitions(reference: &Reference, found: &mut Vec<Violation>) {
    let mut before = Before::default();
    for logged in &reference.entries {
        let entry = &logged.entry;
        if let Some(complaint) = before.complaint(entry) {
            let detail = format!("{entry} at {}: {complaint}", logged.position);
            found.push(Violation::new(Rule::LogTransitions, detail));
        }
        before.apply(entry);
    }
}

/// Whether a profile was archived in the end.
pub(crate) fn is_archived(reference: &Reference, profile: &str) -> bool {
    let told = reference.entries.iter().rev().find(|logged| {
        let entry = &logged.entry;
        entry.kind == ChangeKind::Profile && entry.profile == profile && tells_state(entry)
    });
    told.is_some_and(|logged| logged.entry.reason == ChangeReason::Archived)
}

/// What there was before an entry.
#[derive(Debug, Default)]
struct Before {
    catalog: Catalog,
    archived: HashSet<String>,
}

impl Before {
    /// What is wrong with an entry, seen from here.
    fn complaint(&self, entry: &Entry) -> Option<&'static str> {
        match (entry.kind, entry.op) {
            (ChangeKind::Profile, ChangeOp::Upserted) => {
                let is_archived = self.archived.contains(&entry.profile);
                let becomes = entry.reason == ChangeReason::Archived;
                (tells_state(entry) && is_archived == becomes).then_some("it was so before")
            }
            (ChangeKind::Selection, ChangeOp::Upserted) => self.complaint_about_choice(entry),
            (ChangeKind::Selection, ChangeOp::Deleted) => {
                let remembered = self.catalog.get(&entry.record());
                remembered.is_none().then_some("nothing was selected")
            }
            (ChangeKind::Session | ChangeKind::AccountOrder, op) => self.complaint_about_session(entry, op),
            _ => None,
        }
    }

    /// It is created once, changes while it is there, and says where it was before.
    fn complaint_about_session(&self, entry: &Entry, op: ChangeOp) -> Option<&'static str> {
        let state = self.catalog.get(&entry.record());
        let Some(State::Session { workspace, .. }) = state else {
            let is_new = op == ChangeOp::Upserted && entry.reason == ChangeReason::Created;
            return (!is_new).then_some("the session is not there");
        };
        if entry.reason == ChangeReason::Created {
            return Some("the session is there already");
        }
        let was_elsewhere = *workspace != entry.workspace;
        let (tells, from) = match entry.place_before() {
            Some(before) => (true, before),
            None => (false, entry.workspace.as_str()),
        };
        if was_elsewhere != tells || from != workspace {
            return Some("it does not say where the session was before");
        }
        None
    }

    fn complaint_about_choice(&self, entry: &Entry) -> Option<&'static str> {
        let Entry {
            workspace, profile, ..
        } = entry;
        let is_there = |record| self.catalog.get(&record).is_some();
        if !workspace.is_empty() && !is_there(Record::Workspace(workspace.clone())) {
            return Some("the workspace is not there");
        }
        if profile != PERMANENT && !is_there(Record::Profile(profile.clone())) {
            return Some("the profile is not there");
        }
        if self.archived.contains(profile) {
            return Some("the profile is archived");
        }
        let selected = State::Selected(profile.clone());
        (self.catalog.get(&entry.record()) == Some(&selected)).then_some("it was selected before")
    }

    fn apply(&mut self, entry: &Entry) {
        self.catalog.apply(entry);
        if entry.kind != ChangeKind::Profile {
            return;
        }
        match entry.reason {
            ChangeReason::Archived => self.archived.insert(entry.profile.clone()),
            _ => {
                let goes = entry.op == ChangeOp::Deleted || entry.reason == ChangeReason::Unarchived;
                goes && self.archived.remove(&entry.profile)
            }
        };
    }
}

fn tells_state(entry: &Entry) -> bool {
    matches!(entry.reason, ChangeReason::Archived | ChangeReason::Unarchived)
}
