//! What is shown of a session at an instant, computed from stored facts.

use std::time::Duration;

use super::{AttachLease, AttentionClass, FailureKind, RuntimeState, Session, SessionState};
use crate::change::stored_words;
use crate::clock::Timestamp;

/// The one word to show for a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Badge {
    Failed,
    WaitingForAuth,
    WaitingForInput,
    Stopped,
    Hung,
    Unhealthy,
    Running,
    Done,
    Idle,
    Unknown,
}

stored_words!(Badge {
    Failed = "failed",
    WaitingForAuth = "waiting-for-auth",
    WaitingForInput = "waiting-for-input",
    Stopped = "stopped",
    Hung = "hung",
    Unhealthy = "unhealthy",
    Running = "running",
    Done = "done",
    Idle = "idle",
    Unknown = "unknown",
});

/// How the runtime of a session does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Health {
    /// Well.
    Healthy,
    /// Stalled, by the runtime's own word.
    Degraded,
    /// Silent for too long.
    Stale,
    /// Stopped.
    Dead,
    /// There is no runtime.
    Unknown,
}

stored_words!(Health {
    Healthy = "healthy",
    Degraded = "degraded",
    Stale = "stale",
    Dead = "dead",
    Unknown = "unknown",
});

/// What a session is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HealthState {
    /// A runtime is there and waits.
    Idle,
    /// A runtime is at work on a prompt.
    Prompting,
    /// It is stopped.
    Stopped,
    /// It has no runtime.
    Detached,
}

/// Why a session can't be woken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Ineligibility {
    PromptActive,
    NotAttachable,
    Unhealthy,
    Stale,
    Dead,
    Unknown,
}

/// Everything that is derived from a session at an instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// The operator's lease, if it is live.
    pub attach: Option<AttachLease>,
    /// Whether an operator can enter it.
    pub attachable: bool,
    /// Whether it can be resumed.
    pub resumable: bool,
    /// What it is doing.
    pub state: HealthState,
    /// How its runtime does.
    pub health: Health,
    /// Its badge.
    pub badge: Badge,
    /// Why it can't be woken; `None` exactly when it can.
    pub ineligibility: Option<Ineligibility>,
}

impl Session {
    /// What is shown of it at an instant, when silence beyond `stale_after` counts as too long.
    #[must_use]
    pub fn view(&self, now: Timestamp, stale_after: Duration) -> View {
        let attach = self.live_attach(now).cloned();
        let attachable = self.is_attachable(now);
        let health = self.health(now, stale_after);
        View {
            attach,
            attachable,
            resumable: self.is_resumable(),
            state: self.health_state(),
            health,
            badge: self.badge(health),
            ineligibility: self.ineligibility(attachable, health),
        }
    }

    /// The operator's lease, if it is live.
    #[must_use]
    pub fn live_attach(&self, now: Timestamp) -> Option<&AttachLease> {
        let attach = self.live.as_ref()?.attach.as_ref()?;
        (attach.expires_at > now && self.state.is_live()).then_some(attach)
    }

    /// Whether an operator could enter it if nobody were in it.
    #[must_use]
    pub fn admits_operator(&self) -> bool {
        let stalled = self.live.as_ref().is_some_and(|live| live.stalled);
        let failed = self.stop.as_ref().is_some_and(|stop| stop.failure.is_some());
        self.state == SessionState::Active && self.archived_at.is_none() && !failed && !stalled
    }

    /// Whether an operator can enter it.
    #[must_use]
    pub fn is_attachable(&self, now: Timestamp) -> bool {
        self.admits_operator() && self.live_attach(now).is_none()
    }

    /// Whether it can be resumed.
    #[must_use]
    pub fn is_resumable(&self) -> bool {
        self.state == SessionState::Stopped && self.archived_at.is_none() && !self.is_internal()
    }

    /// Whether it is stopped with a failure other than cancellation.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        let failure = self.stop.as_ref().and_then(|stop| stop.failure.as_ref());
        !self.state.is_live() && failure.is_some_and(|failure| failure.kind != FailureKind::Cancellation)
    }

    fn is_bound(&self) -> bool {
        self.runtime == RuntimeState::Bound
    }

    fn health_state(&self) -> HealthState {
        if !self.state.is_live() {
            HealthState::Stopped
        } else if !self.is_bound() {
            HealthState::Detached
        } else if self.live.as_ref().is_some_and(|live| live.prompting) {
            HealthState::Prompting
        } else {
            HealthState::Idle
        }
    }

    fn health(&self, now: Timestamp, stale_after: Duration) -> Health {
        if !self.state.is_live() {
            return Health::Dead;
        }
        let Some(live) = self.live.as_ref().filter(|_| self.is_bound()) else {
            return Health::Unknown;
        };
        if live.stalled {
            return Health::Degraded;
        }
        let heard_at = live.lease.as_ref().map(super::Lease::heard_at);
        match heard_at {
            Some(heard_at) if heard_at.plus(stale_after) >= now => Health::Healthy,
            _ => Health::Stale,
        }
    }

    fn badge(&self, health: Health) -> Badge {
        let live = self.live.as_ref();
        let is = |fact: fn(&super::Live) -> bool| live.is_some_and(fact);
        if self.has_failed() {
            Badge::Failed
        } else if self.state.is_live() && is(|live| live.waiting_for_auth) {
            Badge::WaitingForAuth
        } else if self.state.is_live() && is(|live| live.waiting_for_input) {
            Badge::WaitingForInput
        } else if !self.state.is_live() {
            Badge::Stopped
        } else if matches!(health, Health::Dead | Health::Stale) {
            Badge::Hung
        } else if health == Health::Degraded {
            Badge::Unhealthy
        } else if self.state != SessionState::Active || (self.is_bound() && is(|live| live.prompting)) {
            Badge::Running
        } else if is(|live| live.settled_at.is_some()) {
            Badge::Done
        } else if health == Health::Healthy {
            Badge::Idle
        } else {
            Badge::Unknown
        }
    }

    fn ineligibility(&self, attachable: bool, health: Health) -> Option<Ineligibility> {
        if self.health_state() == HealthState::Prompting {
            return Some(Ineligibility::PromptActive);
        }
        if !attachable {
            return Some(Ineligibility::NotAttachable);
        }
        match health {
            Health::Healthy => None,
            Health::Degraded => Some(Ineligibility::Unhealthy),
            Health::Stale => Some(Ineligibility::Stale),
            Health::Dead => Some(Ineligibility::Dead),
            Health::Unknown => Some(Ineligibility::Unknown),
        }
    }
}

impl Badge {
    /// Its class in the order by attention.
    #[must_use]
    pub const fn attention(self) -> AttentionClass {
        match self {
            Self::Failed | Self::WaitingForAuth | Self::WaitingForInput => AttentionClass::NeedsYou,
            Self::Done => AttentionClass::Finished,
            Self::Stopped | Self::Hung | Self::Unhealthy | Self::Running | Self::Idle | Self::Unknown => {
                AttentionClass::Rest
            }
        }
    }
}
