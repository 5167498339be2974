#![allow(clippy::unwrap_used)]

mod classified;
mod fields;
mod leases;
mod lives;
mod shown;
mod swept;

use std::collections::BTreeMap;
use std::time::Duration;

use super::change::{Moment, NewLease, Outcome, Report, SessionChange};
use super::*;
use crate::change::ChangeReason;

const START: Timestamp = Timestamp::from_nanos(1_777_905_000_000_000_000);
const STALE_AFTER: Duration = Duration::from_secs(120);
const START_TIMEOUT: Duration = Duration::from_secs(60);
const TTL: Duration = Duration::from_secs(30);
const NANOSECOND: Duration = Duration::from_nanos(1);

fn at(seconds: u64) -> Timestamp {
    START.plus(Duration::from_secs(seconds))
}

fn moment(now: Timestamp) -> Moment<'static> {
    Moment {
        now,
        by: "local",
        stale_after: STALE_AFTER,
        away_since: None,
    }
}

fn hash(number: u8) -> LeaseHash {
    LeaseHash([number; 32])
}

fn lease(holder: &str, number: u8) -> NewLease {
    NewLease {
        holder: holder.to_owned(),
        hash: hash(number),
        ttl: TTL,
    }
}

/// An active session without a runtime.
fn session() -> Session {
    let id = SessionId::parse("sess-00000000000000aa").unwrap();
    Session {
        id: id.clone(),
        workspace: Some(SessionWorkspace {
            id: WorkspaceId::parse("ws_00000000000000aa").unwrap(),
            name: "a".to_owned(),
        }),
        host_id: HostId::parse("h1").unwrap(),
        cwd: "/t/a".to_owned(),
        canonical_cwd: "/t/a".to_owned(),
        rank: Some(Rank::front(1)),
        name: String::new(),
        agent: "general".to_owned(),
        provider: String::new(),
        model: String::new(),
        session_type: SessionType::User,
        state: SessionState::Active,
        state_at: START,
        runtime: RuntimeState::None,
        runtime_holder: String::new(),
        generation: 0,
        stop: None,
        lineage: Lineage {
            parent: None,
            root: id,
            depth: 0,
            spawn_role: String::new(),
        },
        permission_mode: PermissionMode::ApproveAll,
        profile_id: ProfileId::from_stored("00000000000000000000000000".to_owned()),
        archived_at: None,
        activity: None,
        live: None,
        finished_lease: None,
        start: Start {
            cause: String::new(),
            by: "local".to_owned(),
        },
        snapshot_fingerprint: String::new(),
        labels: BTreeMap::new(),
        origin: Origin::native(),
        has_files: false,
        event_count: 0,
        last_sequence: 0,
        ledger: None,
        attention: Attention {
            class: AttentionClass::Rest,
            at: START,
        },
        version: 1,
        state_number: 1,
        created_at: START,
        updated_at: START,
        defect: None,
    }
}

/// The session after a change that has to write something.
fn changed(session: &Session, change: &SessionChange, now: Timestamp) -> Outcome {
    session.changed(change, moment(now)).unwrap().unwrap()
}

/// An active session whose runtime h1 has lease 1 from the start on.
fn bound() -> Session {
    changed(&session(), &SessionChange::Bind(lease("h1", 1)), START).next
}

fn beat(session: &Session, report: &Report, now: Timestamp) -> Outcome {
    session.heartbeat(&hash(1), report, moment(now)).unwrap()
}

fn stop(cause: StopCause, detail: &str) -> SessionChange {
    SessionChange::Stop {
        cause: Some(cause),
        detail: detail.to_owned(),
    }
}

/// Reason and kind of failure of a stopped session.
fn verdict(session: &Session) -> (StopReason, Option<FailureKind>) {
    assert_eq!(session.state, SessionState::Stopped);
    let stop = session.stop.as_ref().unwrap();
    (
        stop.reason.unwrap(),
        stop.failure.as_ref().map(|failure| failure.kind),
    )
}

/// Whether a change entry goes together with a rise of the version, and `updated_at` with that of the etag.
fn assert_counted(before: &Session, outcome: &Outcome) {
    let next = &outcome.next;
    assert_eq!(
        next.version - before.version,
        i64::from(outcome.entry.is_some()),
        "{outcome:?}"
    );
    assert_eq!(
        next.updated_at != before.updated_at,
        next.etag() != before.etag(),
        "{outcome:?}"
    );
    if outcome.transition.is_some() {
        assert_eq!(outcome.entry, Some(ChangeReason::State));
    }
}
