//! `workspace identity accept`: the file is right, the registration follows.

use clap::Args;
use compozy_client::proto::workspace::v1::IdentityAction;

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::selection::Selector;

/// Let the registration take the identity that the file has now
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  compozy workspace identity accept api")]
pub(crate) struct AcceptArguments {
    #[command(flatten)]
    selector: Selector,
}

pub(crate) async fn run(app: &App, arguments: &AcceptArguments) -> Result<Exit, Failure> {
    super::settle(app, &arguments.selector, IdentityAction::Accept).await
}
