//! `skill show`: one skill, or its text.

use clap::Args;
use compozy_client::proto::workspace::v1::DefinitionKind;

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::nearest;
use crate::output::{SkillAnswer, SnapshotView, Sourced, TextView};
use crate::quote;
use crate::reference::not_blank;
use crate::resolution::Question;
use crate::selection::{FlagSelector, ProfileSelector};

/// Show one skill, or print its text
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  compozy skill show release-notes\n  compozy skill show release-notes --agent reviewer --workspace api\n  compozy skill show release-notes --text"
)]
pub(crate) struct ShowArguments {
    /// Name of the skill
    #[arg(value_name = "NAME", value_parser = not_blank())]
    name: String,
    #[command(flatten)]
    selector: FlagSelector,
    #[command(flatten)]
    profile: ProfileSelector,
    /// As this agent sees it
    #[arg(long, value_name = "AGENT", value_parser = not_blank())]
    agent: Option<String>,
    /// Print the text, byte for byte
    #[arg(long)]
    text: bool,
}

pub(crate) async fn run(app: &App, arguments: &ShowArguments) -> Result<Exit, Failure> {
    let choice = arguments.selector.choose()?;
    let profile = arguments.profile.asked()?;
    let question = Question::new(app, &choice, profile, arguments.agent.clone()).await?;
    let answered = if arguments.text {
        question.names(app).await?
    } else {
        question.whole(app).await?
    };
    let snapshot = SnapshotView::from(answered.snapshot);
    let (name, resolution_source) = (&arguments.name, answered.source);
    if arguments.text && snapshot.skill_names.contains(name) {
        let fingerprint = snapshot.fingerprint;
        let text = question
            .text(app, fingerprint, DefinitionKind::Skill, name)
            .await?;
        app.printer.answer(&Sourced {
            resolution_source,
            answer: TextView::from(text),
        })?;
        return Ok(Exit::Ok);
    }
    let (profile_name, profile_source) = (snapshot.profile_name().to_owned(), snapshot.profile_source);
    let Some(skill) = snapshot.skills.into_iter().find(|skill| skill.name == *name) else {
        return Err(unknown(
            name,
            arguments.agent.as_deref(),
            &snapshot.skill_names,
            resolution_source,
        ));
    };
    app.printer.answer(&Sourced {
        resolution_source,
        answer: SkillAnswer {
            profile_name,
            profile_source,
            skill,
        },
    })?;
    Ok(Exit::Ok)
}

fn unknown(name: &str, agent: Option<&str>, names: &[String], source: &'static str) -> Failure {
    let (message, list) = match agent {
        // It may be there, and hidden from this one.
        Some(agent) => (
            format!("the agent \"{agent}\" sees no skill \"{name}\""),
            format!(
                "`compozy skill list --agent {}` shows what it sees",
                quote::shell(agent)
            ),
        ),
        None => (
            format!("the workspace has no skill \"{name}\""),
            "`compozy skill list` shows the skills of the workspace; those of an agent alone need --agent"
                .to_owned(),
        ),
    };
    let hint = match nearest::of(name, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean {near}? {list}"),
        None => list,
    };
    Failure::unknown("DEFINITION_NOT_FOUND", message, hint)
        .with("skill", name)
        .with("resolution_source", source)
}
