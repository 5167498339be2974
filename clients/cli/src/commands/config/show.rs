//! `config show`: what counts in a workspace, as a whole.

use clap::Args;

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{ConfigView, SnapshotView, Sourced};
use crate::resolution::Question;
use crate::selection::{ProfileSelector, Selector};

/// Show the configuration that counts in a workspace
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  compozy config show\n  compozy config show api --profile work\n  compozy config show -o json"
)]
pub(crate) struct ShowArguments {
    #[command(flatten)]
    selector: Selector,
    #[command(flatten)]
    profile: ProfileSelector,
}

pub(crate) async fn run(app: &App, arguments: &ShowArguments) -> Result<Exit, Failure> {
    let choice = arguments.selector.choose()?;
    let profile = arguments.profile.asked()?;
    let question = Question::new(app, &choice, profile, None).await?;
    let answered = question.whole(app).await?;
    let snapshot = SnapshotView::from(answered.snapshot);
    app.printer.answer(&Sourced {
        resolution_source: answered.source,
        answer: ConfigView::from(snapshot),
    })?;
    Ok(Exit::Ok)
}
