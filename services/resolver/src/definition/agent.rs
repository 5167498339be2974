//! `AGENT.md`.

use super::fields::Fields;
use super::file::{description, is_usable, open, unread};
use super::{Agent, Found, Permissions, hooks, keys, name, servers};
use crate::files::ContentHash;
use crate::front_matter::{Finding, FrontMatter, Place};
use crate::node::Content;

const KEYS: &[&str] = &[
    "name",
    "description",
    "provider",
    "command",
    "model",
    "reasoning_effort",
    "tools",
    "deny_tools",
    "toolsets",
    "permissions",
    "skills",
    "skills.disabled",
    "category_path",
    "mcp_servers",
    "hooks",
];

/// Reads an agent. Whatever its files look like, there is one, with everything in its diagnostics that is wrong.
#[must_use]
pub fn read_agent(found: &Found) -> Agent {
    let mut agent = nothing(found);
    match open(found) {
        Ok(front) => fill(&mut agent, &front),
        Err(fault) => agent.diagnostics.push(unread(found.layer, &found.path, &fault)),
    }
    servers::add_sidecar(found, &mut agent.mcp_servers, &mut agent.diagnostics);
    agent.usable = is_usable(&agent.diagnostics);
    agent
}

fn fill(agent: &mut Agent, front: &FrontMatter<'_>) {
    let mut fields = Fields::new(front);
    agent.name = name::of_agent(&mut fields, &agent.directory_name);
    agent.description = description(&mut fields);
    agent.provider = fields.text("provider");
    agent.command = fields.text("command");
    agent.model = fields.text("model");
    agent.reasoning_effort = fields.text("reasoning_effort");
    agent.tools = fields.texts("tools");
    agent.deny_tools = fields.texts("deny_tools");
    agent.toolsets = fields.texts("toolsets");
    agent.permissions = permissions(&mut fields);
    agent.disabled_skills = disabled_skills(&mut fields);
    agent.category_path = fields.path("category_path");
    agent.hooks = hooks::read(&mut fields);
    keys::unknown_to_agents(&mut fields, KEYS);
    prompt(agent, front, &mut fields);
    let (inline, told) = servers::inline(&mut fields, agent.layer, &agent.path);
    agent.mcp_servers = inline;
    let findings = fields.into_findings().into_iter();
    agent
        .diagnostics
        .extend(findings.map(|finding| finding.into_diagnostic(agent.layer, &agent.path)));
    agent.diagnostics.extend(told);
}

fn prompt(agent: &mut Agent, front: &FrontMatter<'_>, fields: &mut Fields<'_>) {
    agent.prompt_hash = ContentHash::of(front.body);
    agent.prompt_size = front.body.len();
    let Some(line) = front.closing_line else { return };
    if String::from_utf8_lossy(front.body).trim().is_empty() {
        fields.tell(Finding::error(
            "agent_prompt_empty",
            Place::start_of(line),
            "there is no prompt behind the front matter",
            "write what the agent is to do below the second `---`",
        ));
    }
}

fn permissions(fields: &mut Fields<'_>) -> Option<Permissions> {
    let node = fields.get("permissions")?;
    match fields.text_of(node).map(str::trim) {
        Some("deny-all") => return Some(Permissions::DenyAll),
        Some("approve-reads") => return Some(Permissions::ApproveReads),
        Some("approve-all") => return Some(Permissions::ApproveAll),
        _ => {}
    }
    fields.tell(
        Finding::error(
            "agent_permissions_invalid",
            Place::of(node),
            "`permissions` must be `deny-all`, `approve-reads` or `approve-all`",
            "write one of the three, or remove the line",
        )
        .about("permissions"),
    );
    None
}

/// `skills.disabled`, as a table in a table or as one dotted key.
fn disabled_skills(fields: &mut Fields<'_>) -> Vec<String> {
    let mut names = fields.texts("skills.disabled");
    let Some(node) = fields.get("skills") else {
        return names;
    };
    let Content::Table(entries) = &node.content else {
        // Other products list here what is to be used.
        fields.tell(
            Finding::warning(
                "agent_unknown_key",
                Place::of(node),
                format!(
                    "`skills` is {} and has no effect: only `skills.disabled` is known",
                    node.kind()
                ),
                "remove it if nothing else reads it: all skills that are not disabled are offered",
            )
            .about("skills"),
        );
        return names;
    };
    for (key, node) in entries {
        if key == "disabled" {
            names.extend(fields.texts_of("skills.disabled", node));
        } else {
            let dotted = format!("skills.{key}");
            fields.tell(keys::unknown_in_agent(&dotted, Place::of(node)));
        }
    }
    names
}

fn nothing(found: &Found) -> Agent {
    Agent {
        name: found.directory_name.clone(),
        directory_name: found.directory_name.clone(),
        layer: found.layer,
        path: found.path.clone(),
        usable: false,
        description: String::new(),
        provider: String::new(),
        command: String::new(),
        model: String::new(),
        reasoning_effort: String::new(),
        tools: Vec::new(),
        deny_tools: Vec::new(),
        toolsets: Vec::new(),
        permissions: None,
        disabled_skills: Vec::new(),
        category_path: Vec::new(),
        mcp_servers: Vec::new(),
        hooks: Vec::new(),
        prompt_hash: ContentHash::of(b""),
        prompt_size: 0,
        shadowed: Vec::new(),
        diagnostics: Vec::new(),
    }
}
