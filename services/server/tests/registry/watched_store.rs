//! A store that counts what it is asked, and can lose its answer to a registration or a rename of a profile, before or
//! after it is written.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
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
    calls: AtomicU64,
    rows: AtomicU64,
    losing: Mutex<Option<Losing>>,
}

/// What becomes of a write whose answer is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Losing {
    /// It was written.
    Written,
    /// It was not.
    Unwritten,
    /// It was not, and the caller is told so.
    Refused,
}

impl WatchedStore {
    pub(crate) fn over(store: &Arc<SqlStore>) -> Self {
        Self {
            watched: Arc::clone(store),
            calls: AtomicU64::new(0),
            rows: AtomicU64::new(0),
            losing: Mutex::new(None),
        }
    }

    /// Loses the answers to registrations and renames from now on, or no more.
    pub(crate) fn lose(&self, losing: Option<Losing>) {
        *self.losing.lock().unwrap() = losing;
    }

    /// How often it was asked for anything, and how many rows it answered to look-ups by root.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (
            self.calls.load(Ordering::Relaxed),
            self.rows.load(Ordering::Relaxed),
        )
    }

    fn inner(&self) -> &SqlStore {
        self.calls.fetch_add(1, Ordering::Relaxed);
        &self.watched
    }
}

fn lost(losing: Option<Losing>) -> Error {
    Error::Unavailable {
        outcome_unknown: losing != Some(Losing::Refused),
        detail: "the answer was lost by a test".to_owned(),
    }
}

#[async_trait]
impl WorkspaceStore for WatchedStore {
    async fn register(&self, register: Register, call: Call<Registered>) -> Result<Answer<Registered>> {
        let losing = *self.losing.lock().unwrap();
        match losing {
            None => return self.inner().register(register, call).await,
            Some(Losing::Written) => drop(self.inner().register(register, call).await?),
            Some(Losing::Unwritten | Losing::Refused) => {}
        }
        Err(lost(losing))
    }

    async fn find_by_roots(
        &self,
        host: &HostId,
        paths: &[String],
        files: &[FileIdentity],
    ) -> Result<Vec<Workspace>> {
        let found = self.inner().find_by_roots(host, paths, files).await?;
        self.rows.fetch_add(found.len() as u64, Ordering::Relaxed);
        Ok(found)
    }

    async fn find(&self, id: &WorkspaceId, visibility: &Visibility) -> Result<(Option<Workspace>, Revision)> {
        self.inner().find(id, visibility).await
    }

    async fn find_by_name(&self, key: &str, visibility: &Visibility) -> Result<Option<Workspace>> {
        self.inner().find_by_name(key, visibility).await
    }

    async fn find_by_durable(&self, id: &DurableId, visibility: &Visibility) -> Result<Vec<Workspace>> {
        self.inner().find_by_durable(id, visibility).await
    }

    async fn of_host(
        &self,
        host: &HostId,
        after: Option<&WorkspaceId>,
        limit: u32,
    ) -> Result<Vec<Workspace>> {
        self.inner().of_host(host, after, limit).await
    }

    async fn find_all(&self, ids: &[WorkspaceId], visibility: &Visibility) -> Result<Vec<Workspace>> {
        self.inner().find_all(ids, visibility).await
    }

    async fn above(
        &self,
        after: Option<&WorkspaceId>,
        only: &[WorkspaceId],
        limit: u32,
        visibility: &Visibility,
    ) -> Result<Vec<Workspace>> {
        self.inner().above(after, only, limit, visibility).await
    }

    async fn list(&self, list: &ListWorkspaces) -> Result<Page<Workspace>> {
        self.inner().list(list).await
    }

    async fn update(&self, update: Update, call: Call<Workspace>) -> Result<Answer<Workspace>> {
        self.inner().update(update, call).await
    }

    async fn relink(&self, relink: Relink, call: Call<Workspace>) -> Result<Answer<Workspace>> {
        self.inner().relink(relink, call).await
    }

