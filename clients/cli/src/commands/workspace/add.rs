//! `workspace add`.

use clap::{Args, ValueEnum};
use compozy_client::Error;
use compozy_client::proto::workspace::v1::{IdentityPolicy, RegisterWorkspaceRequest};

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::RegistrationView;
use crate::problem;
use crate::reference;
use crate::selection::ProfileSelector;

/// Register a project directory
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  compozy workspace add .\n  compozy workspace add ~/dev/api --name api --add-dir ~/dev/shared\n  compozy workspace add ./copy --identity fork --dry-run"
)]
pub(crate) struct AddArguments {
    /// The directory
    #[arg(value_name = "PATH", value_parser = reference::not_blank())]
    path: String,
    /// The handle. Default: made from the directory's name
    #[arg(long)]
    name: Option<String>,
    /// Text to show. Default: the directory's name
    #[arg(long)]
    title: Option<String>,
    /// A directory that adds agents and skills; may be repeated
    #[arg(long, value_name = "PATH", value_parser = reference::not_blank())]
    add_dir: Vec<String>,
    /// The agent of new sessions
    #[arg(long, value_name = "AGENT")]
    default_agent: Option<String>,
    /// What becomes of a copy of a registered directory. Default: share
    #[arg(long, value_name = "POLICY", value_enum)]
    identity: Option<Policy>,
    #[command(flatten)]
    profile: ProfileSelector,
    /// Check everything, write nothing, and show what would be
    #[arg(long)]
    dry_run: bool,
}

/// What becomes of a copy of a registered directory.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Policy {
    /// Both share the identity
    Share,
    /// The copy gets an identity of its own
    Fork,
    /// The copy is refused
    Reject,
}

pub(crate) async fn run(app: &App, arguments: AddArguments) -> Result<Exit, Failure> {
    let AddArguments {
        path,
        name,
        title,
        add_dir,
        default_agent,
        identity,
        profile,
        dry_run,
    } = arguments;
    let profile = profile.asked()?;
    let client = app.client().await?;
    let mut additional_dirs = Vec::new();
    for directory in &add_dir {
        additional_dirs.push(reference::absolute(app, &client, directory).await?);
    }
    let path = reference::absolute(app, &client, &path).await?;
    let request = RegisterWorkspaceRequest {
        path: path.clone(),
        name,
        title,
        additional_dirs,
        default_agent,
        identity_policy: policy(identity).into(),
        reuse_enclosing: false,
        validate_only: dry_run,
        request_id: String::new(),
        profile: profile.first(),
    };
    let answer = app.wait("registering", client.register_workspace(request)).await;
    let answer = answer.map_err(|error| profile.blamed(refused(error, &path)))?;
    let mut view = RegistrationView::from(answer);
    view.is_trial = dry_run;
    app.printer.answer(&view)?;
    Ok(Exit::Ok)
}

/// What is wrong in a directory can be looked at there.
fn refused(error: Error, path: &str) -> Failure {
    let problems = problem::all(&error);
    if problems.is_empty() {
        return error.into();
    }
    let hint = problem::hint(&error, &problems, Some(path));
    Failure::from(error).hinting(hint)
}

fn policy(given: Option<Policy>) -> IdentityPolicy {
    match given {
        None => IdentityPolicy::Unspecified,
        Some(Policy::Share) => IdentityPolicy::Share,
        Some(Policy::Fork) => IdentityPolicy::Fork,
        Some(Policy::Reject) => IdentityPolicy::Reject,
    }
}
