//! Requests as tests write them.

use std::path::Path;

use compozy_client::{Client, Error};
use compozy_proto::workspace::v1::workspace_ref::Form;
use compozy_proto::workspace::v1::{
    ListWorkspacesRequest, RegisterWorkspaceRequest, RegisterWorkspaceResponse, Workspace, WorkspaceRef,
};
use futures::TryStreamExt as _;

use crate::utf8;

/// A reference by id.
pub fn by_id(id: impl Into<String>) -> WorkspaceRef {
    reference(Form::Id(id.into()))
}

/// A reference by name.
pub fn by_name(name: impl Into<String>) -> WorkspaceRef {
    reference(Form::Name(name.into()))
}

/// A reference by a path.
pub fn by_path(path: impl AsRef<Path>) -> WorkspaceRef {
    reference(Form::Path(utf8(path)))
}

fn reference(form: Form) -> WorkspaceRef {
    WorkspaceRef { form: Some(form) }
}

/// A request id of a test's own: a UUID of random bits.
pub fn request_id() -> String {
    let (high, low) = (getrandom::u64().unwrap(), getrandom::u64().unwrap());
    format!(
        "{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xfff,
        low >> 52,
        low & 0xffff_ffff_ffff
    )
}

/// Registers a directory with nothing but its path.
pub async fn register(client: &Client, path: impl AsRef<Path>) -> Result<RegisterWorkspaceResponse, Error> {
    let request = RegisterWorkspaceRequest {
        path: utf8(path),
        ..Default::default()
    };
    client.register_workspace(request).await
}

/// Every registration, in the manual order.
pub async fn list_all(client: &Client) -> Vec<Workspace> {
    let request = ListWorkspacesRequest {
        limit: 100,
        ..Default::default()
    };
    let mut rows = client.workspace_rows(request);
    let mut found = Vec::new();
    while let Some(row) = rows.try_next().await.unwrap() {
        found.push(row);
    }
    let total = usize::try_from(rows.total().unwrap()).unwrap();
    assert_eq!(found.len(), total, "an unchanged catalog lists what it counts");
    found
}
