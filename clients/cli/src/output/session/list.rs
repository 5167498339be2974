//! Sessions in a list.

use serde::Serialize;

use super::super::table::{Cell, Table};
use super::super::{Answer, Human, PageView};
use super::SessionView;

/// `compozy.session.v1.ListSessionsResponse`, or all of its pages.
#[derive(Debug, Serialize)]
pub(crate) struct SessionListView {
    pub(crate) sessions: Vec<SessionView>,
    pub(crate) page: PageView,
    /// Whether something else than all was asked for.
    #[serde(skip)]
    pub(crate) is_filtered: bool,
}

impl Answer for SessionListView {
    const ROWS: Option<&'static str> = Some("sessions");

    fn human(&self, human: &mut Human) {
        if !self.sessions.is_empty() {
            human.table(&table(&self.sessions, human));
        }
    }

    fn notes(&self) -> Vec<String> {
        let shown = self.sessions.len();
        match &self.page.next_cursor {
            _ if self.page.total == 0 && self.is_filtered => {
                vec!["nothing matches; `compozy session list --include-archived` shows all".into()]
            }
            _ if self.page.total == 0 => {
                vec!["nothing is listed; `compozy session new` makes a session".into()]
            }
            Some(cursor) => vec![format!(
                "{shown} of {} shown; go on with --cursor {cursor}",
                self.page.total
            )],
            None => Vec::new(),
        }
    }
}

/// Rows for a person. Those that need somebody are marked in front, where the mark is never cut off.
pub(in super::super) fn table(sessions: &[SessionView], human: &Human) -> Table {
    let head = ["!", "NAME", "STATE", "WORKSPACE", "ACTIVE", "ID"];
    let mut table = Table::new(&head)
        .yielding(&["NAME", "STATE", "WORKSPACE"])
        .keeping(&["ID"]);
    for session in sessions {
        table.row(vec![
            mark(session),
            Cell::plain(session.label()),
            session.state_cell(),
            Cell::plain(session.workspace()),
            human.age(session.last_activity()),
            Cell::plain(&session.id),
        ]);
    }
    table
}

fn mark(session: &SessionView) -> Cell {
    if session.needs_you() {
        Cell::bad("!")
    } else {
        Cell::plain("")
    }
}
