//! What a call, a heartbeat or the sweep makes of a session: pure functions from a record and an instant to the next
//! record. The store applies what they answer in one transaction, the server adds nothing.

use std::collections::BTreeMap;
use std::time::Duration;

use super::classification::{Ending, classify};
use super::fields::SessionName;
use super::{
    Activity, Announced, AttachLease, Attention, Failure, FailureKind, Lease, Live, PermissionMode,
    RuntimeState, Session, SessionState, SessionType, Stop, StopCause, StopReason, Transition,
};
use crate::change::ChangeReason;
use crate::clock::Timestamp;
use crate::error::CatalogError;
use crate::id::LeaseHash;

/// Silence of the sweep beyond which the catalog counts as having been away.
pub const OUTAGE_AFTER: Duration = Duration::from_secs(10);

/// What a caller wants of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionChange {
    /// Other labels, another permission mode; what is `None` stays.
    Update {
        /// All labels.
        labels: Option<BTreeMap<String, String>>,
        /// The mode.
        permission_mode: Option<PermissionMode>,
    },
    /// Another name.
    Rename(SessionName),
    /// Out of the lists.
    Archive,
    /// Back into the lists.
    Unarchive,
    /// To stop.
    Stop {
        /// Why.
        cause: Option<StopCause>,
        /// Redacted text, or empty.
        detail: String,
    },
    /// To start again.
    Resume {
        /// Bind this runtime at once.
        bind: Option<NewLease>,
    },
    /// A runtime lease.
    Bind(NewLease),
    /// An operator's lease.
    AcquireAttach {
        /// For whom.
        holder: String,
        /// For how long.
        ttl: Duration,
    },
    /// An operator's lease ends.
    ReleaseAttach {
        /// Whose.
        holder: String,
    },
    /// Somebody has seen what the last turn did.
    Seen,
}

/// A runtime lease to give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewLease {
    /// To whom.
    pub holder: String,
    /// Hash of its token.
    pub hash: LeaseHash,
    /// For how long each heartbeat renews it.
    pub ttl: Duration,
}

/// What a heartbeat reports; what is `None` stays as it was.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// What the session is doing; its time is set when it is applied.
    pub activity: Option<NewActivity>,
    /// At work on a prompt.
    pub prompting: Option<bool>,
    /// What it waits for.
    pub waiting: Option<Waiting>,
    /// A turn has settled.
    pub settled: bool,
    /// Stalled.
    pub stalled: Option<bool>,
}

/// An activity without its time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewActivity {
    /// What kind of activity.
    pub kind: String,
    /// Redacted details.
    pub detail: String,
    /// The tool that is at work, or empty.
    pub tool: String,
    /// The turn, or empty.
    pub turn_id: String,
}

/// What a runtime waits for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Somebody has to log in.
    pub auth: bool,
    /// Somebody has to answer.
    pub input: bool,
}

/// A runtime's last word.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LastWord {
    /// Why it ended.
    pub cause: Option<StopCause>,
    /// Redacted text, or empty.
    pub detail: String,
    /// Redacted error, or empty.
    pub error: String,
    /// Kind of the failure.
    pub kind: Option<FailureKind>,
    /// Exit status of the agent's process.
    pub exit_status: Option<i32>,
}

/// When and by whose hand something happens.
#[derive(Debug, Clone, Copy)]
pub struct Moment<'a> {
    /// The instant, by the catalog's clock.
    pub now: Timestamp,
    /// A principal, the holder of a lease, or `sweep`.
    pub by: &'a str,
    /// Silence that counts as too long.
    pub stale_after: Duration,
    /// When the sweep last ran, if that was more than [`OUTAGE_AFTER`] ago: leases that lapsed since then are not
    /// held against their holders.
    pub away_since: Option<Timestamp>,
}

/// What becomes of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The record, with its new version.
    pub next: Session,
    /// The reason of the change entry; `None` when the log is told nothing.
    pub entry: Option<ChangeReason>,
    /// The change of state, to be kept.
    pub transition: Option<Transition>,
}

