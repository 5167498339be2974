//! `workspace identity restore`: the registration is right, the file follows.

use clap::Args;
use compozy_client::proto::workspace::v1::IdentityAction;

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::selection::Selector;

/// Write the registration's identity into the file again
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  compozy workspace identity restore api")]
pub(crate) struct RestoreArguments {
    #[command(flatten)]
    selector: Selector,
}

pub(crate) async fn run(app: &App, arguments: &RestoreArguments) -> Result<Exit, Failure> {
    super::settle(app, &arguments.selector, IdentityAction::Restore).await
}
