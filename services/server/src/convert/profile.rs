//! Profiles: requests and their answers.

mod record;

use compozy_domain::profile::{self, ProfileUpdate};
use compozy_domain::{
    CatalogError, PageLimit, Profile, ProfileId, ProfileName, ProfileState, Revision, limits,
};
use compozy_proto::page::v1::PageInfo;
use compozy_proto::profile::v1 as pb;
use compozy_store::{Selected, Written};

pub use self::record::{active_record, record, selection, source};
use super::diagnostic::findings;
use super::mask::Mask;
use super::page::fitting;
use super::reference::reference;
use super::{count, etag};
use crate::cursor::{self, QueryHash};
use crate::registry::Reference;
use crate::registry::profile::active::{ActiveProfile, ProfileAsked};
use crate::registry::profile::{
    CreateWanted, Created, ProfileNamed, ProfilesPage, ProfilesWanted, SelectWanted,
};
use crate::resume_token;
use crate::seal::Seal;

const LIST: &str = "compozy.profile.v1.ProfileService/ListProfiles";
/// Bytes of a name or id at most; nothing longer names anything.
const REFERENCE_BYTES_MAX: usize = 256;

/// What an answer has to know of its request.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    hash: QueryHash,
    limit: PageLimit,
}

/// What a request says about the profile that it wants.
///
/// # Errors
/// [`CatalogError::ProfileNotFound`] for a text that is too long to name one.
pub fn asked(request: Option<String>, environment: Option<String>) -> Result<ProfileAsked, CatalogError> {
    Ok(ProfileAsked {
        request: request.map(named_profile).transpose()?,
        environment: environment
            .filter(|text| !text.trim().is_empty())
            .map(named_profile)
            .transpose()?,
    })
}

/// Reads a request.
///
/// # Errors
/// [`CatalogError::InvalidName`], [`CatalogError::InvalidField`].
pub fn create(request: pb::CreateProfileRequest) -> Result<CreateWanted, CatalogError> {
    let pb::CreateProfileRequest {
        name,
        color,
        icon,
        request_id: _,
    } = request;
    Ok(CreateWanted {
        name: ProfileName::parse(&name)?,
        color: profile::check_color(&color.unwrap_or_default(), "color")?,
        icon: profile::check_icon(&icon.unwrap_or_default(), "icon")?,
    })
}

/// Makes the response.
#[must_use]
pub fn created(seal: &Seal, created: &Created) -> pb::CreateProfileResponse {
    let Created {
        profile: Written { value, revision },
        adopted_directory,
    } = created;
    pb::CreateProfileResponse {
        profile: Some(record(value)),
        adopted_directory: *adopted_directory,
        revision: resume_token::encode(seal, revision),
    }
}

/// Reads a request.
///
/// # Errors
/// [`CatalogError::ProfileNotFound`].
pub fn get(request: pb::GetProfileRequest) -> Result<String, CatalogError> {
    let pb::GetProfileRequest { profile } = request;
    named_profile(profile)
}

/// Makes the response.
#[must_use]
pub fn got(seal: &Seal, (profile, revision): &(Profile, Revision)) -> pb::GetProfileResponse {
    pb::GetProfileResponse {
        profile: Some(record(profile)),
        revision: resume_token::encode(seal, revision),
    }
}

/// Reads a request for a page.
///
/// # Errors
/// [`CatalogError::InvalidField`], [`CatalogError::Cursor`].
pub async fn list(
    seal: &Seal,
    request: pb::ListProfilesRequest,
) -> Result<(ProfilesWanted, Asked), CatalogError> {
    let pb::ListProfilesRequest {
        limit,
        cursor,
        mut states,
    } = request;
    let limit = PageLimit::parse(limit)?;
    if states.len() > limits::FILTER_VALUES_MAX {
        return Err(CatalogError::invalid_field(
            "states",
            "must hold at most 100 values",
        ));
    }
    states.sort_unstable();
    states.dedup();
    let wanted = states
        .iter()
        .enumerate()
        .map(|(at, state)| state_from_wire(*state, at))
        .collect::<Result<_, _>>()?;
    let bound = pb::ListProfilesRequest {
        states,
        ..pb::ListProfilesRequest::default()
    };
    let hash = QueryHash::of(LIST, &bound);
    let (after, counted) = match cursor.as_str() {
        "" => (None, None),
        token => {
            let (name, counted) = cursor::decode_name(seal, hash, token).await?;
            (Some(ProfileName::from_stored(name)), counted)
        }
    };
    let wanted = ProfilesWanted {
        states: wanted,
        after,
        limit,
        counted,
    };
    Ok((wanted, Asked { hash, limit }))
}

