//! The record of one agent run: its words, and the facts that are stored of it. The rules are in the files beside:
//! [`change`] says what a call makes of a record, [`health`] what is shown of it at an instant, [`classification`] what
//! a stop is called, [`fields`] what a caller may write, [`filter`] what a list holds.

pub mod change;
pub mod classification;
pub mod fields;
pub mod filter;
pub mod health;
mod words;

use std::collections::BTreeMap;
use std::time::Duration;

use crate::clock::Timestamp;
use crate::error::CatalogError;
use crate::id::{Etag, HostId, LeaseHash, ProfileId, SessionId, WorkspaceId};
use crate::rank::Rank;

pub use self::words::{
    AttentionClass, FailureKind, PermissionMode, RuntimeState, SessionState, SessionType, StopCause,
    StopReason,
};

/// One session, as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// The workspace whose account it is on.
    pub workspace: Option<SessionWorkspace>,
    /// Whose disk its directory lies on.
    pub host_id: HostId,
    /// The directory as the caller wrote it, absolute; empty when none is recorded.
    pub cwd: String,
    /// The directory in canonical form, absolute; empty when none is recorded. Of a grouped session the store keeps it
    /// relative to the root, so that it moves along.
    pub canonical_cwd: String,
    /// Place on the account; `None` exactly when ungrouped.
    pub rank: Option<Rank>,
    /// Display label, or empty.
    pub name: String,
    /// Name of the agent.
    pub agent: String,
    /// Name of the provider, or empty.
    pub provider: String,
    /// Name of the model, or empty.
    pub model: String,
    /// What it is for.
    pub session_type: SessionType,
    /// Where it stands.
    pub state: SessionState,
    /// Since when.
    pub state_at: Timestamp,
    /// Whether a program runs it.
    pub runtime: RuntimeState,
    /// Who holds the runtime lease, or held it when it was lost; otherwise empty.
    pub runtime_holder: String,
    /// Number of runtime leases that were given.
    pub generation: i64,
    /// Why it was stopped or is to stop.
    pub stop: Option<Stop>,
    /// Where it comes from.
    pub lineage: Lineage,
    /// What its agent may do without asking.
    pub permission_mode: PermissionMode,
    /// The profile that it was created under.
    pub profile_id: ProfileId,
    /// When it was archived.
    pub archived_at: Option<Timestamp>,
    /// What its runtime last reported.
    pub activity: Option<Activity>,
    /// What is known of it only while it is live.
    pub live: Option<Live>,
    /// Hash of the lease that its runtime finished with, so that the same last word again is a success.
    pub finished_lease: Option<LeaseHash>,
    /// Why it was started.
    pub start: Start,
    /// The snapshot that it was created under, or empty.
    pub snapshot_fingerprint: String,
    /// At most 32 pairs.
    pub labels: BTreeMap<String, String>,
    /// Which tool it comes from.
    pub origin: Origin,
    /// Whether it has files or rows of events.
    pub has_files: bool,
    /// Number of its events, as copied from the head of its log.
    pub event_count: i64,
    /// Sequence of its last event, as copied.
    pub last_sequence: i64,
    /// Where its ledger lies.
    pub ledger: Option<LedgerRecord>,
    /// Its place in the order by attention.
    pub attention: Attention,
    /// Number of change entries about this record.
    pub version: i64,
    /// Number of states of the record; the etag is made of it.
    pub state_number: i64,
    /// When it was created.
    pub created_at: Timestamp,
    /// When the record or its state last changed.
    pub updated_at: Timestamp,
    /// What is wrong with the stored row, if anything is.
    pub defect: Option<String>,
}

/// A session and the instant at which it was looked at, by the catalog's clock: what time changes is meant for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionAt {
    /// The session.
    pub session: Session,
    /// The instant.
    pub at: Timestamp,
}

/// The workspace of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionWorkspace {
    /// Its id.
    pub id: WorkspaceId,
    /// Its name as it is now; empty when no row has the id.
    pub name: String,
}

/// Why a session was stopped or is to stop.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stop {
    /// The first cause that was reported.
    pub cause: Option<StopCause>,
    /// Its classification; `None` while it is stopping.
    pub reason: Option<StopReason>,
    /// Redacted text, at most 2 KiB; or empty.
    pub detail: String,
    /// What went wrong.
    pub failure: Option<Failure>,
    /// Exit status of the agent's process.
    pub exit_status: Option<i32>,
    /// When stopping was asked for.
    pub requested_at: Option<Timestamp>,
    /// When it was stopped.
    pub stopped_at: Option<Timestamp>,
}

/// What went wrong, and how it was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Its kind.
    pub kind: FailureKind,
    /// Redacted text, at most 2 KiB; or empty.
    pub summary: String,
}

/// Where a session comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lineage {
    /// The parent; perhaps no longer there.
    pub parent: Option<SessionId>,
    /// The root of the tree: itself for a root.
    pub root: SessionId,
    /// Steps from the root.
    pub depth: i32,
    /// What the parent started it for, or empty.
    pub spawn_role: String,
}

/// What a runtime last reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activity {
    /// When.
    pub at: Timestamp,
    /// What kind of activity.
    pub kind: String,
    /// Details.
    pub detail: String,
    /// The tool that is at work, or empty.
    pub tool: String,
    /// The turn, or empty.
    pub turn_id: String,
}

