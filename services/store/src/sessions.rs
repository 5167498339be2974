//! The session catalog's rows.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use compozy_domain::session::change::{LastWord, NewLease, Report, SessionChange};
use compozy_domain::session::filter::{SessionFilter, SessionPlace, SessionSort};
use compozy_domain::session::{Origin, PermissionMode, Start, Transition};
use compozy_domain::{
    CatalogError, Etag, HostId, LeaseHash, Page, PageLimit, ProfileId, Revision, Session, SessionAt,
    SessionId, SessionState, SessionType, Timestamp, Visibility, WatchFilter, WorkspaceId,
};

use crate::call::{Answer, Call};
use crate::error::Result;

/// Rows of sessions. Reads write nothing. Every write appends its change entries, keeps the counts and records changes
/// of state in its own transaction; one that changes nothing writes nothing. A caller who may not see every workspace
/// sees no ungrouped session.
///
/// The instant of a write is the catalog's clock: the database's on Postgres, read in the transaction; on SQLite that of
/// the call, never below one that was stored. A row that this release does not understand is listed with its defect
/// and can't be changed ([`CatalogError::RecordNotUnderstood`]); it can be deleted.
#[async_trait]
pub trait SessionStore: Send + Sync {
    /// One session that the caller may see, and the head of the change log in the same snapshot. `now` is the
    /// process's clock, which counts on SQLite only.
    async fn find_session(
        &self,
        id: &SessionId,
        visibility: &Visibility,
        now: Timestamp,
    ) -> Result<(Option<SessionAt>, Revision)>;

    /// The visible ones of these sessions, in no order, for the rows of a watch.
    async fn find_sessions(
        &self,
        ids: &[SessionId],
        visibility: &Visibility,
        now: Timestamp,
    ) -> Result<Vec<SessionAt>>;

    /// Up to `limit` visible sessions that a watcher with this filter sees, with an id above `after`, by id, for the
    /// snapshot of a watch. Archived ones are among them.
    async fn sessions_above(
        &self,
        after: Option<&SessionId>,
        filter: &WatchFilter,
        limit: u32,
        visibility: &Visibility,
        now: Timestamp,
    ) -> Result<Vec<SessionAt>>;

    /// One counted page: rows, total and revision from one snapshot.
    async fn list_sessions(&self, list: &ListSessions) -> Result<SessionPage>;

    /// Exact totals of a filter, from one snapshot.
    async fn count_sessions(&self, count: &CountSessions) -> Result<SessionTotals>;

    /// The changes of a session's state, oldest first, the last 1,000.
    async fn transitions(&self, id: &SessionId) -> Result<Vec<Transition>>;

    /// Inserts a session, in front of its account. [`CatalogError::SessionIdConflict`] for an id that is or was in use,
    /// [`CatalogError::WorkspaceNotFound`] and [`CatalogError::ProfileNotFound`] for what has gone meanwhile,
    /// [`CatalogError::SessionCwd`] when the root of the workspace is another one by now, and
    /// [`CatalogError::InvalidField`] for a parent in another workspace. Appends `session upserted created`.
    async fn create_session(
        &self,
        create: CreateSession,
        call: Call<CreatedSession>,
    ) -> Result<Answer<CreatedSession>>;

    /// Applies a change to a session. Appends the entry that the rules say.
    async fn change_session(&self, change: ChangeSession, call: Call<SessionAt>)
    -> Result<Answer<SessionAt>>;

    /// A runtime's last word under its lease: stopped and classified; the same word again writes nothing.
    /// [`CatalogError::LeaseLost`].
    async fn finish_session(&self, finish: FinishSession, call: Call<SessionAt>)
    -> Result<Answer<SessionAt>>;

    /// Renews leases and takes reports, each by itself: the outcomes are in the order of the heartbeats. All of them
    /// in one transaction. A lease of a session that the caller may not see is [`CatalogError::LeaseLost`].
    async fn heartbeat(
        &self,
        beats: &Heartbeats,
        call: &HeartbeatCall,
    ) -> Result<Vec<std::result::Result<SessionAt, CatalogError>>>;

    /// The session that a live runtime lease belongs to. [`CatalogError::LeaseLost`].
    async fn session_of_lease(
        &self,
        hash: &LeaseHash,
        visibility: &Visibility,
        now: Timestamp,
    ) -> Result<SessionAt>;

    /// Removes a session, whatever is kept of it, and remembers that its id was in use. Appends `session deleted
    /// removed`.
    async fn delete_session(
        &self,
        delete: DeleteSession,
        call: Call<Option<SessionId>>,
    ) -> Result<Answer<Option<SessionId>>>;

