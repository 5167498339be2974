//! `profile unarchive`.

use clap::Args;
use compozy_client::proto::profile::v1::UnarchiveProfileRequest;

use super::Named;
use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::ProfileAnswer;

/// Take an archived profile back into use
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  compozy profile unarchive work")]
pub(crate) struct UnarchiveArguments {
    #[command(flatten)]
    named: Named,
}

pub(crate) async fn run(app: &App, arguments: UnarchiveArguments) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let request = UnarchiveProfileRequest {
        profile: arguments.named.profile,
        ..UnarchiveProfileRequest::default()
    };
    let answer = app
        .wait(
            "taking the profile back into use",
            client.unarchive_profile(request),
        )
        .await;
    app.printer
        .answer(&ProfileAnswer::from(answer.map_err(super::failure)?))?;
    Ok(Exit::Ok)
}
