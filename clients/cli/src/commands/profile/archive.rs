//! `profile archive`.

use clap::Args;
use compozy_client::proto::profile::v1::ArchiveProfileRequest;

use super::Named;
use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::ProfileAnswer;

/// Take a profile out of use; its files stay
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  compozy profile archive work")]
pub(crate) struct ArchiveArguments {
    #[command(flatten)]
    named: Named,
}

pub(crate) async fn run(app: &App, arguments: ArchiveArguments) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let request = ArchiveProfileRequest {
        profile: arguments.named.profile,
        ..ArchiveProfileRequest::default()
    };
    let answer = app
        .wait("taking the profile out of use", client.archive_profile(request))
        .await;
    app.printer
        .answer(&ProfileAnswer::from(answer.map_err(super::failure)?))?;
    Ok(Exit::Ok)
}
