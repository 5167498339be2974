//! `session resume`.

use clap::Args;
use compozy_client::proto::session::v1::ResumeSessionRequest;

use super::Named;
use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::SessionAnswer;

/// Make a stopped session start again
///
/// It keeps its id and is starting until a runtime reports for it.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  compozy session resume sess-0123456789abcdef")]
pub(crate) struct ResumeArguments {
    #[command(flatten)]
    named: Named,
}

pub(crate) async fn run(app: &App, arguments: ResumeArguments) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let request = ResumeSessionRequest {
        session_id: arguments.named.session,
        ..ResumeSessionRequest::default()
    };
    let answer = app.wait("resuming", client.resume_session(request)).await?;
    app.printer.answer(&SessionAnswer::from(answer))?;
    Ok(Exit::Ok)
}
