//! How sessions end: they are asked to stop, or their runtime has the last word.

use super::{LastWord, Moment, Outcome};
use crate::change::ChangeReason;
use crate::error::CatalogError;
use crate::id::LeaseHash;
use crate::session::classification::{Ending, classify};
use crate::session::{
    Failure, FailureKind, RuntimeState, Session, SessionState, Stop, StopCause, StopReason,
};

impl Session {
    /// The session after its runtime's last word; `None` for a repeated one.
    ///
    /// # Errors
    /// [`CatalogError::LeaseLost`].
    pub fn finished(
        &self,
        hash: &LeaseHash,
        word: &LastWord,
        moment: Moment<'_>,
    ) -> Result<Option<Outcome>, CatalogError> {
        if !self.state.is_live() && self.finished_lease.as_ref() == Some(hash) {
            return Ok(None);
        }
        self.check_lease(hash, moment)?;
        let mut stop = self.stop.clone().unwrap_or_default();
        stop.hear(word);
        stop.exit_status = word.exit_status;
        let (reason, kind) = ending_of(self.state, &stop, word);
        stop.reason = Some(reason);
        stop.failure = kind.map(|kind| Failure {
            kind,
            summary: word.error.clone(),
        });
        let mut next = self.clone();
        next.finished_lease = Some(hash.clone());
        let by = Moment {
            by: &self.runtime_holder,
            ..moment
        };
        let cause = stop.cause.map_or("finish", StopCause::as_str);
        Ok(Some(next.end(stop, RuntimeState::None, cause, by)))
    }

    pub(super) fn stopped(
        &self,
        cause: Option<StopCause>,
        detail: &str,
        moment: Moment<'_>,
    ) -> Option<Outcome> {
        if !self.state.is_live() {
            return None;
        }
        if self.state == SessionState::Stopping {
            return self.stop_refined(cause, detail, moment);
        }
        let mut stop = Stop {
            cause,
            detail: detail.to_owned(),
            requested_at: Some(moment.now),
            ..Stop::default()
        };
        let word = cause.map_or("stop", StopCause::as_str);
        let mut next = self.clone();
        if self.held_lease(moment).is_some() {
            next.stop = Some(stop);
            return Some(next.enter(SessionState::Stopping, word, moment));
        }
        let (reason, kind) = classify(Ending {
            cause,
            detail,
            ..Ending::default()
        });
        stop.reason = Some(reason);
        stop.failure = kind.map(plain_failure);
        let runtime = if self.runtime == RuntimeState::Bound {
            RuntimeState::Lost
        } else {
            RuntimeState::None
        };
        Some(next.end(stop, runtime, word, moment))
    }

    /// A stop that was asked for already: the first reported cause stays, the same one may tell more.
    pub(super) fn stop_refined(
        &self,
        cause: Option<StopCause>,
        detail: &str,
        moment: Moment<'_>,
    ) -> Option<Outcome> {
        let mut next = self.clone();
        let stop = next.stop.get_or_insert_with(Stop::default);
        if stop.cause.is_some() && stop.cause != cause {
            return None;
        }
        stop.cause = cause;
        if !detail.is_empty() {
            detail.clone_into(&mut stop.detail);
        }
        (next != *self).then(|| next.record_changed(ChangeReason::State, moment))
    }

    /// Over: what was known only of the live one goes.
    pub(super) fn end(
        mut self,
        mut stop: Stop,
        runtime: RuntimeState,
        cause: &str,
        moment: Moment<'_>,
    ) -> Outcome {
        stop.stopped_at = Some(moment.now);
        self.stop = Some(stop);
        self.runtime = runtime;
        if runtime != RuntimeState::Lost {
            self.runtime_holder.clear();
        }
        self.live = None;
        self.enter(SessionState::Stopped, cause, moment)
    }
}

impl Stop {
    /// Takes cause and detail of a last word: the first reported cause stays, and only the same one may tell more. A
    /// word without a cause agrees with what was asked for.
    fn hear(&mut self, word: &LastWord) {
        let is_same = self.cause.is_none() || self.cause == word.cause;
        let adds = word.cause.is_none() && self.detail.is_empty();
        if (is_same || adds) && !word.detail.is_empty() {
            self.detail.clone_from(&word.detail);
        }
        self.cause = self.cause.or(word.cause);
    }
}

/// What an ending is called. A start that never became a run is a failed one, unless somebody wanted it to end.
fn ending_of(state: SessionState, stop: &Stop, word: &LastWord) -> (StopReason, Option<FailureKind>) {
    let is_unwanted = matches!(
        stop.cause,
        None | Some(StopCause::ProcessExit | StopCause::Failed)
    );
    if state == SessionState::Starting && is_unwanted {
        let kind = word.kind.unwrap_or(FailureKind::StartupFailure);
        return (StopReason::Error, Some(kind));
    }
    classify(Ending {
        cause: stop.cause,
        detail: &stop.detail,
        has_error: !word.error.is_empty(),
        kind: word.kind,
    })
}

pub(super) fn plain_failure(kind: FailureKind) -> Failure {
    Failure {
        kind,
        summary: String::new(),
    }
}
