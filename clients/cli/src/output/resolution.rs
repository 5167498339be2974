//! What `resolve` and `workspace info` print: a snapshot as a person sees it first.

use compozy_client::proto::session::v1::Session;
use compozy_client::proto::workspace::v1::{GetWorkspaceResponse, ResolveWorkspaceResponse};
use serde::Serialize;
use serde_json::Value;

use super::agent::AgentView;
use super::config::set_count;
use super::diagnostic::{self, DiagnosticView, Tally};
use super::session::{self, SessionView};
use super::skill::SkillView;
use super::snapshot::SnapshotView;
use super::style::Style;
use super::table::Cell;
use super::workspace::WorkspaceView;
use super::{Answer, Human, definition, failure, mcp};
use crate::failure::Failure;

/// Names that are listed in one field at most.
const NAMES_SHOWN: usize = 20;

/// `compozy.workspace.v1.ResolveWorkspaceResponse`.
#[derive(Debug, Serialize)]
pub(crate) struct ResolutionView {
    not_modified: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot: Option<SnapshotView>,
    /// Whether only names and counts were asked for.
    #[serde(skip)]
    pub(crate) is_basic: bool,
}

/// `compozy.workspace.v1.GetWorkspaceResponse`, with the snapshot or with why there is none.
#[derive(Debug, Serialize)]
pub(crate) struct InfoView {
    #[serde(skip_serializing_if = "Option::is_none")]
    workspace: Option<WorkspaceView>,
    revision: String,
    /// Those that changed last; how many there are stands in the workspace's counts.
    sessions: Vec<SessionView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot: Option<SnapshotView>,
    /// The error object of the resolve.
    #[serde(skip_serializing_if = "Option::is_none")]
    unresolved: Option<Value>,
    /// The same for people.
    #[serde(skip)]
    failure: Option<Failure>,
}

impl From<ResolveWorkspaceResponse> for ResolutionView {
    fn from(answer: ResolveWorkspaceResponse) -> Self {
        let ResolveWorkspaceResponse {
            not_modified,
            snapshot,
        } = answer;
        Self {
            not_modified,
            snapshot: snapshot.map(SnapshotView::from),
            is_basic: false,
        }
    }
}

impl InfoView {
    pub(crate) fn new(
        answer: GetWorkspaceResponse,
        sessions: Vec<Session>,
        resolved: Result<ResolveWorkspaceResponse, Failure>,
    ) -> Self {
        let GetWorkspaceResponse { workspace, revision } = answer;
        let (snapshot, failure) = match resolved {
            Ok(answer) => (answer.snapshot.map(SnapshotView::from), None),
            Err(failure) => (None, Some(failure)),
        };
        let unresolved = match &failure {
            Some(Failure::Told(told)) => failure::object(told).get("error").cloned(),
            Some(Failure::ClosedPipe) | None => None,
        };
        Self {
            workspace: workspace.map(WorkspaceView::from),
            revision,
            sessions: sessions.into_iter().map(SessionView::from).collect(),
            snapshot,
            unresolved,
            failure,
        }
    }
}

impl Answer for ResolutionView {
    fn human(&self, human: &mut Human) {
        let Some(snapshot) = &self.snapshot else {
            human.line("unchanged since that fingerprint");
            return;
        };
        head(human, snapshot, self.is_basic);
        let (of_config, others) = snapshot.divided_findings();
        section(human, &of_config);
        if !snapshot.agents.is_empty() {
            human.gap();
            let rows = snapshot.agents.iter().map(AgentView::row);
            human.table(&definition::table("AGENT", &snapshot.root, rows));
        }
        if !snapshot.skills.is_empty() {
            human.gap();
            let rows = snapshot.skills.iter().map(SkillView::row);
            human.table(&definition::table("SKILL", &snapshot.root, rows));
        }
        if !snapshot.mcp_servers.is_empty() {
            human.gap();
            human.table(&mcp::table(&snapshot.mcp_servers, &snapshot.root));
        }
        section(human, &others);
    }

    fn notes(&self) -> Vec<String> {
        self.snapshot.as_ref().map(next_steps).unwrap_or_default()
    }
}

