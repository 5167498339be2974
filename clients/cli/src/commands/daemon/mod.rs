//! `daemon`: the process of this home.

mod backup;
mod health;
mod logs;
mod run;
mod start;
mod status;
mod stop;

use clap::Subcommand;

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;

/// The verbs of `daemon`.
#[derive(Debug, Subcommand)]
pub(crate) enum DaemonCommand {
    /// Run the daemon in the foreground
    Run(run::RunArguments),
    /// Start the daemon in the background, if none runs
    #[command(after_help = "Example:\n  compozy daemon start")]
    Start,
    /// Let the daemon finish its calls, and stop it
    Stop(stop::StopArguments),
    /// Show whether a daemon runs, and which
    #[command(after_help = "Example:\n  compozy daemon status -o json")]
    Status,
    /// Print the daemon's log
    Logs(logs::LogsArguments),
    /// Write a backup into a new directory of the daemon's host, while the daemon goes on
    Backup(backup::BackupArguments),
    /// Probe whether the daemon serves: exit code 0 if it does, 69 if not
    Health(health::HealthArguments),
}

impl DaemonCommand {
    /// Whether the answer goes on until it is ended.
    pub(crate) fn is_stream(&self) -> bool {
        matches!(self, Self::Logs(arguments) if arguments.follow)
    }
}

pub(crate) async fn run_command(app: &App, command: DaemonCommand) -> Result<Exit, Failure> {
    match command {
        DaemonCommand::Run(arguments) => run::run(app, &arguments),
        DaemonCommand::Start => start::run(app).await,
        DaemonCommand::Stop(arguments) => stop::run(app, &arguments).await,
        DaemonCommand::Status => status::run(app).await,
        DaemonCommand::Logs(arguments) => logs::run(app, &arguments).await,
        DaemonCommand::Backup(arguments) => backup::run(app, &arguments).await,
        DaemonCommand::Health(arguments) => health::run(app, &arguments).await,
    }
}
