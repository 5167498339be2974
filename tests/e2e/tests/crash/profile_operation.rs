//! What workers ask of the daemon about profiles, and how it answers.

use compozy_client::{Client, Error};
use compozy_proto::profile::v1::{
    ArchiveProfileRequest, ArchiveProfileResponse, CreateProfileRequest, CreateProfileResponse,
    DeleteProfileRequest, DeleteProfileResponse, RenameProfileRequest, RenameProfileResponse,
    SelectProfileRequest, SelectProfileResponse, UnarchiveProfileRequest, UnarchiveProfileResponse,
    UpdateProfileRequest, UpdateProfileResponse,
};

/// One write, with the request id that makes it the same write when it is asked again, and with what is refused of
/// it, if that is known before.
#[derive(Debug, Clone)]
pub(crate) struct ProfileOperation {
    pub(crate) what: What,
    pub(crate) refusal: Option<&'static str>,
}

#[derive(Debug, Clone)]
pub(crate) enum What {
    Create {
        name: String,
        request: CreateProfileRequest,
    },
    /// Another icon.
    Update {
        id: String,
        icon: String,
        request: Box<UpdateProfileRequest>,
    },
    /// Another name, and the directory with it.
    Rename {
        id: String,
        from: String,
        to: String,
        request: RenameProfileRequest,
    },
    Archive {
        id: String,
        request: ArchiveProfileRequest,
    },
    Unarchive {
        id: String,
        request: UnarchiveProfileRequest,
    },
    Delete {
        id: String,
        request: DeleteProfileRequest,
    },
    /// A choice for the worker's own workspace, or none any more.
    Select {
        id: Option<String>,
        request: SelectProfileRequest,
    },
}

/// The answer to an operation. The same operation gets the same one again.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ProfileAnswer {
    Created(CreateProfileResponse),
    Updated(UpdateProfileResponse),
    Renamed(RenameProfileResponse),
    Archived(ArchiveProfileResponse),
    Unarchived(UnarchiveProfileResponse),
    Deleted(DeleteProfileResponse),
    Selected(SelectProfileResponse),
}

impl ProfileOperation {
    /// Asks for it, or asks again.
    pub(crate) async fn send(&self, client: &Client) -> Result<ProfileAnswer, Error> {
        Ok(match &self.what {
            What::Create { request, .. } => {
                ProfileAnswer::Created(client.create_profile(request.clone()).await?)
            }
            What::Update { request, .. } => {
                ProfileAnswer::Updated(client.update_profile((**request).clone()).await?)
            }
            What::Rename { request, .. } => {
                ProfileAnswer::Renamed(client.rename_profile(request.clone()).await?)
            }
            What::Archive { request, .. } => {
                ProfileAnswer::Archived(client.archive_profile(request.clone()).await?)
            }
            What::Unarchive { request, .. } => {
                ProfileAnswer::Unarchived(client.unarchive_profile(request.clone()).await?)
            }
            What::Delete { request, .. } => {
                ProfileAnswer::Deleted(client.delete_profile(request.clone()).await?)
            }
            What::Select { request, .. } => {
                ProfileAnswer::Selected(client.select_profile(request.clone()).await?)
            }
        })
    }

    /// Whether it was refused as it had to be.
    pub(crate) fn is_refused_with(&self, error: &Error) -> bool {
        self.refusal.is_some_and(|reason| error.reason_name() == reason)
    }
}
