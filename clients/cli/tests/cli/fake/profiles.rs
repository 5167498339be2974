//! The profiles of the fake.

use std::collections::HashMap;

use compozy_client::proto::page::v1::PageInfo;
use compozy_client::proto::profile::v1::profile_service_server::ProfileService;
use compozy_client::proto::profile::v1::*;
use compozy_client::proto::workspace::v1::ProfileSource;
use tonic::{Code, Request, Response, Status};

use super::{State, catalog, failed};

type Answer<M> = Result<Response<M>, Status>;

/// The profiles that were made, and what is selected, by workspace id; the empty one is for everything else.
#[derive(Default)]
pub struct Profiles {
    pub made: Vec<Profile>,
    pub selected: HashMap<String, String>,
}

impl Profiles {
    fn find(&self, text: &str) -> Result<Profile, Status> {
        if text == "default" {
            return Ok(permanent());
        }
        let found = self
            .made
            .iter()
            .find(|one| [&one.name, &one.id].contains(&&text.to_owned()));
        found.cloned().ok_or_else(|| {
            let message = format!("No profile is named {text}.");
            failed(
                Code::NotFound,
                "PROFILE_NOT_FOUND",
                &message,
                &[("profile", text)],
            )
        })
    }

    fn change(&mut self, text: &str, change: impl FnOnce(&mut Profile)) -> Result<Profile, Status> {
        let id = self.find(text)?.id;
        let Some(profile) = self.made.iter_mut().find(|one| one.id == id) else {
            let message = "The profile `default` is permanent.";
            return Err(failed(
                Code::FailedPrecondition,
                "PROFILE_PERMANENT",
                message,
                &[],
            ));
        };
        change(profile);
        profile.version += 1;
        Ok(profile.clone())
    }
}

fn permanent() -> Profile {
    Profile {
        id: "default".to_owned(),
        name: "default".to_owned(),
        state: ProfileState::Active.into(),
        is_permanent: true,
        ..Default::default()
    }
}

/// The active profile, and who says so.
pub fn active(
    state: &State,
    workspace_id: &str,
    (flag, environment): (Option<&str>, Option<&str>),
) -> Result<(Profile, ProfileSource), Status> {
    let profiles = state.profiles.lock().unwrap();
    let environment = environment.filter(|text| !text.trim().is_empty());
    let selected = |id: &str| profiles.selected.get(id).map(String::as_str);
    let choices = [
        (flag, ProfileSource::Request),
        (environment, ProfileSource::Environment),
        (
            selected(workspace_id).filter(|_| !workspace_id.is_empty()),
            ProfileSource::Workspace,
        ),
        (selected(""), ProfileSource::Global),
        (Some("default"), ProfileSource::Default),
    ];
    let (text, source) = choices
        .into_iter()
        .find_map(|(text, source)| text.map(|text| (text, source)))
        .unwrap();
    let profile = profiles.find(text)?;
    if profile.state() == ProfileState::Archived {
        let message = format!("The profile {text} is archived.");
        return Err(failed(
            Code::FailedPrecondition,
            "PROFILE_ARCHIVED",
            &message,
            &[("profile", text)],
        ));
    }
    Ok((profile, source))
}

#[tonic::async_trait]
impl ProfileService for State {
    async fn create_profile(&self, request: Request<CreateProfileRequest>) -> Answer<CreateProfileResponse> {
        let request = self.enter("CreateProfile", request).await?;
        let is_name = |text: &str| text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
        if !is_name(&request.name) || request.name == "default" {
            let message = "a profile's name is 1 to 32 lower-case letters, digits and '-'";
            return Err(failed(
                Code::InvalidArgument,
                "NAME_INVALID",
                message,
                &[("field", "name")],
            ));
        }
        let mut profiles = self.profiles.lock().unwrap();
        let number = profiles.made.len();
        let profile = Profile {
            id: format!("01HXJ9YR4QZ0V7M3T5B8PR{number:04}"),
            name: request.name,
            color: request.color,
            icon: request.icon,
            state: ProfileState::Active.into(),
            version: 1,
            etag: "e1".to_owned(),
            ..Default::default()
        };
        profiles.made.push(profile.clone());
        Ok(Response::new(CreateProfileResponse {
            adopted_directory: profile.name == "adopted",
            profile: Some(profile),
            revision: "r7".to_owned(),
        }))
    }

    async fn get_profile(&self, request: Request<GetProfileRequest>) -> Answer<GetProfileResponse> {
        let request = self.enter("GetProfile", request).await?;
        let profile = Some(self.profiles.lock().unwrap().find(&request.profile)?);
        let revision = "r7".to_owned();
        Ok(Response::new(GetProfileResponse { profile, revision }))
    }

