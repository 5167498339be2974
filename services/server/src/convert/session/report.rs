//! What runtimes report: heartbeats and last words.

use std::collections::HashSet;

use compozy_domain::session::change::{LastWord, NewActivity, Report, Waiting};
use compozy_domain::session::fields::{
    ACTIVITY_BYTES_MAX, DETAIL_BYTES_MAX, ROLE_CHARS_MAX, WORD_CHARS_MAX, at_most, cut_prose, parse_prose,
};
use compozy_domain::{CatalogError, LeaseHash, SessionAt, SessionState};
use compozy_proto::session::v1 as pb;
use compozy_resolver::config::secrets::redacted;

use super::super::timestamp;
use super::lease::hash;
use super::record::session;
use super::words;
use crate::registry::session::leases::{FinishWanted, Leased};
use crate::resume_token;
use crate::seal::Seal;
use crate::status::reason_name;

/// Heartbeats of one call at most.
const BEATS_MAX: usize = 1_000;

/// Heartbeats of a batch: those that can be taken, and for every place of the request what is wrong with the one that
/// stands there.
#[derive(Debug)]
pub struct Batch {
    /// In their order.
    pub beats: Vec<(LeaseHash, Report)>,
    refused: Vec<Option<CatalogError>>,
}

/// Reads a request.
///
/// # Errors
/// [`CatalogError::LeaseLost`], [`CatalogError::InvalidField`].
pub fn heartbeat(request: pb::HeartbeatRequest) -> Result<(LeaseHash, Report), CatalogError> {
    let pb::HeartbeatRequest {
        lease,
        activity: reported,
        prompting,
        waiting_for,
        settled,
        stalled,
    } = request;
    let report = Report {
        activity: reported.map(activity).transpose()?,
        prompting,
        waiting: waiting_for.as_ref().map(waiting),
        settled,
        stalled,
    };
    Ok((hash(&lease)?, report))
}

/// Makes the response.
#[must_use]
pub fn renewed(at: &SessionAt) -> pb::HeartbeatResponse {
    let SessionAt { session, at: _ } = at;
    let lease = session.live.as_ref().and_then(|live| live.lease.as_ref());
    let stop = session
        .stop
        .as_ref()
        .filter(|_| session.state == SessionState::Stopping);
    let cause = stop
        .and_then(|stop| stop.cause)
        .map_or(pb::StopCause::Unspecified, words::stop_cause);
    pb::HeartbeatResponse {
        session_id: session.id.to_string(),
        state: words::state(session.state).into(),
        expires_at: lease.map(|lease| timestamp(lease.expires_at)),
        stop_requested: stop.is_some(),
        stop_requested_at: stop.and_then(|stop| stop.requested_at).map(timestamp),
        stop_cause: cause.into(),
    }
}

/// Reads a request of many heartbeats. One that can't be taken spoils none of the others.
///
/// # Errors
/// [`CatalogError::InvalidField`] for none or too many of them.
pub fn batch(request: pb::BatchHeartbeatRequest) -> Result<Batch, CatalogError> {
    let pb::BatchHeartbeatRequest { heartbeats } = request;
    if !(1..=BEATS_MAX).contains(&heartbeats.len()) {
        return Err(CatalogError::invalid_field(
            "heartbeats",
            "must hold 1 to 1,000 heartbeats",
        ));
    }
    let mut batch = Batch {
        beats: Vec::with_capacity(heartbeats.len()),
        refused: Vec::with_capacity(heartbeats.len()),
    };
    let mut known = HashSet::with_capacity(heartbeats.len());
    for request in heartbeats {
        let read = heartbeat(request).and_then(|beat| match known.insert(beat.0.clone()) {
            true => Ok(beat),
            false => Err(CatalogError::invalid_field(
                "heartbeats",
                "must name every lease once",
            )),
        });
        batch.refused.push(match read {
            Ok(beat) => {
                batch.beats.push(beat);
                None
            }
            Err(error) => Some(error),
        });
    }
    Ok(batch)
}

