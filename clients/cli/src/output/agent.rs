//! Agents of a snapshot.

use compozy_client::proto::workspace::v1::Agent;
use serde::Serialize;
use serde_json::Value;

use super::definition::{self, DefinitionRow, ShadowedView};
use super::diagnostic::{self, DiagnosticView};
use super::mcp::{self, McpServerView};
use super::table::Cell;
use super::{Answer, Human, layer, tree};

/// `compozy.workspace.v1.Agent`. Enum values stand without the prefix of their type.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct AgentView {
    pub(crate) name: String,
    layer: &'static str,
    path: String,
    usable: bool,
    description: String,
    provider: String,
    command: String,
    model: String,
    reasoning_effort: String,
    tools: Vec<String>,
    deny_tools: Vec<String>,
    toolsets: Vec<String>,
    permissions: String,
    disabled_skills: Vec<String>,
    category_path: Vec<String>,
    mcp_servers: Vec<McpServerView>,
    hooks: Vec<Value>,
    prompt_digest: String,
    prompt_size: i64,
    shadowed: Vec<ShadowedView>,
    diagnostics: Vec<DiagnosticView>,
}

/// What `agent list` prints.
#[derive(Debug, Serialize)]
pub(crate) struct AgentListView {
    pub(crate) profile_name: String,
    pub(crate) profile_source: &'static str,
    pub(crate) agents: Vec<AgentView>,
    /// The root of the workspace, to tell where an agent would be written.
    #[serde(skip)]
    pub(crate) root: String,
}

/// What `agent show` prints.
#[derive(Debug, Serialize)]
pub(crate) struct AgentAnswer {
    pub(crate) profile_name: String,
    pub(crate) profile_source: &'static str,
    pub(crate) agent: AgentView,
}

impl From<Agent> for AgentView {
    fn from(agent: Agent) -> Self {
        let Agent {
            name,
            layer,
            path,
            usable,
            description,
            provider,
            command,
            model,
            reasoning_effort,
            tools,
            deny_tools,
            toolsets,
            permissions,
            disabled_skills,
            category_path,
            mcp_servers,
            hooks,
            prompt_digest,
            prompt_size,
            shadowed,
            diagnostics,
        } = agent;
        Self {
            name,
            layer: layer::name(layer),
            path,
            usable,
            description,
            provider,
            command,
            model,
            reasoning_effort,
            tools,
            deny_tools,
            toolsets,
            permissions,
            disabled_skills,
            category_path,
            mcp_servers: mcp_servers.into_iter().map(McpServerView::from).collect(),
            hooks: hooks.into_iter().map(tree::object).collect(),
            prompt_digest,
            prompt_size,
            shadowed: shadowed.into_iter().map(ShadowedView::from).collect(),
            diagnostics: diagnostics.into_iter().map(DiagnosticView::from).collect(),
        }
    }
}

impl AgentView {
    /// Whether there is a prompt to be asked for: of a file that nobody could read there is none.
    fn has_prompt(&self) -> bool {
        self.usable || self.prompt_size > 0
    }

    pub(super) fn row(&self) -> DefinitionRow<'_> {
        DefinitionRow {
            name: &self.name,
            layer: self.layer,
            usable: self.usable,
            description: &self.description,
            path: &self.path,
            shadowed: &self.shadowed,
            diagnostics: &self.diagnostics,
        }
    }
}

impl Answer for AgentListView {
    const ROWS: Option<&'static str> = Some("agents");

    fn human(&self, human: &mut Human) {
        if !self.agents.is_empty() {
            human.table(&definition::table(
                "AGENT",
                &self.root,
                self.agents.iter().map(AgentView::row),
            ));
        }
    }

    fn findings(&self) -> Vec<&DiagnosticView> {
        self.agents.iter().flat_map(|agent| &agent.diagnostics).collect()
    }

    fn notes(&self) -> Vec<String> {
        if !self.agents.is_empty() {
            return Vec::new();
        }
        vec![format!(
            "no agent is defined; {}/.compozy/agents/<name>/AGENT.md would be one",
            self.root
        )]
    }
}

impl Answer for AgentAnswer {
    fn human(&self, human: &mut Human) {
        let agent = &self.agent;
        let or_config = |text: &str| {
            if text.is_empty() {
                Cell::faint("the configuration's")
            } else {
                Cell::plain(text)
            }
        };
        let size = match agent.has_prompt() {
            true => format!("{} bytes", agent.prompt_size),
            false => String::new(),
        };
        let mut fields = vec![
            ("name", Cell::plain(&agent.name)),
            ("state", agent.row().state_cell()),
            (
                "description",
                Cell::plain(definition::in_one_line(&agent.description)),
            ),
            ("layer", Cell::plain(layer::spoken(agent.layer))),
            ("file", Cell::plain(&agent.path)),
        ];
        if agent.usable {
            fields.extend([
                ("provider", or_config(&agent.provider)),
                ("command", Cell::plain(&agent.command)),
                ("model", Cell::plain(&agent.model)),
                ("effort", Cell::plain(&agent.reasoning_effort)),
                ("permissions", or_config(&agent.permissions)),
            ]);
        }
        fields.extend([
            ("tools", Cell::plain(agent.tools.join(", "))),
            ("denied tools", Cell::plain(agent.deny_tools.join(", "))),
            ("toolsets", Cell::plain(agent.toolsets.join(", "))),
            ("hidden skills", Cell::plain(agent.disabled_skills.join(", "))),
            ("category", Cell::plain(agent.category_path.join(" / "))),
            ("prompt", Cell::plain(size)),
            (
                "profile",
                Cell::plain(super::profile::sourced(&self.profile_name, self.profile_source)),
            ),
        ]);
        fields.extend(
            agent
                .shadowed
                .iter()
                .map(|loser| ("shadows", Cell::doubtful(loser.sentence()))),
        );
        human.fields(&fields);
        if !agent.mcp_servers.is_empty() {
            human.gap();
            human.table(&mcp::table(&agent.mcp_servers, ""));
        }
        if !agent.diagnostics.is_empty() {
            human.gap();
            diagnostic::write(human, &agent.diagnostics.iter().collect::<Vec<_>>());
        }
    }
    fn notes(&self) -> Vec<String> {
        match self.agent.has_prompt() {
            true => vec!["with --text it prints the prompt".to_owned()],
            false => Vec::new(),
        }
    }
}
