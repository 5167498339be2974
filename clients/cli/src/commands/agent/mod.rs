//! `agent`: the agents that a session in a workspace could be started with.

mod list;
mod show;

use clap::Subcommand;

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;

/// The verbs of `agent`.
#[derive(Debug, Subcommand)]
pub(crate) enum AgentCommand {
    /// List the agents of a workspace, broken and shadowed ones too
    List(list::ListArguments),
    /// Show one agent, or print its prompt
    Show(show::ShowArguments),
}

pub(crate) async fn run_command(app: &App, command: AgentCommand) -> Result<Exit, Failure> {
    match command {
        AgentCommand::List(arguments) => list::run(app, &arguments).await,
        AgentCommand::Show(arguments) => show::run(app, &arguments).await,
    }
}
