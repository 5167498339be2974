//! The text of an agent or skill of a snapshot. Snapshots hold none: it is read again, and is either the very text
//! that the snapshot speaks of or none.

use compozy_domain::Layer;

use super::Snapshot;
use crate::definition::{DEFINITION_BYTES_MAX, text_of};
use crate::files::{ContentHash, Files};

/// What has a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextKind {
    /// The prompt of an agent.
    Agent,
    /// A skill.
    Skill,
}

/// A text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// What stands behind the front matter, byte for byte.
    pub text: String,
    /// Its hash, as in the snapshot.
    pub hash: ContentHash,
    /// Its file.
    pub path: String,
    /// The layer of the file.
    pub layer: Layer,
}

/// Why there is no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextFault {
    /// The snapshot has no such agent to see it with.
    AgentNotFound,
    /// The snapshot has none of this kind and name, or nothing in its file is a text.
    NotFound,
    /// The file does not hold the snapshot's text any more, or can't be read.
    Stale,
}

/// Reads the text of an agent or skill, as `agent` (`None`: no agent in particular) sees the snapshot.
///
/// # Errors
/// [`TextFault`].
pub fn definition_text(
    files: &dyn Files,
    snapshot: &Snapshot,
    agent: Option<&str>,
    kind: TextKind,
    name: &str,
) -> Result<Text, TextFault> {
    let wanted = find(snapshot, agent, kind, name)?;
    let Some(bytes) = bytes_at(files, &wanted.path) else {
        return Err(TextFault::Stale);
    };
    let text = match text_of(&bytes) {
        Some(text) if ContentHash::of(text) == wanted.hash => text,
        Some(_) => return Err(TextFault::Stale),
        // A file without a readable front matter has no text, in the snapshot as well as now.
        None if wanted.size == 0 => return Err(TextFault::NotFound),
        None => return Err(TextFault::Stale),
    };
    let Ok(text) = std::str::from_utf8(text) else {
        return Err(TextFault::NotFound);
    };
    Ok(Text {
        text: text.to_owned(),
        hash: wanted.hash,
        path: wanted.path,
        layer: wanted.layer,
    })
}

struct Wanted {
    path: String,
    layer: Layer,
    hash: ContentHash,
    size: usize,
}

fn find(snapshot: &Snapshot, agent: Option<&str>, kind: TextKind, name: &str) -> Result<Wanted, TextFault> {
    if let Some(agent) = agent
        && snapshot.agent(agent).is_none()
    {
        return Err(TextFault::AgentNotFound);
    }
    if kind == TextKind::Agent {
        let found = snapshot.agent(name).ok_or(TextFault::NotFound)?;
        return Ok(Wanted {
            path: found.path.clone(),
            layer: found.layer,
            hash: found.prompt_hash,
            size: found.prompt_size,
        });
    }
    let overlay = agent.and_then(|agent| snapshot.for_agent(agent));
    let skill = match &overlay {
        Some(overlay) => overlay
            .skills
            .iter()
            .map(AsRef::as_ref)
            .find(|skill| skill.name == name),
        None => snapshot.skills.iter().find(|skill| skill.name == name),
    };
    let skill = skill.ok_or(TextFault::NotFound)?;
    Ok(Wanted {
        path: skill.path.clone(),
        layer: skill.layer,
        hash: skill.text_hash,
        size: skill.text_size,
    })
}

/// The content of the file at a canonical path; nothing if it lies elsewhere now.
fn bytes_at(files: &dyn Files, path: &str) -> Option<Vec<u8>> {
    let (directory, name) = path.rsplit_once('/')?;
    let opened = files.open(directory).ok()?;
    if opened.path() != directory {
        return None;
    }
    let content = opened.read(name, DEFINITION_BYTES_MAX).ok()??;
    Some(content.bytes)
}
