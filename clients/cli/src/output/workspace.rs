//! A workspace, alone and in a list.

use compozy_client::proto::workspace::v1::{GetWorkspaceResponse, SessionCounts, Workspace, WorkspaceStatus};
use serde::Serialize;

use super::table::{Cell, Table};
use super::time::Time;
use super::{Answer, Human, PageView};

/// `compozy.workspace.v1.Workspace`. Enum values stand without the prefix of their type.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct WorkspaceView {
    pub(crate) id: String,
    pub(crate) durable_id: String,
    pub(crate) host_id: String,
    pub(crate) root_dir: String,
    pub(crate) additional_dirs: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) default_agent: Option<String>,
    pub(crate) etag: String,
    pub(crate) version: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) created_at: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) updated_at: Option<Time>,
    pub(crate) status: &'static str,
    pub(crate) is_default: bool,
    pub(crate) shares_identity_with: Vec<String>,
    pub(crate) session_counts: SessionCountsView,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) defect: Option<String>,
}

/// `compozy.workspace.v1.SessionCounts`.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct SessionCountsView {
    starting_count: i64,
    active_count: i64,
    stopping_count: i64,
    stopped_count: i64,
    orphaned_count: i64,
    archived_count: i64,
}

/// An answer that is one workspace, as `info` and `status` give it.
#[derive(Debug, Serialize)]
pub(crate) struct WorkspaceAnswer {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) workspace: Option<WorkspaceView>,
    pub(crate) revision: String,
}

/// `compozy.workspace.v1.ListWorkspacesResponse`, or all of its pages.
#[derive(Debug, Serialize)]
pub(crate) struct WorkspaceListView {
    pub(crate) workspaces: Vec<WorkspaceView>,
    pub(crate) page: PageView,
    /// Whether something else than all was asked for.
    #[serde(skip)]
    pub(crate) is_filtered: bool,
}

impl From<Workspace> for WorkspaceView {
    fn from(workspace: Workspace) -> Self {
        let status = short_status(workspace.status());
        let Workspace {
            id,
            durable_id,
            host_id,
            root_dir,
            additional_dirs,
            name,
            title,
            default_agent,
            etag,
            version,
            created_at,
            updated_at,
            status: _,
            is_default,
            shares_identity_with,
            session_counts,
            defect,
        } = workspace;
        Self {
            id,
            durable_id,
            host_id,
            root_dir,
            additional_dirs,
            name,
            title,
            default_agent,
            etag,
            version,
            created_at: created_at.and_then(|time| Time::new(time.seconds, time.nanos)),
            updated_at: updated_at.and_then(|time| Time::new(time.seconds, time.nanos)),
            status,
            is_default,
            shares_identity_with,
            session_counts: session_counts.map(SessionCountsView::from).unwrap_or_default(),
            defect,
        }
    }
}

impl From<SessionCounts> for SessionCountsView {
    fn from(counts: SessionCounts) -> Self {
        let SessionCounts {
            starting_count,
            active_count,
            stopping_count,
            stopped_count,
            orphaned_count,
            archived_count,
        } = counts;
        Self {
            starting_count,
            active_count,
            stopping_count,
            stopped_count,
            orphaned_count,
            archived_count,
        }
    }
}

impl SessionCountsView {
    /// Sessions that run or are about to, and all of them; the archived ones are among these.
    fn summary(&self) -> String {
        let live = self.starting_count + self.active_count + self.stopping_count;
        let all = live + self.stopped_count + self.orphaned_count;
        if live == 0 {
            all.to_string()
        } else {
            format!("{all} ({live} live)")
        }
    }
}

impl From<GetWorkspaceResponse> for WorkspaceAnswer {
    fn from(answer: GetWorkspaceResponse) -> Self {
        let GetWorkspaceResponse { workspace, revision } = answer;
        Self {
            workspace: workspace.map(WorkspaceView::from),
            revision,
        }
    }
}

