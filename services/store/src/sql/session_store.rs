//! The trait of sessions over the statements in the files beside.

use std::sync::Arc;

use async_trait::async_trait;

use compozy_domain::session::Transition;
use compozy_domain::{
    CatalogError, LeaseHash, ProfileId, Revision, SessionAt, SessionId, Timestamp, Visibility, WatchFilter,
};

use crate::call::{Answer, Call};
use crate::error::Result;
use crate::open::SqlStore;
use crate::sessions::{
    AttachSession, ChangeSession, CountSessions, CreateSession, CreatedSession, DeleteSession, DetachSession,
    FinishSession, HeartbeatCall, Heartbeats, ListSessions, MoveSession, MovedSession, Regrouped,
    SessionPage, SessionStore, SessionTotals, Sweep, Swept,
};
use crate::sql::remember::Mutation;

#[async_trait]
impl SessionStore for SqlStore {
    async fn find_session(
        &self,
        id: &SessionId,
        visibility: &Visibility,
        now: Timestamp,
    ) -> Result<(Option<SessionAt>, Revision)> {
        self.session_with_id(id, visibility, now).await
    }

    async fn find_sessions(
        &self,
        ids: &[SessionId],
        visibility: &Visibility,
        now: Timestamp,
    ) -> Result<Vec<SessionAt>> {
        self.sessions_with_ids(ids, visibility, now).await
    }

    async fn sessions_above(
        &self,
        after: Option<&SessionId>,
        filter: &WatchFilter,
        limit: u32,
        visibility: &Visibility,
        now: Timestamp,
    ) -> Result<Vec<SessionAt>> {
        self.sessions_by_id(after, filter, limit, visibility, now).await
    }

    async fn list_sessions(&self, list: &ListSessions) -> Result<SessionPage> {
        let mut list = list.clone();
        list.now = self.session_clock(list.now);
        self.db().read(Arc::new(super::session_list::List(list))).await
    }

    async fn count_sessions(&self, count: &CountSessions) -> Result<SessionTotals> {
        let mut count = count.clone();
        count.now = self.session_clock(count.now);
        self.db()
            .read(Arc::new(super::session_totals::Totals(count)))
            .await
    }

    async fn transitions(&self, id: &SessionId) -> Result<Vec<Transition>> {
        self.transitions_of(id).await
    }

    async fn create_session(
        &self,
        create: CreateSession,
        call: Call<CreatedSession>,
    ) -> Result<Answer<CreatedSession>> {
        self.write_session(create, call).await
    }

    async fn change_session(
        &self,
        change: ChangeSession,
        call: Call<SessionAt>,
    ) -> Result<Answer<SessionAt>> {
        self.write_session(change, call).await
    }

    async fn finish_session(
        &self,
        finish: FinishSession,
        call: Call<SessionAt>,
    ) -> Result<Answer<SessionAt>> {
        self.write_session(finish, call).await
    }

    async fn heartbeat(
        &self,
        beats: &Heartbeats,
        call: &HeartbeatCall,
    ) -> Result<Vec<std::result::Result<SessionAt, CatalogError>>> {
        let mut call = call.clone();
        call.now = self.session_clock(call.now);
        self.take_heartbeats(beats, &call).await
    }

    async fn session_of_lease(
        &self,
        hash: &LeaseHash,
        visibility: &Visibility,
        now: Timestamp,
    ) -> Result<SessionAt> {
        let now = self.session_clock(now);
        self.session_under(hash, visibility, now).await
    }

    async fn delete_session(
        &self,
        delete: DeleteSession,
        call: Call<Option<SessionId>>,
    ) -> Result<Answer<Option<SessionId>>> {
        self.write_session(delete, call).await
    }

    async fn attach_session(
        &self,
        attach: AttachSession,
        call: Call<Regrouped>,
    ) -> Result<Answer<Regrouped>> {
        self.write_session(attach, call).await
    }

    async fn detach_session(
        &self,
        detach: DetachSession,
        call: Call<Regrouped>,
    ) -> Result<Answer<Regrouped>> {
        self.write_session(detach, call).await
    }

    async fn move_session(
        &self,
        moving: MoveSession,
        call: Call<MovedSession>,
    ) -> Result<Answer<MovedSession>> {
        self.write_session(moving, call).await
    }

    async fn sweep(&self, sweep: Sweep) -> Result<Swept> {
        let mut sweep = sweep;
        sweep.now = self.session_clock(sweep.now);
        self.sweep_sessions(sweep).await
    }

    async fn swept_at(&self) -> Result<Option<Timestamp>> {
        self.last_sweep().await
    }

    async fn fold_counts(&self) -> Result<u64> {
        self.fold_session_counts().await
    }

    async fn recount_sessions(&self) -> Result<u64> {
        self.recount_all_sessions().await
    }

    async fn is_session_id_taken(&self, id: &SessionId) -> Result<bool> {
        self.session_id_is_taken(id).await
    }

    async fn sessions_of_profile(&self, id: &ProfileId) -> Result<i64> {
        self.count_sessions_of_profile(id).await
    }
}

impl SqlStore {
    async fn write_session<M: Mutation>(
        &self,
        mutation: M,
        mut call: Call<M::Output>,
    ) -> Result<Answer<M::Output>> {
        call.now = self.session_clock(call.now);
        self.write(mutation, call).await
    }
}
