//! `workspace identity`: the file that travels with a directory.

mod accept;
mod fork;
mod repair;
mod restore;
mod show;

use clap::Subcommand;
use compozy_client::proto::workspace::v1::update_identity_request::Target;
use compozy_client::proto::workspace::v1::{IdentityAction, UpdateIdentityRequest};

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{IdentityUpdateView, Sourced};
use crate::selection::Selector;

/// The verbs of `workspace identity`.
#[derive(Debug, Subcommand)]
pub(crate) enum IdentityCommand {
    /// Show the identity file, and who shares it
    Show(show::ShowArguments),
    /// Let the registration take the identity that the file has now
    Accept(accept::AcceptArguments),
    /// Write the registration's identity into the file again
    Restore(restore::RestoreArguments),
    /// Make a missing identity file, or replace an invalid one
    Repair(repair::RepairArguments),
    /// Give a workspace an identity of its own
    Fork(fork::ForkArguments),
}

pub(crate) async fn run_command(app: &App, command: IdentityCommand) -> Result<Exit, Failure> {
    match command {
        IdentityCommand::Show(arguments) => show::run(app, &arguments).await,
        IdentityCommand::Accept(arguments) => accept::run(app, &arguments).await,
        IdentityCommand::Restore(arguments) => restore::run(app, &arguments).await,
        IdentityCommand::Repair(arguments) => repair::run(app, &arguments).await,
        IdentityCommand::Fork(arguments) => fork::run(app, &arguments).await,
    }
}

/// Settles the identity of a registered workspace.
async fn settle(app: &App, selector: &Selector, action: IdentityAction) -> Result<Exit, Failure> {
    let choice = selector.choose()?;
    let client = app.client().await?;
    let selected = choice.select(app, &client).await?;
    let request = UpdateIdentityRequest {
        action: action.into(),
        force: false,
        request_id: String::new(),
        target: Some(Target::Ref(selected.reference.clone())),
    };
    let answer = app
        .wait("settling the identity", client.update_identity(request))
        .await;
    let answer = answer.map_err(|error| selected.failure(error))?;
    app.printer.answer(&Sourced {
        resolution_source: selected.resolution_source(),
        answer: IdentityUpdateView::from(answer),
    })?;
    Ok(Exit::Ok)
}