impl WorkspaceView {
    /// What people call it.
    pub(crate) fn label(&self) -> &str {
        self.name
            .as_deref()
            .filter(|name| !name.is_empty())
            .unwrap_or(&self.id)
    }

    pub(crate) fn human(&self, human: &mut Human) {
        let text = |value: &Option<String>| Cell::plain(value.as_deref().unwrap_or_default());
        human.fields(&[
            ("name", text(&self.name)),
            ("title", text(&self.title)),
            ("id", Cell::plain(&self.id)),
            ("root", Cell::plain(&self.root_dir)),
            ("also", Cell::plain(self.additional_dirs.join(", "))),
            ("status", status_cell(self.status)),
            ("agent", text(&self.default_agent)),
            ("sessions", Cell::plain(self.session_counts.summary())),
            ("identity", Cell::plain(&self.durable_id)),
            (
                "shared with",
                Cell::doubtful(self.shares_identity_with.join(", ")),
            ),
            ("default", Cell::plain(if self.is_default { "yes" } else { "" })),
            ("host", Cell::plain(&self.host_id)),
            ("created", human.time(self.created_at)),
            ("updated", human.time(self.updated_at)),
            ("defect", Cell::bad(self.defect.as_deref().unwrap_or_default())),
        ]);
    }
}

impl Answer for WorkspaceAnswer {
    fn human(&self, human: &mut Human) {
        if let Some(workspace) = &self.workspace {
            workspace.human(human);
        }
    }
}

impl Answer for WorkspaceListView {
    const ROWS: Option<&'static str> = Some("workspaces");

    fn human(&self, human: &mut Human) {
        if self.workspaces.is_empty() {
            return;
        }
        human.table(&table(&self.workspaces, human));
    }

    fn notes(&self) -> Vec<String> {
        let shown = self.workspaces.len();
        match &self.page.next_cursor {
            _ if self.page.total == 0 && self.is_filtered => {
                vec!["nothing matches; `compozy workspace list` without filters shows all".into()]
            }
            _ if self.page.total == 0 => {
                vec!["nothing is listed; `compozy workspace add <path>` registers one".into()]
            }
            Some(cursor) => vec![format!(
                "{shown} of {} shown; go on with --cursor {cursor}",
                self.page.total
            )],
            None => Vec::new(),
        }
    }
}

/// Rows for a person; the status only where somebody looked.
pub(crate) fn table(workspaces: &[WorkspaceView], human: &Human) -> Table {
    let with_status = workspaces.iter().any(|workspace| workspace.status != UNSPECIFIED);
    let mut table = if with_status {
        Table::new(&["NAME", "TITLE", "ROOT", "STATUS", "SESSIONS", "UPDATED", "ID"])
    } else {
        Table::new(&["NAME", "TITLE", "ROOT", "SESSIONS", "UPDATED", "ID"])
    };
    table = table.yielding(&["TITLE", "ROOT"]);
    for workspace in workspaces {
        let mut cells = vec![
            Cell::plain(workspace.name.as_deref().unwrap_or_default()),
            Cell::plain(workspace.title.as_deref().unwrap_or_default()),
            Cell::path(&workspace.root_dir),
        ];
        if with_status {
            cells.push(status_cell(workspace.status));
        }
        cells.push(Cell::plain(workspace.session_counts.summary()));
        cells.push(human.time(workspace.updated_at));
        cells.push(Cell::plain(&workspace.id));
        table.row(cells);
    }
    table
}

const UNSPECIFIED: &str = "UNSPECIFIED";

fn short_status(status: WorkspaceStatus) -> &'static str {
    status.as_str_name().trim_start_matches("WORKSPACE_STATUS_")
}

fn status_cell(status: &'static str) -> Cell {
    match status {
        UNSPECIFIED => Cell::plain(""),
        "OK" => Cell::good(status),
        "OTHER_HOST" => Cell::doubtful(status),
        _ => Cell::bad(status),
    }
}