/// Makes the page.
#[must_use]
pub fn listed(seal: &Seal, asked: Asked, page: &ProfilesPage) -> pb::ListProfilesResponse {
    let ProfilesPage {
        rows,
        total,
        has_more,
        revision,
    } = page;
    let mut profiles: Vec<pb::Profile> = rows.iter().map(record).collect();
    let fitting = fitting(&profiles);
    let has_more = *has_more || fitting < profiles.len();
    profiles.truncate(fitting);
    let last = profiles.last().filter(|_| has_more);
    let next_cursor = last.map(|last| cursor::encode_name(seal, asked.hash, &last.name, (revision, *total)));
    pb::ListProfilesResponse {
        profiles,
        page: Some(PageInfo {
            total: count(*total),
            limit: i32::try_from(asked.limit.get()).unwrap_or_default(),
            has_more: next_cursor.is_some(),
            next_cursor,
            revision: resume_token::encode(seal, revision),
        }),
    }
}

/// Reads a request.
///
/// # Errors
/// [`CatalogError`] naming the field, or the path of the mask.
pub fn update(request: pb::UpdateProfileRequest) -> Result<(ProfileNamed, ProfileUpdate), CatalogError> {
    let pb::UpdateProfileRequest {
        profile: reference,
        new_values,
        update_mask,
        etag: given,
        request_id: _,
    } = request;
    let pb::Profile {
        color,
        icon,
        // Set by the server, or changed by a call of its own.
        id: _,
        name: _,
        state: _,
        is_permanent: _,
        version: _,
        etag: _,
        created_at: _,
        updated_at: _,
    } = new_values.unwrap_or_default();
    let elsewhere = "; a name is changed by RenameProfile";
    let mask = Mask::read(update_mask, &["color", "icon"], elsewhere)?;
    let meant = |field: &str, value: Option<String>| {
        mask.means(field, value.is_some())
            .then(|| value.unwrap_or_default())
    };
    let update = ProfileUpdate {
        color: meant("color", color)
            .map(|color| profile::check_color(&color, "new_values.color"))
            .transpose()?,
        icon: meant("icon", icon)
            .map(|icon| profile::check_icon(&icon, "new_values.icon"))
            .transpose()?,
    };
    Ok((named(reference, given)?, update))
}

/// Makes the response.
#[must_use]
pub fn updated(seal: &Seal, written: &Written<Profile>) -> pb::UpdateProfileResponse {
    let Written { value, revision } = written;
    pb::UpdateProfileResponse {
        profile: Some(record(value)),
        revision: resume_token::encode(seal, revision),
    }
}

/// Reads a request.
///
/// # Errors
/// [`CatalogError::InvalidName`], [`CatalogError::ProfileNotFound`], [`CatalogError::InvalidField`].
pub fn rename(request: pb::RenameProfileRequest) -> Result<(ProfileNamed, ProfileName), CatalogError> {
    let pb::RenameProfileRequest {
        profile,
        new_name,
        etag: given,
        request_id: _,
    } = request;
    // The permanent profile is refused as such, whatever the new name.
    let named = named(profile, given)?;
    if named.reference.trim() == ProfileName::DEFAULT {
        return Err(CatalogError::ProfilePermanent);
    }
    Ok((named, ProfileName::parse(&new_name)?))
}

/// Makes the response.
#[must_use]
pub fn renamed(seal: &Seal, written: &Written<Profile>) -> pb::RenameProfileResponse {
    let Written { value, revision } = written;
    pb::RenameProfileResponse {
        profile: Some(record(value)),
        revision: resume_token::encode(seal, revision),
    }
}

/// Reads a request.
///
/// # Errors
/// [`CatalogError::ProfileNotFound`], [`CatalogError::InvalidField`].
pub fn archive(request: pb::ArchiveProfileRequest) -> Result<(ProfileNamed, ProfileState), CatalogError> {
    let pb::ArchiveProfileRequest {
        profile,
        etag: given,
        request_id: _,
    } = request;
    Ok((named(profile, given)?, ProfileState::Archived))
}

/// Makes the response.
#[must_use]
pub fn archived(seal: &Seal, written: &Written<Profile>) -> pb::ArchiveProfileResponse {
    let Written { value, revision } = written;
    pb::ArchiveProfileResponse {
        profile: Some(record(value)),
        revision: resume_token::encode(seal, revision),
    }
}

