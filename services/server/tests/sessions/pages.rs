//! Short ways to pages, walks and totals.

use compozy_proto::page::v1::PageInfo;
use compozy_proto::session::v1 as pb;
use tonic::Code;

use crate::asked::{beat, bind, list};
use crate::client::Failure;
use crate::requests::by_id;
use crate::world::World;

/// The sessions of a workspace.
pub(crate) fn of(workspace_id: &str) -> pb::SessionFilter {
    pb::SessionFilter {
        workspace: by_id(workspace_id),
        ..Default::default()
    }
}

/// Every session that is neither archived nor internal.
pub(crate) fn all() -> pb::SessionFilter {
    pb::SessionFilter::default()
}

/// Sessions of no workspace.
pub(crate) fn homeless() -> pb::SessionFilter {
    pb::SessionFilter {
        ungrouped: true,
        ..all()
    }
}

/// A page of so many rows.
pub(crate) fn first(filter: pb::SessionFilter, limit: i32) -> pb::ListSessionsRequest {
    pb::ListSessionsRequest {
        limit,
        ..list(filter)
    }
}

/// The same page in another order.
pub(crate) fn sorted(
    filter: pb::SessionFilter,
    sort: pb::SessionSort,
    limit: i32,
) -> pb::ListSessionsRequest {
    pb::ListSessionsRequest {
        sort: sort.into(),
        ..first(filter, limit)
    }
}

/// The page behind a cursor.
pub(crate) fn behind(request: &pb::ListSessionsRequest, cursor: &str) -> pb::ListSessionsRequest {
    pb::ListSessionsRequest {
        cursor: cursor.to_owned(),
        ..request.clone()
    }
}

pub(crate) fn count(filter: pb::SessionFilter) -> pb::CountSessionsRequest {
    pb::CountSessionsRequest { filter: Some(filter) }
}

/// The names of rows, which cases tell them apart by.
pub(crate) fn names(rows: &[pb::Session]) -> Vec<&str> {
    rows.iter().map(|row| row.name.as_str()).collect()
}

impl World {
    /// One page.
    pub(crate) async fn page(&self, request: pb::ListSessionsRequest) -> (Vec<pb::Session>, PageInfo) {
        let answer = self.daemon.api.list_sessions(request).await.unwrap();
        (answer.sessions, answer.page.unwrap())
    }

    /// The ids of a page, and where it leads.
    pub(crate) async fn page_of_ids(&self, request: pb::ListSessionsRequest) -> (Vec<String>, PageInfo) {
        let (rows, info) = self.page(request).await;
        (rows.into_iter().map(|row| row.id).collect(), info)
    }

    /// The pages of a walk: ids and what each says of itself. `has_more` and the cursor have to agree.
    pub(crate) async fn walk(&self, request: pb::ListSessionsRequest) -> Vec<(Vec<String>, PageInfo)> {
        let mut pages = Vec::new();
        let mut next = request.clone();
        loop {
            let (ids, info) = self.page_of_ids(next).await;
            assert_eq!(info.has_more, info.next_cursor.is_some());
            let cursor = info.next_cursor.clone();
            pages.push((ids, info));
            match cursor {
                Some(cursor) => next = behind(&request, &cursor),
                None => return pages,
            }
        }
    }

    /// The ids of a walk of pages of so many rows, in order.
    pub(crate) async fn walked(&self, request: pb::ListSessionsRequest) -> Vec<String> {
        let pages = self.walk(request).await;
        pages.into_iter().flat_map(|(ids, _)| ids).collect()
    }

    /// The ids of a list, as a set in their own order.
    pub(crate) async fn set_of(&self, filter: pb::SessionFilter) -> Vec<String> {
        let mut ids = self.ids(filter, pb::SessionSort::Recent).await;
        ids.sort_unstable();
        ids
    }

    /// Checks which sessions a filter takes, in whatever order, and that the total says the same.
    pub(crate) async fn takes(&self, filter: pb::SessionFilter, expected: &[&str]) {
        let mut expected: Vec<_> = expected.iter().map(|id| (*id).to_owned()).collect();
        expected.sort_unstable();
        assert_eq!(self.set_of(filter.clone()).await, expected, "{filter:?}");
        let total = self.total_of(filter.clone()).await;
        assert_eq!(total, i64::try_from(expected.len()).unwrap(), "{filter:?}");
    }

    /// Totals of a filter.
    pub(crate) async fn counts(&self, filter: pb::SessionFilter) -> pb::CountSessionsResponse {
        self.daemon.api.count_sessions(count(filter)).await.unwrap()
    }

    /// A list that is refused because of a field, which it names.
    pub(crate) async fn list_refused(&self, request: pb::ListSessionsRequest, field: &str) -> Failure {
        let code = Code::InvalidArgument;
        let failure = self
            .refused(code, "INVALID_FIELD", self.daemon.api.list_sessions(request))
            .await;
        assert_eq!(
            (failure.fields.as_slice(), failure.metadata["field"].as_str()),
            (&[field.to_owned()][..], field),
        );
        failure
    }

    /// Binds a runtime for so many seconds; answers the token of its lease.
    pub(crate) async fn bound_for(&self, id: &str, seconds: i64) -> String {
        let request = bind(id, "runtime", seconds);
        let answer = self.daemon.api.bind_runtime(request).await.unwrap();
        answer.lease.unwrap().token
    }

    /// A heartbeat with something to report.
    pub(crate) async fn report(&self, lease: &str, report: pb::HeartbeatRequest) {
        let request = pb::HeartbeatRequest {
            lease: lease.to_owned(),
            ..report
        };
        self.daemon.api.heartbeat(request).await.unwrap();
    }

    /// A heartbeat with an activity.
    pub(crate) async fn active(&self, lease: &str) {
        let request = pb::HeartbeatRequest {
            activity: Some(pb::Activity {
                kind: "tool".to_owned(),
                ..Default::default()
            }),
            ..beat(lease)
        };
        self.daemon.api.heartbeat(request).await.unwrap();
    }
}

/// What a runtime reports that waits for these.
pub(crate) fn waiting(reasons: &[pb::WaitingReason]) -> pb::HeartbeatRequest {
    pb::HeartbeatRequest {
        waiting_for: Some(pb::WaitingFor {
            reasons: reasons.iter().map(|reason| (*reason).into()).collect(),
        }),
        ..Default::default()
    }
}

/// What a runtime reports whose turn has settled.
pub(crate) fn settled() -> pb::HeartbeatRequest {
    pb::HeartbeatRequest {
        settled: true,
        prompting: Some(false),
        ..Default::default()
    }
}
