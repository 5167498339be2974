//! `session detach`.

use clap::Args;
use compozy_client::proto::session::v1::ReleaseAttachLeaseRequest;

use super::Named;
use super::attach::operator;
use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::SessionAnswer;
use crate::reference::not_blank;

/// Give the lease of an operator back
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  compozy session detach sess-0123456789abcdef")]
pub(crate) struct DetachArguments {
    #[command(flatten)]
    named: Named,
    /// Who enters it. Default: the name of your user
    #[arg(long, value_name = "NAME", value_parser = not_blank())]
    holder: Option<String>,
}

pub(crate) async fn run(app: &App, arguments: DetachArguments) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let request = ReleaseAttachLeaseRequest {
        session_id: arguments.named.session,
        holder: arguments.holder.unwrap_or_else(operator),
        ..ReleaseAttachLeaseRequest::default()
    };
    let answer = app.wait("leaving", client.release_attach_lease(request)).await?;
    app.printer.answer(&SessionAnswer::from(answer))?;
    Ok(Exit::Ok)
}
