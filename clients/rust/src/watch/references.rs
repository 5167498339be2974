//! The workspaces of a watch: looked up once, so that each stays the one that it was.

use compozy_proto::change::v1::{WatchCatalogRequest, WatchStart};
use compozy_proto::workspace::v1::workspace_ref::Form;
use compozy_proto::workspace::v1::{GetWorkspaceRequest, WorkspaceRef};

use crate::{Client, Error, ErrorReason};

/// Turns the references of a request into ids.
pub(super) async fn resolve(client: &Client, request: &mut WatchCatalogRequest) -> Result<(), Error> {
    let has_token = !request.resume_token.is_empty();
    if request.start() == WatchStart::Unspecified && !has_token {
        // Sent like this, it would begin from now and skip what the caller wants to go on from.
        return Err(Error::configuration("the resume token is empty".to_owned()));
    }
    for reference in &mut request.workspaces {
        if matches!(reference.form, Some(Form::Id(_)) | None) {
            continue;
        }
        *reference = match look_up(client, reference).await {
            Ok(found) => found,
            Err(error) => id_of_removed(reference, &error)
                .filter(|_| has_token)
                .ok_or(error)?,
        };
    }
    Ok(())
}

async fn look_up(client: &Client, reference: &WorkspaceRef) -> Result<WorkspaceRef, Error> {
    let request = GetWorkspaceRequest {
        r#ref: Some(reference.clone()),
        include_status: false,
    };
    let workspace = client.get_workspace(request).await?.workspace;
    let named = workspace.filter(|workspace| !workspace.id.is_empty());
    let nameless = || Error::broken_answer("the server found a workspace and does not say which");
    Ok(by_id(named.ok_or_else(nameless)?.id))
}

/// The id that a reference is, where nothing has it any more. The server takes it as an id together with a
/// token: what happened up to the removal is still to be had.
fn id_of_removed(reference: &WorkspaceRef, error: &Error) -> Option<WorkspaceRef> {
    let Some(Form::Any(text)) = &reference.form else {
        return None;
    };
    let id = text.strip_prefix("id:").unwrap_or(text).trim();
    let is_id = id.starts_with("ws_") && error.reason() == ErrorReason::WorkspaceNotFound;
    is_id.then(|| by_id(id.to_owned()))
}

fn by_id(id: String) -> WorkspaceRef {
    WorkspaceRef {
        form: Some(Form::Id(id)),
    }
}