    /// Puts a session in front of a workspace's account; one that is there already is left alone. Appends `session
    /// upserted attached`.
    async fn attach_session(&self, attach: AttachSession, call: Call<Regrouped>)
    -> Result<Answer<Regrouped>>;

    /// Takes a session off its account. Appends `session upserted detached`.
    async fn detach_session(&self, detach: DetachSession, call: Call<Regrouped>)
    -> Result<Answer<Regrouped>>;

    /// Moves a session within its account, before another one or to the end: one row is written. Appends
    /// `account_order upserted moved`. [`CatalogError::SessionNotFound`] for the session, then for the anchor;
    /// [`CatalogError::MoveInvalid`].
    async fn move_session(
        &self,
        moving: MoveSession,
        call: Call<MovedSession>,
    ) -> Result<Answer<MovedSession>>;

    /// Looks once at every live session: gives up the lost ones, ends lapsed leases of operators, tells the log what
    /// time has changed, brings `active_at` of the rows up to date, and remembers when it ran. Work is shared between
    /// processes by row locks and done in pieces; a row that can't be used is passed over and counted.
    async fn sweep(&self, sweep: Sweep) -> Result<Swept>;

    /// When the sweep last ran; `None` before the first one.
    async fn swept_at(&self) -> Result<Option<Timestamp>>;

    /// Adds counts that writers have left behind to the kept ones, at most 5,000 at a time (Postgres; nothing on
    /// SQLite), and says how many it added.
    async fn fold_counts(&self) -> Result<u64>;

    /// Sets kept counts that differ from the true ones right, for `doctor --fix`, and says how many differed.
    async fn recount_sessions(&self) -> Result<u64>;

    /// Whether an id is or was that of a session, whoever may see it: ids are never used again.
    async fn is_session_id_taken(&self, id: &SessionId) -> Result<bool>;

    /// How many sessions belong to a profile.
    async fn sessions_of_profile(&self, id: &ProfileId) -> Result<i64>;
}

/// A page to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListSessions {
    /// Which rows.
    pub filter: SessionFilter,
    /// In which order.
    pub sort: SessionSort,
    /// The last row of the page before; `None` for the first page.
    pub after: Option<SessionPlace>,
    /// How many rows.
    pub limit: PageLimit,
    /// What exists for the caller.
    pub visibility: Visibility,
    /// Total and revision of the page before: still true while the log has not moved and no entry is pending.
    pub counted: Option<(Revision, u64)>,
    /// The walk's first instant; `None` on its first page.
    pub at: Option<Timestamp>,
    /// The process's clock, which counts on SQLite only.
    pub now: Timestamp,
    /// Silence of a runtime that counts as too long.
    pub stale_after: Duration,
}

/// A page and the instant that everything in it is meant for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionPage {
    /// The page.
    pub page: Page<Session>,
    /// The place of each row, for the page behind it. In the order by activity it is that of the index, which what is
    /// known of a live session may be ahead of.
    pub places: Vec<SessionPlace>,
    /// The walk's first instant.
    pub at: Timestamp,
}

/// Totals to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountSessions {
    /// Which rows.
    pub filter: SessionFilter,
    /// What exists for the caller.
    pub visibility: Visibility,
    /// The process's clock, which counts on SQLite only.
    pub now: Timestamp,
    /// Silence of a runtime that counts as too long.
    pub stale_after: Duration,
}

/// Exact totals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionTotals {
    /// By state, in the order of the states; those without a session are left out.
    pub by_state: Vec<(SessionState, i64)>,
    /// By workspace, `None` for ungrouped ones, by id; those without a session are left out.
    pub by_workspace: Vec<(Option<WorkspaceId>, i64)>,
    /// Head of the change log in the same snapshot.
    pub revision: Revision,
}

/// A session to insert. What the catalog decides (rank, lineage, times, version) is not in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateSession {
    /// Its id.
    pub id: SessionId,
    /// Whose disk its directory lies on.
    pub host_id: HostId,
    /// The workspace, and its root when its files were read.
    pub workspace: Option<(WorkspaceId, String)>,
    /// The directory as given, or empty.
    pub cwd: String,
    /// The directory in canonical form, absolute, or empty. In a workspace it lies in the root.
    pub canonical_cwd: String,
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
    /// `Active` or `Starting`.
    pub state: SessionState,
    /// The parent.
    pub parent: Option<SessionId>,
    /// What the parent starts it for, or empty.
    pub spawn_role: String,
    /// What its agent may do without asking.
    pub permission_mode: PermissionMode,
    /// The profile.
    pub profile_id: ProfileId,
    /// Why it is started.
    pub start: Start,
    /// Fingerprint of the snapshot, or empty.
    pub snapshot_fingerprint: String,
    /// At most 32 pairs.
    pub labels: BTreeMap<String, String>,
    /// Which tool it comes from.
    pub origin: Origin,
    /// Bind this runtime in the same transaction.
    pub bind: Option<NewLease>,
    /// Silence of a runtime that counts as too long.
    pub stale_after: Duration,
}

