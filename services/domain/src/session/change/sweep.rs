//! What time makes of sessions.

use std::time::Duration;

use super::ending::plain_failure;
use super::{Moment, Outcome};
use crate::change::ChangeReason;
use crate::clock::Timestamp;
use crate::session::{FailureKind, Lease, RuntimeState, Session, SessionState, Stop, StopCause, StopReason};

impl Session {
    /// The session after a look of the sweep; `None` if time has changed nothing. During an outage nothing is
    /// classified, and each lease that lapsed since the sweep last ran gets one ttl more.
    #[must_use]
    pub fn swept(&self, start_timeout: Duration, moment: Moment<'_>) -> Option<Outcome> {
        let mut next = self.clone();
        let mut entry = None;
        let has_lapsed = |lease: &Lease| lease.has_lapsed(moment.now);
        let lapsed = self
            .live
            .as_ref()
            .and_then(|live| live.lease.as_ref())
            .filter(|lease| has_lapsed(lease));
        match moment.away_since {
            None => {
                if let Some((stop, cause)) = self.given_up(lapsed.is_some(), start_timeout, moment.now) {
                    let bound = self.runtime == RuntimeState::Bound;
                    let runtime = if bound { RuntimeState::Lost } else { self.runtime };
                    return Some(next.end(stop, runtime, cause, moment));
                }
            }
            Some(away_since) => {
                if let Some(lease) = next.live.as_mut().and_then(|live| live.lease.as_mut())
                    && has_lapsed(lease)
                    && lease.expires_at > away_since
                {
                    lease.expires_at = moment.now.plus(lease.ttl);
                }
            }
        }
        if let Some(live) = &mut next.live
            && live
                .attach
                .as_ref()
                .is_some_and(|attach| attach.expires_at <= moment.now)
        {
            live.attach = None;
            entry = Some(ChangeReason::AttachLease);
        }
        let outcome = next.told_if_news_or(self.announced_before(), entry, moment);
        (outcome.next != *self).then_some(outcome)
    }

    /// Whether its runtime, from which nothing was heard yet, was given time after an outage and still has it.
    pub(super) fn is_excused(&self, now: Timestamp) -> bool {
        let lease = self.live.as_ref().and_then(|live| live.lease.as_ref());
        lease.is_some_and(|lease| {
            let is_granted =
                lease.heartbeat_at.is_none() && lease.expires_at > lease.bound_at.plus(lease.ttl);
            is_granted && !lease.has_lapsed(now)
        })
    }

    /// Why the sweep gives it up, and the word for that.
    pub(super) fn given_up(
        &self,
        has_lapsed: bool,
        start_timeout: Duration,
        now: Timestamp,
    ) -> Option<(Stop, &'static str)> {
        let mut stop = self.stop.clone().unwrap_or_default();
        let (reason, kind, detail) = match self.state {
            SessionState::Active if has_lapsed => (
                StopReason::AgentCrashed,
                FailureKind::ProcessExit,
                "runtime lease expired while active",
            ),
            SessionState::Stopping if has_lapsed => (
                StopReason::AgentCrashed,
                FailureKind::ProcessExit,
                "stop did not complete",
            ),
            SessionState::Starting if self.state_at.plus(start_timeout) < now && !self.is_excused(now) => (
                StopReason::Error,
                FailureKind::StartupFailure,
                "start did not complete",
            ),
            _ => return None,
        };
        stop.cause = match reason {
            StopReason::AgentCrashed => Some(StopCause::ProcessExit),
            _ => Some(StopCause::Failed),
        };
        stop.reason = Some(reason);
        stop.failure = Some(plain_failure(kind));
        if stop.detail.is_empty() {
            detail.clone_into(&mut stop.detail);
        }
        Some((stop, "sweep"))
    }
}
