//! A store that counts what the log is asked, and can be away.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use compozy_domain::profile::Selection;
use compozy_domain::{
    CatalogId, DurableId, FileIdentity, HostId, Page, Profile, ProfileId, ProfileName, RequestId, Revision,
    Timestamp, Visibility, Workspace, WorkspaceId,
};
use compozy_store::{
    Answer, Call, CatalogKey, CatalogStore, ChangeLog, CreateProfile, DeleteProfile, Error, Finding, Intent,
    IntentId, IntentStore, LastObservation, ListProfiles, ListWorkspaces, LogHead, LogSlice, MoveBefore,
    Moved, Numbering, Observation, ObservationStore, PathLock, ProfileStore, Prune, Pruned, Register,
    Registered, Relink, Remove, Removed, RenameProfile, Result, SelectProfile, Selected, Selections,
    SetDurableId, SetProfileState, SqlStore, StoreKind, Update, UpdateProfile, WorkspaceStore,
};
use tokio_util::sync::CancellationToken;
use tonic::async_trait;

/// The inner store, watched.
#[derive(Debug)]
pub(crate) struct WatchedStore {
    watched: Arc<SqlStore>,
    statements_on_log: AtomicU64,
    snapshot_pages: AtomicU64,
    away: AtomicBool,
}

impl WatchedStore {
    pub(crate) fn over(store: &Arc<SqlStore>) -> Self {
        Self {
            watched: Arc::clone(store),
            statements_on_log: AtomicU64::new(0),
            snapshot_pages: AtomicU64::new(0),
            away: AtomicBool::new(false),
        }
    }

    /// How often the log was read or numbered.
    pub(crate) fn statements_on_log(&self) -> u64 {
        self.statements_on_log.load(Ordering::Relaxed)
    }

    /// How often rows of a snapshot were read.
    pub(crate) fn snapshot_pages(&self) -> u64 {
        self.snapshot_pages.load(Ordering::Relaxed)
    }

    /// Lets everything fail from now on, or ends that.
    pub(crate) fn set_away(&self, away: bool) {
        self.away.store(away, Ordering::Relaxed);
    }

    fn inner(&self) -> Result<&SqlStore> {
        if self.away.load(Ordering::Relaxed) {
            return Err(Error::Unavailable {
                outcome_unknown: false,
                detail: "a test took it away".to_owned(),
            });
        }
        Ok(&self.watched)
    }

    fn snapshot(&self) -> Result<&SqlStore> {
        self.snapshot_pages.fetch_add(1, Ordering::Relaxed);
        self.inner()
    }

    fn log(&self) -> Result<&SqlStore> {
        self.statements_on_log.fetch_add(1, Ordering::Relaxed);
        self.inner()
    }
}

/// Methods that are handed on.
macro_rules! hand_on {
    ($trait:ident: $($inner:ident.$name:ident($($argument:ident: $of:ty),*) -> $output:ty;)+) => {
        #[async_trait]
        impl $trait for WatchedStore {
            $(async fn $name(&self, $($argument: $of),*) -> Result<$output> {
                $trait::$name(self.$inner()?, $($argument),*).await
            })+
        }
    };
}

hand_on! {
    WorkspaceStore:
    inner.register(register: Register, call: Call<Registered>) -> Answer<Registered>;
    inner.find_by_roots(host: &HostId, paths: &[String], files: &[FileIdentity]) -> Vec<Workspace>;
    inner.find(id: &WorkspaceId, visibility: &Visibility) -> (Option<Workspace>, Revision);
    inner.find_by_name(key: &str, visibility: &Visibility) -> Option<Workspace>;
    inner.find_by_durable(id: &DurableId, visibility: &Visibility) -> Vec<Workspace>;
    inner.of_host(host: &HostId, after: Option<&WorkspaceId>, limit: u32) -> Vec<Workspace>;
    inner.find_all(ids: &[WorkspaceId], visibility: &Visibility) -> Vec<Workspace>;
    snapshot.above(after: Option<&WorkspaceId>, only: &[WorkspaceId], limit: u32, visibility: &Visibility)
        -> Vec<Workspace>;
    inner.list(list: &ListWorkspaces) -> Page<Workspace>;
    inner.update(update: Update, call: Call<Workspace>) -> Answer<Workspace>;
    inner.relink(relink: Relink, call: Call<Workspace>) -> Answer<Workspace>;
    inner.set_durable_id(set: SetDurableId, call: Call<Workspace>) -> Answer<Workspace>;
    inner.move_before(moving: MoveBefore, call: Call<Moved>) -> Answer<Moved>;
    inner.remove(remove: Remove, call: Call<Removed>) -> Answer<Removed>;
    inner.prune(prune: Prune, call: Call<Pruned>) -> Answer<Pruned>;
}

