//! `session attach`.

use std::time::Duration;

use clap::Args;
use compozy_client::proto::session::v1::AcquireAttachLeaseRequest;

use super::Named;
use crate::app::App;
use crate::duration;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::SessionAnswer;
use crate::reference::not_blank;

/// Take the lease of an operator who enters a live session
///
/// One at a time; the same holder takes it again before it ends.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  compozy session attach sess-0123456789abcdef\n  compozy session attach sess-0123456789abcdef --holder ada --ttl 1h"
)]
pub(crate) struct AttachArguments {
    #[command(flatten)]
    named: Named,
    /// Who enters it. Default: the name of your user
    #[arg(long, value_name = "NAME", value_parser = not_blank())]
    holder: Option<String>,
    /// How long it lasts, 1s to 24h. Default: 15m
    #[arg(long, value_name = "SPAN", value_parser = duration::parse)]
    ttl: Option<Duration>,
}

pub(crate) async fn run(app: &App, arguments: AttachArguments) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let request = AcquireAttachLeaseRequest {
        session_id: arguments.named.session,
        holder: arguments.holder.unwrap_or_else(operator),
        ttl: arguments.ttl.map(duration::wire),
        ..AcquireAttachLeaseRequest::default()
    };
    let answer = app.wait("entering", client.acquire_attach_lease(request)).await?;
    app.printer.answer(&SessionAnswer::from(answer))?;
    Ok(Exit::Ok)
}

/// Who somebody is who does not say it.
pub(super) fn operator() -> String {
    let named = ["USER", "LOGNAME"].into_iter().find_map(|name| {
        let text = std::env::var(name).ok()?;
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    });
    named.unwrap_or_else(|| "operator".to_owned())
}
