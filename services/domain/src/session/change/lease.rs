//! Leases: runtimes bind, report and come back; operators enter and leave.

use std::time::Duration;

use super::{Moment, NewActivity, NewLease, Outcome, Report};
use crate::change::ChangeReason;
use crate::clock::Timestamp;
use crate::error::CatalogError;
use crate::id::LeaseHash;
use crate::session::{Activity, AttachLease, Lease, Live, RuntimeState, Session, SessionState};

impl Session {
    /// The session after a heartbeat under a lease.
    ///
    /// # Errors
    /// [`CatalogError::LeaseLost`].
    pub fn heartbeat(
        &self,
        hash: &LeaseHash,
        report: &Report,
        moment: Moment<'_>,
    ) -> Result<Outcome, CatalogError> {
        self.check_lease(hash, moment)?;
        let before = self.announced_before().or_else(|| self.announced(moment));
        let mut next = self.clone();
        let live = next.live.get_or_insert_with(Live::default);
        live.take_report(report, moment.now);
        if let Some(lease) = &mut live.lease {
            lease.expires_at = moment.now.plus(lease.ttl);
            lease.heartbeat_at = Some(moment.now);
        }
        if let Some(NewActivity {
            kind,
            detail,
            tool,
            turn_id,
        }) = report.activity.clone()
        {
            next.activity = Some(Activity {
                at: moment.now,
                kind,
                detail,
                tool,
                turn_id,
            });
        }
        if next.state == SessionState::Starting {
            let holder = next.runtime_holder.clone();
            let by = Moment {
                by: &holder,
                ..moment
            };
            return Ok(next.enter(SessionState::Active, "heartbeat", by));
        }
        Ok(next.told_if_news(before, moment))
    }

    /// Checks that a runtime lease of this session is still its holder's.
    ///
    /// # Errors
    /// [`CatalogError::LeaseLost`].
    pub fn check_lease(&self, hash: &LeaseHash, moment: Moment<'_>) -> Result<(), CatalogError> {
        let is_held = self.held_lease(moment).is_some_and(|lease| lease.hash == *hash);
        if is_held && self.state.is_live() {
            Ok(())
        } else {
            Err(CatalogError::LeaseLost)
        }
    }

    /// The runtime lease, if its holder still has it: also one that lapsed only while the catalog was away.
    pub(super) fn held_lease(&self, moment: Moment<'_>) -> Option<&Lease> {
        let lease = self.live.as_ref()?.lease.as_ref()?;
        let is_excused = moment.away_since.is_some_and(|since| lease.expires_at > since);
        (!lease.has_lapsed(moment.now) || is_excused).then_some(lease)
    }

    pub(super) fn resumed(
        &self,
        bind: Option<&NewLease>,
        moment: Moment<'_>,
    ) -> Result<Option<Outcome>, CatalogError> {
        if self.archived_at.is_some() {
            return Err(CatalogError::SessionArchived { id: self.id.clone() });
        }
        if self.state == SessionState::Starting {
            return match bind {
                Some(lease) => self.bound(lease, moment).map(Some),
                None => Ok(None),
            };
        }
        if !self.is_resumable() {
            return Err(self.state_conflict("only a stopped session that is not internal can be resumed"));
        }
        let mut next = self.clone();
        next.stop = None;
        next.finished_lease = None;
        next.generation += 1;
        next.runtime = RuntimeState::None;
        next.runtime_holder.clear();
        if let Some(lease) = bind {
            next.take_lease(lease, moment.now);
        }
        Ok(Some(next.enter(SessionState::Starting, "resume", moment)))
    }

    pub(super) fn bound(&self, lease: &NewLease, moment: Moment<'_>) -> Result<Outcome, CatalogError> {
        if self.archived_at.is_some() {
            return Err(CatalogError::SessionArchived { id: self.id.clone() });
        }
        if !self.state.is_live() {
            return Err(self.state_conflict("resume it before binding a runtime"));
        }
        if self.held_lease(moment).is_some() && self.runtime_holder != lease.holder {
            return Err(CatalogError::LeaseHeld {
                holder: self.runtime_holder.clone(),
            });
        }
        let mut next = self.clone();
        next.generation += 1;
        next.take_lease(lease, moment.now);
        Ok(next.told(ChangeReason::Health, moment))
    }

    /// Gives the session with its first runtime, when it is created or resumed together with it.
    pub fn take_lease(&mut self, lease: &NewLease, now: Timestamp) {
        self.runtime = RuntimeState::Bound;
        self.runtime_holder.clone_from(&lease.holder);
        let live = self.live.take().unwrap_or_default();
        self.live = Some(Live {
            lease: Some(Lease {
                hash: lease.hash.clone(),
                ttl: lease.ttl,
                expires_at: now.plus(lease.ttl),
                bound_at: now,
                heartbeat_at: None,
            }),
            settled_at: live.settled_at,
            attach: live.attach,
            announced: live.announced,
            ..Live::default()
        });
    }

    pub(super) fn entered(
        &self,
        holder: &str,
        ttl: Duration,
        moment: Moment<'_>,
    ) -> Result<Option<Outcome>, CatalogError> {
        if self.archived_at.is_some() {
            return Err(CatalogError::SessionArchived { id: self.id.clone() });
        }
        if !self.admits_operator() {
            return Err(self.state_conflict("only an active session that has not stalled can be entered"));
        }
        let held = self.live_attach(moment.now);
        let is_renewed = match held {
            Some(held) if held.holder != holder => {
                return Err(CatalogError::LeaseHeld {
                    holder: held.holder.clone(),
                });
            }
            held => held.is_some(),
        };
        let mut next = self.clone();
        next.live.get_or_insert_with(Live::default).attach = Some(AttachLease {
            holder: holder.to_owned(),
            expires_at: moment.now.plus(ttl),
        });
        if is_renewed {
            return Ok((next != *self).then_some(Outcome {
                next,
                entry: None,
                transition: None,
            }));
        }
        Ok(Some(next.told(ChangeReason::AttachLease, moment)))
    }

    pub(super) fn left(&self, holder: &str, moment: Moment<'_>) -> Option<Outcome> {
        let held = self.live_attach(moment.now)?;
        if held.holder != holder {
            return None;
        }
        let mut next = self.clone();
        next.live.get_or_insert_with(Live::default).attach = None;
        Some(next.told(ChangeReason::AttachLease, moment))
    }
}

impl Live {
    fn take_report(&mut self, report: &Report, now: Timestamp) {
        if let Some(prompting) = report.prompting {
            self.prompting = prompting;
        }
        if let Some(waiting) = report.waiting {
            self.waiting_for_auth = waiting.auth;
            self.waiting_for_input = waiting.input;
        }
        if let Some(stalled) = report.stalled {
            self.stalled = stalled;
        }
        if report.settled {
            self.settled_at = Some(now);
        }
    }
}