impl Session {
    /// The session after a change; `None` if there is nothing to write.
    ///
    /// # Errors
    /// [`CatalogError::SessionState`], [`CatalogError::SessionArchived`], [`CatalogError::LeaseHeld`],
    /// [`CatalogError::InvalidField`] for a name that only sessions of type `user` have.
    pub fn changed(
        &self,
        change: &SessionChange,
        moment: Moment<'_>,
    ) -> Result<Option<Outcome>, CatalogError> {
        match change {
            SessionChange::Update {
                labels,
                permission_mode,
            } => Ok(self.updated(labels.as_ref(), *permission_mode, moment)),
            SessionChange::Rename(name) => self.renamed(name, moment),
            SessionChange::Archive => self.archived(moment),
            SessionChange::Unarchive => Ok(self.unarchived(moment)),
            SessionChange::Stop { cause, detail } => Ok(self.stopped(*cause, detail, moment)),
            SessionChange::Resume { bind } => self.resumed(bind.as_ref(), moment),
            SessionChange::Bind(lease) => self.bound(lease, moment).map(Some),
            SessionChange::AcquireAttach { holder, ttl } => self.entered(holder, *ttl, moment),
            SessionChange::ReleaseAttach { holder } => Ok(self.left(holder, moment)),
            SessionChange::Seen => Ok(self.seen(moment)),
        }
    }

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

