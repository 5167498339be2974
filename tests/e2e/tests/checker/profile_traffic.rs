//! What writers do with profiles: everybody changes and deletes anybody's and selects any of them; whoever made one
//! gives it its names and archives it, so that it knows whether that changed anything.

use compozy_e2e::by_id;
use compozy_proto::profile::v1::{
    ArchiveProfileRequest, CreateProfileRequest, DeleteProfileRequest, Profile, RenameProfileRequest,
    SelectProfileRequest, UnarchiveProfileRequest, UpdateProfileRequest,
};

use crate::board::Choice;
use crate::entry::Record;
use crate::history::Action;
use crate::settling::{Asked, Told};
use crate::traffic::Writer;

/// The profile that is always there.
const PERMANENT: &str = "default";

/// A profile of a writer's own.
#[derive(Debug, Clone)]
pub(crate) struct OwnProfile {
    id: String,
    is_archived: bool,
}

impl Writer {
    pub(crate) async fn write_profile(&mut self) {
        let few = self.board.profile_count() < self.manners.profiles;
        let known = self.board.choose_profile(&mut self.draw);
        let (Some(id), false) = (known, few && self.draw.one_in(3)) else {
            return self.create_profile().await;
        };
        match self.draw.below(20) {
            0 => self.create_profile().await,
            1 if !few => self.delete_profile(id).await,
            2..=4 => self.rename_profile().await,
            5 | 6 => self.archive_or_unarchive().await,
            7..=9 => self.update_profile(id).await,
            10 | 11 => self.forget().await,
            12 | 13 => self.select_again().await,
            _ => self.select().await,
        }
    }

    async fn create_profile(&mut self) {
        let request = CreateProfileRequest {
            name: self.fresh("p", '-'),
            ..Default::default()
        };
        let client = self.client();
        let asked = Asked::now(Action::CreateProfile, Record::Profile(String::new()));
        let answer = client.create_profile(request).await;
        let answer = answer.map(|answer| told_of(answer.profile, answer.revision));
        if let Some(Record::Profile(id)) = self.settle(asked, answer).await {
            self.board.add_profile(id.clone());
            self.own_profiles.push(OwnProfile {
                id,
                is_archived: false,
            });
        }
    }

    async fn update_profile(&mut self, id: String) {
        let new_values = Profile {
            icon: Some(self.fresh("i", ' ')),
            ..Default::default()
        };
        let request = UpdateProfileRequest {
            profile: id.clone(),
            new_values: Some(new_values),
            ..Default::default()
        };
        let client = self.client();
        let asked = Asked::now(Action::UpdateProfile, Record::Profile(id));
        let answer = client.update_profile(request).await;
        let answer = answer.map(|answer| told_of(answer.profile, answer.revision));
        self.settle(asked, answer).await;
    }

    async fn rename_profile(&mut self) {
        let Some(own) = self.take_own_profile() else {
            return;
        };
        let request = RenameProfileRequest {
            profile: own.id.clone(),
            new_name: self.fresh("q", '-'),
            ..Default::default()
        };
        let client = self.client();
        let asked = Asked::now(Action::RenameProfile, Record::Profile(own.id.clone()));
        let answer = client.rename_profile(request).await;
        let answer = answer.map(|answer| told_of(answer.profile, answer.revision));
        if self.settle(asked, answer).await.is_some() {
            self.own_profiles.push(own);
        }
    }

    async fn archive_or_unarchive(&mut self) {
        let Some(own) = self.take_own_profile() else {
            return;
        };
        let OwnProfile { id, is_archived } = own;
        let client = self.client();
        let (profile, record) = (id.clone(), Record::Profile(id.clone()));
        let carried_out = if is_archived {
            let asked = Asked::now(Action::UnarchiveProfile, record);
            let request = UnarchiveProfileRequest {
                profile,
                ..Default::default()
            };
            let answer = client.unarchive_profile(request).await;
            let answer = answer.map(|answer| told_of(answer.profile, answer.revision));
            self.settle(asked, answer).await
        } else {
            let asked = Asked::now(Action::ArchiveProfile, record);
            let request = ArchiveProfileRequest {
                profile,
                ..Default::default()
            };
            let answer = client.archive_profile(request).await;
            let answer = answer.map(|answer| told_of(answer.profile, answer.revision));
            self.settle(asked, answer).await
        };
        if carried_out.is_some() {
            self.own_profiles.push(OwnProfile {
                id,
                is_archived: !is_archived,
            });
        }
    }

    /// One that comes back only if what is done with it is answered: of any other nobody knows its state.
    fn take_own_profile(&mut self) -> Option<OwnProfile> {
        let count = self.own_profiles.len();
        (count > 0).then(|| self.own_profiles.swap_remove(self.draw.below(count)))
    }

    async fn delete_profile(&mut self, id: String) {
        self.board.remove_profile(&id);
        let request = DeleteProfileRequest {
            profile: id.clone(),
            ..Default::default()
        };
        let client = self.client();
        let asked = Asked::now(Action::DeleteProfile, Record::Profile(id));
        let answer = client.delete_profile(request).await;
        let answer = answer.map(|answer| Told::written(Record::Profile(answer.id), 0, answer.revision));
        self.settle(asked, answer).await;
    }

    /// Selects a profile where nobody has selected it before.
    async fn select(&mut self) {
        let Some(choice) = self.choose().filter(|choice| self.board.is_new(choice)) else {
            return;
        };
        if self.choose_for(Action::Select, &choice).await {
            self.board.chosen(choice);
        }
    }

    /// Selects a profile where it was selected before, and perhaps is.
    async fn select_again(&mut self) {
        if let Some(choice) = self.board.choose_again(&mut self.draw) {
            self.choose_for(Action::SelectAgain, &choice).await;
        }
    }

    async fn forget(&mut self) {
        let Some(choice) = self.choose() else { return };
        let nothing = Choice {
            profile: String::new(),
            ..choice
        };
        self.choose_for(Action::Forget, &nothing).await;
    }

    /// Any profile for any workspace, sometimes for everything else.
    fn choose(&mut self) -> Option<Choice> {
        let workspace = if self.draw.one_in(4) {
            String::new()
        } else {
            self.board.choose(&mut self.draw)?.id
        };
        let profile = if self.draw.one_in(8) {
            PERMANENT.to_owned()
        } else {
            self.board.choose_profile(&mut self.draw)?
        };
        Some(Choice { workspace, profile })
    }

    /// Whether it was carried out.
    async fn choose_for(&mut self, action: Action, choice: &Choice) -> bool {
        let Choice { workspace, profile } = choice.clone();
        let request = SelectProfileRequest {
            workspace: Some(&workspace).filter(|id| !id.is_empty()).map(by_id),
            profile: Some(profile.clone()).filter(|id| !id.is_empty()),
            ..Default::default()
        };
        let client = self.client();
        let mut asked = Asked::now(action, Record::Selection(workspace));
        asked.selects = profile;
        let answer = client.select_profile(request).await;
        let answer = answer.map(|answer| Told {
            record: Record::Selection(answer.workspace_id),
            version: 0,
            wrote: (action == Action::Select).then_some(true),
            revision: answer.revision,
        });
        self.settle(asked, answer).await.is_some()
    }
}

fn told_of(profile: Option<Profile>, revision: String) -> Told {
    let profile = profile.unwrap();
    Told::written(Record::Profile(profile.id), profile.version, revision)
}
