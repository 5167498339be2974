//! `workspace info`: the record of one workspace, with a look at its root and at what a session would see there.

use clap::Args;
use compozy_client::proto::session::v1::{ListSessionsRequest, Session, SessionFilter};
use compozy_client::proto::workspace::v1::workspace_ref::Form;
use compozy_client::proto::workspace::v1::{
    GetWorkspaceRequest, ResolveView, ResolveWorkspaceResponse, WorkspaceRef,
};
use compozy_client::{Code, Error, ErrorReason};

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{InfoView, Sourced};
use crate::resolution::Question;
use crate::selection::{ProfileSelector, Selector};

/// Sessions that are shown; `session list` has all of them.
const SESSIONS_SHOWN: i32 = 10;

/// Show one workspace, and what a session would see there
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  compozy workspace info\n  compozy workspace info api --profile work\n  compozy workspace info ./deep/inside -o json"
)]
pub(crate) struct InfoArguments {
    #[command(flatten)]
    selector: Selector,
    #[command(flatten)]
    profile: ProfileSelector,
}

pub(crate) async fn run(app: &App, arguments: &InfoArguments) -> Result<Exit, Failure> {
    let choice = arguments.selector.choose()?;
    let profile = arguments.profile.asked()?;
    let question = Question::new(app, &choice, profile, None).await?;
    let request = GetWorkspaceRequest {
        r#ref: Some(question.selected.reference.clone()),
        include_status: true,
    };
    let answer = app
        .wait("looking at the workspace", question.client.get_workspace(request))
        .await;
    let answer = answer.map_err(|error| question.selected.failure(error))?;
    let id = answer.workspace.as_ref().map(|workspace| workspace.id.clone());
    let id = id.unwrap_or_default();
    let sessions = sessions(app, &question, &id).await?;
    let resolved = resolve(app, &question, id).await?;
    app.printer.answer(&Sourced {
        resolution_source: question.selected.resolution_source(),
        answer: InfoView::new(answer, sessions, resolved),
    })?;
    Ok(Exit::Ok)
}

/// The sessions of this very workspace that changed last. A daemon that is older than sessions has none.
async fn sessions(app: &App, question: &Question, id: &str) -> Result<Vec<Session>, Failure> {
    let workspace = WorkspaceRef {
        form: Some(Form::Id(id.to_owned())),
    };
    let request = ListSessionsRequest {
        filter: Some(SessionFilter {
            workspace: Some(workspace),
            ..SessionFilter::default()
        }),
        limit: SESSIONS_SHOWN,
        ..ListSessionsRequest::default()
    };
    match app
        .wait("listing its sessions", question.client.list_sessions(request))
        .await
    {
        Ok(answer) => Ok(answer.sessions),
        Err(error) if error.code() == Code::Unimplemented => Ok(Vec::new()),
        Err(error) => Err(question.selected.failure(error)),
    }
}

/// What a session would see in this very workspace. That its files cannot be read is an answer, too: the record is
/// there all the same.
async fn resolve(
    app: &App,
    question: &Question,
    id: String,
) -> Result<Result<ResolveWorkspaceResponse, Failure>, Failure> {
    let mut request = question.request(ResolveView::Basic);
    request.r#ref = Some(WorkspaceRef {
        form: Some(Form::Id(id)),
    });
    let answer = app
        .wait(
            "reading the workspace",
            question.client.resolve_workspace(request),
        )
        .await;
    match answer {
        Ok(answer) => Ok(Ok(answer)),
        Err(error) if is_about_files(&error) => Ok(Err(error.into())),
        Err(error) => Err(question.profile.blamed(question.selected.failure(error))),
    }
}

fn is_about_files(error: &Error) -> bool {
    matches!(
        error.reason(),
        ErrorReason::ConfigInvalid
            | ErrorReason::WorkspaceRootMissing
            | ErrorReason::WorkspaceRootNotDirectory
            | ErrorReason::WorkspaceRootUnreadable
            | ErrorReason::WorkspaceOnOtherHost
            | ErrorReason::HostNotServed
            | ErrorReason::IdentityInvalid
            | ErrorReason::IdentityUnreadable
            | ErrorReason::PathNotAllowed
            | ErrorReason::MessageTooLarge
            // A daemon that is older than this command.
            | ErrorReason::MethodUnknown
    )
}
