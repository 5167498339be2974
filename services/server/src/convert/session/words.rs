//! Enumerations of sessions, both ways. `None` for UNSPECIFIED and for values of a newer contract.

use compozy_domain::session::health::{Badge, Health, HealthState, Ineligibility};
use compozy_domain::session::{FailureKind, PermissionMode, RuntimeState, StopCause, StopReason};
use compozy_domain::{SessionState, SessionType};
use compozy_proto::session::v1 as pb;

/// Conversions of one enumeration: to the wire and from it.
macro_rules! words {
    ($($to:ident, $from:ident: $domain:ident = $wire:ident { $($variant:ident),+ $(,)? })+) => {$(
        #[doc = concat!("A `", stringify!($wire), "` on the wire.")]
        #[must_use]
        pub const fn $to(word: $domain) -> pb::$wire {
            match word { $($domain::$variant => pb::$wire::$variant),+ }
        }

        #[doc = concat!("A `", stringify!($wire), "` of a request.")]
        #[must_use]
        pub fn $from(number: i32) -> Option<$domain> {
            let word = pb::$wire::try_from(number).ok()?;
            [$($domain::$variant),+].into_iter().find(|known| $to(*known) == word)
        }
    )+};
}

words! {
    state, state_from_wire: SessionState = SessionState { Starting, Active, Stopping, Stopped, Orphaned }
    session_type, type_from_wire: SessionType = SessionType { User, System, Coordinator, Spawned, Dream }
    runtime_state, runtime_from_wire: RuntimeState = RuntimeState { None, Bound, Lost }
    permission_mode, permission_mode_from_wire: PermissionMode = PermissionMode { DenyAll, ApproveReads, ApproveAll }
    stop_cause, stop_cause_from_wire: StopCause = StopCause {
        Shutdown, Hook, User, ProcessExit, Timeout, Clear, Rewind, Completed, Failed,
    }
    stop_reason, stop_reason_from_wire: StopReason = StopReason {
        Shutdown, HookStopped, UserCanceled, MaxIterations, LoopDetected, BudgetExceeded, AgentCrashed, Error, Timeout,
        Completed,
    }
    failure_kind, failure_kind_from_wire: FailureKind = FailureKind {
        StartupFailure, HandshakeFailure, LoadSessionFailure, ProtocolFailure, PromptFailure, Cancellation,
        PermissionFailure, ProviderAuthFailure, ProcessExit, TransportFailure, Timeout, UnknownFailure,
    }
    badge, badge_from_wire: Badge = SessionBadge {
        Failed, WaitingForAuth, WaitingForInput, Stopped, Hung, Unhealthy, Running, Done, Idle, Unknown,
    }
    health_word, health_from_wire: Health = Health { Healthy, Degraded, Stale, Dead, Unknown }
    health_state, health_state_from_wire: HealthState = HealthState { Idle, Prompting, Stopped, Detached }
}

/// Why a session can't be woken, on the wire.
#[must_use]
pub const fn ineligibility(reason: Option<Ineligibility>) -> pb::IneligibilityReason {
    match reason {
        None => pb::IneligibilityReason::Unspecified,
        Some(Ineligibility::PromptActive) => pb::IneligibilityReason::SessionPromptActive,
        Some(Ineligibility::NotAttachable) => pb::IneligibilityReason::SessionNotAttachable,
        Some(Ineligibility::Unhealthy) => pb::IneligibilityReason::SessionUnhealthy,
        Some(Ineligibility::Stale) => pb::IneligibilityReason::SessionHealthStale,
        Some(Ineligibility::Dead) => pb::IneligibilityReason::SessionHealthDead,
        Some(Ineligibility::Unknown) => pb::IneligibilityReason::SessionHealthUnknown,
    }
}
