//! `skill`: what the agents of a workspace know how to do.

mod list;
mod show;

use clap::Subcommand;

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;

/// The verbs of `skill`.
#[derive(Debug, Subcommand)]
pub(crate) enum SkillCommand {
    /// List the skills of a workspace, broken and shadowed ones too
    List(list::ListArguments),
    /// Show one skill, or print its text
    Show(show::ShowArguments),
}

pub(crate) async fn run_command(app: &App, command: SkillCommand) -> Result<Exit, Failure> {
    match command {
        SkillCommand::List(arguments) => list::run(app, &arguments).await,
        SkillCommand::Show(arguments) => show::run(app, &arguments).await,
    }
}
