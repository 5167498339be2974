//! Records of sessions.

use std::time::Duration;

use compozy_domain::session::health::View;
use compozy_domain::session::{
    Activity, AttachLease, Failure, LedgerRecord, Lineage, Origin, RuntimeState, SessionWorkspace, Start,
    Stop, Transition,
};
use compozy_domain::{Session, SessionAt, SessionId};
use compozy_proto::session::v1 as pb;

use super::super::timestamp;
use super::words;

/// A session on the wire, as it is shown at the instant of the look. Silence beyond `stale_after` counts as too long.
#[must_use]
pub fn session(at: &SessionAt, stale_after: Duration, include_health: bool) -> pb::Session {
    let SessionAt { session, at } = at;
    let view = session.view(*at, stale_after);
    let (etag, internal) = (session.etag(), session.is_internal());
    let runtime = runtime(session);
    let Session {
        id,
        workspace,
        host_id,
        cwd,
        canonical_cwd,
        rank: _,
        name,
        agent,
        provider,
        model,
        session_type,
        state,
        state_at: _,
        runtime: _,
        runtime_holder: _,
        generation: _,
        stop,
        lineage,
        permission_mode,
        profile_id,
        archived_at,
        activity,
        live: _,
        finished_lease: _,
        start,
        snapshot_fingerprint,
        labels,
        origin,
        has_files,
        event_count,
        last_sequence,
        ledger,
        attention: _,
        version,
        state_number: _,
        created_at,
        updated_at,
        defect,
    } = session;
    let (workspace_id, workspace_name) = match workspace {
        Some(SessionWorkspace { id, name }) => (id.to_string(), name.clone()),
        None => Default::default(),
    };
    pb::Session {
        id: id.to_string(),
        workspace_id,
        workspace_name,
        host_id: host_id.to_string(),
        cwd: cwd.clone(),
        canonical_cwd: canonical_cwd.clone(),
        name: name.clone(),
        agent: agent.clone(),
        provider: provider.clone(),
        model: model.clone(),
        r#type: words::session_type(*session_type).into(),
        state: words::state(*state).into(),
        runtime: Some(runtime),
        stop: stop.as_ref().map(stop_record),
        lineage: Some(lineage_record(lineage)),
        permission_mode: words::permission_mode(*permission_mode).into(),
        profile_id: profile_id.to_string(),
        archived_at: archived_at.map(timestamp),
        activity: activity.as_ref().map(activity_record),
        attach: view.attach.as_ref().map(attach_record),
        attachable: view.attachable,
        resumable: view.resumable,
        start: Some(start_record(start)),
        snapshot_fingerprint: snapshot_fingerprint.clone(),
        labels: labels.clone(),
        origin: Some(origin_record(origin)),
        event_count: *event_count,
        last_sequence: *last_sequence,
        ledger: ledger.as_ref().map(ledger_record),
        badge: words::badge(view.badge).into(),
        health: include_health.then(|| health(&view)),
        internal,
        has_files: *has_files,
        etag: etag.to_string(),
        version: *version,
        created_at: Some(timestamp(*created_at)),
        updated_at: Some(timestamp(*updated_at)),
        defect: defect.clone(),
    }
}

/// What a look at a session shows of its health.
#[must_use]
pub fn health(view: &View) -> pb::SessionHealth {
    let View {
        attach: _,
        attachable,
        resumable: _,
        state,
        health,
        badge,
        ineligibility,
    } = view;
    pb::SessionHealth {
        state: words::health_state(*state).into(),
        health: words::health_word(*health).into(),
        attachable: *attachable,
        eligible_for_wake: ineligibility.is_none(),
        ineligibility_reason: words::ineligibility(*ineligibility).into(),
        badge: words::badge(*badge).into(),
    }
}

/// A change of state.
#[must_use]
pub fn transition(transition: &Transition) -> pb::Transition {
    let Transition { state, at, cause, by } = transition;
    pb::Transition {
        state: words::state(*state).into(),
        at: Some(timestamp(*at)),
        cause: cause.clone(),
        by: by.clone(),
    }
}

fn runtime(session: &Session) -> pb::Runtime {
    let lease = session.live.as_ref().and_then(|live| live.lease.as_ref());
    let lease = lease.filter(|_| session.runtime == RuntimeState::Bound);
    pb::Runtime {
        state: words::runtime_state(session.runtime).into(),
        holder: session.runtime_holder.clone(),
        generation: session.generation,
        expires_at: lease.map(|lease| timestamp(lease.expires_at)),
        last_heartbeat_at: lease.and_then(|lease| lease.heartbeat_at).map(timestamp),
    }
}

fn stop_record(stop: &Stop) -> pb::Stop {
    let Stop {
        cause,
        reason,
        detail,
        failure,
        exit_status,
        requested_at,
        stopped_at,
    } = stop;
    pb::Stop {
        cause: cause.map_or(pb::StopCause::Unspecified, words::stop_cause).into(),
        reason: reason
            .map_or(pb::StopReason::Unspecified, words::stop_reason)
            .into(),
        detail: detail.clone(),
        failure: failure.as_ref().map(|Failure { kind, summary }| pb::Failure {
            kind: words::failure_kind(*kind).into(),
            summary: summary.clone(),
        }),
        exit_status: *exit_status,
        requested_at: requested_at.map(timestamp),
        stopped_at: stopped_at.map(timestamp),
    }
}

fn lineage_record(lineage: &Lineage) -> pb::Lineage {
    let Lineage {
        parent,
        root,
        depth,
        spawn_role,
    } = lineage;
    pb::Lineage {
        parent_session_id: parent.as_ref().map(SessionId::to_string).unwrap_or_default(),
        root_session_id: root.to_string(),
        depth: *depth,
        spawn_role: spawn_role.clone(),
    }
}

fn activity_record(activity: &Activity) -> pb::Activity {
    let Activity {
        at,
        kind,
        detail,
        tool,
        turn_id,
    } = activity;
    pb::Activity {
        last_activity_at: Some(timestamp(*at)),
        kind: kind.clone(),
        detail: detail.clone(),
        current_tool: tool.clone(),
        turn_id: turn_id.clone(),
    }
}

fn attach_record(attach: &AttachLease) -> pb::AttachLease {
    let AttachLease { holder, expires_at } = attach;
    pb::AttachLease {
        holder: holder.clone(),
        expires_at: Some(timestamp(*expires_at)),
    }
}

fn start_record(start: &Start) -> pb::Start {
    let Start { cause, by } = start;
    pb::Start {
        cause: cause.clone(),
        by: by.clone(),
    }
}

fn origin_record(origin: &Origin) -> pb::Origin {
    let Origin { tool, id } = origin;
    pb::Origin {
        tool: tool.clone(),
        id: id.clone(),
    }
}

fn ledger_record(ledger: &LedgerRecord) -> pb::LedgerRecord {
    let LedgerRecord {
        path,
        sha256,
        size,
        written_at,
        problem,
    } = ledger;
    pb::LedgerRecord {
        path: path.clone(),
        sha256: sha256.clone(),
        size: *size,
        written_at: written_at.map(timestamp),
        problem: problem.clone(),
    }
}
