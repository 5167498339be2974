//! The question that the commands about a snapshot have in common: which workspace, which profile, which agent.

use compozy_client::proto::workspace::v1::{
    DefinitionKind, GetDefinitionRequest, GetDefinitionResponse, ResolveView, ResolveWorkspaceRequest,
    ResolveWorkspaceResponse, Snapshot,
};
use compozy_client::{Client, Error, ErrorReason};

use crate::app::App;
use crate::failure::Failure;
use crate::selection::{AskedProfile, Choice, Selected};

/// How often a text is asked for when files keep changing between the snapshot and the text.
const TEXT_ATTEMPTS: u32 = 3;

/// A question for a snapshot, with somebody to answer it.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) client: Client,
    pub(crate) selected: Selected,
    pub(crate) profile: AskedProfile,
    pub(crate) agent: Option<String>,
}

/// A snapshot that came with the answer.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) snapshot: Snapshot,
    pub(crate) source: &'static str,
}

impl Question {
    /// Finds the daemon and the workspace.
    pub(crate) async fn new(
        app: &App,
        choice: &Choice,
        profile: AskedProfile,
        agent: Option<String>,
    ) -> Result<Self, Failure> {
        let client = app.client().await?;
        let selected = choice.select(app, &client).await?;
        Ok(Self {
            client,
            selected,
            profile,
            agent,
        })
    }

    /// The request for a view of the snapshot.
    pub(crate) fn request(&self, view: ResolveView) -> ResolveWorkspaceRequest {
        ResolveWorkspaceRequest {
            r#ref: Some(self.selected.reference.clone()),
            profile: self.profile.flag.clone(),
            environment_profile: self.profile.environment.clone(),
            agent: self.agent.clone(),
            view: view.into(),
            if_fingerprint: None,
            bypass_cache: false,
        }
    }

    pub(crate) async fn ask(
        &self,
        app: &App,
        request: ResolveWorkspaceRequest,
    ) -> Result<ResolveWorkspaceResponse, Failure> {
        let answer = app
            .wait("reading the workspace", self.client.resolve_workspace(request))
            .await;
        answer.map_err(|error| self.failure(error))
    }

    /// Everything that there is.
    pub(crate) async fn whole(&self, app: &App) -> Result<Answered, Failure> {
        self.answered(app, ResolveView::Full).await
    }

    /// The names and the fingerprint, which is all that a question for a text takes; it fits into an answer also
    /// where everything does not.
    pub(crate) async fn names(&self, app: &App) -> Result<Answered, Failure> {
        self.answered(app, ResolveView::Basic).await
    }

    async fn answered(&self, app: &App, view: ResolveView) -> Result<Answered, Failure> {
        let answer = self.ask(app, self.request(view)).await?;
        let snapshot = answer
            .snapshot
            .ok_or_else(|| Failure::defect("the daemon answered without a snapshot"))?;
        Ok(Answered {
            snapshot,
            source: self.selected.resolution_source(),
        })
    }

    /// The text of a definition of this very snapshot, or of the one that has taken its place meanwhile.
    pub(crate) async fn text(
        &self,
        app: &App,
        mut fingerprint: String,
        kind: DefinitionKind,
        name: &str,
    ) -> Result<GetDefinitionResponse, Failure> {
        let mut attempt = 1;
        loop {
            let request = GetDefinitionRequest {
                r#ref: Some(self.selected.reference.clone()),
                profile: self.profile.flag.clone(),
                environment_profile: self.profile.environment.clone(),
                agent: self.agent.clone(),
                fingerprint,
                kind: kind.into(),
                name: name.to_owned(),
            };
            let answer = app
                .wait("reading the text", self.client.get_definition(request))
                .await;
            match answer {
                Err(error) if error.reason() == ErrorReason::FingerprintStale && attempt < TEXT_ATTEMPTS => {
                    attempt += 1;
                    fingerprint = self.fingerprint(app).await?;
                }
                Err(error) => return Err(self.failure(error)),
                Ok(answer) => return Ok(answer),
            }
        }
    }

    async fn fingerprint(&self, app: &App) -> Result<String, Failure> {
        let answer = self.ask(app, self.request(ResolveView::Basic)).await?;
        Ok(answer.snapshot.unwrap_or_default().fingerprint)
    }

    fn failure(&self, error: Error) -> Failure {
        self.profile.blamed(self.selected.failure(error))
    }
}
