//! The answers of the calls that change a profile or choose one.

use compozy_client::proto::profile::v1::{
    ArchiveProfileResponse, CreateProfileResponse, DeleteProfileResponse, GetActiveProfileResponse, Profile,
    RenameProfileResponse, SelectProfileResponse, UnarchiveProfileResponse, UpdateProfileResponse,
};
use serde::Serialize;

use super::{ProfileView, source_name, sourced};
use crate::output::diagnostic::DiagnosticView;
use crate::output::{Answer, Human};

/// The answers of the calls that change one profile.
#[derive(Debug, Serialize)]
pub(crate) struct ProfileAnswer {
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<ProfileView>,
    /// Only of a creation.
    #[serde(skip_serializing_if = "Option::is_none")]
    adopted_directory: Option<bool>,
    revision: String,
    /// What was done, for people.
    #[serde(skip)]
    done: &'static str,
}

/// `compozy.profile.v1.DeleteProfileResponse`.
#[derive(Debug, Serialize)]
pub(crate) struct ProfileDeletionView {
    /// As it was asked for, for people.
    #[serde(skip)]
    pub(crate) named: String,
    id: String,
    revision: String,
}

/// `compozy.profile.v1.SelectProfileResponse`.
#[derive(Debug, Serialize)]
pub(crate) struct SelectionView {
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<ProfileView>,
    workspace_id: String,
    revision: String,
    /// Whether the caller's environment names a profile, which goes before what is remembered.
    #[serde(skip)]
    pub(crate) is_outvoted: bool,
}

/// `compozy.profile.v1.GetActiveProfileResponse`.
#[derive(Debug, Serialize)]
pub(crate) struct ActiveProfileView {
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<ProfileView>,
    profile_source: &'static str,
    workspace_id: String,
    revision: String,
    diagnostics: Vec<DiagnosticView>,
}

impl ProfileAnswer {
    fn new(profile: Option<Profile>, revision: String, done: &'static str) -> Self {
        Self {
            profile: profile.map(ProfileView::from),
            adopted_directory: None,
            revision,
            done,
        }
    }
}

impl From<CreateProfileResponse> for ProfileAnswer {
    fn from(answer: CreateProfileResponse) -> Self {
        let CreateProfileResponse {
            profile,
            adopted_directory,
            revision,
        } = answer;
        Self {
            adopted_directory: Some(adopted_directory),
            ..Self::new(profile, revision, "created")
        }
    }
}

impl From<UpdateProfileResponse> for ProfileAnswer {
    fn from(answer: UpdateProfileResponse) -> Self {
        let UpdateProfileResponse { profile, revision } = answer;
        Self::new(profile, revision, "updated")
    }
}

impl From<RenameProfileResponse> for ProfileAnswer {
    fn from(answer: RenameProfileResponse) -> Self {
        let RenameProfileResponse { profile, revision } = answer;
        Self::new(profile, revision, "renamed")
    }
}

impl From<ArchiveProfileResponse> for ProfileAnswer {
    fn from(answer: ArchiveProfileResponse) -> Self {
        let ArchiveProfileResponse { profile, revision } = answer;
        Self::new(profile, revision, "archived")
    }
}

impl From<UnarchiveProfileResponse> for ProfileAnswer {
    fn from(answer: UnarchiveProfileResponse) -> Self {
        let UnarchiveProfileResponse { profile, revision } = answer;
        Self::new(profile, revision, "unarchived")
    }
}

impl From<DeleteProfileResponse> for ProfileDeletionView {
    fn from(answer: DeleteProfileResponse) -> Self {
        let DeleteProfileResponse { id, revision } = answer;
        Self {
            named: id.clone(),
            id,
            revision,
        }
    }
}

impl From<SelectProfileResponse> for SelectionView {
    fn from(answer: SelectProfileResponse) -> Self {
        let SelectProfileResponse {
            profile,
            workspace_id,
            revision,
        } = answer;
        Self {
            profile: profile.map(ProfileView::from),
            workspace_id,
            revision,
            is_outvoted: false,
        }
    }
}

impl From<GetActiveProfileResponse> for ActiveProfileView {
    fn from(answer: GetActiveProfileResponse) -> Self {
        let profile_source = source_name(answer.profile_source());
        let GetActiveProfileResponse {
            profile,
            profile_source: _,
            workspace_id,
            revision,
            diagnostics,
        } = answer;
        Self {
            profile: profile.map(ProfileView::from),
            profile_source,
            workspace_id,
            revision,
            diagnostics: diagnostics.into_iter().map(DiagnosticView::from).collect(),
        }
    }
}

impl Answer for ProfileAnswer {
    fn human(&self, human: &mut Human) {
        let Some(profile) = &self.profile else { return };
        human.line(&format!("{} {}", self.done, profile.name));
        profile.human(human);
    }

    fn notes(&self) -> Vec<String> {
        let Some(profile) = &self.profile else {
            return Vec::new();
        };
        let mut notes = Vec::new();
        if self.adopted_directory == Some(true) {
            notes.push("its personal directory was there already and is used as it is".to_owned());
        }
        match self.done {
            "created" => notes.push(format!(
                "`compozy profile use {}` makes it the active one",
                profile.name
            )),
            "renamed" => notes.push(
                "directories of the old name in repositories stay there; they belong to the old name"
                    .to_owned(),
            ),
            _ => {}
        }
        notes
    }
}

impl Answer for ProfileDeletionView {
    fn human(&self, human: &mut Human) {
        human.line(&format!(
            "deleted {}; its directories stay on disk, and a new profile of the name adopts them",
            self.named
        ));
    }
}

impl Answer for SelectionView {
    fn human(&self, human: &mut Human) {
        let place = if self.workspace_id.is_empty() {
            "everything that has no selection of its own".to_owned()
        } else {
            format!("workspace {}", self.workspace_id)
        };
        human.line(&match &self.profile {
            Some(profile) => format!("{} is selected for {place}", profile.name),
            None => format!("nothing is selected any more for {place}"),
        });
    }

    fn notes(&self) -> Vec<String> {
        if !self.is_outvoted {
            return Vec::new();
        }
        vec!["COMPOZY_PROFILE is set, and goes before what is selected".to_owned()]
    }
}

impl Answer for ActiveProfileView {
    fn human(&self, human: &mut Human) {
        let name = self.profile.as_ref().map(|profile| profile.name.as_str());
        human.line(&sourced(name.unwrap_or_default(), self.profile_source));
    }

    fn findings(&self) -> Vec<&DiagnosticView> {
        self.diagnostics.iter().collect()
    }
}