    async fn set_durable_id(&self, set: SetDurableId, call: Call<Workspace>) -> Result<Answer<Workspace>> {
        self.inner().set_durable_id(set, call).await
    }

    async fn move_before(&self, moving: MoveBefore, call: Call<Moved>) -> Result<Answer<Moved>> {
        self.inner().move_before(moving, call).await
    }

    async fn remove(&self, remove: Remove, call: Call<Removed>) -> Result<Answer<Removed>> {
        self.inner().remove(remove, call).await
    }

    async fn prune(&self, prune: Prune, call: Call<Pruned>) -> Result<Answer<Pruned>> {
        self.inner().prune(prune, call).await
    }
}

#[async_trait]
impl ProfileStore for WatchedStore {
    async fn find_profile(&self, id: &ProfileId) -> Result<(Option<Profile>, Revision)> {
        self.inner().find_profile(id).await
    }

    async fn find_profile_by_name(&self, name: &ProfileName) -> Result<(Option<Profile>, Revision)> {
        self.inner().find_profile_by_name(name).await
    }

    async fn find_profiles(&self, ids: &[ProfileId]) -> Result<Vec<Profile>> {
        self.inner().find_profiles(ids).await
    }

    async fn profile_names(&self) -> Result<Vec<ProfileName>> {
        self.inner().profile_names().await
    }

    async fn list_profiles(&self, list: &ListProfiles) -> Result<Page<Profile>> {
        self.inner().list_profiles(list).await
    }

    async fn profiles_above(&self, after: Option<&ProfileId>, limit: u32) -> Result<Vec<Profile>> {
        self.inner().profiles_above(after, limit).await
    }

    async fn create_profile(&self, create: CreateProfile, call: Call<Profile>) -> Result<Answer<Profile>> {
        self.inner().create_profile(create, call).await
    }

    async fn update_profile(&self, update: UpdateProfile, call: Call<Profile>) -> Result<Answer<Profile>> {
        self.inner().update_profile(update, call).await
    }

    async fn rename_profile(&self, rename: RenameProfile, call: Call<Profile>) -> Result<Answer<Profile>> {
        let losing = *self.losing.lock().unwrap();
        match losing {
            None => return self.inner().rename_profile(rename, call).await,
            Some(Losing::Written) => drop(self.inner().rename_profile(rename, call).await?),
            Some(Losing::Unwritten | Losing::Refused) => {}
        }
        Err(lost(losing))
    }

    async fn set_profile_state(&self, set: SetProfileState, call: Call<Profile>) -> Result<Answer<Profile>> {
        self.inner().set_profile_state(set, call).await
    }

    async fn delete_profile(
        &self,
        delete: DeleteProfile,
        call: Call<Option<ProfileId>>,
    ) -> Result<Answer<Option<ProfileId>>> {
        self.inner().delete_profile(delete, call).await
    }

    async fn select_profile(&self, select: SelectProfile, call: Call<Selected>) -> Result<Answer<Selected>> {
        self.inner().select_profile(select, call).await
    }

    async fn selections(&self, workspace: Option<&WorkspaceId>) -> Result<Selections> {
        self.inner().selections(workspace).await
    }

    async fn find_selections(&self, workspaces: &[WorkspaceId], global: bool) -> Result<Vec<Selection>> {
        self.inner().find_selections(workspaces, global).await
    }
}

#[async_trait]
impl IntentStore for WatchedStore {
    async fn lock_path(&self, host: &HostId, path: &str) -> Result<PathLock> {
        self.inner().lock_path(host, path).await
    }

    async fn begin_intent(&self, intent: &Intent, now: Timestamp) -> Result<()> {
        self.inner().begin_intent(intent, now).await
    }

    async fn end_intent(&self, id: &IntentId) -> Result<()> {
        self.inner().end_intent(id).await
    }

    async fn renew_intents(&self, owner: &str, now: Timestamp) -> Result<()> {
        self.inner().renew_intents(owner, now).await
    }

