//! The fourth tier: the session that the caller itself runs in. Its variables count only together, and only as long as
//! the daemon knows a live session with that agent; anything else is passed over with a note.

use std::env::VarError;

use compozy_client::proto::session::v1::{GetSessionRequest, Session, SessionState};
use compozy_client::{Client, Code, Error};

use crate::app::App;
use crate::failure::Failure;

const SESSION_VARIABLE: &str = "COMPOZY_SESSION_ID";
const AGENT_VARIABLE: &str = "COMPOZY_AGENT";

/// What the variables say.
#[derive(Debug, PartialEq, Eq)]
enum Credentials {
    None,
    /// Something that cannot be checked, in words.
    Unusable(String),
    Claimed {
        session_id: String,
        agent: String,
    },
}

/// What the caller's own session says about the workspace.
#[derive(Debug)]
pub(super) enum Own {
    /// It belongs to this one.
    Workspace { id: String, session_id: String },
    /// Nothing, and why if there are variables.
    Nothing(Option<String>),
}

/// Asks the daemon about the session that the variables name.
pub(super) async fn ask(app: &App, client: &Client) -> Result<Own, Failure> {
    let (session_id, agent) = match credentials(read(SESSION_VARIABLE), read(AGENT_VARIABLE)) {
        Credentials::None => return Ok(Own::Nothing(None)),
        Credentials::Unusable(why) => return Ok(Own::Nothing(Some(why))),
        Credentials::Claimed { session_id, agent } => (session_id, agent),
    };
    let request = GetSessionRequest {
        session_id: session_id.clone(),
        include_health: false,
    };
    let answer = app
        .wait("looking for your own session", client.get_session(request))
        .await;
    match answer {
        Ok(answer) => Ok(judged(&answer.session.unwrap_or_default(), &agent)),
        Err(error) => match passed_over(&error, &session_id) {
            Some(why) => Ok(Own::Nothing(Some(why))),
            None => Err(error.into()),
        },
    }
}

/// A session that cannot stand for its workspace any more, or never could, says nothing.
fn judged(session: &Session, agent: &str) -> Own {
    let id = &session.id;
    let why = match session.state() {
        SessionState::Stopped => format!("the session {id} in {SESSION_VARIABLE} is stopped"),
        SessionState::Orphaned => format!("the session {id} in {SESSION_VARIABLE} is orphaned"),
        _ if session.agent != agent => format!(
            "{AGENT_VARIABLE} is {agent}, which does not match the agent of the session {id} in {SESSION_VARIABLE}"
        ),
        _ if session.workspace_id.is_empty() => {
            format!("the session {id} in {SESSION_VARIABLE} belongs to no workspace")
        }
        _ => {
            return Own::Workspace {
                id: session.workspace_id.clone(),
                session_id: id.clone(),
            };
        }
    };
    Own::Nothing(Some(why))
}

/// Why a failure means that there is no such session; `None` for one that says nothing about it.
fn passed_over(error: &Error, session_id: &str) -> Option<String> {
    match error.code() {
        Code::NotFound => Some(format!(
            "the session {session_id} in {SESSION_VARIABLE} is unknown or deleted"
        )),
        Code::InvalidArgument => Some(format!("{SESSION_VARIABLE} is no id of a session")),
        Code::Unimplemented => Some(format!("the daemon is too old to check {SESSION_VARIABLE}")),
        _ => None,
    }
}

fn read(name: &str) -> Result<Option<String>, VarError> {
    match std::env::var(name) {
        Ok(text) => Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty())),
        Err(VarError::NotPresent) => Ok(None),
        Err(error) => Err(error),
    }
}

fn credentials(
    session: Result<Option<String>, VarError>,
    agent: Result<Option<String>, VarError>,
) -> Credentials {
    let unusable = |why: String| Credentials::Unusable(why);
    match (session, agent) {
        (Err(_), _) => unusable(format!("{SESSION_VARIABLE} is not text")),
        (_, Err(_)) => unusable(format!("{AGENT_VARIABLE} is not text")),
        (Ok(None), Ok(None)) => Credentials::None,
        (Ok(Some(_)), Ok(None)) => unusable(format!("{SESSION_VARIABLE} is set without {AGENT_VARIABLE}")),
        (Ok(None), Ok(Some(_))) => unusable(format!("{AGENT_VARIABLE} is set without {SESSION_VARIABLE}")),
        (Ok(Some(session_id)), Ok(Some(agent))) => Credentials::Claimed { session_id, agent },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variables_count_only_together() {
        let some = |text: &str| Ok(Some(text.to_owned()));
        assert_eq!(credentials(Ok(None), Ok(None)), Credentials::None);
        let claimed = Credentials::Claimed {
            session_id: "sess-1".to_owned(),
            agent: "general".to_owned(),
        };
        assert_eq!(credentials(some("sess-1"), some("general")), claimed);
        for (session, agent) in [(some("sess-1"), Ok(None)), (Ok(None), some("general"))] {
            assert!(matches!(credentials(session, agent), Credentials::Unusable(_)));
        }
    }

    #[test]
    fn a_live_session_with_that_agent_stands_for_its_workspace() {
        let session = |state: SessionState, workspace: &str| Session {
            id: "sess-1".to_owned(),
            agent: "general".to_owned(),
            workspace_id: workspace.to_owned(),
            state: state.into(),
            ..Session::default()
        };
        for state in [
            SessionState::Starting,
            SessionState::Active,
            SessionState::Stopping,
        ] {
            assert!(matches!(
                judged(&session(state, "ws_1"), "general"),
                Own::Workspace { .. }
            ));
        }
        for state in [SessionState::Stopped, SessionState::Orphaned] {
            assert!(matches!(
                judged(&session(state, "ws_1"), "general"),
                Own::Nothing(Some(_))
            ));
        }
        let active = |workspace| session(SessionState::Active, workspace);
        assert!(matches!(judged(&active(""), "general"), Own::Nothing(Some(_))));
        assert!(matches!(judged(&active("ws_1"), "other"), Own::Nothing(Some(_))));
    }
}
