//! `session health`.

use clap::Args;
use compozy_client::proto::session::v1::GetSessionHealthRequest;

use super::Named;
use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::HealthAnswer;

/// Show how the runtime of a session does
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  compozy session health sess-0123456789abcdef")]
pub(crate) struct HealthArguments {
    #[command(flatten)]
    named: Named,
}

pub(crate) async fn run(app: &App, arguments: HealthArguments) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let request = GetSessionHealthRequest {
        session_id: arguments.named.session,
    };
    let answer = app.wait("asking", client.get_session_health(request)).await?;
    app.printer.answer(&HealthAnswer::from(answer))?;
    Ok(Exit::Ok)
}
