//! `profile update`: changes what was given, and only that.

use clap::Args;
use compozy_client::proto::profile::v1::{Profile, UpdateProfileRequest};
use prost_types::FieldMask;

use super::Named;
use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::ProfileAnswer;

/// Change how a profile is shown
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  compozy profile update work --color '#2563eb'\n  compozy profile update work --icon \"\""
)]
pub(crate) struct UpdateArguments {
    #[command(flatten)]
    named: Named,
    /// The new color, # and six hex digits; empty for none
    #[arg(long)]
    color: Option<String>,
    /// The new icon, a word or an emoji; empty for none
    #[arg(long)]
    icon: Option<String>,
}

pub(crate) async fn run(app: &App, arguments: UpdateArguments) -> Result<Exit, Failure> {
    let UpdateArguments { named, color, icon } = arguments;
    let given = [("color", color.is_some()), ("icon", icon.is_some())];
    let paths: Vec<String> = given
        .iter()
        .filter(|(_, given)| *given)
        .map(|(path, _)| (*path).to_owned())
        .collect();
    if paths.is_empty() {
        return Err(Failure::usage(
            "nothing to change was given",
            "give --color or --icon; `compozy profile rename` changes the name",
        ));
    }
    let client = app.client().await?;
    let request = UpdateProfileRequest {
        profile: named.profile,
        new_values: Some(Profile {
            color,
            icon,
            ..Profile::default()
        }),
        update_mask: Some(FieldMask { paths }),
        ..UpdateProfileRequest::default()
    };
    let answer = app
        .wait("changing the profile", client.update_profile(request))
        .await;
    app.printer
        .answer(&ProfileAnswer::from(answer.map_err(super::failure)?))?;
    Ok(Exit::Ok)
}
