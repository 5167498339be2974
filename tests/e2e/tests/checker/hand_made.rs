//! The check on histories made by hand: every kind of complaint, and every oddity that is none.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use compozy_proto::change::v1::{ChangeKind, ChangeOp, RemovedSessions, ResyncReason};

use crate::catalog::{Catalog, Row, State};
use crate::check::check;
use crate::entry::{Entry, Filter, Record};
use crate::history::{Action, End, Event, History, Origin, Outcome, Received, Stream, Watcher, Write};
use crate::reference::told_as;
use crate::violation::Rule;

mod gaps;
mod log;
mod profile_streams;
mod profiles;
mod resuming;
mod sessions;
mod snapshots;
mod streams;

/// A history in the making. Times are milliseconds after its beginning.
struct World {
    began: Instant,
    history: History,
    opened_at: u64,
}

impl World {
    /// Writes that one after the other register `a`, `b`, retitle `a` twice, move `b`, retitle `b`: answered at 1, 2,
    /// ... 6; and a watcher without streams.
    fn new() -> Self {
        let mut world = Self {
            began: Instant::now(),
            history: History::default(),
            opened_at: 0,
        };
        world.history.watchers.push(Watcher::default());
        for (action, workspace, version) in [
            (Action::Register, "a", 1),
            (Action::Register, "b", 1),
            (Action::Retitle, "a", 2),
            (Action::Retitle, "a", 3),
            (Action::Move, "b", 1),
            (Action::Retitle, "b", 2),
        ] {
            world.write(action, workspace, version);
        }
        world.list(&[("a", 3), ("b", 2)]);
        world
    }

    fn at(&self, millis: u64) -> Instant {
        self.began + Duration::from_millis(millis)
    }

    fn list(&mut self, rows: &[(&str, i64)]) {
        self.history.lists = vec![workspaces(rows)];
    }

    /// An answered write and its entry, the next of the log: begun a quarter of a millisecond before the answer.
    fn write(&mut self, action: Action, id: &str, version: i64) {
        let position = self.log(action, id, version);
        let ended = self.at(position);
        let (record, selects) = subject(action, id);
        let outcome = match action {
            Action::SelectAgain | Action::Forget => Outcome::Unsaid,
            _ => Outcome::Answered {
                ended,
                version,
                wrote: true,
            },
        };
        self.history.writes.push(Write {
            action,
            record,
            selects,
            begun: ended - Duration::from_micros(250),
            outcome,
        });
    }

    /// An entry at the end of the log.
    fn log(&mut self, action: Action, id: &str, version: i64) -> u64 {
        let entries = &mut self.history.log.entries;
        let position = entries.last_key_value().map_or(1, |(last, _)| last + 1);
        entries.insert(position, entry(action, id, version, position));
        self.history.log.quiet = position;
        position.unsigned_abs()
    }

    fn unanswered(&mut self, action: Action, id: &str) {
        let (record, selects) = subject(action, id);
        self.history.writes.push(Write {
            action,
            record,
            selects,
            begun: self.at(0),
            outcome: Outcome::Unknown,
        });
    }

    /// The entry at a position.
    fn entry(&self, position: i64) -> Entry {
        self.history.log.entries[&position].clone()
    }

    /// A complete stream without a filter that was opened at a time.
    fn open(&mut self, origin: Origin, millis: u64) -> &mut Self {
        let opened = self.at(millis);
        self.opened_at = millis;
        self.history.watchers[0].streams.push(Stream {
            server: 0,
            filter: Filter::default(),
            origin,
            include_rows: false,
            opened,
            received: Vec::new(),
            end: End::Left,
            exact: false,
            complete: true,
        });
        self
    }

    fn stream(&mut self) -> &mut Stream {
        self.history.watchers[0].streams.last_mut().unwrap()
    }

    /// The stream got this at a time.
    fn got(&mut self, millis: u64, event: Event) -> &mut Self {
        let at = self.at(millis);
        self.stream().received.push(Received { at, event });
        self
    }

    /// The stream got the changes at these positions at a time.
    fn changes(&mut self, millis: u64, positions: &[i64]) -> &mut Self {
        for position in positions {
            let entry = self.entry(*position);
            self.got(millis, Event::Change { entry, row: None });
        }
        self
    }