    /// Checks that it may be deleted.
    ///
    /// # Errors
    /// [`CatalogError::SessionState`] for a live one without `force`.
    pub fn check_deletable(&self, force: bool) -> Result<(), CatalogError> {
        if self.state.is_live() && !force {
            return Err(self.state_conflict("stop it first, or delete it with force"));
        }
        Ok(())
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
    fn held_lease(&self, moment: Moment<'_>) -> Option<&Lease> {
        let lease = self.live.as_ref()?.lease.as_ref()?;
        let is_excused = moment.away_since.is_some_and(|since| lease.expires_at > since);
        (!lease.has_lapsed(moment.now) || is_excused).then_some(lease)
    }

    /// This record on another account, or on none.
    #[must_use]
    pub fn regrouped(
        mut self,
        workspace: Option<super::SessionWorkspace>,
        rank: Option<crate::rank::Rank>,
        now: Timestamp,
    ) -> Self {
        self.workspace = workspace;
        self.rank = rank;
        self.moved_on(now)
    }

    fn updated(
        &self,
        labels: Option<&BTreeMap<String, String>>,
        permission_mode: Option<PermissionMode>,
        moment: Moment<'_>,
    ) -> Option<Outcome> {
        let mut next = self.clone();
        if let Some(labels) = labels {
            next.labels.clone_from(labels);
        }
        if let Some(mode) = permission_mode {
            next.permission_mode = mode;
        }
        (next != *self).then(|| next.record_changed(ChangeReason::Updated, moment))
    }

    fn renamed(&self, name: &SessionName, moment: Moment<'_>) -> Result<Option<Outcome>, CatalogError> {
        if self.session_type != SessionType::User {
            return Err(CatalogError::invalid_field(
                "name",
                "can't be given: only sessions of type user have one",
            ));
        }
        if self.name == name.as_str() {
            return Ok(None);
        }
        let mut next = self.clone();
        name.as_str().clone_into(&mut next.name);
        Ok(Some(next.record_changed(ChangeReason::Renamed, moment)))
    }

    fn archived(&self, moment: Moment<'_>) -> Result<Option<Outcome>, CatalogError> {
        if self.archived_at.is_some() {
            return Ok(None);
        }
        if self.state != SessionState::Stopped {
            return Err(self.state_conflict("stop it before archiving it"));
        }
        let mut next = self.clone();
        next.archived_at = Some(moment.now);
        Ok(Some(next.record_changed(ChangeReason::Archived, moment)))
    }

    fn unarchived(&self, moment: Moment<'_>) -> Option<Outcome> {
        self.archived_at?;
        let mut next = self.clone();
        next.archived_at = None;
        Some(next.record_changed(ChangeReason::Unarchived, moment))
    }

    fn stopped(&self, cause: Option<StopCause>, detail: &str, moment: Moment<'_>) -> Option<Outcome> {
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
    fn stop_refined(&self, cause: Option<StopCause>, detail: &str, moment: Moment<'_>) -> Option<Outcome> {
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

    fn resumed(&self, bind: Option<&NewLease>, moment: Moment<'_>) -> Result<Option<Outcome>, CatalogError> {
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

    fn bound(&self, lease: &NewLease, moment: Moment<'_>) -> Result<Outcome, CatalogError> {
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

    fn entered(
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

    fn left(&self, holder: &str, moment: Moment<'_>) -> Option<Outcome> {
        let held = self.live_attach(moment.now)?;
        if held.holder != holder {
            return None;
        }
        let mut next = self.clone();
        next.live.get_or_insert_with(Live::default).attach = None;
        Some(next.told(ChangeReason::AttachLease, moment))
    }

    fn seen(&self, moment: Moment<'_>) -> Option<Outcome> {
        self.live.as_ref()?.settled_at?;
        let mut next = self.clone();
        next.live.get_or_insert_with(Live::default).settled_at = None;
        Some(next.told(ChangeReason::Seen, moment))
    }

    /// Whether its runtime, from which nothing was heard yet, was given time after an outage and still has it.
    fn is_excused(&self, now: Timestamp) -> bool {
        let lease = self.live.as_ref().and_then(|live| live.lease.as_ref());
        lease.is_some_and(|lease| {
            let is_granted =
                lease.heartbeat_at.is_none() && lease.expires_at > lease.bound_at.plus(lease.ttl);
            is_granted && !lease.has_lapsed(now)
        })
    }

    /// Why the sweep gives it up, and the word for that.
    fn given_up(
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

    fn state_conflict(&self, remedy: &'static str) -> CatalogError {
        CatalogError::SessionState {
            id: self.id.clone(),
            state: self.state,
            remedy,
        }
    }

    /// Over: what was known only of the live one goes.
    fn end(mut self, mut stop: Stop, runtime: RuntimeState, cause: &str, moment: Moment<'_>) -> Outcome {
        stop.stopped_at = Some(moment.now);
        self.stop = Some(stop);
        self.runtime = runtime;
        if runtime != RuntimeState::Lost {
            self.runtime_holder.clear();
        }
        self.live = None;
        self.enter(SessionState::Stopped, cause, moment)
    }

    fn enter(mut self, state: SessionState, cause: &str, moment: Moment<'_>) -> Outcome {
        self.state = state;
        self.state_at = moment.now;
        let transition = Transition {
            state,
            at: moment.now,
            cause: cause.to_owned(),
            by: moment.by.to_owned(),
        };
        Outcome {
            transition: Some(transition),
            ..self.record_changed(ChangeReason::State, moment)
        }
    }

    /// The record itself has changed.
    fn record_changed(self, reason: ChangeReason, moment: Moment<'_>) -> Outcome {
        self.moved_on(moment.now).announce(Some(reason), moment)
    }

    /// The record stays as it is; what is shown of it has changed.
    fn told(mut self, reason: ChangeReason, moment: Moment<'_>) -> Outcome {
        self.version += 1;
        self.announce(Some(reason), moment)
    }

    fn told_if_news(self, before: Option<Announced>, moment: Moment<'_>) -> Outcome {
        self.told_if_news_or(before, None, moment)
    }

    /// Tells the log what differs from what it was told last, or what has happened besides.
    fn told_if_news_or(
        self,
        before: Option<Announced>,
        happened: Option<ChangeReason>,
        moment: Moment<'_>,
    ) -> Outcome {
        let now = self.announced(moment);
        let news = match (before, now) {
            (Some(before), Some(now)) if before.health != now.health => Some(ChangeReason::Health),
            (Some(before), Some(now)) if before.badge != now.badge => Some(ChangeReason::Badge),
            _ => None,
        };
        match happened.or(news) {
            Some(reason) => self.told(reason, moment),
            None => Outcome {
                next: self,
                entry: None,
                transition: None,
            },
        }
    }

    /// What the log was told last; `None` before it was told anything.
    fn announced_before(&self) -> Option<Announced> {
        self.live.as_ref()?.announced
    }

    /// What the log is to be told at this instant; `None` for a session that is over.
    fn announced(&self, moment: Moment<'_>) -> Option<Announced> {
        if !self.state.is_live() {
            return None;
        }
        let view = self.view(moment.now, moment.stale_after);
        Some(Announced {
            badge: view.badge,
            health: view.health,
        })
    }

    fn announce(mut self, entry: Option<ChangeReason>, moment: Moment<'_>) -> Outcome {
        let announced = self.announced(moment);
        if let Some(live) = &mut self.live {
            live.announced = announced;
        }
        let class = self.view(moment.now, moment.stale_after).badge.attention();
        if class != self.attention.class {
            self.attention = Attention {
                class,
                at: moment.now,
            };
        }
        Outcome {
            next: self,
            entry,
            transition: None,
        }
    }

    /// This record as its next state: version, etag and `updated_at` move.
    fn moved_on(mut self, now: Timestamp) -> Self {
        self.version += 1;
        self.state_number += 1;
        self.updated_at = now;
        self
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

fn plain_failure(kind: FailureKind) -> Failure {
    Failure {
        kind,
        summary: String::new(),
    }
}
