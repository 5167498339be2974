//! The accounts of the fake: which session is on which workspace, and in which order.

use compozy_client::proto::workspace::v1::*;
use tonic::{Code, Status};

use super::{State, catalog, failed, sessions};

pub fn attach(state: &State, request: &AttachSessionRequest) -> Result<AttachSessionResponse, Status> {
    let workspaces = state.workspaces.lock().unwrap();
    let workspace = &workspaces[catalog::find(&workspaces, request.workspace.as_ref())?];
    let mut from_workspace_id = String::new();
    state.change_session(&request.session_id, |session| {
        if !session.canonical_cwd.starts_with(&workspace.root_dir) {
            let cwd = session.cwd.as_str();
            let message = format!("the directory of the session, '{cwd}', belongs to another workspace");
            let metadata = [("path", cwd)];
            return Err(failed(
                Code::FailedPrecondition,
                "SESSION_CWD_MISMATCH",
                &message,
                &metadata,
            ));
        }
        from_workspace_id = std::mem::replace(&mut session.workspace_id, workspace.id.clone());
        session.workspace_name = workspace.name().to_owned();
        Ok(())
    })?;
    Ok(AttachSessionResponse {
        attached: from_workspace_id != workspace.id,
        workspace_id: workspace.id.clone(),
        from_workspace_id,
        revision: "r7".to_owned(),
    })
}

pub fn detach(state: &State, request: &DetachSessionRequest) -> Result<DetachSessionResponse, Status> {
    let mut from_workspace_id = String::new();
    state.change_session(&request.session_id, |session| {
        from_workspace_id = std::mem::take(&mut session.workspace_id);
        session.workspace_name.clear();
        Ok(())
    })?;
    Ok(DetachSessionResponse {
        detached: !from_workspace_id.is_empty(),
        from_workspace_id,
        revision: "r7".to_owned(),
    })
}

pub fn r#move(state: &State, request: &MoveSessionRequest) -> Result<MoveSessionResponse, Status> {
    let mut sessions = state.sessions.lock().unwrap();
    let place = |id: &str| sessions.iter().position(|session| session.id == id);
    let from = place(&request.session_id).ok_or_else(|| sessions::unknown(&request.session_id))?;
    let before = request.before_session_id.as_str();
    let anchor = match before {
        "" => None,
        before => Some(place(before).ok_or_else(|| sessions::unknown(before))?),
    };
    if anchor.is_some_and(|anchor| sessions[anchor].workspace_id != sessions[from].workspace_id) {
        let id = request.session_id.as_str();
        let message = format!("the session '{id}' is on another account");
        return Err(failed(
            Code::FailedPrecondition,
            "WORKSPACE_MOVE_INVALID",
            &message,
            &[("id", id)],
        ));
    }
    let moved = sessions.remove(from);
    let to = sessions.iter().position(|session| session.id == before);
    let to = to.unwrap_or(sessions.len());
    sessions.insert(to, moved);
    let neighbour = |at: Option<usize>| {
        let found = at.and_then(|at| sessions.get(at));
        found.map(|session| session.id.clone()).unwrap_or_default()
    };
    Ok(MoveSessionResponse {
        previous_id: neighbour(to.checked_sub(1)),
        next_id: neighbour(Some(to + 1)),
        moved: from != to,
        revision: "r7".to_owned(),
    })
}

/// What becomes of the sessions of a workspace that goes: how many stay, how many are gone.
pub fn remove(state: &State, id: &str, request: &RemoveWorkspaceRequest) -> Result<(i64, i64), Status> {
    use compozy_client::proto::session::v1::SessionState;
    let mut sessions = state.sessions.lock().unwrap();
    let is_live = |state: SessionState| !matches!(state, SessionState::Stopped | SessionState::Orphaned);
    let own = || sessions.iter().filter(|session| session.workspace_id == id);
    let live: Vec<&str> = own()
        .filter(|session| is_live(session.state()))
        .map(|session| session.id.as_str())
        .collect();
    if !live.is_empty() && request.live() != LiveSessions::Ungroup {
        let ids = live.join(",");
        let count = live.len().to_string();
        let message = format!("{count} sessions of the workspace are live ({ids})");
        let metadata = [("ids", ids.as_str()), ("ids_count", count.as_str())];
        return Err(failed(
            Code::FailedPrecondition,
            "WORKSPACE_HAS_LIVE_SESSIONS",
            &message,
            &metadata,
        ));
    }
    let all = own().count();
    if request.sessions() == RemovedSessions::Delete {
        let deleted = all - live.len();
        sessions.retain(|session| session.workspace_id != id || is_live(session.state()));
        return Ok((
            i64::try_from(all - deleted).unwrap(),
            i64::try_from(deleted).unwrap(),
        ));
    }
    for session in sessions.iter_mut().filter(|session| session.workspace_id == id) {
        session.workspace_id.clear();
        session.workspace_name.clear();
    }
    Ok((i64::try_from(all).unwrap(), 0))
}
