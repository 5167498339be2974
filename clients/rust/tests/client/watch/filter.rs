//! What is watched: choices as they go to the server, and references that are looked up once.

use compozy_client::proto::change::v1::ChangeKind;
use compozy_client::proto::workspace::v1::workspace_ref::Form;
use compozy_client::proto::workspace::v1::{
    GetWorkspaceRequest, GetWorkspaceResponse, Workspace, WorkspaceRef,
};
use compozy_client::{Code, ErrorReason, WatchEvent, WatchRequest};

use super::feed::{asked, changes, ending, ends, expect_changes, failed, next, stays, synced};
use crate::server::{Answer, Scripted, Seen, message};

fn reference(form: Form) -> WorkspaceRef {
    WorkspaceRef { form: Some(form) }
}

fn by_name(name: &str) -> WorkspaceRef {
    reference(Form::Name(name.to_owned()))
}

fn by_id(id: &str) -> WorkspaceRef {
    reference(Form::Id(id.to_owned()))
}

fn is_lookup(seen: &Seen) -> bool {
    seen.path.ends_with("/GetWorkspace")
}

fn found(seen: &Seen) -> Answer {
    let Some(Form::Name(name)) = seen.decode::<GetWorkspaceRequest>().r#ref.unwrap().form else {
        panic!("only names are looked up");
    };
    let workspace = Workspace {
        id: format!("ws_of_{name}"),
        ..Workspace::default()
    };
    message(&GetWorkspaceResponse {
        workspace: Some(workspace),
        ..Default::default()
    })
}

#[tokio::test]
async fn a_name_is_looked_up_once_and_watched_by_id() {
    let server = Scripted::on_socket(|number, seen| match number {
        _ if is_lookup(seen) => found(seen),
        1 => ends(vec![synced("t0"), changes([1])]),
        _ => stays(vec![changes([2])]),
    });
    let request = WatchRequest::new().workspaces([by_name("a"), by_id("ws_b")]);
    let mut watch = server.client().watch(request);
    assert_eq!(next(&mut watch).await, WatchEvent::Synced);
    expect_changes(&mut watch, [1, 2]).await;
    let seen = server.seen();
    assert_eq!(seen.iter().filter(|seen| is_lookup(seen)).count(), 1);
    for watched in &seen[1..] {
        assert_eq!(asked(watched).workspaces, [by_id("ws_of_a"), by_id("ws_b")]);
    }
    assert_ne!(
        seen[0].connection, seen[1].connection,
        "calls and streams share no connection"
    );
}

#[tokio::test]
async fn what_nobody_has_is_an_error_unless_it_is_an_id_beside_a_token() {
    let server = Scripted::on_socket(|_, seen| match is_lookup(seen) {
        true => Answer::Status(failed(Code::NotFound, "WORKSPACE_NOT_FOUND", None)),
        false => stays(vec![changes([8])]),
    });
    let watch = |text: &str, token: Option<&str>| {
        let request = WatchRequest::new().workspaces([reference(Form::Any(text.to_owned()))]);
        server.client().watch(match token {
            Some(token) => request.resume(token),
            None => request,
        })
    };
    for (text, token) in [("ws_gone", None), ("gone", None), ("gone", Some("t7"))] {
        let error = ending(&mut watch(text, token)).await.unwrap().unwrap_err();
        assert_eq!(error.reason(), ErrorReason::WorkspaceNotFound, "{text}");
    }
    assert!(server.seen().iter().all(is_lookup));
    // Of a removed workspace only the id is left, and the changes behind the token are still to be had.
    for text in ["ws_gone", "id:ws_gone"] {
        expect_changes(&mut watch(text, Some("t7")), [8]).await;
        let seen = server.seen();
        assert_eq!(asked(seen.last().unwrap()).workspaces, [by_id("ws_gone")]);
    }
}

#[tokio::test]
async fn the_choices_go_with_every_connection() {
    let server = Scripted::on_socket(|number, _| match number {
        0 => ends(vec![synced("t0")]),
        _ => stays(vec![changes([1])]),
    });
    let request = WatchRequest::new()
        .kinds([ChangeKind::Workspace, ChangeKind::WorkspaceOrder])
        .ungrouped()
        .include_internal()
        .include_rows();
    let mut watch = server.client().watch(request);
    assert_eq!(next(&mut watch).await, WatchEvent::Synced);
    expect_changes(&mut watch, [1]).await;
    for seen in server.seen() {
        let sent = asked(&seen);
        assert_eq!(sent.kinds, [1, 2]);
        assert!(sent.ungrouped && sent.include_internal && sent.include_rows);
        assert_eq!(sent.heartbeat, None);
    }
}
