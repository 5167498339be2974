//! What is wrong with stored sessions, for `doctor`: kept numbers that are not true, and rows that nobody can use or
//! that belong to nothing. Sessions are read in pieces, so that a catalog of any size can be looked at.

use async_trait::async_trait;

use compozy_domain::{Session, SessionId};

use crate::catalog::Finding;
use crate::error::Result;
use crate::sql::catalog::{error, warning};
use crate::sql::db::{Transaction, Tx};
use crate::sql::session_counts::{ALL, DifferingCell, differing};
use crate::sql::session_removal::is_live;
use crate::sql::session_rows::{COLUMNS, TABLES, session};

/// Things of one kind that are named each.
const NAMED_MAX: usize = 50;
/// Sessions that are read at once.
const READ_AT_ONCE: usize = 1_000;

/// Kept numbers, and rows of live sessions.
pub(crate) async fn examine_numbers(tx: &mut Tx, findings: &mut Vec<Finding>) -> Result<()> {
    let limit = u32::try_from(NAMED_MAX).unwrap_or(u32::MAX);
    for cell in differing(tx, limit).await? {
        findings.push(error(
            message_of(&cell),
            "run `compozy doctor --fix`, which counts anew",
        ));
    }
    let sql = format!(
        "SELECT l.session_id FROM session_live l LEFT JOIN session s ON s.id = l.session_id \
         WHERE s.id IS NULL OR NOT ({}) ORDER BY l.session_id LIMIT {NAMED_MAX}",
        is_live("s.state")
    );
    for mut row in tx.rows(&sql, &[]).await? {
        let id: String = row.take()?;
        findings.push(warning(
            format!("a lease or a report is kept for the session {id}, which is not live"),
            "nothing reads it; if sessions are missing as well, restore a backup",
        ));
    }
    Ok(())
}

/// Looks at the sessions above an id, and answers the last one that it has looked at, if more may follow.
pub(crate) struct ExamineSessions {
    pub(crate) after: Option<SessionId>,
}

/// What a look at some sessions has found.
#[derive(Debug, Default)]
pub(crate) struct SessionFindings {
    defects: Kind,
    orphans: Kind,
    unplaced: Kind,
}

/// Findings of one kind.
#[derive(Debug, Default)]
struct Kind {
    named: Vec<Finding>,
    count: usize,
}

#[async_trait]
impl Transaction for ExamineSessions {
    type Output = (SessionFindings, Option<SessionId>);

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output> {
        let after = self.after.as_ref().map_or("", SessionId::as_str);
        let sql = format!(
            "SELECT s.workspace_id, {COLUMNS} FROM {TABLES} WHERE s.id > $1 ORDER BY s.id LIMIT {READ_AT_ONCE}"
        );
        let rows = tx.rows(&sql, &[after.into()]).await?;
        let is_last = rows.len() < READ_AT_ONCE;
        let mut found = SessionFindings::default();
        let mut last = None;
        for mut row in rows {
            let workspace: String = row.take()?;
            let session = session(row)?;
            found.look_at(&session, &workspace);
            last = Some(session.id);
        }
        Ok((found, last.filter(|_| !is_last)))
    }
}

impl SessionFindings {
    fn look_at(&mut self, session: &Session, workspace: &str) {
        let id = &session.id;
        if let Some(defect) = &session.defect {
            self.defects.add(|| {
                error(
                    format!("session {id}: {defect}"),
                    "delete the session, or install a newer release",
                )
            });
        }
        if !workspace.is_empty() && session.workspace.is_none() {
            self.orphans.add(|| {
                warning(
                    format!("session {id} names the workspace {workspace}, which is not registered"),
                    "it is listed without a workspace: attach it to one, or restore a backup",
                )
            });
        } else if session
            .rank
            .as_ref()
            .is_some_and(|rank| rank.as_bytes().is_empty())
        {
            self.unplaced.add(|| {
                warning(
                    format!("session {id} has no place in the order of the workspace {workspace}"),
                    "move it to where it belongs",
                )
            });
        }
    }

    /// Adds what another look has found.
    pub(crate) fn join(&mut self, more: Self) {
        self.defects.join(more.defects);
        self.orphans.join(more.orphans);
        self.unplaced.join(more.unplaced);
    }

    /// All of it, of each kind the first ones and how many more there are.
    pub(crate) fn into_findings(self) -> Vec<Finding> {
        let kinds = [
            (self.defects, "sessions that this release does not understand"),
            (self.orphans, "sessions of workspaces that are not registered"),
            (
                self.unplaced,
                "sessions without a place in the order of their workspace",
            ),
        ];
        kinds
            .into_iter()
            .flat_map(|(kind, what)| kind.into_findings(what))
            .collect()
    }
}

impl Kind {
    fn add(&mut self, finding: impl FnOnce() -> Finding) {
        self.count += 1;
        if self.named.len() < NAMED_MAX {
            self.named.push(finding());
        }
    }

    fn join(&mut self, more: Self) {
        self.count += more.count;
        let room = NAMED_MAX - self.named.len();
        self.named.extend(more.named.into_iter().take(room));
    }

    fn into_findings(self, what: &str) -> Vec<Finding> {
        let mut all = self.named;
        let more = self.count - all.len();
        if more > 0
            && let Some(last) = all.last()
        {
            let last = last.clone();
            all.push(Finding {
                message: format!("{more} more {what}"),
                ..last
            });
        }
        all
    }
}

fn message_of(cell: &DifferingCell) -> String {
    let DifferingCell {
        scope,
        hidden,
        state,
        session_type,
        agent,
        kept,
        truth,
    } = cell;
    let of = match scope.as_str() {
        ALL => "of all workspaces".to_owned(),
        "" => "without a workspace".to_owned(),
        id => format!("of the workspace {id}"),
    };
    let which = match hidden {
        0 => "",
        1 => "archived ",
        2 => "internal ",
        _ => "archived internal ",
    };
    format!(
        "the count of {which}sessions {of} (state {state}, type {session_type}, agent {agent}) is stored as {kept}, \
         but there are {truth}"
    )
}