    async fn list_profiles(&self, request: Request<ListProfilesRequest>) -> Answer<ListProfilesResponse> {
        let request = self.enter("ListProfiles", request).await?;
        let mut all = vec![permanent()];
        all.extend(self.profiles.lock().unwrap().made.iter().cloned());
        all.retain(|one| request.states.is_empty() || request.states.contains(&one.state));
        let limit = usize::try_from(if request.limit == 0 { 50 } else { request.limit }).unwrap();
        let start: usize = request.cursor.parse().unwrap_or(0);
        let end = (start + limit).min(all.len());
        let has_more = end < all.len();
        Ok(Response::new(ListProfilesResponse {
            profiles: all[start..end].to_vec(),
            page: Some(PageInfo {
                total: i64::try_from(all.len()).unwrap(),
                limit: i32::try_from(limit).unwrap(),
                has_more,
                next_cursor: has_more.then(|| end.to_string()),
                revision: "r7".to_owned(),
            }),
        }))
    }

    async fn update_profile(&self, request: Request<UpdateProfileRequest>) -> Answer<UpdateProfileResponse> {
        let request = self.enter("UpdateProfile", request).await?;
        let (new, mask) = (
            request.new_values.unwrap_or_default(),
            request.update_mask.unwrap_or_default(),
        );
        let profile = self
            .profiles
            .lock()
            .unwrap()
            .change(&request.profile, |profile| {
                for path in mask.paths {
                    match path.as_str() {
                        "color" => profile.color.clone_from(&new.color),
                        _ => profile.icon.clone_from(&new.icon),
                    }
                }
            })?;
        Ok(Response::new(UpdateProfileResponse {
            profile: Some(profile),
            revision: "r7".to_owned(),
        }))
    }

    async fn rename_profile(&self, request: Request<RenameProfileRequest>) -> Answer<RenameProfileResponse> {
        let request = self.enter("RenameProfile", request).await?;
        let mut profiles = self.profiles.lock().unwrap();
        let profile = profiles.change(&request.profile, |profile| profile.name = request.new_name)?;
        Ok(Response::new(RenameProfileResponse {
            profile: Some(profile),
            revision: "r7".to_owned(),
        }))
    }

    async fn archive_profile(
        &self,
        request: Request<ArchiveProfileRequest>,
    ) -> Answer<ArchiveProfileResponse> {
        let request = self.enter("ArchiveProfile", request).await?;
        let mut profiles = self.profiles.lock().unwrap();
        let profile = profiles.change(&request.profile, |one| one.set_state(ProfileState::Archived))?;
        Ok(Response::new(ArchiveProfileResponse {
            profile: Some(profile),
            revision: "r7".to_owned(),
        }))
    }

    async fn unarchive_profile(
        &self,
        request: Request<UnarchiveProfileRequest>,
    ) -> Answer<UnarchiveProfileResponse> {
        let request = self.enter("UnarchiveProfile", request).await?;
        let mut profiles = self.profiles.lock().unwrap();
        let profile = profiles.change(&request.profile, |one| one.set_state(ProfileState::Active))?;
        Ok(Response::new(UnarchiveProfileResponse {
            profile: Some(profile),
            revision: "r7".to_owned(),
        }))
    }

    async fn delete_profile(&self, request: Request<DeleteProfileRequest>) -> Answer<DeleteProfileResponse> {
        let request = self.enter("DeleteProfile", request).await?;
        let mut profiles = self.profiles.lock().unwrap();
        let id = profiles.change(&request.profile, |_| {})?.id;
        profiles.made.retain(|one| one.id != id);
        let revision = "r7".to_owned();
        Ok(Response::new(DeleteProfileResponse { id, revision }))
    }

    async fn select_profile(&self, request: Request<SelectProfileRequest>) -> Answer<SelectProfileResponse> {
        let request = self.enter("SelectProfile", request).await?;
        let workspace_id = match &request.workspace {
            Some(reference) => {
                let workspaces = self.workspaces.lock().unwrap();
                workspaces[catalog::find(&workspaces, Some(reference))?]
                    .id
                    .clone()
            }
            None => String::new(),
        };
        let mut profiles = self.profiles.lock().unwrap();
        let profile = match &request.profile {
            Some(text) => {
                let found = profiles.find(text)?;
                profiles.selected.insert(workspace_id.clone(), found.name.clone());
                Some(found)
            }
            None => {
                profiles.selected.remove(&workspace_id);
                None
            }
        };
        Ok(Response::new(SelectProfileResponse {
            profile,
            workspace_id,
            revision: "r7".to_owned(),
        }))
    }

    async fn get_active_profile(
        &self,
        request: Request<GetActiveProfileRequest>,
    ) -> Answer<GetActiveProfileResponse> {
        let request = self.enter("GetActiveProfile", request).await?;
        let workspace_id = match &request.workspace {
            Some(reference) => {
                let workspaces = self.workspaces.lock().unwrap();
                workspaces[catalog::find(&workspaces, Some(reference))?]
                    .id
                    .clone()
            }
            None => String::new(),
        };
        let asked = (request.profile.as_deref(), request.environment_profile.as_deref());
        let (profile, source) = active(self, &workspace_id, asked)?;
        Ok(Response::new(GetActiveProfileResponse {
            profile: Some(profile),
            profile_source: source.into(),
            workspace_id,
            revision: "r7".to_owned(),
            diagnostics: Vec::new(),
        }))
    }
}
