//! `workspace`: the registered project directories.

mod add;
mod attach;
mod browse;
mod detach;
mod edit;
mod identity;
mod info;
mod list;
mod r#move;
mod move_session;
mod prune;
mod relink;
mod remove;
mod status;

use clap::Subcommand;

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;

/// The verbs of `workspace`.
#[derive(Debug, Subcommand)]
pub(crate) enum WorkspaceCommand {
    /// Register a project directory
    Add(add::AddArguments),
    /// List the registered directories
    List(list::ListArguments),
    /// Show one workspace
    Info(info::InfoArguments),
    /// Change name, title, additional directories or default agent
    Edit(edit::EditArguments),
    /// Move a workspace in the manual order
    Move(r#move::MoveArguments),
    /// Point a registration at the place where its directory is now
    Relink(relink::RelinkArguments),
    /// Remove a registration; the directory stays as it is
    Remove(remove::RemoveArguments),
    /// Remove the registrations whose directories have been missing for a while
    Prune(prune::PruneArguments),
    /// Put a session in front of a workspace's account
    Attach(attach::AttachArguments),
    /// Take a session off its workspace's account; it stays, without a workspace
    Detach(detach::DetachArguments),
    /// Move a session within its workspace's account
    MoveSession(move_session::MoveSessionArguments),
    /// Look at the root of a workspace now
    Status(status::StatusArguments),
    /// The identity file of a workspace
    #[command(subcommand)]
    Identity(identity::IdentityCommand),
    /// List the child directories of a directory of the daemon's host
    Browse(browse::BrowseArguments),
}

pub(crate) async fn run_command(app: &App, command: WorkspaceCommand) -> Result<Exit, Failure> {
    match command {
        WorkspaceCommand::Add(arguments) => add::run(app, arguments).await,
        WorkspaceCommand::List(arguments) => list::run(app, arguments).await,
        WorkspaceCommand::Info(arguments) => info::run(app, &arguments).await,
        WorkspaceCommand::Edit(arguments) => edit::run(app, arguments).await,
        WorkspaceCommand::Move(arguments) => r#move::run(app, &arguments).await,
        WorkspaceCommand::Relink(arguments) => relink::run(app, &arguments).await,
        WorkspaceCommand::Remove(arguments) => remove::run(app, &arguments).await,
        WorkspaceCommand::Prune(arguments) => prune::run(app, &arguments).await,
        WorkspaceCommand::Attach(arguments) => attach::run(app, arguments).await,
        WorkspaceCommand::Detach(arguments) => detach::run(app, arguments).await,
        WorkspaceCommand::MoveSession(arguments) => move_session::run(app, arguments).await,
        WorkspaceCommand::Status(arguments) => status::run(app, &arguments).await,
        WorkspaceCommand::Identity(command) => identity::run_command(app, command).await,
        WorkspaceCommand::Browse(arguments) => browse::run(app, &arguments).await,
    }
}
