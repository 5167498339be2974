//! `agent show`: one agent, or its prompt.

use clap::Args;
use compozy_client::proto::workspace::v1::DefinitionKind;

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::nearest;
use crate::output::{AgentAnswer, SnapshotView, Sourced, TextView};
use crate::reference::not_blank;
use crate::resolution::Question;
use crate::selection::{FlagSelector, ProfileSelector};

/// Show one agent, or print its prompt
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  compozy agent show reviewer\n  compozy agent show reviewer --workspace api --profile work\n  compozy agent show reviewer --text > prompt.md"
)]
pub(crate) struct ShowArguments {
    /// Name of the agent
    #[arg(value_name = "NAME", value_parser = not_blank())]
    name: String,
    #[command(flatten)]
    selector: FlagSelector,
    #[command(flatten)]
    profile: ProfileSelector,
    /// Print the prompt, byte for byte
    #[arg(long)]
    text: bool,
}

pub(crate) async fn run(app: &App, arguments: &ShowArguments) -> Result<Exit, Failure> {
    let choice = arguments.selector.choose()?;
    let profile = arguments.profile.asked()?;
    let question = Question::new(app, &choice, profile, None).await?;
    let answered = if arguments.text {
        question.names(app).await?
    } else {
        question.whole(app).await?
    };
    let snapshot = SnapshotView::from(answered.snapshot);
    let (name, resolution_source) = (&arguments.name, answered.source);
    if arguments.text && snapshot.agent_names.contains(name) {
        let fingerprint = snapshot.fingerprint;
        let text = question
            .text(app, fingerprint, DefinitionKind::Agent, name)
            .await?;
        app.printer.answer(&Sourced {
            resolution_source,
            answer: TextView::from(text),
        })?;
        return Ok(Exit::Ok);
    }
    let (profile_name, profile_source) = (snapshot.profile_name().to_owned(), snapshot.profile_source);
    let Some(agent) = snapshot.agents.into_iter().find(|agent| agent.name == *name) else {
        return Err(unknown(name, &snapshot.agent_names, resolution_source));
    };
    app.printer.answer(&Sourced {
        resolution_source,
        answer: AgentAnswer {
            profile_name,
            profile_source,
            agent,
        },
    })?;
    Ok(Exit::Ok)
}

fn unknown(name: &str, names: &[String], source: &'static str) -> Failure {
    let list = "`compozy agent list` shows the agents of the workspace";
    let hint = match nearest::of(name, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean {near}? {list}"),
        None => list.to_owned(),
    };
    Failure::unknown(
        "AGENT_NOT_FOUND",
        format!("the workspace has no agent \"{name}\""),
        hint,
    )
    .with("agent", name)
    .with("resolution_source", source)
}
