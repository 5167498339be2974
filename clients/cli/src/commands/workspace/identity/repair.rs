//! `workspace identity repair`: makes the file. A path names this very directory, registered or not;
//! anything else a registration.

use clap::Args;
use compozy_client::proto::workspace::v1::update_identity_request::Target;
use compozy_client::proto::workspace::v1::{IdentityAction, UpdateIdentityRequest};

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{IdentityUpdateView, Sourced};
use crate::reference;
use crate::selection::{Choice, Selector};

/// Make a missing identity file, or replace an invalid one
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  compozy workspace identity repair ~/dev/api\n  compozy workspace identity repair api --force"
)]
pub(crate) struct RepairArguments {
    #[command(flatten)]
    selector: Selector,
    /// Replace an invalid file
    #[arg(long)]
    force: bool,
}

pub(crate) async fn run(app: &App, arguments: &RepairArguments) -> Result<Exit, Failure> {
    let choice = arguments.selector.choose()?;
    let client = app.client().await?;
    let named_path = choice.text().and_then(reference::path_in);
    let (target, source, selected) = match (&choice, named_path) {
        (Choice::Named { source, .. }, Some(path)) => (
            Target::Path(reference::absolute(app, &client, path).await?),
            source.name(),
            None,
        ),
        _ => {
            let selected = choice.select(app, &client).await?;
            (
                Target::Ref(selected.reference.clone()),
                selected.resolution_source(),
                Some(selected),
            )
        }
    };
    let request = UpdateIdentityRequest {
        action: IdentityAction::Repair.into(),
        force: arguments.force,
        request_id: String::new(),
        target: Some(target),
    };
    let answer = app
        .wait("repairing the identity", client.update_identity(request))
        .await;
    let answer = answer.map_err(|error| match &selected {
        Some(selected) => selected.failure(error),
        None => error.into(),
    })?;
    app.printer.answer(&Sourced {
        resolution_source: source,
        answer: IdentityUpdateView::from(answer),
    })?;
    Ok(Exit::Ok)
}