hand_on! {
    ProfileStore:
    inner.find_profile(id: &ProfileId) -> (Option<Profile>, Revision);
    inner.find_profile_by_name(name: &ProfileName) -> (Option<Profile>, Revision);
    inner.find_profiles(ids: &[ProfileId]) -> Vec<Profile>;
    inner.profile_names() -> Vec<ProfileName>;
    inner.list_profiles(list: &ListProfiles) -> Page<Profile>;
    snapshot.profiles_above(after: Option<&ProfileId>, limit: u32) -> Vec<Profile>;
    inner.create_profile(create: CreateProfile, call: Call<Profile>) -> Answer<Profile>;
    inner.update_profile(update: UpdateProfile, call: Call<Profile>) -> Answer<Profile>;
    inner.rename_profile(rename: RenameProfile, call: Call<Profile>) -> Answer<Profile>;
    inner.set_profile_state(set: SetProfileState, call: Call<Profile>) -> Answer<Profile>;
    inner.delete_profile(delete: DeleteProfile, call: Call<Option<ProfileId>>) -> Answer<Option<ProfileId>>;
    inner.select_profile(select: SelectProfile, call: Call<Selected>) -> Answer<Selected>;
    inner.selections(workspace: Option<&WorkspaceId>) -> Selections;
    inner.find_selections(workspaces: &[WorkspaceId], global: bool) -> Vec<Selection>;
}

hand_on! {
    IntentStore:
    inner.lock_path(host: &HostId, path: &str) -> PathLock;
    inner.begin_intent(intent: &Intent, now: Timestamp) -> ();
    inner.end_intent(id: &IntentId) -> ();
    inner.renew_intents(owner: &str, now: Timestamp) -> ();
    inner.intents_at(host: &HostId, root_dir: &str) -> Vec<Intent>;
    inner.abandoned_intents(host: &HostId, owner: &str, now: Timestamp) -> Vec<Intent>;
}

hand_on! {
    ObservationStore:
    inner.claim_round(host: &HostId, owner: &str, now: Timestamp, period_nanos: i64) -> bool;
    inner.record(seen: &[Observation], now: Timestamp) -> ();
    inner.last(id: &WorkspaceId) -> Option<LastObservation>;
}

#[async_trait]
impl ChangeLog for WatchedStore {
    async fn head(&self) -> Result<LogHead> {
        self.log()?.head().await
    }

    async fn read_after(&self, position: i64, limit: u32) -> Result<LogSlice> {
        self.log()?.read_after(position, limit).await
    }

    async fn number_pending(&self) -> Result<Numbering> {
        self.log()?.number_pending().await
    }

    async fn settle(&self, deadline: Instant) -> Result<()> {
        self.log()?.settle(deadline).await
    }

    async fn trim(&self, before: Timestamp, entries: u64) -> Result<u64> {
        self.inner()?.trim(before, entries).await
    }

    async fn now(&self, own: Timestamp) -> Result<Timestamp> {
        self.inner()?.now(own).await
    }

    async fn appended(&self) {
        self.watched.appended().await;
    }

    async fn hinted(&self) {
        self.watched.hinted().await;
    }

    async fn hint(&self) {
        self.watched.hint().await;
    }

    fn poll_period(&self) -> Duration {
        self.watched.poll_period()
    }
}

#[async_trait]
impl CatalogStore for WatchedStore {
    fn kind(&self) -> StoreKind {
        self.watched.kind()
    }

    fn catalog_id(&self) -> &CatalogId {
        self.watched.catalog_id()
    }

    async fn keys(&self) -> Result<Vec<CatalogKey>> {
        self.inner()?.keys().await
    }

    async fn rotate_key(&self, key: [u8; 32], now: Timestamp) -> Result<CatalogKey> {
        self.inner()?.rotate_key(key, now).await
    }

    async fn claim_first_start(&self) -> Result<bool> {
        self.inner()?.claim_first_start().await
    }

    async fn find_answer(
        &self,
        principal: &str,
        method: &str,
        request_id: &RequestId,
        hash: &[u8; 32],
        now: Timestamp,
    ) -> Result<Option<Vec<u8>>> {
        let inner = self.inner()?;
        inner.find_answer(principal, method, request_id, hash, now).await
    }

    async fn forget_answers(&self, now: Timestamp) -> Result<u64> {
        self.inner()?.forget_answers(now).await
    }

    async fn new_epoch(&self, epoch: &str) -> Result<()> {
        self.inner()?.new_epoch(epoch).await
    }

    async fn backup_to(&self, path: &Path, stop: &CancellationToken) -> Result<bool> {
        self.inner()?.backup_to(path, stop).await
    }

    async fn newest_at(&self) -> Result<Timestamp> {
        self.inner()?.newest_at().await
    }

    async fn check(&self) -> Result<()> {
        self.inner()?.check().await
    }

    async fn examine(&self) -> Result<Vec<Finding>> {
        self.inner()?.examine().await
    }

    async fn close(&self) {
        self.watched.close().await;
    }
}

crate::handed_on::hand_on_sessions!(WatchedStore, |store: &WatchedStore| -> Result<Arc<SqlStore>> {
    store.inner()?;
    Ok(Arc::clone(&store.watched))
});
