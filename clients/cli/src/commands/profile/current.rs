//! `profile current`: which profile is active, and who says so.

use clap::Args;
use compozy_client::proto::profile::v1::GetActiveProfileRequest;

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{ActiveProfileView, Sourced};
use crate::selection::{ProfileSelector, Selector};

/// Show which profile is active, and who says so
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  compozy profile current\n  compozy profile current api -o json\n  compozy profile current --global"
)]
pub(crate) struct CurrentArguments {
    #[command(flatten)]
    selector: Selector,
    #[command(flatten)]
    profile: ProfileSelector,
    /// Outside every workspace
    #[arg(long, conflicts_with_all = ["reference", "workspace"])]
    global: bool,
}

pub(crate) async fn run(app: &App, arguments: &CurrentArguments) -> Result<Exit, Failure> {
    let profile = arguments.profile.asked()?;
    let mut request = GetActiveProfileRequest {
        workspace: None,
        profile: profile.flag.clone(),
        environment_profile: profile.environment.clone(),
    };
    if arguments.global {
        let client = app.client().await?;
        let answer = app.wait("asking", client.get_active_profile(request)).await;
        let answer = answer.map_err(|error| profile.blamed(error.into()))?;
        app.printer.answer(&ActiveProfileView::from(answer))?;
        return Ok(Exit::Ok);
    }
    let choice = arguments.selector.choose()?;
    let client = app.client().await?;
    let selected = choice.select(app, &client).await?;
    request.workspace = Some(selected.reference.clone());
    let answer = app.wait("asking", client.get_active_profile(request)).await;
    let answer = answer.map_err(|error| profile.blamed(selected.failure(error)))?;
    app.printer.answer(&Sourced {
        resolution_source: selected.resolution_source(),
        answer: ActiveProfileView::from(answer),
    })?;
    Ok(Exit::Ok)
}
