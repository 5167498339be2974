//! The commands, one file a verb, in the folder of its noun.

pub(crate) mod agent;
pub(crate) mod completion;
pub(crate) mod config;
pub(crate) mod daemon;
pub(crate) mod doctor;
pub(crate) mod profile;
pub(crate) mod resolve;
pub(crate) mod session;
pub(crate) mod skill;
mod version;
pub(crate) mod watch;
pub(crate) mod workspace;

use crate::app::App;
use crate::arguments::Command;
use crate::exit::Exit;
use crate::failure::Failure;

/// Carries a command out.
pub(crate) async fn run(app: &App, command: Command) -> Result<Exit, Failure> {
    match command {
        Command::Daemon(command) => daemon::run_command(app, command).await,
        Command::Doctor(arguments) => doctor::run(app, &arguments).await,
        Command::Resolve(arguments) => resolve::run(app, arguments).await,
        Command::Config(command) => config::run_command(app, command).await,
        Command::Agent(command) => agent::run_command(app, command).await,
        Command::Skill(command) => skill::run_command(app, command).await,
        Command::Profile(command) => profile::run_command(app, command).await,
        Command::Session(command) => session::run_command(app, command).await,
        Command::Watch(arguments) => watch::run(app, arguments).await,
        Command::Workspace(command) => workspace::run_command(app, command).await,
        Command::Completion(arguments) => completion::run(app, &arguments),
        Command::Version => version::run(app),
    }
}
