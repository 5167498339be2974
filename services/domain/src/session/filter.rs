//! Which sessions a list holds, and in which order.

use std::collections::BTreeMap;

use super::health::Badge;
use super::{AttentionClass, RuntimeState, Session, SessionState, SessionType};
use crate::clock::Timestamp;
use crate::id::{ProfileId, SessionId, WorkspaceId};
use crate::rank::Rank;

/// Conditions joined by AND; the values of one by OR. The default holds every session that is neither archived nor
/// internal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionFilter {
    /// On whose account.
    pub place: Place,
    /// Any of these agents.
    pub agents: Vec<String>,
    /// Any of these states.
    pub states: Vec<SessionState>,
    /// Any of these types.
    pub types: Vec<SessionType>,
    /// Any of these providers.
    pub providers: Vec<String>,
    /// Any of these badges, as of the walk's first instant.
    pub badges: Vec<Badge>,
    /// Any of these states of the runtime.
    pub runtimes: Vec<RuntimeState>,
    /// Direct children of this session. A text that is no id matches nothing.
    pub parent: Option<String>,
    /// The tree of this root, itself included. A text that is no id matches nothing.
    pub root: Option<String>,
    /// All of these labels.
    pub labels: BTreeMap<String, String>,
    /// From this tool.
    pub origin: Option<String>,
    /// Created under this profile.
    pub profile: Option<ProfileId>,
    /// Can, or can't, be resumed.
    pub resumable: Option<bool>,
    /// Can, or can't, be entered, as of the walk's first instant.
    pub attachable: Option<bool>,
    /// Archived ones.
    pub archive: Archive,
    /// The folded text occurs in id, name, agent, provider or the name of the workspace. Never empty.
    pub query: Option<String>,
    /// Created at or after.
    pub created_after: Option<Timestamp>,
    /// Created before.
    pub created_before: Option<Timestamp>,
    /// Last active, or else created, at or after.
    pub active_after: Option<Timestamp>,
    /// Last active, or else created, before.
    pub active_before: Option<Timestamp>,
    /// Internal ones, too.
    pub include_internal: bool,
}

/// On whose account.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Place {
    /// On any, or on none.
    #[default]
    Anywhere,
    /// On none.
    Ungrouped,
    /// On that of this workspace.
    Workspace(WorkspaceId),
}

/// What a list does with archived sessions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Archive {
    /// Without them.
    #[default]
    Exclude,
    /// Nothing but them.
    Only,
    /// With them.
    Include,
}

/// The order of a list. Equal rows are in descending order of their ids, those of `Manual` in ascending order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SessionSort {
    /// `updated_at`, then `created_at`, latest first.
    #[default]
    Recent,
    /// Last activity or else creation, then creation, latest first.
    LastActivity,
    /// By rank. Only within one workspace.
    Manual,
    /// By class of attention, then since when, latest first.
    Attention,
}

/// A place in a list: the sort key of the last row seen, by value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionPlace {
    /// The leading keys.
    pub key: SessionSortKey,
    /// The row's id.
    pub id: SessionId,
}

/// The leading keys of a list's order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionSortKey {
    /// Of [`SessionSort::Recent`]: `updated_at`; of [`SessionSort::LastActivity`]: the activity. Then `created_at`.
    Times(Timestamp, Timestamp),
    /// Of [`SessionSort::Manual`].
    Rank(Rank),
    /// Of [`SessionSort::Attention`].
    Attention(AttentionClass, Timestamp),
}

impl Session {
    /// Its place in a list of the given order.
    #[must_use]
    pub fn place(&self, sort: SessionSort) -> SessionPlace {
        let key = match sort {
            SessionSort::Recent => SessionSortKey::Times(self.updated_at, self.created_at),
            SessionSort::LastActivity => SessionSortKey::Times(self.active_at(), self.created_at),
            SessionSort::Manual => {
                let rank = self.rank.clone();
                SessionSortKey::Rank(rank.unwrap_or_else(|| Rank::from_stored(Vec::new())))
            }
            SessionSort::Attention => SessionSortKey::Attention(self.attention.class, self.attention.at),
        };
        SessionPlace {
            key,
            id: self.id.clone(),
        }
    }
}
