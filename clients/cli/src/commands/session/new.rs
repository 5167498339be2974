//! `session new`: a record for a run that somebody else makes.

use clap::Args;
use compozy_client::Error;
use compozy_client::proto::session::v1::{CreateSessionRequest, PermissionMode, SessionState, SessionType};

use super::words::{Permission, Type};
use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::labels;
use crate::output::CreationView;
use crate::reference::{self, not_blank};
use crate::selection::{AskedProfile, FlagSelector, Place, ProfileSelector, Selected};

/// Create a session; nothing is run
///
/// Where no workspace is named, the current directory or that of --cwd decides: the workspace that owns it, or the one
/// that it becomes, since a directory outside every workspace is registered.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  compozy session new --agent reviewer --name 'review the parser'\n  compozy session new --workspace api --label team=web --permission-mode approve-reads\n  compozy session new --cwd ~/dev/new -o json"
)]
pub(crate) struct NewArguments {
    #[command(flatten)]
    selector: FlagSelector,
    /// The directory to run in, and with it the workspace
    #[arg(long, value_name = "PATH", value_parser = not_blank(), conflicts_with = "workspace")]
    cwd: Option<String>,
    /// Name of the agent. Default: that of the workspace
    #[arg(long, value_name = "NAME", value_parser = not_blank())]
    agent: Option<String>,
    /// What to show for it
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    name: String,
    /// What it is for. Default: user
    #[arg(long, value_name = "TYPE", value_enum, ignore_case = true)]
    r#type: Option<Type>,
    /// Id of the session that starts it
    #[arg(long, value_name = "SESSION", value_parser = not_blank())]
    parent: Option<String>,
    /// What the parent starts it for
    #[arg(
        long,
        value_name = "ROLE",
        requires = "parent",
        default_value = "",
        hide_default_value = true
    )]
    spawn_role: String,
    /// A label, key=value; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = labels::parse)]
    label: Vec<(String, String)>,
    /// What its agent may do without asking. Default: as the workspace says
    #[arg(long, value_name = "MODE", value_enum, ignore_case = true)]
    permission_mode: Option<Permission>,
    /// Name of the provider. Default: that of the agent
    #[arg(long, value_name = "NAME", value_parser = not_blank())]
    provider: Option<String>,
    /// Name of the model. Default: that of the agent
    #[arg(long, value_name = "NAME", value_parser = not_blank())]
    model: Option<String>,
    /// Why it is started
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    start_cause: String,
    /// It is starting until a runtime reports for it, and not active at once
    #[arg(long)]
    starting: bool,
    /// An id of your own, sess- and 16 hex digits. Default: a new one
    #[arg(long, value_name = "ID", value_parser = not_blank())]
    id: Option<String>,
    #[command(flatten)]
    profile: ProfileSelector,
}

/// Where the new session is to be.
enum Home {
    /// Where the chain leads.
    Chain(Place),
    /// Where `--cwd` says, as an absolute path.
    Given(String),
}

pub(crate) async fn run(app: &App, mut arguments: NewArguments) -> Result<Exit, Failure> {
    // Before any request.
    let choice = arguments.selector.choose()?;
    let profile = arguments.profile.asked()?;
    let labels = labels::gathered(std::mem::take(&mut arguments.label))?;
    let client = app.client().await?;
    let home = match &arguments.cwd {
        Some(cwd) => Home::Given(reference::absolute(app, &client, cwd).await?),
        None => Home::Chain(choice.place(app, &client).await?),
    };
    let mut request = request(arguments, &profile);
    request.labels = labels;
    home.fill(&mut request);
    let answer = app
        .wait("creating the session", client.create_session(request))
        .await;
    let answer = answer.map_err(|error| profile.blamed(home.failure(error)))?;
    app.printer
        .answer_from(home.source(), CreationView::from(answer))?;
    Ok(Exit::Ok)
}

impl Home {
    fn fill(&self, request: &mut CreateSessionRequest) {
        match self {
            Self::Chain(Place::Workspace(selected)) => request.workspace = Some(selected.reference.clone()),
            Self::Chain(Place::Directory(path)) => request.workspace_path.clone_from(path),
            Self::Given(path) => {
                request.workspace_path.clone_from(path);
                request.cwd = Some(path.clone());
            }
        }
    }

    /// How the workspace was told, where the chain told it.
    fn source(&self) -> Option<&'static str> {
        match self {
            Self::Chain(Place::Workspace(selected)) => Some(selected.resolution_source()),
            Self::Chain(Place::Directory(_)) => Some(Selected::OF_DIRECTORY),
            Self::Given(_) => None,
        }
    }

    fn failure(&self, error: Error) -> Failure {
        match self {
            Self::Chain(Place::Workspace(selected)) => selected.failure(error),
            Self::Chain(Place::Directory(_)) => {
                Failure::from(error).with("resolution_source", Selected::OF_DIRECTORY)
            }
            Self::Given(_) => error.into(),
        }
    }
}

fn request(arguments: NewArguments, profile: &AskedProfile) -> CreateSessionRequest {
    let NewArguments {
        selector: _,
        cwd: _,
        agent,
        name,
        r#type,
        parent,
        spawn_role,
        label: _,
        permission_mode,
        provider,
        model,
        start_cause,
        starting,
        id,
        profile: _,
    } = arguments;
    CreateSessionRequest {
        id: id.unwrap_or_default(),
        name,
        agent,
        provider,
        model,
        r#type: r#type.map(SessionType::from).unwrap_or_default().into(),
        permission_mode: permission_mode
            .map(PermissionMode::from)
            .unwrap_or_default()
            .into(),
        profile: profile.flag.clone(),
        environment_profile: profile.environment.clone(),
        parent_session_id: parent.unwrap_or_default(),
        spawn_role,
        start_cause,
        initial_state: if starting {
            SessionState::Starting.into()
        } else {
            SessionState::Unspecified.into()
        },
        ..CreateSessionRequest::default()
    }
}
