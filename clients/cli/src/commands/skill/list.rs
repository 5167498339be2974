//! `skill list`.

use clap::Args;

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{SkillListView, SnapshotView, Sourced};
use crate::reference::not_blank;
use crate::resolution::Question;
use crate::selection::{ProfileSelector, Selector};

/// List the skills of a workspace, broken and shadowed ones too
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  compozy skill list\n  compozy skill list api --agent reviewer\n  compozy skill list --profile work -o jsonl"
)]
pub(crate) struct ListArguments {
    #[command(flatten)]
    selector: Selector,
    #[command(flatten)]
    profile: ProfileSelector,
    /// As this agent sees them: with its own, without those that it hides
    #[arg(long, value_name = "AGENT", value_parser = not_blank())]
    agent: Option<String>,
}

pub(crate) async fn run(app: &App, arguments: &ListArguments) -> Result<Exit, Failure> {
    let choice = arguments.selector.choose()?;
    let profile = arguments.profile.asked()?;
    let question = Question::new(app, &choice, profile, arguments.agent.clone()).await?;
    let answered = question.whole(app).await?;
    let snapshot = SnapshotView::from(answered.snapshot);
    app.printer.answer(&Sourced {
        resolution_source: answered.source,
        answer: SkillListView {
            profile_name: snapshot.profile_name().to_owned(),
            profile_source: snapshot.profile_source,
            agent: snapshot.agent,
            skills: snapshot.skills,
            skill_sources: snapshot.skill_sources,
            root: snapshot.root,
        },
    })?;
    Ok(Exit::Ok)
}