impl Answer for InfoView {
    fn human(&self, human: &mut Human) {
        if let Some(workspace) = &self.workspace {
            workspace.human(human);
        }
        if !self.sessions.is_empty() {
            human.gap();
            human.table(&session::table(&self.sessions, human));
        }
        if let Some(snapshot) = &self.snapshot {
            human.gap();
            human.fields(&[
                ("profile", Cell::plain(snapshot.sourced_profile())),
                ("agents", names(&snapshot.agent_names, snapshot.agent_count)),
                ("skills", names(&snapshot.skill_names, snapshot.skill_count)),
                (
                    "MCP servers",
                    names(&snapshot.mcp_server_names, snapshot.mcp_server_count),
                ),
                ("findings", findings_cell(snapshot)),
            ]);
            section(human, &snapshot.diagnostics.iter().collect::<Vec<_>>());
        }
        if let Some(Failure::Told(told)) = &self.failure {
            human.gap();
            human.labelled("unresolved:", Style::red, &failure::headline(told));
            for problem in failure::problem_lines(told) {
                human.labelled(" ", Style::dim, &problem);
            }
            if let Some(hint) = &told.hint {
                human.labelled("hint:", Style::yellow, hint);
            }
        }
    }

    fn notes(&self) -> Vec<String> {
        match &self.snapshot {
            Some(_) => vec!["`compozy resolve` shows agents, skills and servers one by one".to_owned()],
            None => Vec::new(),
        }
    }
}

/// What it is, and how much there is.
fn head(human: &mut Human, snapshot: &SnapshotView, is_basic: bool) {
    let workspace = snapshot.workspace.as_ref();
    let set = set_count(&snapshot.config_leaves);
    let config = format!("{set} of {} values are set", snapshot.config_leaves.len());
    let mut fields = vec![
        (
            "workspace",
            Cell::plain(workspace.map_or(String::new(), |workspace| {
                format!("{} ({})", workspace.label(), workspace.id)
            })),
        ),
        ("root", Cell::plain(&snapshot.root)),
        ("profile", Cell::plain(snapshot.sourced_profile())),
        ("for agent", Cell::plain(&snapshot.agent)),
    ];
    if is_basic {
        fields.extend([
            ("agents", names(&snapshot.agent_names, snapshot.agent_count)),
            ("skills", names(&snapshot.skill_names, snapshot.skill_count)),
            (
                "MCP servers",
                names(&snapshot.mcp_server_names, snapshot.mcp_server_count),
            ),
        ]);
    } else {
        let agents = snapshot.agents.iter().map(AgentView::row);
        let skills = snapshot.skills.iter().map(SkillView::row);
        fields.extend([
            ("config", Cell::plain(config)),
            ("agents", Cell::plain(definition::summary(agents))),
            ("skills", Cell::plain(definition::summary(skills))),
            ("MCP servers", Cell::plain(snapshot.mcp_server_count.to_string())),
        ]);
    }
    fields.extend([
        ("findings", findings_cell(snapshot)),
        ("read", human.time(snapshot.resolved_at)),
        ("fingerprint", Cell::faint(&snapshot.fingerprint)),
    ]);
    human.fields(&fields);
}

fn section(human: &mut Human, findings: &[&DiagnosticView]) {
    if findings.is_empty() {
        return;
    }
    human.gap();
    diagnostic::write(human, findings);
}

/// The number, and the names as far as they fit.
fn names(names: &[String], count: i32) -> Cell {
    if names.is_empty() {
        return Cell::plain(count.to_string());
    }
    let shown = names[..names.len().min(NAMES_SHOWN)].join(", ");
    let more = match names.len().saturating_sub(NAMES_SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Cell::plain(format!("{count}: {shown}{more}"))
}

fn findings_cell(snapshot: &SnapshotView) -> Cell {
    let tally = Tally::of(&snapshot.diagnostics);
    match (tally.errors, tally.warnings) {
        (0, 0) => Cell::good("nothing is wrong"),
        (0, _) => Cell::doubtful(tally.summary()),
        (_, _) => Cell::bad(tally.summary()),
    }
}

/// What a person may want to do now.
fn next_steps(snapshot: &SnapshotView) -> Vec<String> {
    let mut steps = Vec::new();
    let tally = Tally::of(&snapshot.diagnostics);
    if tally.errors > 0 {
        steps.push("what is broken is not used, and nothing else takes its place: correct the files that are named, then run `compozy resolve` again".to_owned());
    } else if tally.warnings > 0 {
        steps.push(
            "nothing is broken; the warnings say what has no effect, or was probably meant otherwise"
                .to_owned(),
        );
    }
    if snapshot.agent_count == 0 {
        steps.push(format!(
            "no agent is defined yet; {}/.compozy/agents/<name>/AGENT.md would be one",
            snapshot.root
        ));
    }
    steps.push(
        "`compozy config explain` tells where every value comes from, `compozy agent show <name>` and `compozy skill show <name>` more about one"
            .to_owned(),
    );
    steps
}