/// What became of a creation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreatedSession {
    /// The session.
    pub session: SessionAt,
}

/// A change to apply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeSession {
    /// Which session.
    pub id: SessionId,
    /// Only in this state.
    pub etag: Option<Etag>,
    /// What is wanted.
    pub change: SessionChange,
    /// By whose hand: the principal.
    pub by: String,
    /// Silence of a runtime that counts as too long.
    pub stale_after: Duration,
}

/// A runtime's last word to take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishSession {
    /// Hash of its lease.
    pub hash: LeaseHash,
    /// What it says.
    pub word: LastWord,
    /// Silence of a runtime that counts as too long.
    pub stale_after: Duration,
}

/// Heartbeats to take, one a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heartbeats {
    /// Lease and report of each.
    pub beats: Vec<(LeaseHash, Report)>,
    /// Silence of a runtime that counts as too long.
    pub stale_after: Duration,
}

/// On whose behalf, and until when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeartbeatCall {
    /// What exists for the caller.
    pub visibility: Visibility,
    /// The process's clock, which counts on SQLite only.
    pub now: Timestamp,
    /// The same instant as one from which time is measured: how long the catalog keeps a heartbeat waiting is not held
    /// against its sender.
    pub asked_at: std::time::Instant,
    /// When to give up.
    pub deadline: std::time::Instant,
}

/// A session to remove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeleteSession {
    /// Which one; `None` for a text that is no id.
    pub id: Option<SessionId>,
    /// As the caller wrote it.
    pub reference: String,
    /// Also a live one.
    pub force: bool,
    /// A missing one is a success.
    pub allow_missing: bool,
    /// Only in this state.
    pub etag: Option<Etag>,
}

/// A session to put onto an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttachSession {
    /// Which session.
    pub id: SessionId,
    /// Onto whose account.
    pub workspace_id: WorkspaceId,
    /// Root of the workspace when ownership was looked at.
    pub root_dir: String,
    /// Canonical directory of the session, in the root.
    pub canonical_cwd: String,
    /// Silence of a runtime that counts as too long.
    pub stale_after: Duration,
}

/// A session to take off its account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DetachSession {
    /// Which session.
    pub id: SessionId,
    /// Only off this account.
    pub workspace_id: Option<WorkspaceId>,
    /// Silence of a runtime that counts as too long.
    pub stale_after: Duration,
}

/// Where a session belongs now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Regrouped {
    /// The session.
    pub session: SessionAt,
    /// The workspace before, if something was written and the caller may see it.
    pub from: Option<WorkspaceId>,
    /// Whether anything was written.
    pub changed: bool,
}

/// A move within an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoveSession {
    /// Which session; `None` for a text that is no id.
    pub id: Option<SessionId>,
    /// As the caller wrote it.
    pub reference: String,
    /// In front of this one; `None` = to the end.
    pub before: Option<SessionAnchor>,
}

/// The session in front of which another one is put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionAnchor {
    /// Which one; `None` for a text that is no id.
    pub id: Option<SessionId>,
    /// As the caller wrote it.
    pub reference: String,
}

/// What a move did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedSession {
    /// Right before it now.
    pub previous: Option<SessionId>,
    /// Right after it now.
    pub next: Option<SessionId>,
    /// Whether anything was written.
    pub moved: bool,
}

/// One run of the sweep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sweep {
    /// How long a start may take.
    pub start_timeout: Duration,
    /// Silence of a runtime that counts as too long.
    pub stale_after: Duration,
    /// The process's clock, which counts on SQLite only.
    pub now: Timestamp,
    /// When to give up; what was done stays done.
    pub deadline: std::time::Instant,
}

/// What a sweep did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Swept {
    /// Sessions that it gave up.
    pub stopped: Vec<SessionId>,
    /// Leases that got one ttl more because the catalog had been away.
    pub granted_count: u64,
    /// Leases of operators that it ended.
    pub attach_lapsed_count: u64,
    /// Sessions whose health or badge time had changed.
    pub edge_count: u64,
    /// Rows that it could not use, with what is wrong.
    pub unusable: Vec<(String, String)>,
}
