//! Daemons of different hosts on one Postgres. They see one disk here; what makes the difference is whose disk the
//! catalog takes it for.

use std::fs;
use std::path::Path;
use std::process::Command;

use compozy_client::{Client, Error};
use compozy_e2e::{Daemon, Environment, by_id, by_path, identity_path, list_all, register, utf8};
use compozy_proto::admin::v1::DirectoryPicker;
use compozy_proto::workspace::v1::workspace_ref::Form;
use compozy_proto::workspace::v1::{
    DiscoverWorkspaceRequest, DiscoverWorkspaceResponse, GetWorkspaceRequest, IdentityPolicy,
    ListDirectoryRequest, ListWorkspacesRequest, RegisterWorkspaceRequest, Workspace, WorkspaceRef,
    WorkspaceStatus,
};

use crate::replicas::{Replicas, replicas};

async fn get(client: &Client, workspace: WorkspaceRef) -> Result<Workspace, Error> {
    let request = GetWorkspaceRequest {
        r#ref: Some(workspace),
        include_status: true,
    };
    Ok(client.get_workspace(request).await?.workspace.unwrap())
}

async fn discover(client: &Client, path: &Path) -> Result<DiscoverWorkspaceResponse, Error> {
    client
        .discover_workspace(DiscoverWorkspaceRequest { path: utf8(path) })
        .await
}

fn any(text: &str) -> WorkspaceRef {
    WorkspaceRef {
        form: Some(Form::Any(text.to_owned())),
    }
}

fn copy(from: &Path, to: &Path) {
    let status = Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap();
    assert!(status.success());
}

async fn add(client: &Client, path: &Path) -> Workspace {
    register(client, path).await.unwrap().workspace.unwrap()
}

async fn third_daemon(replicas: &Replicas, host: &str) -> (Environment, Daemon) {
    let environment = replicas
        .environment
        .beside(&format!("[daemon]\nhost_id = \"{host}\"\n"));
    let daemon = Daemon::start(&environment).await;
    (environment, daemon)
}

#[tokio::test(flavor = "multi_thread")]
async fn w301_one_path_on_two_hosts_is_two_workspaces() {
    let Some(replicas) = replicas("w301_one_path_on_two_hosts_is_two_workspaces", "h1", "h2").await else {
        return;
    };
    let root = replicas.environment.make("p");
    let first = add(replicas.one.client(), &root).await;
    // The other host's disk has a directory of its own at this path.
    fs::remove_dir_all(root.join(".compozy")).unwrap();
    let second = add(replicas.other.client(), &root).await;
    assert_ne!((&first.id, &first.durable_id), (&second.id, &second.durable_id));
    assert_eq!(first.root_dir, second.root_dir);
    assert_eq!((first.host_id.as_str(), second.host_id.as_str()), ("h1", "h2"));
    assert_eq!((first.name(), second.name()), ("p", "p-2"));
}

/// W302 and W303: a colleague's checkout is neither a copy nor a move, whatever became of the first.
#[tokio::test(flavor = "multi_thread")]
async fn w302_w303_the_same_identity_on_another_host_is_a_checkout() {
    let test = "w302_w303_the_same_identity_on_another_host_is_a_checkout";
    let Some(replicas) = replicas(test, "h1", "h2").await else {
        return;
    };
    let (p, x) = (
        replicas.environment.make("p"),
        replicas.environment.work.join("x"),
    );
    let first = add(replicas.one.client(), &p).await;
    copy(&p, &x);
    let request = RegisterWorkspaceRequest {
        path: utf8(&x),
        identity_policy: IdentityPolicy::Reject.into(),
        ..Default::default()
    };
    let answer = replicas.other.client().register_workspace(request).await.unwrap();
    assert_eq!((answer.created, &answer.relinked_from), (true, &None));
    let second = answer.workspace.unwrap();
    assert_eq!(second.durable_id, first.durable_id);
    assert_eq!(second.shares_identity_with, [first.id.as_str()]);
    let first = get(replicas.one.client(), by_id(&first.id)).await.unwrap();
    assert_eq!(first.shares_identity_with, [second.id.as_str()]);
    // W303: gone from its disk, and still nothing relinks across hosts.
    let (gone, y) = (
        replicas.environment.make("gone"),
        replicas.environment.work.join("y"),
    );
    let before = add(replicas.one.client(), &gone).await;
    fs::rename(&gone, &y).unwrap();
    let answer = register(replicas.other.client(), &y).await.unwrap();
    assert_eq!((answer.created, answer.relinked_from), (true, None));
    let after = get(replicas.one.client(), by_id(&before.id)).await.unwrap();
    assert_eq!(
        (&after.root_dir, &after.etag, &after.host_id),
        (&before.root_dir, &before.etag, &before.host_id)
    );
    assert_eq!(after.status(), WorkspaceStatus::RootMissing);
}

