//! Sessions as the tests of this folder ask for them.

use compozy_client::Client;
use compozy_e2e::{by_id, request_id};
use compozy_proto::session::v1::{
    ArchiveFilter, ArchiveSessionRequest, CountSessionsRequest, CountSessionsResponse, CreateSessionRequest,
    DeleteSessionRequest, GetSessionRequest, ListSessionsRequest, RenameSessionRequest, Session,
    SessionFilter, SessionSort, StopCause, StopSessionRequest,
};
use futures::TryStreamExt as _;

/// A session in a workspace, with a request id of its own.
pub(crate) fn new_in(workspace_id: &str) -> CreateSessionRequest {
    CreateSessionRequest {
        workspace: Some(by_id(workspace_id)),
        agent: Some("general".to_owned()),
        request_id: request_id(),
        ..Default::default()
    }
}

pub(crate) fn stop(session_id: &str, cause: StopCause, detail: &str) -> StopSessionRequest {
    StopSessionRequest {
        session_id: session_id.to_owned(),
        cause: cause.into(),
        detail: detail.to_owned(),
        request_id: request_id(),
        ..Default::default()
    }
}

pub(crate) fn rename(session_id: &str, name: &str) -> RenameSessionRequest {
    RenameSessionRequest {
        session_id: session_id.to_owned(),
        name: name.to_owned(),
        request_id: request_id(),
        ..Default::default()
    }
}

pub(crate) fn archive(session_id: &str) -> ArchiveSessionRequest {
    ArchiveSessionRequest {
        session_id: session_id.to_owned(),
        request_id: request_id(),
        ..Default::default()
    }
}

pub(crate) fn delete(session_id: &str) -> DeleteSessionRequest {
    DeleteSessionRequest {
        session_id: session_id.to_owned(),
        request_id: request_id(),
        ..Default::default()
    }
}

/// Every session: archived and internal ones, too.
pub(crate) fn everything() -> SessionFilter {
    SessionFilter {
        archive: ArchiveFilter::Include.into(),
        include_internal: true,
        ..Default::default()
    }
}

/// Creates a session that can be created.
pub(crate) async fn created(client: &Client, workspace_id: &str) -> Session {
    let answer = client.create_session(new_in(workspace_id)).await.unwrap();
    answer.session.unwrap()
}

/// The session with this id.
pub(crate) async fn session(client: &Client, session_id: &str) -> Session {
    let request = GetSessionRequest {
        session_id: session_id.to_owned(),
        ..Default::default()
    };
    client.get_session(request).await.unwrap().session.unwrap()
}

/// All that a filter takes, latest change first; their number is the list's total.
pub(crate) async fn listed(client: &Client, filter: SessionFilter) -> Vec<Session> {
    walk(client, filter, SessionSort::Recent).await
}

/// The ids of the account of a workspace, in its order.
pub(crate) async fn account(client: &Client, workspace_id: &str) -> Vec<String> {
    let filter = SessionFilter {
        workspace: Some(by_id(workspace_id)),
        ..everything()
    };
    let rows = walk(client, filter, SessionSort::Manual).await;
    rows.into_iter().map(|row| row.id).collect()
}

/// The totals of a filter.
pub(crate) async fn counted(client: &Client, filter: SessionFilter) -> CountSessionsResponse {
    let filter = Some(filter);
    client
        .count_sessions(CountSessionsRequest { filter })
        .await
        .unwrap()
}

async fn walk(client: &Client, filter: SessionFilter, sort: SessionSort) -> Vec<Session> {
    let request = ListSessionsRequest {
        filter: Some(filter),
        sort: sort.into(),
        limit: 100,
        ..Default::default()
    };
    let mut rows = client.session_rows(request);
    let mut found = Vec::new();
    while let Some(row) = rows.try_next().await.unwrap() {
        found.push(row);
    }
    let total = usize::try_from(rows.total().unwrap()).unwrap();
    assert_eq!(found.len(), total, "an unchanged catalog lists what it counts");
    found
}
