//! `profile create`.

use clap::Args;
use compozy_client::proto::profile::v1::CreateProfileRequest;

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::ProfileAnswer;
use crate::reference::not_blank;

/// Make a profile and its directory in the home
///
/// A directory of the name that is there already is used as it is.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  compozy profile create work\n  compozy profile create review --color '#d97706' --icon 🔍"
)]
pub(crate) struct CreateArguments {
    /// Its name: lower-case letters, digits and dashes
    #[arg(value_name = "NAME", value_parser = not_blank())]
    name: String,
    /// How to show it: # and six hex digits
    #[arg(long)]
    color: Option<String>,
    /// How to show it: a word or an emoji
    #[arg(long)]
    icon: Option<String>,
}

pub(crate) async fn run(app: &App, arguments: CreateArguments) -> Result<Exit, Failure> {
    let CreateArguments { name, color, icon } = arguments;
    let client = app.client().await?;
    let request = CreateProfileRequest {
        name,
        color,
        icon,
        request_id: String::new(),
    };
    let answer = app
        .wait("creating the profile", client.create_profile(request))
        .await;
    let answer = answer.map_err(super::failure)?;
    app.printer.answer(&ProfileAnswer::from(answer))?;
    Ok(Exit::Ok)
}
