//! `profile rename`.

use clap::Args;
use compozy_client::proto::profile::v1::RenameProfileRequest;

use super::Named;
use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::ProfileAnswer;
use crate::reference::not_blank;

/// Give a profile and its directory in the home another name
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  compozy profile rename work office")]
pub(crate) struct RenameArguments {
    #[command(flatten)]
    named: Named,
    /// Its new name: lower-case letters, digits and dashes
    #[arg(value_name = "NEW_NAME", value_parser = not_blank())]
    new_name: String,
}

pub(crate) async fn run(app: &App, arguments: RenameArguments) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let request = RenameProfileRequest {
        profile: arguments.named.profile,
        new_name: arguments.new_name,
        ..RenameProfileRequest::default()
    };
    let answer = app
        .wait("renaming the profile", client.rename_profile(request))
        .await;
    app.printer
        .answer(&ProfileAnswer::from(answer.map_err(super::failure)?))?;
    Ok(Exit::Ok)
}
