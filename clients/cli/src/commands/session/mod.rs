//! `session`: the runs of agents.

mod archive;
mod attach;
mod detach;
mod filter;
mod health;
mod history;
mod inspect;
mod list;
mod live;
mod new;
mod remove;
mod rename;
mod resume;
mod show;
mod stop;
mod unarchive;
mod wait;
mod words;

use clap::{Args, Subcommand};

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::reference::not_blank;

/// The verbs of `session`.
#[derive(Debug, Subcommand)]
pub(crate) enum SessionCommand {
    /// Create a session; nothing is run
    New(Box<new::NewArguments>),
    /// List sessions
    List(Box<list::ListArguments>),
    /// Show one session
    Show(show::ShowArguments),
    /// Show one session with its history, open questions and secrets by name
    Inspect(inspect::InspectArguments),
    /// Show how the runtime of a session does
    Health(health::HealthArguments),
    /// Show every change of a session's state
    History(history::HistoryArguments),
    /// Ask a session to stop
    Stop(stop::StopArguments),
    /// Make a stopped session start again
    Resume(resume::ResumeArguments),
    /// Give a session another name
    Rename(rename::RenameArguments),
    /// Take a stopped session out of the lists
    Archive(archive::ArchiveArguments),
    /// Bring an archived session back into the lists
    Unarchive(unarchive::UnarchiveArguments),
    /// Remove a session with its events and its ledger
    Remove(remove::RemoveArguments),
    /// Take the lease of an operator who enters a live session
    Attach(attach::AttachArguments),
    /// Give that lease back
    Detach(detach::DetachArguments),
    /// Wait until a session is in a state
    Wait(wait::WaitArguments),
}

/// The argument of a verb that is about one session.
#[derive(Debug, Args)]
struct Named {
    /// Id of the session
    #[arg(value_name = "SESSION", value_parser = not_blank())]
    session: String,
}

impl SessionCommand {
    /// Whether the answer goes on until it is ended.
    pub(crate) fn is_stream(&self) -> bool {
        matches!(self, Self::List(arguments) if arguments.is_watched())
    }
}

pub(crate) async fn run_command(app: &App, command: SessionCommand) -> Result<Exit, Failure> {
    match command {
        SessionCommand::New(arguments) => new::run(app, *arguments).await,
        SessionCommand::List(arguments) => list::run(app, *arguments).await,
        SessionCommand::Show(arguments) => show::run(app, arguments).await,
        SessionCommand::Inspect(arguments) => inspect::run(app, arguments).await,
        SessionCommand::Health(arguments) => health::run(app, arguments).await,
        SessionCommand::History(arguments) => history::run(app, arguments).await,
        SessionCommand::Stop(arguments) => stop::run(app, arguments).await,
        SessionCommand::Resume(arguments) => resume::run(app, arguments).await,
        SessionCommand::Rename(arguments) => rename::run(app, arguments).await,
        SessionCommand::Archive(arguments) => archive::run(app, arguments).await,
        SessionCommand::Unarchive(arguments) => unarchive::run(app, arguments).await,
        SessionCommand::Remove(arguments) => remove::run(app, arguments).await,
        SessionCommand::Attach(arguments) => attach::run(app, arguments).await,
        SessionCommand::Detach(arguments) => detach::run(app, arguments).await,
        SessionCommand::Wait(arguments) => wait::run(app, arguments).await,
    }
}
