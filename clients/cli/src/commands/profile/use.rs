//! `profile use`: what is remembered, for one workspace or for everything else.

use clap::Args;
use compozy_client::proto::profile::v1::SelectProfileRequest;

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{SelectionView, Sourced};
use crate::reference::not_blank;
use crate::selection::{FlagSelector, profile_of_environment};

/// Select a profile for a workspace, or for everything
///
/// Without --global it is remembered for the workspace, and for nothing else.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  compozy profile use work\n  compozy profile use work --workspace api\n  compozy profile use default --global\n  compozy profile use --none"
)]
pub(crate) struct UseArguments {
    /// The profile: its name or id
    #[arg(value_name = "PROFILE", value_parser = not_blank(), required_unless_present = "none")]
    profile: Option<String>,
    /// Forget what is selected
    #[arg(long, conflicts_with = "profile")]
    none: bool,
    /// For everything that has no selection of its own
    #[arg(long, conflicts_with = "workspace")]
    global: bool,
    #[command(flatten)]
    selector: FlagSelector,
}

pub(crate) async fn run(app: &App, arguments: &UseArguments) -> Result<Exit, Failure> {
    let is_outvoted = profile_of_environment()?.is_some();
    let mut request = SelectProfileRequest {
        workspace: None,
        profile: arguments.profile.clone(),
        request_id: String::new(),
    };
    if arguments.global {
        let client = app.client().await?;
        let answer = app.wait("selecting", client.select_profile(request)).await?;
        let mut view = SelectionView::from(answer);
        view.is_outvoted = is_outvoted;
        app.printer.answer(&view)?;
        return Ok(Exit::Ok);
    }
    let choice = arguments.selector.choose()?;
    let client = app.client().await?;
    let selected = choice.select(app, &client).await?;
    request.workspace = Some(selected.reference.clone());
    let answer = app.wait("selecting", client.select_profile(request)).await;
    let mut view = SelectionView::from(answer.map_err(|error| selected.failure(error))?);
    view.is_outvoted = is_outvoted;
    app.printer.answer(&Sourced {
        resolution_source: selected.resolution_source(),
        answer: view,
    })?;
    Ok(Exit::Ok)
}