/// Makes the response: one outcome a heartbeat of the request. `outcomes` are those of the ones that could be taken.
#[must_use]
pub fn renewed_many(
    refused: Vec<Option<CatalogError>>,
    outcomes: Vec<Result<SessionAt, CatalogError>>,
) -> pb::BatchHeartbeatResponse {
    let mut outcomes = outcomes.into_iter();
    let mut results = Vec::with_capacity(refused.len());
    for refused in refused {
        let outcome = match refused {
            Some(error) => Err(error),
            // The store answers every heartbeat.
            None => outcomes.next().unwrap_or(Err(CatalogError::LeaseLost)),
        };
        results.push(result(outcome));
    }
    pb::BatchHeartbeatResponse { results }
}

impl Batch {
    /// What to ask the store, and what to answer besides.
    #[must_use]
    pub fn split(self) -> (Vec<(LeaseHash, Report)>, Vec<Option<CatalogError>>) {
        (self.beats, self.refused)
    }
}

/// Reads a request. What a runtime has to say last is never refused for its length.
///
/// # Errors
/// [`CatalogError::LeaseLost`].
pub fn finish(request: pb::FinishSessionRequest) -> Result<FinishWanted, CatalogError> {
    let pb::FinishSessionRequest {
        lease,
        cause,
        detail,
        error,
        failure_kind,
        exit_status,
        request_id: _,
    } = request;
    Ok(FinishWanted {
        hash: hash(&lease)?,
        word: LastWord {
            cause: words::stop_cause_from_wire(cause),
            detail: last_prose(&detail),
            error: last_prose(&error),
            kind: words::failure_kind_from_wire(failure_kind),
            exit_status,
        },
    })
}

/// Makes the response.
#[must_use]
pub fn finished(seal: &Seal, leased: &Leased) -> pb::FinishSessionResponse {
    pb::FinishSessionResponse {
        session: Some(session(&leased.session, leased.stale_after, false)),
        revision: resume_token::encode(seal, &leased.revision),
    }
}

fn result(outcome: Result<SessionAt, CatalogError>) -> pb::HeartbeatResult {
    let outcome = match outcome {
        Ok(at) => pb::heartbeat_result::Outcome::Renewed(renewed(&at)),
        Err(error) => pb::heartbeat_result::Outcome::Reason(reason_name(error.reason()).to_owned()),
    };
    pb::HeartbeatResult {
        outcome: Some(outcome),
    }
}

fn activity(activity: pb::Activity) -> Result<NewActivity, CatalogError> {
    let pb::Activity {
        last_activity_at: _,
        kind,
        detail,
        current_tool,
        turn_id,
    } = activity;
    if detail.len() > ACTIVITY_BYTES_MAX {
        return Err(CatalogError::invalid_field(
            "activity.detail",
            "must have at most 1024 bytes",
        ));
    }
    let detail = parse_prose(detail, "activity.detail")?;
    Ok(NewActivity {
        kind: redacted(&at_most(kind, ROLE_CHARS_MAX, "activity.kind")?),
        detail: cut_prose(&redacted(&detail), ACTIVITY_BYTES_MAX),
        tool: redacted(&at_most(current_tool, WORD_CHARS_MAX, "activity.current_tool")?),
        turn_id: redacted(&at_most(turn_id, WORD_CHARS_MAX, "activity.turn_id")?),
    })
}

/// A reason of a newer contract says nothing here.
fn waiting(waiting_for: &pb::WaitingFor) -> Waiting {
    let mut waiting = Waiting::default();
    for reason in waiting_for.reasons() {
        match reason {
            pb::WaitingReason::Unspecified => {}
            pb::WaitingReason::Auth => waiting.auth = true,
            pb::WaitingReason::Input => waiting.input = true,
        }
    }
    waiting
}

/// Redacted before it is cut: half of a secret is none that could be recognised.
fn last_prose(text: &str) -> String {
    cut_prose(&redacted(text), DETAIL_BYTES_MAX)
}
