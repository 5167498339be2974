//! The registry's rows.

use async_trait::async_trait;
use compozy_domain::workspace::{
    NewWorkspace, WorkspaceFilter, WorkspaceOrder, WorkspacePlace, WorkspaceUpdate,
};
use compozy_domain::{
    DurableId, Etag, FileIdentity, HostId, Page, PageLimit, Revision, Visibility, Workspace, WorkspaceId,
};

use crate::call::{Answer, Call};
use crate::error::Result;
use crate::intents::IntentId;

/// Rows of workspaces. Reads write nothing. Every write appends its change entries in its own transaction.
#[async_trait]
pub trait WorkspaceStore: Send + Sync {
    /// One workspace that the caller may see, and the head of the change log in the same snapshot.
    async fn find(&self, id: &WorkspaceId, visibility: &Visibility) -> Result<(Option<Workspace>, Revision)>;

    /// The workspace whose name has this key, if the caller may see it.
    async fn find_by_name(&self, key: &str, visibility: &Visibility) -> Result<Option<Workspace>>;

    /// All visible workspaces with this durable id, by id.
    async fn find_by_durable(
        &self,
        durable_id: &DurableId,
        visibility: &Visibility,
    ) -> Result<Vec<Workspace>>;

    /// The workspaces of a host whose root is one of these paths or whose recorded file is one of these, by
    /// id. One statement, whatever the number of workspaces.
    async fn find_by_roots(
        &self,
        host: &HostId,
        paths: &[String],
        files: &[FileIdentity],
    ) -> Result<Vec<Workspace>>;

    /// Up to `limit` workspaces of a host with an id above `after`, by id, for the observer.
    async fn of_host(&self, host: &HostId, after: Option<&WorkspaceId>, limit: u32)
    -> Result<Vec<Workspace>>;

    /// The visible ones of these workspaces, in no order.
    async fn find_all(&self, ids: &[WorkspaceId], visibility: &Visibility) -> Result<Vec<Workspace>>;

    /// Up to `limit` visible workspaces with an id above `after`, by id; only these, if there are any named.
    async fn above(
        &self,
        after: Option<&WorkspaceId>,
        only: &[WorkspaceId],
        limit: u32,
        visibility: &Visibility,
    ) -> Result<Vec<Workspace>>;

    /// One counted page: rows, total and revision from one snapshot.
    async fn list(&self, list: &ListWorkspaces) -> Result<Page<Workspace>>;

    /// Inserts a registration at the front of the order and ends its intent, if it has one. A row with the
    /// same host and root is answered as it is. [`compozy_domain::CatalogError::NameConflict`] for an
    /// explicit name that is taken.
    async fn register(&self, register: Register, call: Call<Registered>) -> Result<Answer<Registered>>;

    /// Changes fields of a record; a change of nothing writes nothing.
    async fn update(&self, update: Update, call: Call<Workspace>) -> Result<Answer<Workspace>>;

    /// Points a record at another root, whose status is unknown until it is looked at.
    /// [`compozy_domain::CatalogError::PathConflict`] for the root of another record.
    async fn relink(&self, relink: Relink, call: Call<Workspace>) -> Result<Answer<Workspace>>;

    /// Gives a record another durable id, and ends the intent that changed its file, if there is one.
    async fn set_durable_id(&self, set: SetDurableId, call: Call<Workspace>) -> Result<Answer<Workspace>>;

    /// Moves a workspace in the manual order.
    async fn move_before(&self, moving: MoveBefore, call: Call<Moved>) -> Result<Answer<Moved>>;

    /// Removes a registration, and with it what was observed of it and which profile is selected for it. Its sessions
    /// stay without a workspace or go, in the same transaction and without entries of their own: the one of the removal
    /// stands for them. [`compozy_domain::CatalogError::LiveSessions`].
    async fn remove(&self, remove: Remove, call: Call<Removed>) -> Result<Answer<Removed>>;

