//! The iterator over pages.

use compozy_client::proto::page::v1::PageInfo;
use compozy_client::proto::workspace::v1::{ListWorkspacesRequest, ListWorkspacesResponse, Workspace};
use futures::TryStreamExt;

use crate::server::{Answer, Scripted, Seen, message};

/// A page of two of five rows, by a cursor that is the number of rows before it.
fn page(seen: &Seen) -> Answer {
    let request: ListWorkspacesRequest = seen.decode();
    let start: usize = request.cursor.parse().unwrap_or(0);
    let end = (start + 2).min(5);
    let workspaces = (start..end)
        .map(|number| Workspace {
            id: format!("ws_{number}"),
            ..Default::default()
        })
        .collect();
    let next_cursor = (end < 5).then(|| end.to_string());
    let page = PageInfo {
        total: 5,
        limit: 2,
        has_more: end < 5,
        next_cursor,
        revision: "r9".to_owned(),
    };
    message(&ListWorkspacesResponse {
        workspaces,
        page: Some(page),
    })
}

#[tokio::test]
async fn all_rows_come_once_with_total_and_revision() {
    let server = Scripted::on_socket(|_, seen| page(seen));
    let mut rows = server.client().workspace_rows(ListWorkspacesRequest::default());
    assert_eq!((rows.total(), rows.cursor()), (None, Some("")));
    let mut ids = Vec::new();
    while let Some(row) = rows.try_next().await.unwrap() {
        ids.push(row.id);
        assert_eq!((rows.total(), rows.revision()), (Some(5), Some("r9")));
    }
    assert_eq!(ids, ["ws_0", "ws_1", "ws_2", "ws_3", "ws_4"]);
    assert_eq!((server.seen().len(), rows.cursor()), (3, None));
    assert!(rows.try_next().await.unwrap().is_none(), "it stays at its end");
}

#[tokio::test]
async fn a_walk_can_be_started_again_without_missing_a_row() {
    let server = Scripted::on_socket(|_, seen| page(seen));
    let mut rows = server.client().workspace_rows(ListWorkspacesRequest::default());
    for _ in 0..3 {
        rows.try_next().await.unwrap();
    }
    // The second page is not handed out completely.
    assert_eq!(rows.cursor(), Some("2"));
    rows.try_next().await.unwrap();
    assert_eq!(rows.cursor(), Some("4"));
    let request = ListWorkspacesRequest {
        cursor: rows.cursor().unwrap().to_owned(),
        ..Default::default()
    };
    let rest: Vec<Workspace> = server
        .client()
        .workspace_rows(request)
        .try_collect()
        .await
        .unwrap();
    assert_eq!(rest.len(), 1);
}

#[tokio::test]
async fn an_error_ends_the_walk() {
    let server = Scripted::on_socket(|number, seen| match number {
        0 => page(seen),
        _ => Answer::Status(tonic::Status::invalid_argument("The cursor is stale.")),
    });
    let mut rows = server.client().workspace_rows(ListWorkspacesRequest::default());
    rows.try_next().await.unwrap();
    rows.try_next().await.unwrap();
    assert_eq!(
        rows.try_next().await.unwrap_err().message(),
        "The cursor is stale."
    );
    assert!(rows.try_next().await.unwrap().is_none());
}

#[tokio::test]
async fn a_page_without_an_end_is_an_error_and_no_endless_walk() {
    for next_cursor in [None, Some("same".to_owned())] {
        let server = Scripted::on_socket(move |_, _| {
            let page = PageInfo {
                has_more: true,
                next_cursor: next_cursor.clone(),
                ..Default::default()
            };
            message(&ListWorkspacesResponse {
                workspaces: Vec::new(),
                page: Some(page),
            })
        });
        let rows = server.client().workspace_rows(ListWorkspacesRequest::default());
        assert!(rows.try_collect::<Vec<Workspace>>().await.is_err());
        assert!(server.seen().len() <= 2);
    }
}
