//! What a call, a heartbeat or the sweep makes of a session: pure functions from a record and an instant to the next
//! record. The store applies what they answer in one transaction, the server adds nothing.

mod ending;
mod lease;
mod record;
mod sweep;

use std::collections::BTreeMap;
use std::time::Duration;

use super::fields::SessionName;
use super::{
    Announced, Attention, FailureKind, PermissionMode, Session, SessionState, StopCause, Transition,
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

    pub(super) fn state_conflict(&self, remedy: &'static str) -> CatalogError {
        CatalogError::SessionState {
            id: self.id.clone(),
            state: self.state,
            remedy,
        }
    }

    pub(super) fn enter(mut self, state: SessionState, cause: &str, moment: Moment<'_>) -> Outcome {
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
    pub(super) fn record_changed(self, reason: ChangeReason, moment: Moment<'_>) -> Outcome {
        self.moved_on(moment.now).announce(Some(reason), moment)
    }

    /// The record stays as it is; what is shown of it has changed.
    pub(super) fn told(mut self, reason: ChangeReason, moment: Moment<'_>) -> Outcome {
        self.version += 1;
        self.announce(Some(reason), moment)
    }

    pub(super) fn told_if_news(self, before: Option<Announced>, moment: Moment<'_>) -> Outcome {
        self.told_if_news_or(before, None, moment)
    }

    /// Tells the log what differs from what it was told last, or what has happened besides.
    pub(super) fn told_if_news_or(
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
    pub(super) fn announced_before(&self) -> Option<Announced> {
        self.live.as_ref()?.announced
    }

    /// What the log is to be told at this instant; `None` for a session that is over.
    pub(super) fn announced(&self, moment: Moment<'_>) -> Option<Announced> {
        if !self.state.is_live() {
            return None;
        }
        let view = self.view(moment.now, moment.stale_after);
        Some(Announced {
            badge: view.badge,
            health: view.health,
        })
    }

    pub(super) fn announce(mut self, entry: Option<ChangeReason>, moment: Moment<'_>) -> Outcome {
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
    pub(super) fn moved_on(mut self, now: Timestamp) -> Self {
        self.version += 1;
        self.state_number += 1;
        self.updated_at = now;
        self
    }
}
