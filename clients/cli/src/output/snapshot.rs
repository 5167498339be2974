//! A snapshot as the API has it.

use compozy_client::proto::workspace::v1::Snapshot;
use serde::Serialize;
use serde_json::Value;

use super::agent::AgentView;
use super::config::LeafView;
use super::diagnostic::DiagnosticView;
use super::mcp::McpServerView;
use super::profile::{self, SnapshotProfileView};
use super::skill::{SkillSourceView, SkillView};
use super::time::Time;
use super::tree;
use super::workspace::WorkspaceView;

/// `compozy.workspace.v1.Snapshot`. Enum values stand without the prefix of their type.
#[derive(Debug, Serialize)]
pub(crate) struct SnapshotView {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) workspace: Option<WorkspaceView>,
    pub(crate) root: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) profile: Option<SnapshotProfileView>,
    pub(crate) profile_source: &'static str,
    pub(crate) agent: String,
    pub(crate) agent_names: Vec<String>,
    pub(crate) skill_names: Vec<String>,
    pub(crate) mcp_server_names: Vec<String>,
    pub(crate) agent_count: i32,
    pub(crate) skill_count: i32,
    pub(crate) mcp_server_count: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) config: Option<Value>,
    pub(crate) config_leaves: Vec<LeafView>,
    pub(crate) agents: Vec<AgentView>,
    pub(crate) skills: Vec<SkillView>,
    pub(crate) mcp_servers: Vec<McpServerView>,
    pub(crate) skill_sources: Vec<SkillSourceView>,
    pub(crate) diagnostics: Vec<DiagnosticView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) resolved_at: Option<Time>,
    pub(crate) fingerprint: String,
    pub(crate) truncated: bool,
}

impl From<Snapshot> for SnapshotView {
    fn from(snapshot: Snapshot) -> Self {
        let profile_source = profile::source_name(snapshot.profile_source());
        let Snapshot {
            workspace,
            root,
            profile,
            profile_source: _,
            agent,
            agent_names,
            skill_names,
            mcp_server_names,
            agent_count,
            skill_count,
            mcp_server_count,
            config,
            config_leaves,
            agents,
            skills,
            mcp_servers,
            skill_sources,
            diagnostics,
            resolved_at,
            fingerprint,
            truncated,
        } = snapshot;
        Self {
            workspace: workspace.map(WorkspaceView::from),
            root,
            profile: profile.map(SnapshotProfileView::from),
            profile_source,
            agent,
            agent_names,
            skill_names,
            mcp_server_names,
            agent_count,
            skill_count,
            mcp_server_count,
            config: config.map(tree::object),
            config_leaves: config_leaves.into_iter().map(LeafView::from).collect(),
            agents: agents.into_iter().map(AgentView::from).collect(),
            skills: skills.into_iter().map(SkillView::from).collect(),
            mcp_servers: mcp_servers.into_iter().map(McpServerView::from).collect(),
            skill_sources: skill_sources.into_iter().map(SkillSourceView::from).collect(),
            diagnostics: diagnostics.into_iter().map(DiagnosticView::from).collect(),
            resolved_at: resolved_at.and_then(|time| Time::new(time.seconds, time.nanos)),
            fingerprint,
            truncated,
        }
    }
}

impl SnapshotView {
    /// Name of the active profile.
    pub(crate) fn profile_name(&self) -> &str {
        self.profile.as_ref().map_or("", |profile| profile.name.as_str())
    }

    /// The active profile with who chose it.
    pub(super) fn sourced_profile(&self) -> String {
        profile::sourced(self.profile_name(), self.profile_source)
    }

    /// Findings about the configuration, and the others.
    pub(super) fn divided_findings(&self) -> (Vec<&DiagnosticView>, Vec<&DiagnosticView>) {
        self.diagnostics
            .iter()
            .partition(|finding| self.is_about_config(finding))
    }

    /// Those about the configuration.
    pub(super) fn config_findings(&self) -> Vec<DiagnosticView> {
        let (of_config, _) = self.divided_findings();
        of_config.into_iter().cloned().collect()
    }

    /// An mcp.json belongs to the configuration unless it lies beside an agent or a skill.
    fn is_about_config(&self, finding: &DiagnosticView) -> bool {
        let Some((directory, name)) = finding.path.rsplit_once('/') else {
            return false;
        };
        let agents = self.agents.iter().map(|agent| agent.row().path);
        let mut definitions = agents.chain(self.skills.iter().map(|skill| skill.row().path));
        let is_beside = |path: &str| path.rsplit_once('/').is_some_and(|(own, _)| own == directory);
        match name {
            "config.toml" => true,
            "mcp.json" => !definitions.any(is_beside),
            _ => false,
        }
    }
}
