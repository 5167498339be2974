//! Creations: requests and their answers.

use std::collections::BTreeMap;

use compozy_domain::session::Origin;
use compozy_domain::session::fields::{
    SessionName, parse_labels, parse_model, parse_name, parse_new_id, parse_origin, parse_spawn_role,
    parse_start_cause,
};
use compozy_domain::{CatalogError, SessionId, SessionState, SessionType};
use compozy_proto::session::v1 as pb;
use compozy_resolver::config::secrets::redacted;

use super::super::{profile, reference::reference};
use super::lease::{binding, runtime_lease};
use super::{record, words};
use crate::registry::NamedPath;
use crate::registry::session::create::{CreateWanted, Created};
use crate::registry::session::place::PlaceWanted;
use crate::resume_token;
use crate::seal::Seal;

/// Reads a request.
///
/// # Errors
/// [`CatalogError`] naming the field.
pub fn wanted(request: pb::CreateSessionRequest) -> Result<CreateWanted, CatalogError> {
    let pb::CreateSessionRequest {
        id,
        workspace,
        workspace_path,
        cwd,
        name,
        agent,
        provider,
        model,
        r#type,
        permission_mode,
        profile,
        environment_profile,
        parent_session_id,
        spawn_role,
        labels,
        start_cause,
        initial_state,
        bind,
        origin,
        request_id: _,
    } = request;
    let session_type = words::type_from_wire(r#type).unwrap_or(SessionType::User);
    Ok(CreateWanted {
        id: present(id).map(|id| parse_new_id(&id)).transpose()?,
        place: place(workspace, &workspace_path)?,
        cwd: cwd.map(|cwd| NamedPath::parse(&cwd, "cwd")).transpose()?,
        name: name_of(&name, session_type)?,
        agent: agent.map(|agent| parse_name(agent, "agent")).transpose()?,
        provider: provider
            .map(|provider| named_or_none(provider, |provider| parse_name(provider, "provider")))
            .transpose()?,
        model: model.map(|model| named_or_none(model, parse_model)).transpose()?,
        session_type,
        state: initial(initial_state)?,
        permission_mode: words::permission_mode_from_wire(permission_mode),
        profile: profile::asked(profile, environment_profile)?,
        parent: present(parent_session_id)
            .map(|parent| parent_id(&parent))
            .transpose()?,
        spawn_role: parse_spawn_role(spawn_role)?,
        labels: parse_labels(labels.into_iter().collect::<BTreeMap<_, _>>(), "labels")?,
        start_cause: redacted(&parse_start_cause(start_cause)?),
        bind: bind.map(binding).transpose()?,
        origin: origin_of(origin)?,
    })
}

/// Makes the response.
#[must_use]
pub fn answer(seal: &Seal, created: &Created) -> pb::CreateSessionResponse {
    let Created {
        session,
        token,
        workspace_registered,
        revision,
        stale_after,
    } = created;
    let lease = token
        .as_ref()
        .and_then(|token| runtime_lease(&session.session, Some(token)));
    pb::CreateSessionResponse {
        session: Some(record::session(session, *stale_after, false)),
        lease,
        workspace_registered: *workspace_registered,
        revision: resume_token::encode(seal, revision),
    }
}

fn place(
    workspace: Option<compozy_proto::workspace::v1::WorkspaceRef>,
    workspace_path: &str,
) -> Result<PlaceWanted, CatalogError> {
    match (workspace, workspace_path) {
        (Some(_), path) if !path.is_empty() => Err(CatalogError::invalid_field(
            "workspace_path",
            "must be empty when workspace is set",
        )),
        (Some(workspace), _) => Ok(PlaceWanted::Workspace(reference(Some(workspace), "workspace")?)),
        (None, "") => Ok(PlaceWanted::Nowhere),
        (None, path) => Ok(PlaceWanted::Path(NamedPath::parse(path, "workspace_path")?)),
    }
}

fn name_of(name: &str, session_type: SessionType) -> Result<Option<SessionName>, CatalogError> {
    if name.is_empty() {
        return Ok(None);
    }
    if session_type != SessionType::User {
        return Err(CatalogError::invalid_field(
            "name",
            "can't be given: only sessions of type user have one",
        ));
    }
    SessionName::parse(name, "name").map(Some)
}

/// What a session starts in. A state of a newer contract is none.
fn initial(state: i32) -> Result<SessionState, CatalogError> {
    match words::state_from_wire(state) {
        None | Some(SessionState::Active) => Ok(SessionState::Active),
        Some(SessionState::Starting) => Ok(SessionState::Starting),
        Some(SessionState::Stopping | SessionState::Stopped | SessionState::Orphaned) => Err(
            CatalogError::invalid_field("initial_state", "must be active or starting"),
        ),
    }
}

fn parent_id(text: &str) -> Result<SessionId, CatalogError> {
    SessionId::parse(text).ok_or_else(|| {
        CatalogError::invalid_field("parent_session_id", "must be the id of a session, or left out")
    })
}

fn origin_of(origin: Option<pb::Origin>) -> Result<Origin, CatalogError> {
    match origin {
        None => Ok(Origin::native()),
        Some(pb::Origin { tool, id }) => parse_origin(tool, id),
    }
}

/// A name that may be explicitly none.
fn named_or_none(
    text: String,
    parse: impl FnOnce(String) -> Result<String, CatalogError>,
) -> Result<String, CatalogError> {
    if text.is_empty() { Ok(text) } else { parse(text) }
}

fn present(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}
