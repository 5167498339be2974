//! Skills of a snapshot, and the directories that they come from.

use compozy_client::proto::workspace::v1::{Skill, SkillSource};
use serde::Serialize;

use super::definition::{self, DefinitionRow, ShadowedView};
use super::diagnostic::{self, DiagnosticView};
use super::mcp::{self, McpServerView};
use super::table::Cell;
use super::{Answer, Human, layer};

/// `compozy.workspace.v1.Skill`. Enum values stand without the prefix of their type.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct SkillView {
    pub(crate) name: String,
    layer: &'static str,
    path: String,
    usable: bool,
    description: String,
    source: String,
    mcp_servers: Vec<McpServerView>,
    text_digest: String,
    text_size: i64,
    shadowed: Vec<ShadowedView>,
    diagnostics: Vec<DiagnosticView>,
}

/// `compozy.workspace.v1.SkillSource`.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct SkillSourceView {
    name: String,
    layer: &'static str,
    path: String,
    readable: bool,
    truncated: bool,
    skill_count: i32,
}

/// What `skill list` prints.
#[derive(Debug, Serialize)]
pub(crate) struct SkillListView {
    pub(crate) profile_name: String,
    pub(crate) profile_source: &'static str,
    /// Whose skills these are; empty for those of no agent in particular.
    pub(crate) agent: String,
    pub(crate) skills: Vec<SkillView>,
    pub(crate) skill_sources: Vec<SkillSourceView>,
    /// The root of the workspace, to tell where a skill would be written.
    #[serde(skip)]
    pub(crate) root: String,
}

/// What `skill show` prints.
#[derive(Debug, Serialize)]
pub(crate) struct SkillAnswer {
    pub(crate) profile_name: String,
    pub(crate) profile_source: &'static str,
    pub(crate) skill: SkillView,
}

impl From<Skill> for SkillView {
    fn from(skill: Skill) -> Self {
        let Skill {
            name,
            layer,
            path,
            usable,
            description,
            source,
            mcp_servers,
            text_digest,
            text_size,
            shadowed,
            diagnostics,
        } = skill;
        Self {
            name,
            layer: layer::name(layer),
            path,
            usable,
            description,
            source,
            mcp_servers: mcp_servers.into_iter().map(McpServerView::from).collect(),
            text_digest,
            text_size,
            shadowed: shadowed.into_iter().map(ShadowedView::from).collect(),
            diagnostics: diagnostics.into_iter().map(DiagnosticView::from).collect(),
        }
    }
}

impl From<SkillSource> for SkillSourceView {
    fn from(source: SkillSource) -> Self {
        let SkillSource {
            name,
            layer,
            path,
            readable,
            truncated,
            skill_count,
        } = source;
        Self {
            name,
            layer: layer::name(layer),
            path,
            readable,
            truncated,
            skill_count,
        }
    }
}

impl SkillView {
    /// Whether there is a text to be asked for: of a file that nobody could read there is none.
    fn has_text(&self) -> bool {
        self.usable || self.text_size > 0
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

impl Answer for SkillListView {
    const ROWS: Option<&'static str> = Some("skills");

    fn human(&self, human: &mut Human) {
        if !self.skills.is_empty() {
            human.table(&definition::table(
                "SKILL",
                &self.root,
                self.skills.iter().map(SkillView::row),
            ));
        }
    }

    fn findings(&self) -> Vec<&DiagnosticView> {
        self.skills.iter().flat_map(|skill| &skill.diagnostics).collect()
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for source in &self.skill_sources {
            if !source.readable {
                notes.push(format!("{} could not be read", source.path));
            }
            if source.truncated {
                notes.push(format!("{} holds more than is read", source.path));
            }
        }
        if self.skills.is_empty() {
            notes.push(format!(
                "there is no skill; {}/.compozy/skills/<name>/SKILL.md would be one",
                self.root
            ));
            // Who comes from another tool has them there, and sees nothing.
            if !self.skill_sources.iter().any(|source| source.name == "claude") {
                notes.push(
                    "those in .claude/skills are read after `compozy config set --workspace-file skills.sources '[\"agents\", \"claude\"]'`"
                        .to_owned(),
                );
            }
        }
        notes
    }
}

impl Answer for SkillAnswer {
    fn human(&self, human: &mut Human) {
        let skill = &self.skill;
        let size = match skill.has_text() {
            true => format!("{} bytes", skill.text_size),
            false => String::new(),
        };
        let mut fields = vec![
            ("name", Cell::plain(&skill.name)),
            ("state", skill.row().state_cell()),
            (
                "description",
                Cell::plain(definition::in_one_line(&skill.description)),
            ),
            ("layer", Cell::plain(layer::spoken(skill.layer))),
            ("source", Cell::plain(&skill.source)),
            ("file", Cell::plain(&skill.path)),
            ("text", Cell::plain(size)),
            (
                "profile",
                Cell::plain(super::profile::sourced(&self.profile_name, self.profile_source)),
            ),
        ];
        fields.extend(
            skill
                .shadowed
                .iter()
                .map(|loser| ("shadows", Cell::doubtful(loser.sentence()))),
        );
        human.fields(&fields);
        if !skill.mcp_servers.is_empty() {
            human.gap();
            human.table(&mcp::table(&skill.mcp_servers, ""));
        }
        if !skill.diagnostics.is_empty() {
            human.gap();
            diagnostic::write(human, &skill.diagnostics.iter().collect::<Vec<_>>());
        }
    }
    fn notes(&self) -> Vec<String> {
        match self.skill.has_text() {
            true => vec!["with --text it prints the text".to_owned()],
            false => Vec::new(),
        }
    }
}
