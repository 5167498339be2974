//! The last tier: the workspace that owns the current directory, and the error that names all tiers
//! when there is none.

use std::path::PathBuf;

use compozy_client::proto::workspace::v1::workspace_ref::Form;
use compozy_client::proto::workspace::v1::{DiscoverWorkspaceRequest, WorkspaceRef};
use compozy_client::{Client, ErrorReason};

use super::{Selected, Source};
use crate::app::App;
use crate::failure::Failure;
use crate::quote;

/// The current directory, where the daemon looks at the same disk.
pub(super) async fn current(app: &App, client: &Client) -> Result<String, Failure> {
    let directory = std::env::current_dir();
    if !app.is_on_this_host(client).await? {
        let shown = directory.unwrap_or_else(|_| PathBuf::from("."));
        let end = format!(
            "the directory {} was not tried, because the daemon is on another host",
            shown.display()
        );
        return Err(nothing_found(&end, None));
    }
    let Ok(directory) = directory else {
        return Err(nothing_found("the current directory is gone", None));
    };
    let path = directory.into_os_string().into_string();
    path.map_err(|_| nothing_found("the current directory's path is not valid UTF-8", None))
}

/// Asks the daemon who owns the current directory.
pub(super) async fn select(app: &App, client: &Client) -> Result<Selected, Failure> {
    let path = current(app, client).await?;
    let request = DiscoverWorkspaceRequest { path: path.clone() };
    let answer = app
        .wait("looking for the workspace", client.discover_workspace(request))
        .await;
    match answer {
        Ok(answer) => {
            let id = answer.workspace.map(|workspace| workspace.id).unwrap_or_default();
            Ok(Selected {
                reference: WorkspaceRef {
                    form: Some(Form::Id(id)),
                },
                source: Source::Directory,
                crosses: false,
            })
        }
        Err(error) if error.reason() == ErrorReason::WorkspaceNotFound => Err(nothing_found(
            &format!("the directory {path} lies in none"),
            Some(&path),
        )),
        // The directory went away between the two looks at it.
        Err(error) if error.reason() == ErrorReason::PathNotFound => {
            Err(nothing_found(&format!("the directory {path} is gone"), None))
        }
        Err(error) => Err(error.into()),
    }
}

/// The one error that names what was tried, in order, and what to do.
fn nothing_found(end: &str, addable: Option<&str>) -> Failure {
    let message = format!(
        "no workspace: no positional reference, no --workspace and no COMPOZY_WORKSPACE was given, \
         no session (COMPOZY_SESSION_ID with COMPOZY_AGENT) names one, and {end}"
    );
    let add = match addable {
        Some(path) => format!(
            "register the directory with `compozy workspace add {}`",
            quote::shell(path)
        ),
        None => "register a directory with `compozy workspace add <path>`".to_owned(),
    };
    let failure = Failure::nothing_resolves(message, format!("{add}, or name a workspace with --workspace"));
    let failure = failure.with("tried", "positional,flag,env,session_identity,cwd");
    match addable {
        Some(path) => failure.with("directory", path),
        None => failure,
    }
}
