//! `workspace identity show`: the file as it is, read without a write.

use clap::Args;
use compozy_client::proto::workspace::v1::GetIdentityRequest;
use compozy_client::proto::workspace::v1::get_identity_request::Target;

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{IdentityView, Sourced};
use crate::selection::Selector;

/// Show the identity file, and who shares it
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  compozy workspace identity show\n  compozy workspace identity show api -o json"
)]
pub(crate) struct ShowArguments {
    #[command(flatten)]
    selector: Selector,
}

pub(crate) async fn run(app: &App, arguments: &ShowArguments) -> Result<Exit, Failure> {
    let choice = arguments.selector.choose()?;
    let client = app.client().await?;
    let selected = choice.select(app, &client).await?;
    let request = GetIdentityRequest {
        target: Some(Target::Ref(selected.reference.clone())),
    };
    let answer = app
        .wait("reading the identity", client.get_identity(request))
        .await;
    let answer = answer.map_err(|error| selected.failure(error))?;
    app.printer.answer(&Sourced {
        resolution_source: selected.resolution_source(),
        answer: IdentityView::from(answer),
    })?;
    Ok(Exit::Ok)
}
