//! `agent list`.

use clap::Args;

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{AgentListView, SnapshotView, Sourced};
use crate::resolution::Question;
use crate::selection::{ProfileSelector, Selector};

/// List the agents of a workspace, broken and shadowed ones too
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  compozy agent list\n  compozy agent list api --profile work\n  compozy agent list -o jsonl"
)]
pub(crate) struct ListArguments {
    #[command(flatten)]
    selector: Selector,
    #[command(flatten)]
    profile: ProfileSelector,
}

pub(crate) async fn run(app: &App, arguments: &ListArguments) -> Result<Exit, Failure> {
    let choice = arguments.selector.choose()?;
    let profile = arguments.profile.asked()?;
    let question = Question::new(app, &choice, profile, None).await?;
    let answered = question.whole(app).await?;
    let snapshot = SnapshotView::from(answered.snapshot);
    app.printer.answer(&Sourced {
        resolution_source: answered.source,
        answer: AgentListView {
            profile_name: snapshot.profile_name().to_owned(),
            profile_source: snapshot.profile_source,
            agents: snapshot.agents,
            root: snapshot.root,
        },
    })?;
    Ok(Exit::Ok)
}