#[tokio::test(flavor = "multi_thread")]
async fn w304_a_durable_id_prefers_its_own_host() {
    let Some(replicas) = replicas("w304_a_durable_id_prefers_its_own_host", "h1", "h2").await else {
        return;
    };
    let (p, x) = (
        replicas.environment.make("p"),
        replicas.environment.work.join("x"),
    );
    let first = add(replicas.one.client(), &p).await;
    copy(&p, &x);
    let second = add(replicas.other.client(), &x).await;
    let shared = any(&first.durable_id);
    assert_eq!(
        get(replicas.one.client(), shared.clone()).await.unwrap().id,
        first.id
    );
    assert_eq!(
        get(replicas.other.client(), shared.clone()).await.unwrap().id,
        second.id
    );
    let (_environment, third) = third_daemon(&replicas, "h3").await;
    let error = get(third.client(), shared).await.unwrap_err();
    assert_eq!(error.reason_name(), "WORKSPACE_REFERENCE_AMBIGUOUS");
    let named = format!("{:?}", error.metadata());
    assert!(named.contains(&first.id) && named.contains(&second.id), "{named}");
}

/// With the status that the other host shows for the row.
#[tokio::test(flavor = "multi_thread")]
async fn w306_nobody_looks_at_the_disk_of_another_host() {
    let Some(replicas) = replicas("w306_nobody_looks_at_the_disk_of_another_host", "h1", "h2").await else {
        return;
    };
    let (one, other) = (replicas.one.client(), replicas.other.client());
    let root = replicas.environment.make("p");
    let row = add(one, &root).await;
    assert_eq!(discover(one, &root).await.unwrap().workspace.unwrap().id, row.id);
    assert_eq!(get(one, by_path(&root)).await.unwrap().id, row.id);
    let refused = [
        discover(other, &root).await.unwrap_err(),
        get(other, by_path(&root)).await.unwrap_err(),
    ];
    for error in refused {
        assert_eq!(error.reason_name(), "WORKSPACE_NOT_FOUND");
    }
    assert_eq!(
        get(other, by_id(&row.id)).await.unwrap().status(),
        WorkspaceStatus::OtherHost
    );
    let request = ListWorkspacesRequest {
        include_status: true,
        ..Default::default()
    };
    let rows = other.list_workspaces(request).await.unwrap().workspaces;
    assert_eq!(
        rows.iter().map(Workspace::status).collect::<Vec<_>>(),
        [WorkspaceStatus::OtherHost]
    );
    assert!(identity_path(&root).exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn w308_a_daemon_without_a_disk_serves_what_needs_none() {
    let Some(replicas) = replicas(
        "w308_a_daemon_without_a_disk_serves_what_needs_none",
        "h1",
        "none",
    )
    .await
    else {
        return;
    };
    let (one, blind) = (replicas.one.client(), replicas.other.client());
    let root = replicas.environment.make("p");
    let row = add(one, &root).await;
    let new = replicas.environment.make("new");
    let listing = blind
        .list_directory(ListDirectoryRequest { path: utf8(&new) })
        .await;
    let refused = [
        register(blind, &new).await.map(drop),
        discover(blind, &root).await.map(drop),
        get(blind, by_path(&root)).await.map(drop),
        listing.map(drop),
    ];
    for outcome in refused {
        assert_eq!(outcome.unwrap_err().reason_name(), "HOST_NOT_SERVED");
    }
    assert!(!new.join(".compozy").exists());
    assert_eq!(list_all(blind).await.len(), 1);
    assert_eq!(
        get(blind, by_id(&row.id)).await.unwrap().status(),
        WorkspaceStatus::OtherHost
    );
    let info = blind.get_server_info().await.unwrap();
    assert_eq!(
        (info.directory_picker(), info.host_id.as_str()),
        (DirectoryPicker::None, "none")
    );
    assert_eq!(
        one.get_server_info().await.unwrap().directory_picker(),
        DirectoryPicker::Browse
    );
}

/// A replica of the same host with the same mount.
#[tokio::test(flavor = "multi_thread")]
async fn w309_replicas_of_one_host_share_its_roots() {
    let Some(replicas) = replicas("w309_replicas_of_one_host_share_its_roots", "h1", "h1").await else {
        return;
    };
    let root = replicas.environment.make("m/p");
    let row = add(replicas.one.client(), &root).await;
    let other = replicas.other.client();
    assert_eq!(
        get(other, by_id(&row.id)).await.unwrap().status(),
        WorkspaceStatus::Ok
    );
    let inside = replicas.environment.make("m/p/deep/er");
    assert_eq!(
        discover(other, &inside).await.unwrap().workspace.unwrap().id,
        row.id
    );
    let again = register(other, &root).await.unwrap();
    assert_eq!((again.created, again.workspace.unwrap().id), (false, row.id));
}
