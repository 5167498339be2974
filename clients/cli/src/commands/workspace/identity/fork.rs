//! `workspace identity fork`: one of two that share becomes another.

use clap::Args;
use compozy_client::proto::workspace::v1::IdentityAction;

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::selection::Selector;

/// Give a workspace an identity of its own
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  compozy workspace identity fork api-copy")]
pub(crate) struct ForkArguments {
    #[command(flatten)]
    selector: Selector,
}

pub(crate) async fn run(app: &App, arguments: &ForkArguments) -> Result<Exit, Failure> {
    super::settle(app, &arguments.selector, IdentityAction::Fork).await
}
