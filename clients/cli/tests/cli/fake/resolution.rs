//! What the fake finds in a workspace: a bit of everything, broken things too.

use compozy_client::proto::profile::v1::Profile;
use compozy_client::proto::workspace::v1::*;
use prost_types::value::Kind;
use prost_types::{ListValue, Struct, Timestamp, Value};
use tonic::{Code, Status};

use super::{State, catalog, failed, profiles};

/// The prompt of each agent and the text of each skill, unless a test says otherwise.
pub const TEXT: &str = "Read it all.\n\n\tThen answer.\n";

pub fn value(text: &str) -> Value {
    Value {
        kind: Some(Kind::StringValue(text.to_owned())),
    }
}

pub fn tree(fields: &[(&str, Value)]) -> Struct {
    Struct {
        fields: fields
            .iter()
            .map(|(key, value)| ((*key).to_owned(), value.clone()))
            .collect(),
    }
}

pub fn nested(fields: &[(&str, Value)]) -> Value {
    Value {
        kind: Some(Kind::StructValue(tree(fields))),
    }
}

pub fn origin(layer: Layer, path: &str, line: i32, said: Value) -> ConfigOrigin {
    ConfigOrigin {
        layer: layer.into(),
        path: path.to_owned(),
        line,
        column: if line > 0 { 1 } else { 0 },
        value: Some(said),
    }
}

