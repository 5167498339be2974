//! `workspace remove`: the registration, never the directory.

use clap::Args;
use compozy_client::proto::workspace::v1::{LiveSessions, RemoveWorkspaceRequest, RemovedSessions};

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::RemovalView;
use crate::reference;

/// Remove a registration; the directory stays as it is
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  compozy workspace remove api\n  compozy workspace remove api --delete-sessions\n  compozy workspace remove api --ungroup-live"
)]
pub(crate) struct RemoveArguments {
    /// The workspace
    #[arg(value_name = "REF", value_parser = reference::not_blank())]
    reference: String,
    /// Delete its sessions with their events and ledgers; without this they stay, without a workspace
    #[arg(long)]
    delete_sessions: bool,
    /// Also while some of its sessions are live; these stay, without a workspace
    #[arg(long)]
    ungroup_live: bool,
}

pub(crate) async fn run(app: &App, arguments: &RemoveArguments) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let sessions = if arguments.delete_sessions {
        RemovedSessions::Delete
    } else {
        RemovedSessions::Keep
    };
    let live = if arguments.ungroup_live {
        LiveSessions::Ungroup
    } else {
        LiveSessions::Refuse
    };
    let request = RemoveWorkspaceRequest {
        r#ref: Some(reference::workspace(app, &client, &arguments.reference).await?),
        sessions: sessions.into(),
        live: live.into(),
        ..RemoveWorkspaceRequest::default()
    };
    let answer = app
        .wait("removing the workspace", client.remove_workspace(request))
        .await?;
    app.printer.answer(&RemovalView::from(answer))?;
    Ok(Exit::Ok)
}
