//! Watches: requests, and what a stream tells.

use std::time::Duration;

use compozy_domain::{
    CatalogError, ChangeKind, ChangeOp, ChangeReason, NewChange, SeenChange, Session, Timestamp, Visibility,
    WatchFilter, Workspace, WorkspaceId, limits,
};
use compozy_proto::change::v1 as pb;
use compozy_proto::workspace::v1 as workspace_pb;

use super::session::record::session;
use super::{profile, reference::reference, timestamp, workspace};
use crate::resume_token::Binding;
use crate::watch::{Lost, Record, Start, WatchWanted};

const METHOD: &str = "compozy.change.v1.CatalogChangeService/WatchCatalog";
/// Nanoseconds that are less than a second.
const NANOS_MAX: u32 = 999_999_999;

/// Reads a request.
///
/// # Errors
/// [`CatalogError::InvalidField`] naming the field; what may be wrong with a reference.
pub fn wanted(request: pb::WatchCatalogRequest) -> Result<WatchWanted, CatalogError> {
    let pb::WatchCatalogRequest {
        resume_token,
        start,
        workspaces,
        ungrouped,
        kinds,
        include_internal,
        include_rows,
        heartbeat,
        on_expired,
    } = request;
    let start = start_from_wire(resume_token, start)?;
    for (field, count) in [("workspaces", workspaces.len()), ("kinds", kinds.len())] {
        if count > limits::FILTER_VALUES_MAX {
            return Err(CatalogError::invalid_field(field, "must hold at most 100 values"));
        }
    }
    let workspaces = workspaces
        .into_iter()
        .enumerate()
        .map(|(at, named)| reference(Some(named), &format!("workspaces[{at}]")))
        .collect::<Result<_, _>>()?;
    let kinds = kinds
        .into_iter()
        .enumerate()
        .map(|(at, kind)| {
            kind_from_wire(kind).ok_or_else(|| {
                CatalogError::invalid_field(format!("kinds[{at}]"), "must be a known kind of change")
            })
        })
        .collect::<Result<_, _>>()?;
    let resync_expired = pb::OnExpired::try_from(on_expired) == Ok(pb::OnExpired::Resync);
    Ok(WatchWanted {
        start,
        workspaces,
        ungrouped,
        kinds,
        include_internal,
        include_rows,
        heartbeat: heartbeat.map_or(Ok(limits::HEARTBEAT_DEFAULT), heartbeat_from_wire)?,
        resync_expired,
    })
}

fn start_from_wire(resume_token: String, start: i32) -> Result<Start, CatalogError> {
    let start = pb::WatchStart::try_from(start).unwrap_or_default();
    if resume_token.is_empty() {
        return Ok(match start {
            pb::WatchStart::Unspecified | pb::WatchStart::Now => Start::Now,
            pb::WatchStart::Snapshot => Start::Snapshot,
            pb::WatchStart::Earliest => Start::Earliest,
        });
    }
    if start != pb::WatchStart::Unspecified {
        let problem = "can't be set together with resume_token, which says where to begin";
        return Err(CatalogError::invalid_field("start", problem));
    }
    Ok(Start::Token(resume_token))
}

fn heartbeat_from_wire(heartbeat: prost_types::Duration) -> Result<Duration, CatalogError> {
    let refused = || CatalogError::invalid_field("heartbeat", "must be a span from 1 s to 5 min");
    let prost_types::Duration { seconds, nanos } = heartbeat;
    // By hand: what the library converts it normalises first, and that overflows at the ends of its range.
    let (Ok(seconds), Ok(nanos @ 0..=NANOS_MAX)) = (u64::try_from(seconds), u32::try_from(nanos)) else {
        return Err(refused());
    };
    let span = Duration::new(seconds, nanos);
    if (limits::HEARTBEAT_MIN..=limits::HEARTBEAT_MAX).contains(&span) {
        Ok(span)
    } else {
        Err(refused())
    }
}

/// What the tokens of a watch with this filter are bound to.
#[must_use]
pub fn binding(filter: &WatchFilter) -> Binding {
    let id = |id: &WorkspaceId| workspace_pb::WorkspaceRef {
        form: Some(workspace_pb::workspace_ref::Form::Id(id.to_string())),
    };
    let normal = pb::WatchCatalogRequest {
        workspaces: filter.workspaces().iter().map(id).collect(),
        ungrouped: filter.ungrouped(),
        kinds: filter
            .kinds()
            .iter()
            .map(|kind| kind_to_wire(*kind).into())
            .collect(),
        include_internal: filter.include_internal(),
        ..pb::WatchCatalogRequest::default()
    };
    Binding::of(METHOD, &normal)
}

