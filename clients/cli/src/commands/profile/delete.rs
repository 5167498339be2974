//! `profile delete`: the record and the selections, never the directories.

use clap::Args;
use compozy_client::proto::profile::v1::DeleteProfileRequest;

use super::Named;
use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::ProfileDeletionView;

/// Delete a profile; its directories stay on disk
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  compozy profile delete work")]
pub(crate) struct DeleteArguments {
    #[command(flatten)]
    named: Named,
}

pub(crate) async fn run(app: &App, arguments: DeleteArguments) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let named = arguments.named.profile;
    let request = DeleteProfileRequest {
        profile: named.clone(),
        ..DeleteProfileRequest::default()
    };
    let answer = app
        .wait("deleting the profile", client.delete_profile(request))
        .await;
    let mut view = ProfileDeletionView::from(answer.map_err(super::failure)?);
    view.named = named;
    app.printer.answer(&view)?;
    Ok(Exit::Ok)
}
