//! For stores that tests put in front of the real one: the methods of sessions, handed on.

/// Implements `SessionStore` for a type by handing every call to the store that an expression of it answers.
macro_rules! hand_on_sessions {
    ($store:ty, $inner:expr) => {
        #[tonic::async_trait]
        impl compozy_store::SessionStore for $store {
            async fn find_session(
                &self,
                id: &compozy_domain::SessionId,
                visibility: &compozy_domain::Visibility,
                now: compozy_domain::Timestamp,
            ) -> compozy_store::Result<(Option<compozy_domain::SessionAt>, compozy_domain::Revision)> {
                $inner(self)?.find_session(id, visibility, now).await
            }
            async fn find_sessions(
                &self,
                ids: &[compozy_domain::SessionId],
                visibility: &compozy_domain::Visibility,
                now: compozy_domain::Timestamp,
            ) -> compozy_store::Result<Vec<compozy_domain::SessionAt>> {
                $inner(self)?.find_sessions(ids, visibility, now).await
            }
            async fn sessions_above(
                &self,
                after: Option<&compozy_domain::SessionId>,
                filter: &compozy_domain::WatchFilter,
                limit: u32,
                visibility: &compozy_domain::Visibility,
                now: compozy_domain::Timestamp,
            ) -> compozy_store::Result<Vec<compozy_domain::SessionAt>> {
                $inner(self)?
                    .sessions_above(after, filter, limit, visibility, now)
                    .await
            }
            async fn list_sessions(
                &self,
                list: &compozy_store::ListSessions,
            ) -> compozy_store::Result<compozy_store::SessionPage> {
                $inner(self)?.list_sessions(list).await
            }
            async fn count_sessions(
                &self,
                count: &compozy_store::CountSessions,
            ) -> compozy_store::Result<compozy_store::SessionTotals> {
                $inner(self)?.count_sessions(count).await
            }
            async fn transitions(
                &self,
                id: &compozy_domain::SessionId,
            ) -> compozy_store::Result<Vec<compozy_domain::session::Transition>> {
                $inner(self)?.transitions(id).await
            }
            async fn create_session(
                &self,
                create: compozy_store::CreateSession,
                call: compozy_store::Call<compozy_store::CreatedSession>,
            ) -> compozy_store::Result<compozy_store::Answer<compozy_store::CreatedSession>> {
                $inner(self)?.create_session(create, call).await
            }
            async fn change_session(
                &self,
                change: compozy_store::ChangeSession,
                call: compozy_store::Call<compozy_domain::SessionAt>,
            ) -> compozy_store::Result<compozy_store::Answer<compozy_domain::SessionAt>> {
                $inner(self)?.change_session(change, call).await
            }
            async fn finish_session(
                &self,
                finish: compozy_store::FinishSession,
                call: compozy_store::Call<compozy_domain::SessionAt>,
            ) -> compozy_store::Result<compozy_store::Answer<compozy_domain::SessionAt>> {
                $inner(self)?.finish_session(finish, call).await
            }
            async fn heartbeat(
                &self,
                beats: &compozy_store::Heartbeats,
                call: &compozy_store::HeartbeatCall,
            ) -> compozy_store::Result<
                Vec<std::result::Result<compozy_domain::SessionAt, compozy_domain::CatalogError>>,
            > {
                $inner(self)?.heartbeat(beats, call).await
            }
            async fn session_of_lease(
                &self,
                hash: &compozy_domain::LeaseHash,
                visibility: &compozy_domain::Visibility,
                now: compozy_domain::Timestamp,
            ) -> compozy_store::Result<compozy_domain::SessionAt> {
                $inner(self)?.session_of_lease(hash, visibility, now).await
            }
            async fn delete_session(
                &self,
                delete: compozy_store::DeleteSession,
                call: compozy_store::Call<Option<compozy_domain::SessionId>>,
            ) -> compozy_store::Result<compozy_store::Answer<Option<compozy_domain::SessionId>>> {
                $inner(self)?.delete_session(delete, call).await
            }
            async fn attach_session(
                &self,
                attach: compozy_store::AttachSession,
                call: compozy_store::Call<compozy_store::Regrouped>,
            ) -> compozy_store::Result<compozy_store::Answer<compozy_store::Regrouped>> {
                $inner(self)?.attach_session(attach, call).await
            }
            async fn detach_session(
                &self,
                detach: compozy_store::DetachSession,
                call: compozy_store::Call<compozy_store::Regrouped>,
            ) -> compozy_store::Result<compozy_store::Answer<compozy_store::Regrouped>> {
                $inner(self)?.detach_session(detach, call).await
            }
            async fn move_session(
                &self,
                moving: compozy_store::MoveSession,
                call: compozy_store::Call<compozy_store::MovedSession>,
            ) -> compozy_store::Result<compozy_store::Answer<compozy_store::MovedSession>> {
                $inner(self)?.move_session(moving, call).await
            }
            async fn sweep(
                &self,
                sweep: compozy_store::Sweep,
            ) -> compozy_store::Result<compozy_store::Swept> {
                $inner(self)?.sweep(sweep).await
            }
            async fn swept_at(&self) -> compozy_store::Result<Option<compozy_domain::Timestamp>> {
                $inner(self)?.swept_at().await
            }
            async fn fold_counts(&self) -> compozy_store::Result<u64> {
                $inner(self)?.fold_counts().await
            }
            async fn recount_sessions(&self) -> compozy_store::Result<u64> {
                $inner(self)?.recount_sessions().await
            }
            async fn is_session_id_taken(
                &self,
                id: &compozy_domain::SessionId,
            ) -> compozy_store::Result<bool> {
                $inner(self)?.is_session_id_taken(id).await
            }
            async fn sessions_of_profile(
                &self,
                id: &compozy_domain::ProfileId,
            ) -> compozy_store::Result<i64> {
                $inner(self)?.sessions_of_profile(id).await
            }
        }
    };
}
pub(crate) use hand_on_sessions;