/// A change as a watcher sees it, without its row.
#[must_use]
pub fn change(change: &NewChange, seen: &SeenChange<'_>, token: String) -> pb::Change {
    let NewChange {
        kind,
        op: _,
        reason: stored,
        host_id,
        workspace_id: _,
        from_workspace_id: _,
        session_id,
        profile_id,
        internal,
        version,
        session_count,
        at,
    } = change;
    let SeenChange {
        op,
        reason,
        workspace_id,
        from_workspace_id,
    } = seen;
    let text = |id: &Option<&WorkspaceId>| id.map(WorkspaceId::to_string).unwrap_or_default();
    pb::Change {
        token,
        kind: kind_to_wire(*kind).into(),
        op: op_to_wire(*op).into(),
        reason: reason_to_wire(*reason).into(),
        host_id: host_id.to_string(),
        workspace_id: text(workspace_id),
        from_workspace_id: text(from_workspace_id),
        session_id: session_id.as_ref().map(ToString::to_string).unwrap_or_default(),
        profile_id: profile_id.as_ref().map(ToString::to_string).unwrap_or_default(),
        internal: *internal,
        version: *version,
        removed_sessions: removed_sessions(*stored).into(),
        session_count: *session_count,
        at: Some(timestamp(*at)),
        row: None,
    }
}

/// A row, with nothing in it that the caller may not know; `None` for one that does not exist for the caller, as that
/// of a session that has gone elsewhere since. Silence of a runtime beyond `stale_after` counts as too long.
#[must_use]
pub fn row(row: &Record, visibility: &Visibility, stale_after: Duration) -> Option<pb::Row> {
    let record = match row {
        Record::Workspace(row) => pb::row::Record::Workspace(workspace_row(row, visibility)),
        Record::Session(row) if !is_visible(&row.session, visibility) => return None,
        Record::Session(row) => pb::row::Record::Session(session(row, stale_after, false)),
        Record::Profile(row) => pb::row::Record::Profile(profile::record(row)),
        Record::Selection(row) => pb::row::Record::Selection(profile::selection(row)),
    };
    Some(pb::Row { record: Some(record) })
}

fn is_visible(session: &Session, visibility: &Visibility) -> bool {
    match (visibility, session.workspace_id()) {
        (Visibility::All, _) => true,
        (Visibility::Only(_), Some(id)) => visibility.includes(id),
        (Visibility::Only(_), None) => false,
    }
}

fn workspace_row(row: &Workspace, visibility: &Visibility) -> workspace_pb::Workspace {
    let mut record = workspace::record(row, None);
    if let Visibility::Only(ids) = visibility {
        record
            .shares_identity_with
            .retain(|id| ids.iter().any(|visible| visible.as_str() == id));
    }
    record
}

/// Changes.
#[must_use]
pub fn changes(changes: Vec<pb::Change>) -> pb::WatchCatalogResponse {
    response(pb::watch_catalog_response::Message::Changes(pb::ChangeBatch {
        changes,
    }))
}

/// A row of a snapshot.
#[must_use]
pub fn snapshot_row(row: pb::Row) -> pb::WatchCatalogResponse {
    response(pb::watch_catalog_response::Message::SnapshotRow(
        pb::SnapshotRow { row: Some(row) },
    ))
}

/// From here on it is live.
#[must_use]
pub fn synced(token: String) -> pb::WatchCatalogResponse {
    response(pb::watch_catalog_response::Message::Synced(pb::Synced { token }))
}

/// The stream is alive.
#[must_use]
pub fn heartbeat(token: String, at: Timestamp) -> pb::WatchCatalogResponse {
    response(pb::watch_catalog_response::Message::Heartbeat(pb::Heartbeat {
        token,
        at: Some(timestamp(at)),
    }))
}

/// Something is missing: the places of a filter, if it names nothing else.
#[must_use]
pub fn resync(filter: &WatchFilter, lost: Lost, token: String) -> pb::WatchCatalogResponse {
    let named = if filter.ungrouped() {
        &[]
    } else {
        filter.workspaces()
    };
    let reason = match lost {
        Lost::Expired => pb::ResyncReason::Expired,
        Lost::Epoch => pb::ResyncReason::Epoch,
        Lost::Behind => pb::ResyncReason::Behind,
    };
    response(pb::watch_catalog_response::Message::Resync(pb::Resync {
        workspace_ids: named.iter().map(WorkspaceId::to_string).collect(),
        reason: reason.into(),
        token,
    }))
}

/// The last message.
#[must_use]
pub fn going_away(token: String, reason: pb::GoingAwayReason) -> pb::WatchCatalogResponse {
    response(pb::watch_catalog_response::Message::GoingAway(pb::GoingAway {
        token,
        reason: reason.into(),
    }))
}

fn response(message: pb::watch_catalog_response::Message) -> pb::WatchCatalogResponse {
    pb::WatchCatalogResponse {
        message: Some(message),
    }
}

