//! `profile`: named overlays of settings, agents and skills, and which one is active.

mod archive;
mod create;
mod current;
mod delete;
mod list;
mod rename;
mod unarchive;
mod update;
mod r#use;

use clap::{Args, Subcommand};
use compozy_client::{Error, ErrorReason};

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::reference::not_blank;

/// The verbs of `profile`.
#[derive(Debug, Subcommand)]
pub(crate) enum ProfileCommand {
    /// List the profiles
    List(list::ListArguments),
    /// Show which profile is active, and who says so
    Current(current::CurrentArguments),
    /// Select a profile for a workspace, or for everything
    Use(r#use::UseArguments),
    /// Make a profile and its directory in the home
    Create(create::CreateArguments),
    /// Change how a profile is shown
    Update(update::UpdateArguments),
    /// Give a profile and its directory in the home another name
    Rename(rename::RenameArguments),
    /// Take a profile out of use; its files stay
    Archive(archive::ArchiveArguments),
    /// Take an archived profile back into use
    Unarchive(unarchive::UnarchiveArguments),
    /// Delete a profile; its directories stay on disk
    Delete(delete::DeleteArguments),
}

/// The argument of a verb that is about one profile.
#[derive(Debug, Args)]
struct Named {
    /// The profile: its name or id
    #[arg(value_name = "PROFILE", value_parser = not_blank())]
    profile: String,
}

pub(crate) async fn run_command(app: &App, command: ProfileCommand) -> Result<Exit, Failure> {
    match command {
        ProfileCommand::List(arguments) => list::run(app, &arguments).await,
        ProfileCommand::Current(arguments) => current::run(app, &arguments).await,
        ProfileCommand::Use(arguments) => r#use::run(app, &arguments).await,
        ProfileCommand::Create(arguments) => create::run(app, arguments).await,
        ProfileCommand::Update(arguments) => update::run(app, arguments).await,
        ProfileCommand::Rename(arguments) => rename::run(app, arguments).await,
        ProfileCommand::Archive(arguments) => archive::run(app, arguments).await,
        ProfileCommand::Unarchive(arguments) => unarchive::run(app, arguments).await,
        ProfileCommand::Delete(arguments) => delete::run(app, arguments).await,
    }
}

/// A refused name is that of a profile here, which has other rules than that of a workspace.
fn failure(error: Error) -> Failure {
    let has_remedy = error.metadata().contains_key("remedy");
    let is_name = error.reason() == ErrorReason::NameInvalid;
    let failure = Failure::from(error);
    if is_name && !has_remedy {
        return failure
            .hinting("choose a name such as work or review-2: lower-case letters, digits and dashes");
    }
    failure
}
