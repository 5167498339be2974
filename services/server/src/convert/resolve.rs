//! Requests for a snapshot, and the snapshot on the wire.

use compozy_domain::text::refuse_control_characters;
use compozy_domain::{CatalogError, limits};
use compozy_proto::workspace::v1 as pb;
use compozy_resolver::config::{EffectiveConfig, Leaf};
use compozy_resolver::scan::SkillSource;

use super::definition::{agent, skill};
use super::diagnostic::{findings, layer};
use super::fitted::fitted;
use super::mcp::{origin, servers};
use super::reference::reference;
use super::tree::{tree, value};
use super::{profile, timestamp, workspace};
use crate::resolution::{ResolveOutcome, ResolveWanted, Resolved, Subject};

/// Bytes of a fingerprint at most; what is longer is none.
const FINGERPRINT_BYTES_MAX: usize = 128;
/// Bytes of the name of an agent or skill at most; nothing longer names anything.
pub(super) const NAME_BYTES_MAX: usize = 1_024;

/// Reads a request.
///
/// # Errors
/// [`CatalogError`] naming the field.
pub fn wanted(
    request: pb::ResolveWorkspaceRequest,
) -> Result<(ResolveWanted, pb::ResolveView), CatalogError> {
    let pb::ResolveWorkspaceRequest {
        r#ref,
        profile,
        environment_profile,
        agent,
        view,
        if_fingerprint,
        bypass_cache,
    } = request;
    let wanted = ResolveWanted {
        subject: subject(r#ref, (profile, environment_profile), agent)?,
        if_fingerprint: if_fingerprint.and_then(fingerprint),
        anew: bypass_cache,
    };
    let view = match pb::ResolveView::try_from(view).unwrap_or_default() {
        pb::ResolveView::Full => pb::ResolveView::Full,
        pb::ResolveView::Unspecified | pb::ResolveView::Basic => pb::ResolveView::Basic,
    };
    Ok((wanted, view))
}

/// Makes the response, within the limit of all answers.
///
/// # Errors
/// [`CatalogError::AnswerTooLarge`].
pub fn answer(
    outcome: &ResolveOutcome,
    view: pb::ResolveView,
) -> Result<pb::ResolveWorkspaceResponse, CatalogError> {
    let response = match outcome {
        ResolveOutcome::NotModified => pb::ResolveWorkspaceResponse {
            not_modified: true,
            snapshot: None,
        },
        ResolveOutcome::Resolved(resolved) => pb::ResolveWorkspaceResponse {
            not_modified: false,
            snapshot: Some(snapshot(resolved, view == pb::ResolveView::Full)),
        },
    };
    fitted(response).ok_or(CatalogError::AnswerTooLarge {
        limit: limits::RESPONSE_BYTES_MAX,
        remedy: match view {
            pb::ResolveView::Full => "ask for the view BASIC, or have fewer skills",
            _ => "have fewer skills, or mend what the diagnostics are about",
        },
    })
}

/// What a request wants a snapshot of.
pub(super) fn subject(
    workspace: Option<pb::WorkspaceRef>,
    (profile, environment): (Option<String>, Option<String>),
    agent: Option<String>,
) -> Result<Subject, CatalogError> {
    if let Some(name) = &agent {
        refuse_control_characters(name, "agent")?;
        if name.is_empty() || name.len() > NAME_BYTES_MAX {
            return Err(CatalogError::invalid_field("agent", "must have 1 to 1024 bytes"));
        }
    }
    // A blank variable is unset, whatever it is blank with.
    let environment = environment.filter(|name| !name.trim().is_empty());
    Ok(Subject {
        reference: reference(workspace, "ref")?,
        profile: profile::asked(profile, environment)?,
        agent,
    })
}

/// A fingerprint of a request. What is none matches nothing.
pub(super) fn fingerprint(text: String) -> Option<String> {
    (text.len() <= FINGERPRINT_BYTES_MAX).then_some(text)
}

fn snapshot(resolved: &Resolved, is_full: bool) -> pb::Snapshot {
    let Resolved {
        workspace: row,
        profile: active,
        profile_source,
        agent: asked,
        snapshot,
        beside: _,
        fingerprint,
    } = resolved;
    let compozy_resolver::snapshot::Snapshot {
        root,
        root_stamp: _,
        config,
        agents,
        skills: _,
        agent_skills: _,
        sources,
        diagnostics: _,
        truncated,
        resolved_at,
        content_hash: _,
        fingerprint: _,
    } = snapshot.as_ref();
    let skills = resolved.skills();
    let mcp = config.servers();
    let basic = pb::Snapshot {
        workspace: Some(workspace::record(row, None)),
        root: root.clone(),
        profile: Some(profile::active_record(active)),
        profile_source: profile::source(*profile_source).into(),
        agent: asked.clone().unwrap_or_default(),
        agent_names: agents.iter().map(|agent| agent.name.clone()).collect(),
        skill_names: skills.iter().map(|skill| skill.name.clone()).collect(),
        mcp_server_names: mcp.iter().map(|server| server.name.clone()).collect(),
        agent_count: count(agents.len()),
        skill_count: count(skills.len()),
        mcp_server_count: count(mcp.len()),
        diagnostics: findings(&resolved.diagnostics()),
        resolved_at: Some(timestamp(*resolved_at)),
        fingerprint: fingerprint.clone(),
        truncated: *truncated,
        ..pb::Snapshot::default()
    };
    if !is_full {
        return basic;
    }
    pb::Snapshot {
        config: Some(tree(&config.shown())),
        config_leaves: leaves(config),
        agents: agents.iter().map(agent).collect(),
        skills: skills.iter().map(|offered| skill(offered)).collect(),
        mcp_servers: servers(mcp),
        skill_sources: sources.iter().map(source).collect(),
        ..basic
    }
}

fn leaves(config: &EffectiveConfig) -> Vec<pb::ConfigLeaf> {
    config.leaves().iter().map(leaf).collect()
}

fn leaf(leaf: &Leaf) -> pb::ConfigLeaf {
    let (shown, shown_losers) = (leaf.shown(), leaf.shown_losers());
    let Leaf {
        key,
        value: _,
        is_secret,
        winner,
        losers: _,
    } = leaf;
    let mut losers = Vec::with_capacity(shown_losers.len());
    for (from, said) in shown_losers {
        losers.push(origin(from, Some(value(&said))));
    }
    pb::ConfigLeaf {
        key: key.clone(),
        winner: Some(origin(winner, Some(value(&shown)))),
        losers,
        is_secret: *is_secret,
    }
}

fn source(source: &SkillSource) -> pb::SkillSource {
    let SkillSource {
        name,
        layer: of,
        path,
        readable,
        truncated,
        skill_count,
    } = source;
    pb::SkillSource {
        name: name.clone(),
        layer: layer(*of).into(),
        path: path.clone(),
        readable: *readable,
        truncated: *truncated,
        skill_count: count(*skill_count),
    }
}

fn count(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}