fn kind_from_wire(kind: i32) -> Option<ChangeKind> {
    match pb::ChangeKind::try_from(kind).ok()? {
        pb::ChangeKind::Unspecified => None,
        pb::ChangeKind::Workspace => Some(ChangeKind::Workspace),
        pb::ChangeKind::WorkspaceOrder => Some(ChangeKind::WorkspaceOrder),
        pb::ChangeKind::Session => Some(ChangeKind::Session),
        pb::ChangeKind::AccountOrder => Some(ChangeKind::AccountOrder),
        pb::ChangeKind::Profile => Some(ChangeKind::Profile),
        pb::ChangeKind::Selection => Some(ChangeKind::Selection),
    }
}

const fn kind_to_wire(kind: ChangeKind) -> pb::ChangeKind {
    match kind {
        ChangeKind::Workspace => pb::ChangeKind::Workspace,
        ChangeKind::WorkspaceOrder => pb::ChangeKind::WorkspaceOrder,
        ChangeKind::Session => pb::ChangeKind::Session,
        ChangeKind::AccountOrder => pb::ChangeKind::AccountOrder,
        ChangeKind::Profile => pb::ChangeKind::Profile,
        ChangeKind::Selection => pb::ChangeKind::Selection,
    }
}

const fn op_to_wire(op: ChangeOp) -> pb::ChangeOp {
    match op {
        ChangeOp::Upserted => pb::ChangeOp::Upserted,
        ChangeOp::Deleted => pb::ChangeOp::Deleted,
    }
}

const fn reason_to_wire(reason: ChangeReason) -> pb::ChangeReason {
    match reason {
        ChangeReason::Created => pb::ChangeReason::Created,
        ChangeReason::Renamed => pb::ChangeReason::Renamed,
        ChangeReason::Updated => pb::ChangeReason::Updated,
        ChangeReason::Relinked => pb::ChangeReason::Relinked,
        ChangeReason::Status => pb::ChangeReason::Status,
        ChangeReason::Identity => pb::ChangeReason::Identity,
        ChangeReason::Moved => pb::ChangeReason::Moved,
        ChangeReason::Removed | ChangeReason::RemovedSessionsKept | ChangeReason::RemovedSessionsDeleted => {
            pb::ChangeReason::Removed
        }
        ChangeReason::State => pb::ChangeReason::State,
        ChangeReason::Archived => pb::ChangeReason::Archived,
        ChangeReason::Unarchived => pb::ChangeReason::Unarchived,
        ChangeReason::Attached => pb::ChangeReason::Attached,
        ChangeReason::Detached => pb::ChangeReason::Detached,
        ChangeReason::AttachLease => pb::ChangeReason::AttachLease,
        ChangeReason::Badge => pb::ChangeReason::Badge,
        ChangeReason::Health => pb::ChangeReason::Health,
        ChangeReason::Seen => pb::ChangeReason::Seen,
        ChangeReason::Ledger => pb::ChangeReason::Ledger,
        ChangeReason::Left => pb::ChangeReason::Left,
    }
}

const fn removed_sessions(reason: ChangeReason) -> pb::RemovedSessions {
    match reason {
        ChangeReason::RemovedSessionsKept => pb::RemovedSessions::Kept,
        ChangeReason::RemovedSessionsDeleted => pb::RemovedSessions::Deleted,
        _ => pb::RemovedSessions::Unspecified,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn beating(seconds: i64, nanos: i32) -> Result<WatchWanted, CatalogError> {
        wanted(pb::WatchCatalogRequest {
            heartbeat: Some(prost_types::Duration { seconds, nanos }),
            ..pb::WatchCatalogRequest::default()
        })
    }

    #[test]
    fn n060_n062_a_stream_is_silent_for_ten_seconds_or_for_a_span_in_bounds() {
        let unset = wanted(pb::WatchCatalogRequest::default()).unwrap();
        assert_eq!(unset.heartbeat, Duration::from_secs(10));
        assert_eq!(
            beating(1, 500_000_000).unwrap().heartbeat,
            Duration::from_millis(1_500)
        );
        for (seconds, nanos) in [
            (0, 999_999_999),
            (300, 1),
            (1, 1_000_000_000),
            (2, -1),
            (i64::MAX, i32::MAX),
            (i64::MIN, i32::MIN),
        ] {
            let error = beating(seconds, nanos).unwrap_err();
            assert!(
                matches!(&error, CatalogError::InvalidField { field, .. } if field == "heartbeat"),
                "{seconds} {nanos}: {error:?}"
            );
        }
    }

    #[test]
    fn n052_a_binding_is_that_of_the_filter_and_of_nothing_else() {
        let ids = ["ws_a", "ws_b"].map(|id| WorkspaceId::from_stored(id.to_owned()));
        let [a, b] = ids;
        let kinds = vec![ChangeKind::Session, ChangeKind::Profile];
        let one = WatchFilter::new(vec![a.clone(), b.clone()], true, kinds.clone(), false);
        let same = WatchFilter::new(vec![b.clone(), a.clone(), b], true, kinds, false);
        assert_eq!(binding(&one), binding(&same));
        let other = WatchFilter::new(vec![a], true, vec![ChangeKind::Session], false);
        assert_ne!(binding(&one), binding(&other));
    }
}