/// Answers a resolve by the contract, from a list of things that are always there.
pub fn resolve(state: &State, request: &ResolveWorkspaceRequest) -> Result<ResolveWorkspaceResponse, Status> {
    let workspace = {
        let workspaces = state.workspaces.lock().unwrap();
        workspaces[catalog::find(&workspaces, request.r#ref.as_ref())?].clone()
    };
    let asked = (request.profile.as_deref(), request.environment_profile.as_deref());
    let (profile, source) = profiles::active(state, &workspace.id, asked)?;
    let mut snapshot = snapshot(workspace, &state.home.lock().unwrap(), profile, source);
    if let Some(agent) = &request.agent {
        if !snapshot.agent_names.contains(agent) {
            let message = format!("No agent is named {agent}.");
            return Err(failed(
                Code::NotFound,
                "AGENT_NOT_FOUND",
                &message,
                &[("agent", agent)],
            ));
        }
        snapshot.agent.clone_from(agent);
    }
    let mut reads = state.reads.lock().unwrap();
    *reads += i64::from(request.bypass_cache);
    snapshot.resolved_at.as_mut().unwrap().seconds += *reads;
    if let Some(change) = &*state.snapshot.lock().unwrap() {
        change(&mut snapshot);
    }
    if request.if_fingerprint.as_ref() == Some(&snapshot.fingerprint) {
        return Ok(ResolveWorkspaceResponse {
            not_modified: true,
            snapshot: None,
        });
    }
    if request.view() != ResolveView::Full {
        snapshot.config = None;
        snapshot.config_leaves.clear();
        snapshot.agents.clear();
        snapshot.skills.clear();
        snapshot.mcp_servers.clear();
        snapshot.skill_sources.clear();
    }
    Ok(ResolveWorkspaceResponse {
        not_modified: false,
        snapshot: Some(snapshot),
    })
}

fn snapshot(workspace: Workspace, home: &str, profile: Profile, source: ProfileSource) -> Snapshot {
    let root = workspace.root_dir.clone();
    let agents = agents(&root, home);
    let skills = skills(&root, home);
    let servers = vec![server(&root)];
    let mut diagnostics = vec![
        orphaned(&format!("{root}/.compozy/profiles/old/config.toml")),
        unknown_key(&format!("{root}/.compozy/config.toml")),
    ];
    diagnostics.extend(agents.iter().flat_map(|agent| agent.diagnostics.clone()));
    diagnostics.extend(skills.iter().flat_map(|skill| skill.diagnostics.clone()));
    Snapshot {
        root: root.clone(),
        profile: Some(SnapshotProfile {
            is_permanent: profile.name == "default",
            id: profile.id,
            name: profile.name,
            color: profile.color.unwrap_or_default(),
            icon: profile.icon.unwrap_or_default(),
        }),
        profile_source: source.into(),
        agent_names: agents.iter().map(|agent| agent.name.clone()).collect(),
        skill_names: skills.iter().map(|skill| skill.name.clone()).collect(),
        mcp_server_names: servers.iter().map(|server| server.name.clone()).collect(),
        agent_count: i32::try_from(agents.len()).unwrap(),
        skill_count: i32::try_from(skills.len()).unwrap(),
        mcp_server_count: i32::try_from(servers.len()).unwrap(),
        config: Some(tree(&[
            ("defaults", nested(&[("agent", value("reviewer"))])),
            ("permissions", nested(&[("mode", value("approve-all"))])),
        ])),
        config_leaves: leaves(&root, home),
        agents,
        skills,
        mcp_servers: servers,
        skill_sources: vec![source_of(&root)],
        diagnostics,
        resolved_at: Some(Timestamp {
            seconds: 1_777_905_000,
            nanos: 0,
        }),
        fingerprint: format!("f-{}", workspace.etag),
        workspace: Some(workspace),
        ..Default::default()
    }
}

fn leaves(root: &str, home: &str) -> Vec<ConfigLeaf> {
    let own = format!("{root}/.compozy/config.toml");
    let user = format!("{home}/config.toml");
    let list = |members: &[&str]| Value {
        kind: Some(Kind::ListValue(ListValue {
            values: members.iter().map(|member| value(member)).collect(),
        })),
    };
    let leaf = |key: &str, winner: ConfigOrigin, losers: Vec<ConfigOrigin>| ConfigLeaf {
        key: key.to_owned(),
        winner: Some(winner),
        losers,
        is_secret: false,
    };
    vec![
        leaf(
            "defaults.agent",
            origin(Layer::Workspace, &own, 2, value("reviewer")),
            vec![
                origin(Layer::User, &user, 5, value("claude")),
                origin(Layer::Default, "", 0, value("general")),
            ],
        ),
        leaf(
            "limits.max_sessions",
            origin(
                Layer::User,
                &user,
                9,
                Value {
                    kind: Some(Kind::NumberValue(4.0)),
                },
            ),
            Vec::new(),
        ),
        ConfigLeaf {
            is_secret: true,
            ..leaf(
                "mcp_servers.\"git.hub\".env.API_TOKEN",
                origin(Layer::Workspace, &own, 12, value("<redacted>")),
                vec![origin(Layer::User, &user, 20, value("<redacted>"))],
            )
        },
        leaf(
            "permissions.mode",
            origin(Layer::Default, "", 0, value("approve-all")),
            Vec::new(),
        ),
        leaf(
            "skills.disabled_skills",
            origin(Layer::Workspace, &own, 15, list(&["a", "b"])),
            vec![origin(Layer::Default, "", 0, list(&[]))],
        ),
    ]
}

fn agents(root: &str, home: &str) -> Vec<Agent> {
    let broken = format!("{root}/.compozy/agents/broken/AGENT.md");
    let finding = Diagnostic {
        code: "front_matter_invalid".to_owned(),
        severity: Severity::Error.into(),
        path: broken.clone(),
        line: 3,
        column: 7,
        message: "the front matter does not parse: duplicate key".to_owned(),
        remedy: "keep one of the two".to_owned(),
        layer: Layer::Workspace.into(),
        ..Default::default()
    };
    vec![
        Agent {
            name: "broken".to_owned(),
            layer: Layer::Workspace.into(),
            path: broken,
            diagnostics: vec![finding],
            ..Default::default()
        },
        Agent {
            name: "reviewer".to_owned(),
            layer: Layer::Workspace.into(),
            path: format!("{root}/.compozy/agents/reviewer/AGENT.md"),
            usable: true,
            description: "Reads every change".to_owned(),
            provider: "claude".to_owned(),
            tools: vec!["read".to_owned(), "grep".to_owned()],
            prompt_digest: "d1".to_owned(),
            prompt_size: 29,
            hooks: vec![tree(&[("event", value("stop"))])],
            mcp_servers: vec![server(root)],
            shadowed: vec![ShadowedDefinition {
                layer: Layer::User.into(),
                path: format!("{home}/agents/reviewer/AGENT.md"),
            }],
            ..Default::default()
        },
    ]
}

fn skills(root: &str, home: &str) -> Vec<Skill> {
    let path = format!("{root}/.compozy/skills/notes/SKILL.md");
    let finding = Diagnostic {
        code: "front_matter_recovered".to_owned(),
        severity: Severity::Warning.into(),
        path: path.clone(),
        line: 3,
        column: 14,
        message: "a plain value holds \": \", read as if it were quoted".to_owned(),
        remedy: "write description: \"Use when: x\"".to_owned(),
        layer: Layer::Workspace.into(),
        ..Default::default()
    };
    vec![
        Skill {
            name: "notes".to_owned(),
            layer: Layer::Workspace.into(),
            path,
            usable: true,
            description: "Use when: x".to_owned(),
            source: "compozy".to_owned(),
            text_digest: "d2".to_owned(),
            text_size: 29,
            shadowed: vec![ShadowedDefinition {
                layer: Layer::Profile.into(),
                path: format!("{home}/profiles/p/skills/notes/SKILL.md"),
            }],
            diagnostics: vec![finding],
            ..Default::default()
        },
        Skill {
            name: "release".to_owned(),
            layer: Layer::User.into(),
            path: format!("{home}/skills/release/SKILL.md"),
            usable: true,
            source: "compozy".to_owned(),
            ..Default::default()
        },
    ]
}

fn server(root: &str) -> McpServer {
    McpServer {
        name: "github".to_owned(),
        transport: McpTransport::Stdio.into(),
        command: "github-mcp".to_owned(),
        args: vec!["--read-only".to_owned()],
        env: [("API_TOKEN".to_owned(), "<redacted>".to_owned())].into(),
        origin: Some(origin(
            Layer::Workspace,
            &format!("{root}/.compozy/mcp.json"),
            3,
            value(""),
        )),
        ..Default::default()
    }
}

fn source_of(root: &str) -> SkillSource {
    SkillSource {
        name: "compozy".to_owned(),
        layer: Layer::Workspace.into(),
        path: format!("{root}/.compozy/skills"),
        readable: true,
        truncated: false,
        skill_count: 1,
    }
}

fn unknown_key(path: &str) -> Diagnostic {
    Diagnostic {
        code: "config_unknown_key".to_owned(),
        severity: Severity::Warning.into(),
        path: path.to_owned(),
        line: 4,
        column: 1,
        message: "unknown key `permisions`, did you mean `permissions`?".to_owned(),
        remedy: "correct the key, or take it out".to_owned(),
        layer: Layer::Workspace.into(),
        key: "permisions".to_owned(),
        ..Default::default()
    }
}

fn orphaned(path: &str) -> Diagnostic {
    Diagnostic {
        code: "config_profile_layer_orphaned".to_owned(),
        severity: Severity::Warning.into(),
        path: path.to_owned(),
        message: "the profile old is not in the catalog".to_owned(),
        remedy: "create it with `compozy profile create old`".to_owned(),
        layer: Layer::WorkspaceProfile.into(),
        profile: "old".to_owned(),
        ..Default::default()
    }
}
