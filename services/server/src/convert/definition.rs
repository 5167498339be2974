//! Agents and skills, and requests for the text of one.

use compozy_domain::CatalogError;
use compozy_domain::text::refuse_control_characters;
use compozy_proto::workspace::v1 as pb;
use compozy_resolver::ContentHash;
use compozy_resolver::config::secrets::shown_text;
use compozy_resolver::definition::{Agent, Permissions, Shadowed, Skill};
use compozy_resolver::snapshot::{Text, TextKind};

use super::diagnostic::{findings, layer};
use super::mcp::servers;
use super::resolve::{NAME_BYTES_MAX, fingerprint, subject};
use super::tree::tree_of;
use crate::resolution::DefinitionWanted;

/// Reads a request.
///
/// # Errors
/// [`CatalogError`] naming the field.
pub fn wanted(request: pb::GetDefinitionRequest) -> Result<DefinitionWanted, CatalogError> {
    let pb::GetDefinitionRequest {
        r#ref,
        profile,
        environment_profile,
        agent,
        fingerprint: of,
        kind,
        name,
    } = request;
    let kind = match pb::DefinitionKind::try_from(kind).unwrap_or_default() {
        pb::DefinitionKind::Unspecified => {
            return Err(CatalogError::invalid_field("kind", "must be AGENT or SKILL"));
        }
        pb::DefinitionKind::Agent => TextKind::Agent,
        pb::DefinitionKind::Skill => TextKind::Skill,
    };
    refuse_control_characters(&name, "name")?;
    if name.is_empty() || name.len() > NAME_BYTES_MAX {
        return Err(CatalogError::invalid_field("name", "must have 1 to 1024 bytes"));
    }
    if of.is_empty() {
        return Err(CatalogError::invalid_field(
            "fingerprint",
            "must be that of a snapshot",
        ));
    }
    Ok(DefinitionWanted {
        subject: subject(r#ref, (profile, environment_profile), agent)?,
        fingerprint: fingerprint(of).unwrap_or_default(),
        kind,
        name,
    })
}

/// Makes the response.
#[must_use]
pub fn answer(definition: Text) -> pb::GetDefinitionResponse {
    let Text {
        text,
        hash,
        path,
        layer: of,
    } = definition;
    pb::GetDefinitionResponse {
        size: size(text.len()),
        text,
        digest: digest_text(&hash),
        path,
        layer: layer(of).into(),
    }
}

/// An agent, without its prompt and its secrets.
#[must_use]
pub fn agent(agent: &Agent) -> pb::Agent {
    let Agent {
        name,
        directory_name: _,
        layer: of,
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
        prompt_hash,
        prompt_size,
        shadowed,
        diagnostics,
    } = agent;
    pb::Agent {
        name: name.clone(),
        layer: layer(*of).into(),
        path: path.clone(),
        usable: *usable,
        description: shown_text(description),
        provider: provider.clone(),
        command: shown_text(command),
        model: model.clone(),
        reasoning_effort: reasoning_effort.clone(),
        tools: tools.clone(),
        deny_tools: deny_tools.clone(),
        toolsets: toolsets.clone(),
        permissions: permissions.map_or("", permissions_word).to_owned(),
        disabled_skills: disabled_skills.clone(),
        category_path: category_path.clone(),
        mcp_servers: servers(mcp_servers),
        hooks: hooks.iter().map(tree_of).collect(),
        prompt_digest: digest_text(prompt_hash),
        prompt_size: size(*prompt_size),
        shadowed: losers(shadowed),
        diagnostics: findings(diagnostics),
    }
}

/// A skill, without its text and its secrets.
#[must_use]
pub fn skill(skill: &Skill) -> pb::Skill {
    let Skill {
        name,
        layer: of,
        path,
        source,
        usable,
        description,
        mcp_servers,
        text_hash,
        text_size,
        shadowed,
        diagnostics,
    } = skill;
    pb::Skill {
        name: name.clone(),
        layer: layer(*of).into(),
        path: path.clone(),
        usable: *usable,
        description: shown_text(description),
        source: source.clone(),
        mcp_servers: servers(mcp_servers),
        text_digest: digest_text(text_hash),
        text_size: size(*text_size),
        shadowed: losers(shadowed),
        diagnostics: findings(diagnostics),
    }
}

fn losers(shadowed: &[Shadowed]) -> Vec<pb::ShadowedDefinition> {
    let losers = shadowed
        .iter()
        .map(|Shadowed { layer: of, path }| pb::ShadowedDefinition {
            layer: layer(*of).into(),
            path: path.clone(),
        });
    losers.collect()
}

const fn permissions_word(permissions: Permissions) -> &'static str {
    match permissions {
        Permissions::DenyAll => "deny-all",
        Permissions::ApproveReads => "approve-reads",
        Permissions::ApproveAll => "approve-all",
    }
}

fn digest_text(hash: &ContentHash) -> String {
    hash.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn size(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