    /// Removes the visible registrations of a host that the observer has seen missing since `missing_since`
    /// or longer, at most `limit`, oldest id first, as [`Self::remove`] does, but none with live sessions; without
    /// `apply` it only answers them.
    async fn prune(&self, prune: Prune, call: Call<Pruned>) -> Result<Answer<Pruned>>;
}

/// A page to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListWorkspaces {
    /// Which rows.
    pub filter: WorkspaceFilter,
    /// The host that looks: rows of others have status `OTHER_HOST`.
    pub host: HostId,
    /// In which order.
    pub order: WorkspaceOrder,
    /// The last row of the page before; `None` for the first page.
    pub after: Option<WorkspacePlace>,
    /// How many rows.
    pub limit: PageLimit,
    /// What exists for the caller.
    pub visibility: Visibility,
    /// Total and revision of the page before: still true while the log has not moved.
    pub counted: Option<(Revision, u64)>,
}

/// A registration to insert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Register {
    /// The row.
    pub workspace: NewWorkspace,
    /// The intent under which its identity file was made.
    pub intent: Option<IntentId>,
    /// Only try: nothing is written, whatever the outcome.
    pub validate_only: bool,
}

/// What became of a registration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Registered {
    /// A new row.
    Created(Workspace),
    /// The row that has the root already.
    Existing(Workspace),
}

/// A change of fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Update {
    /// Which record.
    pub id: WorkspaceId,
    /// Only in this state.
    pub etag: Option<Etag>,
    /// The new values.
    pub update: WorkspaceUpdate,
    /// Only try: nothing is written, whatever the outcome.
    pub validate_only: bool,
}

/// A new root of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relink {
    /// Which record.
    pub id: WorkspaceId,
    /// Only in this state.
    pub etag: Option<Etag>,
    /// Only while the root is this one; a record whose root differs is answered unchanged.
    pub from_root: String,
    /// Canonical new root.
    pub root_dir: String,
    /// Device and inode of the new root.
    pub root_file: FileIdentity,
    /// Only try: nothing is written, whatever the outcome.
    pub validate_only: bool,
}

/// A new durable id of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetDurableId {
    /// Which record.
    pub id: WorkspaceId,
    /// The new durable id.
    pub durable_id: DurableId,
    /// The intent under which the file was changed.
    pub intent: Option<IntentId>,
}

/// A move in the manual order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoveBefore {
    /// Which record.
    pub id: WorkspaceId,
    /// In front of this one; `None` = to the end.
    pub before: Option<WorkspaceId>,
}

/// What a move did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// Right before it now, if the caller may see it.
    pub previous: Option<WorkspaceId>,
    /// Right after it now, if the caller may see it.
    pub next: Option<WorkspaceId>,
    /// Whether anything was written.
    pub moved: bool,
}

/// A removal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remove {
    /// Which record; `None` for a reference that named nothing, to remember the answer all the same.
    pub id: Option<WorkspaceId>,
    /// Only in this state.
    pub etag: Option<Etag>,
    /// A record that is not there is a success.
    pub allow_missing: bool,
    /// Whether its sessions go too, as far as they are not live.
    pub delete_sessions: bool,
    /// Whether live sessions stay, without a workspace; otherwise they keep it from being removed.
    pub ungroup_live: bool,
    /// The reference, for the error.
    pub reference: String,
}

/// What a removal did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removed {
    /// The removed record, if there was one.
    pub workspace: Option<Workspace>,
    /// Sessions that stay, without a workspace.
    pub kept_session_count: u64,
    /// Sessions that are gone.
    pub deleted_session_count: u64,
}

/// A removal of everything that has been missing for long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prune {
    /// Only registrations of this host.
    pub host: HostId,
    /// Seen missing at this instant or earlier, without a break since.
    pub missing_since: compozy_domain::Timestamp,
    /// At most so many.
    pub limit: u32,
    /// Whether to remove them.
    pub apply: bool,
}

/// What a prune removed, or would.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pruned {
    /// The registrations, by id.
    pub workspaces: Vec<Workspace>,
    /// Whether more are due.
    pub has_more: bool,
}
