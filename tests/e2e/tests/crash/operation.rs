//! What workers ask of the daemon, and how it answers.

use std::path::PathBuf;

use compozy_client::{Client, Error};
use compozy_proto::workspace::v1::{
    MoveWorkspaceRequest, MoveWorkspaceResponse, RegisterWorkspaceRequest, RegisterWorkspaceResponse,
    RemoveWorkspaceRequest, RemoveWorkspaceResponse, UpdateWorkspaceRequest, UpdateWorkspaceResponse,
};

/// One write, with the request id that makes it the same write when it is asked again.
#[derive(Debug, Clone)]
pub(crate) enum Operation {
    /// A directory that is not registered. `identity` is the content of its identity file, if it has one.
    Register {
        root: PathBuf,
        identity: Option<Vec<u8>>,
        request: RegisterWorkspaceRequest,
    },
    /// A directory that was moved, under its registration's feet, from one path to another.
    AddMoved {
        id: String,
        from: PathBuf,
        to: PathBuf,
        request: RegisterWorkspaceRequest,
    },
    /// A new name. A contested one may be somebody else's.
    Rename {
        id: String,
        name: String,
        contested: bool,
        request: Box<UpdateWorkspaceRequest>,
    },
    /// Another place in the order: before one of the worker's own, or at the end.
    Move {
        id: String,
        before: Option<String>,
        request: MoveWorkspaceRequest,
    },
    /// Off the list.
    Remove {
        id: String,
        request: RemoveWorkspaceRequest,
    },
}

/// The answer to an operation. The same operation gets the same one again.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    Registered(RegisterWorkspaceResponse),
    Updated(UpdateWorkspaceResponse),
    Moved(MoveWorkspaceResponse),
    Removed(RemoveWorkspaceResponse),
}

impl Operation {
    /// Asks for it, or asks again.
    pub(crate) async fn send(&self, client: &Client) -> Result<Answer, Error> {
        Ok(match self {
            Self::Register { request, .. } | Self::AddMoved { request, .. } => {
                Answer::Registered(client.register_workspace(request.clone()).await?)
            }
            Self::Rename { request, .. } => {
                Answer::Updated(client.update_workspace((**request).clone()).await?)
            }
            Self::Move { request, .. } => Answer::Moved(client.move_workspace(request.clone()).await?),
            Self::Remove { request, .. } => Answer::Removed(client.remove_workspace(request.clone()).await?),
        })
    }

    /// Whether this refusal is part of the game: somebody else has the name.
    pub(crate) fn may_be_refused_with(&self, error: &Error) -> bool {
        matches!(self, Self::Rename { contested: true, .. })
            && error.reason_name() == "WORKSPACE_NAME_CONFLICT"
    }
}