    async fn intents_at(&self, host: &HostId, root_dir: &str) -> Result<Vec<Intent>> {
        self.inner().intents_at(host, root_dir).await
    }

    async fn abandoned_intents(&self, host: &HostId, owner: &str, now: Timestamp) -> Result<Vec<Intent>> {
        self.inner().abandoned_intents(host, owner, now).await
    }
}

#[async_trait]
impl ObservationStore for WatchedStore {
    async fn claim_round(
        &self,
        host: &HostId,
        owner: &str,
        now: Timestamp,
        period_nanos: i64,
    ) -> Result<bool> {
        self.inner().claim_round(host, owner, now, period_nanos).await
    }

    async fn record(&self, seen: &[Observation], now: Timestamp) -> Result<()> {
        self.inner().record(seen, now).await
    }

    async fn last(&self, id: &WorkspaceId) -> Result<Option<LastObservation>> {
        self.inner().last(id).await
    }
}

#[async_trait]
impl ChangeLog for WatchedStore {
    async fn head(&self) -> Result<LogHead> {
        self.inner().head().await
    }

    async fn read_after(&self, position: i64, limit: u32) -> Result<LogSlice> {
        self.inner().read_after(position, limit).await
    }

    async fn number_pending(&self) -> Result<Numbering> {
        self.inner().number_pending().await
    }

    async fn settle(&self, deadline: Instant) -> Result<()> {
        self.inner().settle(deadline).await
    }

    async fn hinted(&self) {
        self.inner().hinted().await;
    }

    async fn hint(&self) {
        self.inner().hint().await;
    }

    fn poll_period(&self) -> Duration {
        self.inner().poll_period()
    }

    async fn trim(&self, before: Timestamp, entries: u64) -> Result<u64> {
        self.inner().trim(before, entries).await
    }

    async fn now(&self, own: Timestamp) -> Result<Timestamp> {
        self.inner().now(own).await
    }

    async fn appended(&self) {
        self.inner().appended().await;
    }
}

#[async_trait]
impl CatalogStore for WatchedStore {
    fn kind(&self) -> StoreKind {
        self.inner().kind()
    }

    fn catalog_id(&self) -> &CatalogId {
        self.inner().catalog_id()
    }

    async fn keys(&self) -> Result<Vec<CatalogKey>> {
        self.inner().keys().await
    }

    async fn rotate_key(&self, key: [u8; 32], now: Timestamp) -> Result<CatalogKey> {
        self.inner().rotate_key(key, now).await
    }

    async fn claim_first_start(&self) -> Result<bool> {
        self.inner().claim_first_start().await
    }

    async fn find_answer(
        &self,
        principal: &str,
        method: &str,
        request_id: &RequestId,
        hash: &[u8; 32],
        now: Timestamp,
    ) -> Result<Option<Vec<u8>>> {
        self.inner()
            .find_answer(principal, method, request_id, hash, now)
            .await
    }

    async fn forget_answers(&self, now: Timestamp) -> Result<u64> {
        self.inner().forget_answers(now).await
    }

    async fn new_epoch(&self, epoch: &str) -> Result<()> {
        self.inner().new_epoch(epoch).await
    }

    async fn backup_to(&self, path: &Path, stop: &CancellationToken) -> Result<bool> {
        self.inner().backup_to(path, stop).await
    }

    async fn newest_at(&self) -> Result<Timestamp> {
        self.inner().newest_at().await
    }

    async fn check(&self) -> Result<()> {
        self.inner().check().await
    }

    async fn examine(&self) -> Result<Vec<Finding>> {
        self.inner().examine().await
    }

    async fn close(&self) {
        self.inner().close().await;
    }
}

crate::handed_on::hand_on_sessions!(WatchedStore, |store: &WatchedStore| -> Result<Arc<SqlStore>> {
    store.inner();
    Ok(Arc::clone(&store.watched))
});