/// Reads a request.
///
/// # Errors
/// [`CatalogError::ProfileNotFound`], [`CatalogError::InvalidField`].
pub fn unarchive(request: pb::UnarchiveProfileRequest) -> Result<(ProfileNamed, ProfileState), CatalogError> {
    let pb::UnarchiveProfileRequest {
        profile,
        etag: given,
        request_id: _,
    } = request;
    Ok((named(profile, given)?, ProfileState::Active))
}

/// Makes the response.
#[must_use]
pub fn unarchived(seal: &Seal, written: &Written<Profile>) -> pb::UnarchiveProfileResponse {
    let Written { value, revision } = written;
    pb::UnarchiveProfileResponse {
        profile: Some(record(value)),
        revision: resume_token::encode(seal, revision),
    }
}

/// Reads a request.
///
/// # Errors
/// [`CatalogError::ProfileNotFound`], [`CatalogError::InvalidField`].
pub fn delete(request: pb::DeleteProfileRequest) -> Result<(ProfileNamed, bool), CatalogError> {
    let pb::DeleteProfileRequest {
        profile,
        allow_missing,
        etag: given,
        request_id: _,
    } = request;
    Ok((named(profile, given)?, allow_missing))
}

/// Makes the response.
#[must_use]
pub fn deleted(seal: &Seal, written: &Written<Option<ProfileId>>) -> pb::DeleteProfileResponse {
    let Written { value, revision } = written;
    pb::DeleteProfileResponse {
        id: value.as_ref().map(ToString::to_string).unwrap_or_default(),
        revision: resume_token::encode(seal, revision),
    }
}

/// Reads a request.
///
/// # Errors
/// [`CatalogError::ProfileNotFound`], [`CatalogError::InvalidField`].
pub fn select(request: pb::SelectProfileRequest) -> Result<SelectWanted, CatalogError> {
    let pb::SelectProfileRequest {
        workspace,
        profile,
        request_id: _,
    } = request;
    Ok(SelectWanted {
        workspace: workspace
            .map(|named| reference(Some(named), "workspace"))
            .transpose()?,
        profile: profile.map(named_profile).transpose()?,
    })
}

/// Makes the response.
#[must_use]
pub fn selected(seal: &Seal, written: &Written<Selected>) -> pb::SelectProfileResponse {
    let Written {
        value: Selected {
            workspace_id,
            profile,
        },
        revision,
    } = written;
    pb::SelectProfileResponse {
        profile: profile.as_ref().map(record),
        workspace_id: workspace_id.as_ref().map(ToString::to_string).unwrap_or_default(),
        revision: resume_token::encode(seal, revision),
    }
}

/// Reads a request.
///
/// # Errors
/// [`CatalogError::ProfileNotFound`], what may be wrong with a reference.
pub fn active(
    request: pb::GetActiveProfileRequest,
) -> Result<(Option<Reference>, ProfileAsked), CatalogError> {
    let pb::GetActiveProfileRequest {
        workspace,
        profile,
        environment_profile,
    } = request;
    let workspace = workspace
        .map(|named| reference(Some(named), "workspace"))
        .transpose()?;
    Ok((workspace, asked(profile, environment_profile)?))
}

/// Makes the response.
#[must_use]
pub fn found_active(
    seal: &Seal,
    workspace_id: String,
    active: &ActiveProfile,
) -> pb::GetActiveProfileResponse {
    let ActiveProfile {
        profile,
        source: chosen_by,
        diagnostics,
        revision,
    } = active;
    pb::GetActiveProfileResponse {
        profile: Some(record(profile)),
        profile_source: source(*chosen_by).into(),
        workspace_id,
        revision: resume_token::encode(seal, revision),
        diagnostics: findings(diagnostics),
    }
}

fn named(profile: String, given: String) -> Result<ProfileNamed, CatalogError> {
    Ok(ProfileNamed {
        reference: named_profile(profile)?,
        etag: etag(given)?,
    })
}

/// What no profile can be called is simply not found.
fn named_profile(text: String) -> Result<String, CatalogError> {
    if text.len() <= REFERENCE_BYTES_MAX && !text.contains(char::is_control) {
        return Ok(text);
    }
    Err(CatalogError::ProfileNotFound {
        reference: text.chars().take(64).flat_map(char::escape_debug).collect(),
    })
}

fn state_from_wire(state: i32, at: usize) -> Result<ProfileState, CatalogError> {
    match pb::ProfileState::try_from(state) {
        Ok(pb::ProfileState::Active) => Ok(ProfileState::Active),
        Ok(pb::ProfileState::Archived) => Ok(ProfileState::Archived),
        Ok(pb::ProfileState::Unspecified) | Err(_) => Err(CatalogError::invalid_field(
            format!("states[{at}]"),
            "must be ACTIVE or ARCHIVED",
        )),
    }
}
