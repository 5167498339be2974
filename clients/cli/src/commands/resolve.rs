//! `resolve`: what a session in a workspace would see.

use clap::Args;
use compozy_client::proto::workspace::v1::ResolveView;

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{ResolutionView, Sourced};
use crate::reference::not_blank;
use crate::resolution::Question;
use crate::selection::{ProfileSelector, Selector};

/// Show what a session in a workspace would see
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  compozy resolve\n  compozy resolve api --agent reviewer --profile work\n  compozy resolve --fresh -o json\n  compozy resolve --if-fingerprint \"$FINGERPRINT\" -o json"
)]
pub(crate) struct ResolveArguments {
    #[command(flatten)]
    selector: Selector,
    #[command(flatten)]
    profile: ProfileSelector,
    /// As this agent sees it: with its own skills, without those that it hides
    #[arg(long, value_name = "AGENT", value_parser = not_blank())]
    agent: Option<String>,
    /// Read every file again, whatever the daemon remembers
    #[arg(long)]
    fresh: bool,
    /// Only names, counts and findings
    #[arg(long)]
    basic: bool,
    /// Answer nothing if the content still has this fingerprint
    #[arg(long, value_name = "FINGERPRINT", value_parser = not_blank())]
    if_fingerprint: Option<String>,
}

pub(crate) async fn run(app: &App, arguments: ResolveArguments) -> Result<Exit, Failure> {
    let choice = arguments.selector.choose()?;
    let profile = arguments.profile.asked()?;
    let question = Question::new(app, &choice, profile, arguments.agent).await?;
    let view = if arguments.basic {
        ResolveView::Basic
    } else {
        ResolveView::Full
    };
    let mut request = question.request(view);
    request.bypass_cache = arguments.fresh;
    request.if_fingerprint = arguments.if_fingerprint;
    let mut answer = ResolutionView::from(question.ask(app, request).await?);
    answer.is_basic = arguments.basic;
    app.printer.answer(&Sourced {
        resolution_source: question.selected.resolution_source(),
        answer,
    })?;
    Ok(Exit::Ok)
}
