//! One line of a list that is watched.

use serde::Serialize;

use super::super::words::spoken;
use super::super::{Answer, Human};
use super::SessionView;

/// What happened to the list.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum LiveView {
    /// A session that was there when the watch began.
    Row {
        /// Which one.
        session: Box<SessionView>,
    },
    /// All of these were told; from here on it is live.
    Synced {
        /// How many sessions match over all pages.
        total: i64,
    },
    /// A session is new on the list, or has changed.
    Changed {
        /// As it is now.
        session: Box<SessionView>,
    },
    /// A session is no longer on the list.
    Removed {
        /// Which one.
        session_id: String,
    },
}

impl Answer for LiveView {
    fn human(&self, human: &mut Human) {
        match self {
            Self::Row { session } => human.line(&line("present", session)),
            Self::Changed { session } => human.line(&line("changed", session)),
            Self::Removed { session_id } => human.line(&format!("{:8}  {session_id}", "removed")),
            Self::Synced { .. } => {}
        }
    }

    fn notes(&self) -> Vec<String> {
        match self {
            Self::Synced { total } => vec![format!("{total} match; from here on it is live")],
            Self::Row { .. } | Self::Changed { .. } | Self::Removed { .. } => Vec::new(),
        }
    }
}

fn line(what: &str, session: &SessionView) -> String {
    let (state, badge) = (spoken(session.state), spoken(session.badge));
    let line = format!(
        "{what:8}  {}  {state:8}  {badge:17}  {}  {}",
        session.id,
        session.label(),
        session.workspace()
    );
    line.trim_end().to_owned()
}
