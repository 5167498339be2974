//! `session inspect`.

use clap::Args;
use compozy_client::proto::session::v1::InspectSessionRequest;

use super::Named;
use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::InspectionView;

/// Show one session with its history, open questions and secrets by name
///
/// No secret itself is ever shown.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  compozy session inspect sess-0123456789abcdef")]
pub(crate) struct InspectArguments {
    #[command(flatten)]
    named: Named,
}

pub(crate) async fn run(app: &App, arguments: InspectArguments) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let request = InspectSessionRequest {
        session_id: arguments.named.session,
    };
    let answer = app
        .wait("looking at the session", client.inspect_session(request))
        .await?;
    app.printer.answer(&InspectionView::from(answer))?;
    Ok(Exit::Ok)
}