/// Why a session was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// The caller's text, or empty.
    pub cause: String,
    /// The principal.
    pub by: String,
}

/// Which tool a session comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// [`Origin::NATIVE`], or the name of a tool.
    pub tool: String,
    /// Its id there, or empty.
    pub id: String,
}

impl Origin {
    /// The tool of sessions that were not imported.
    pub const NATIVE: &'static str = "native";

    /// The origin of a session that was not imported.
    #[must_use]
    pub fn native() -> Self {
        Self {
            tool: Self::NATIVE.to_owned(),
            id: String::new(),
        }
    }
}

/// Where the ledger of a session lies, or why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerRecord {
    /// Absolute path or URL; empty if there is none.
    pub path: String,
    /// SHA-256 of its bytes in hex.
    pub sha256: String,
    /// Its bytes.
    pub size: i64,
    /// When it was first written for this stop.
    pub written_at: Option<Timestamp>,
    /// Why there is none; empty if there is one.
    pub problem: String,
}

/// The facts of a session that exist only while it is live: leases and what the runtime reports. The store keeps them
/// in a row of their own, so that heartbeats leave the record alone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Live {
    /// The runtime lease, lapsed or not.
    pub lease: Option<Lease>,
    /// The runtime is at work on a prompt.
    pub prompting: bool,
    /// The runtime has stalled, by its own word.
    pub stalled: bool,
    /// The runtime waits for somebody to log in.
    pub waiting_for_auth: bool,
    /// The runtime waits for an answer.
    pub waiting_for_input: bool,
    /// When a turn settled that nobody has seen.
    pub settled_at: Option<Timestamp>,
    /// The operator's lease, lapsed or not.
    pub attach: Option<AttachLease>,
    /// What the change log was last told, so that what time changes is told once.
    pub announced: Option<Announced>,
}

/// A runtime lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// Hash of its token.
    pub hash: LeaseHash,
    /// For how long each heartbeat renews it.
    pub ttl: Duration,
    /// When it ends: over at this very instant.
    pub expires_at: Timestamp,
    /// When it was given.
    pub bound_at: Timestamp,
    /// When its holder last reported.
    pub heartbeat_at: Option<Timestamp>,
}

impl Lease {
    /// Whether it is over.
    #[must_use]
    pub fn has_lapsed(&self, now: Timestamp) -> bool {
        self.expires_at <= now
    }

    /// From when its silence counts: its holder was heard of, or it got one ttl more because the catalog had been away.
    #[must_use]
    pub fn heard_at(&self) -> Timestamp {
        self.expires_at.minus(self.ttl)
    }
}

/// An operator's lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttachLease {
    /// Who.
    pub holder: String,
    /// When it ends: over at this very instant.
    pub expires_at: Timestamp,
}

/// What the change log was last told of a live session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Announced {
    /// Its badge.
    pub badge: health::Badge,
    /// Its health.
    pub health: health::Health,
}

/// The place of a session in the order by attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attention {
    /// Who comes first.
    pub class: AttentionClass,
    /// Since when it is in this class.
    pub at: Timestamp,
}

/// A change of a session's state, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transition {
    /// The state from then on.
    pub state: SessionState,
    /// When.
    pub at: Timestamp,
    /// Why: the word of a stop cause, or `create`, `heartbeat`, `resume`, `finish`, `sweep`.
    pub cause: String,
    /// Who: a principal, the holder of a lease, or `sweep`.
    pub by: String,
}

impl Session {
    /// The etag of the record's state.
    #[must_use]
    pub fn etag(&self) -> Etag {
        Etag::of_state(self.state_number)
    }

    /// Id of its workspace.
    #[must_use]
    pub fn workspace_id(&self) -> Option<&WorkspaceId> {
        self.workspace.as_ref().map(|workspace| &workspace.id)
    }

    /// Whether it is in no list, count or change unless it is asked for.
    #[must_use]
    pub fn is_internal(&self) -> bool {
        is_internal(self.session_type, &self.lineage.spawn_role)
    }

    /// When it was last active, or else created: the key of the order by activity.
    #[must_use]
    pub fn active_at(&self) -> Timestamp {
        self.activity
            .as_ref()
            .map_or(self.created_at, |activity| activity.at)
    }

    /// Checks that a caller's etag, if it gave one, is that of this state.
    ///
    /// # Errors
    /// [`CatalogError::EtagMismatch`].
    pub fn check_etag(&self, etag: Option<&Etag>) -> Result<(), CatalogError> {
        match etag {
            Some(given) if *given != self.etag() => Err(CatalogError::EtagMismatch {
                id: self.id.to_string(),
            }),
            _ => Ok(()),
        }
    }

    /// Checks that this release understands the row, as every change needs.
    ///
    /// # Errors
    /// [`CatalogError::RecordNotUnderstood`].
    pub fn check_understood(&self) -> Result<(), CatalogError> {
        match &self.defect {
            None => Ok(()),
            Some(defect) => Err(CatalogError::RecordNotUnderstood {
                id: self.id.to_string(),
                defect: defect.clone(),
            }),
        }
    }
}

/// Whether a session of this type and role is an internal one.
#[must_use]
pub fn is_internal(session_type: SessionType, spawn_role: &str) -> bool {
    session_type == SessionType::Dream
        || spawn_role.eq_ignore_ascii_case("memory-extractor")
        || spawn_role.eq_ignore_ascii_case("auto-title")
}

#[cfg(test)]
mod tests;