    fn synced(&mut self, millis: u64) -> &mut Self {
        self.got(millis, Event::Synced)
    }

    /// It broke off, and so owes nothing that it did not go past.
    fn cut(&mut self) -> &mut Self {
        self.stream().complete = false;
        self.stream().end = End::Broken("cut".to_owned());
        self
    }

    fn refused(&mut self, reason: &str) -> &mut Self {
        self.stream().complete = false;
        self.stream().end = End::Refused(reason.to_owned());
        self
    }

    fn rules(&self) -> BTreeSet<Rule> {
        check(&self.history)
            .into_iter()
            .map(|violation| violation.rule)
            .collect()
    }

    #[track_caller]
    fn is_sound(&self) {
        let found = check(&self.history);
        assert!(found.is_empty(), "{found:#?}");
    }

    #[track_caller]
    fn breaks(&self, rules: &[Rule]) {
        assert_eq!(
            self.rules(),
            rules.iter().copied().collect(),
            "{:#?}",
            check(&self.history)
        );
    }
}

/// What an action is about, and the profile that it selects. Of a selection the id is `workspace profile`, of which
/// either may be empty.
fn subject(action: Action, id: &str) -> (Record, String) {
    match told_as(action).0 {
        ChangeKind::Profile => (Record::Profile(id.to_owned()), String::new()),
        ChangeKind::Selection => {
            let (workspace, profile) = id.split_once(' ').unwrap();
            (Record::Selection(workspace.to_owned()), profile.to_owned())
        }
        ChangeKind::Session | ChangeKind::AccountOrder => {
            let (session, _) = id.split_once(' ').unwrap();
            (Record::Session(session.to_owned()), String::new())
        }
        _ => (Record::Workspace(id.to_owned()), String::new()),
    }
}

fn entry(action: Action, id: &str, version: i64, at: i64) -> Entry {
    let (kind, reason) = told_as(action);
    let (record, selects) = subject(action, id);
    let (mut workspace, mut from, mut session, mut profile) = Default::default();
    match record {
        Record::Workspace(id) => workspace = id,
        Record::Profile(id) => profile = id,
        Record::Selection(id) => (workspace, profile) = (id, selects),
        // `session before>now`, each side may be empty.
        Record::Session(own) => {
            let places = id.split_once(' ').unwrap().1.split_once('>').unwrap();
            session = own;
            (from, workspace) = (places.0.to_owned(), places.1.to_owned());
        }
    }
    let op = match action {
        Action::Remove | Action::DeleteProfile | Action::DeleteSession | Action::Forget => ChangeOp::Deleted,
        _ => ChangeOp::Upserted,
    };
    Entry {
        kind,
        op,
        reason,
        workspace,
        from,
        session,
        profile,
        removed: RemovedSessions::Unspecified,
        session_count: 0,
        version,
        at: at.into(),
    }
}

fn row_of_workspace(id: &str, version: i64) -> Row {
    Row {
        record: Record::Workspace(id.to_owned()),
        state: State::Version(version),
    }
}

fn profile(id: &str, version: i64) -> Row {
    Row {
        record: Record::Profile(id.to_owned()),
        state: State::Version(version),
    }
}

fn selection(workspace: &str, profile: &str) -> Row {
    Row {
        record: Record::Selection(workspace.to_owned()),
        state: State::Selected(profile.to_owned()),
    }
}

fn workspaces(rows: &[(&str, i64)]) -> Catalog {
    Catalog::of(rows.iter().map(|(id, version)| row_of_workspace(id, *version)))
}

fn only(workspace: &str) -> Filter {
    Filter {
        workspaces: BTreeSet::from([workspace.to_owned()]),
        ..Filter::default()
    }
}

fn resync(workspaces: &[&str], reason: ResyncReason) -> Event {
    Event::Resync {
        workspaces: workspaces.iter().map(|id| (*id).to_owned()).collect(),
        reason,
    }
}

fn after(stream: usize, event: usize) -> Origin {
    Origin::Token { stream, event }
}
