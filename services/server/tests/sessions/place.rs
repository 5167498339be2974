//! What the cases of sessions find in their world: the workspaces A and B, short ways to sessions, a clock that they
//! move on both engines.

use std::future::Future;
use std::time::Duration;

use compozy_domain::{ChangeEntry, ChangeKind, Clock as _};
use compozy_proto::session::v1 as pb;
use compozy_proto::workspace::v1 as workspace_pb;
use compozy_server::resume_token;
use compozy_store::conformance::execute;
use tonic::Code;

use crate::asked::{bind, get, new, stop};
use crate::client::{Failure, Outcome};
use crate::requests::by_id;
use crate::world::World;

impl World {
    /// Makes and registers `$T/a` and `$T/b`, and lets time stand still.
    pub(crate) async fn a_and_b(&self) -> (workspace_pb::Workspace, workspace_pb::Workspace) {
        self.tell_time().await;
        (self.reg_new("a").await, self.reg_new("b").await)
    }

    /// As [`World::a_and_b`], with A alone.
    pub(crate) async fn only_a(&self) -> workspace_pb::Workspace {
        self.tell_time().await;
        self.reg_new("a").await
    }

    /// Moves the catalog's clock on, whoever keeps it.
    pub(crate) async fn advance(&self, span: Duration) {
        self.clock.advance(span);
        self.tell_time().await;
    }

    /// Makes the test's clock the catalog's: on Postgres the database keeps it, in one function.
    pub(crate) async fn tell_time(&self) {
        if !self.is_postgres() {
            return;
        }
        let now = self.clock.now().nanos();
        let sql = format!(
            "CREATE OR REPLACE FUNCTION catalog_now() RETURNS BIGINT LANGUAGE SQL VOLATILE AS 'SELECT {now}::bigint'"
        );
        execute(&self.store, &sql).await.unwrap();
    }

    /// The test's clock, as the wire tells it.
    pub(crate) fn now(&self) -> prost_types::Timestamp {
        let nanos = self.clock.now().nanos();
        prost_types::Timestamp {
            seconds: nanos.div_euclid(1_000_000_000),
            nanos: i32::try_from(nanos.rem_euclid(1_000_000_000)).unwrap(),
        }
    }

    /// The test's clock some seconds on, as the wire tells it.
    pub(crate) fn now_plus(&self, seconds: i64) -> prost_types::Timestamp {
        let now = self.now();
        prost_types::Timestamp {
            seconds: now.seconds + seconds,
            ..now
        }
    }

    /// The position that a revision names.
    pub(crate) async fn position(&self, revision: &str) -> i64 {
        let token = resume_token::decode(&self.daemon.seal, revision).await.unwrap();
        token.revision.position
    }

    /// Creates nothing, because this field of the request is wrong.
    pub(crate) async fn field_refused(&self, field: &str, request: pb::CreateSessionRequest) -> Failure {
        let call = self.daemon.api.create_session(request);
        self.names_field(field, call).await
    }

    /// Carries out a call that must be refused because of this field, and write nothing.
    pub(crate) async fn names_field<T: std::fmt::Debug>(
        &self,
        field: &str,
        call: impl Future<Output = Outcome<T>>,
    ) -> Failure {
        let failure = self.refused(Code::InvalidArgument, "INVALID_FIELD", call).await;
        assert_eq!(failure.fields, [field], "{failure:?}");
        failure
    }

    /// Creates a session that can be created.
    pub(crate) async fn create(&self, request: pb::CreateSessionRequest) -> pb::Session {
        let answer = self.daemon.api.create_session(request).await.unwrap();
        answer.session.unwrap()
    }

    /// Creates some sessions in a workspace, one second after the other, and answers their ids.
    pub(crate) async fn create_some<const COUNT: usize>(&self, workspace_id: &str) -> [String; COUNT] {
        let mut ids = Vec::with_capacity(COUNT);
        for _ in 0..COUNT {
            ids.push(self.create(new(workspace_id)).await.id);
            self.advance(Duration::from_secs(1)).await;
        }
        ids.try_into().unwrap()
    }

    /// The session with this id.
    pub(crate) async fn session(&self, id: &str) -> pb::Session {
        self.daemon
            .api
            .get_session(get(id))
            .await
            .unwrap()
            .session
            .unwrap()
    }

    /// Stops a session because it was done.
    pub(crate) async fn stop(&self, id: &str) -> pb::Session {
        let request = stop(id, pb::StopCause::Completed);
        self.daemon
            .api
            .stop_session(request)
            .await
            .unwrap()
            .session
            .unwrap()
    }

    /// Binds a runtime for 30 s and answers its lease.
    pub(crate) async fn bind(&self, id: &str, holder: &str) -> pb::RuntimeLease {
        let answer = self.daemon.api.bind_runtime(bind(id, holder, 30)).await.unwrap();
        answer.lease.unwrap()
    }

    /// The ids of the account of a workspace, in its order.
    pub(crate) async fn account(&self, workspace_id: &str) -> Vec<String> {
        let filter = pb::SessionFilter {
            workspace: by_id(workspace_id),
            archive: pb::ArchiveFilter::Include.into(),
            include_internal: true,
            ..Default::default()
        };
        self.ids(filter, pb::SessionSort::Manual).await
    }

    /// The ids of a list, walked in pages.
    pub(crate) async fn ids(&self, filter: pb::SessionFilter, sort: pb::SessionSort) -> Vec<String> {
        let mut ids = Vec::new();
        let mut cursor = String::new();
        loop {
            let request = pb::ListSessionsRequest {
                filter: Some(filter.clone()),
                sort: sort.into(),
                limit: 100,
                cursor,
                include_health: false,
            };
            let answer = self.daemon.api.list_sessions(request).await.unwrap();
            ids.extend(answer.sessions.into_iter().map(|session| session.id));
            match answer.page.unwrap().next_cursor {
                Some(next) => cursor = next,
                None => return ids,
            }
        }
    }

    /// The exact number of sessions that a filter takes.
    pub(crate) async fn total_of(&self, filter: pb::SessionFilter) -> i64 {
        let request = pb::ListSessionsRequest {
            filter: Some(filter),
            limit: 1,
            ..Default::default()
        };
        let answer = self.daemon.api.list_sessions(request).await.unwrap();
        answer.page.unwrap().total
    }

    /// The entries of kind `session` since so many entries of all kinds.
    pub(crate) async fn session_changes_since(&self, before: usize) -> Vec<ChangeEntry> {
        let mut new = self.changes().await.split_off(before);
        new.retain(|entry| entry.change.kind == ChangeKind::Session);
        new
    }
}

/// What an entry says, as `op reason`.
pub(crate) fn told(entry: &ChangeEntry) -> String {
    format!("{} {}", entry.change.op.as_str(), entry.change.reason.as_str())
}
