//! `SKILL.md`.

use super::fields::Fields;
use super::file::{description, is_usable, open, unread};
use super::{Found, Skill, keys, name, servers};
use crate::files::ContentHash;
use crate::front_matter::FrontMatter;

/// The keys that are read. All others are those of the products that the skill was written for.
const KEYS: &[&str] = &["name", "description"];

/// Reads a skill of a source. Whatever its files look like, there is one, with everything in its diagnostics that is
/// wrong.
#[must_use]
pub fn read_skill(found: &Found, source: &str) -> Skill {
    let mut skill = nothing(found, source);
    match open(found) {
        Ok(front) => fill(&mut skill, &front, &found.directory_name),
        Err(fault) => skill.diagnostics.push(unread(found.layer, &found.path, &fault)),
    }
    servers::add_sidecar(found, &mut skill.mcp_servers, &mut skill.diagnostics);
    skill.usable = is_usable(&skill.diagnostics);
    skill
}

fn fill(skill: &mut Skill, front: &FrontMatter<'_>, directory: &str) {
    let mut fields = Fields::new(front);
    skill.name = name::of_skill(&mut fields, directory);
    skill.description = description(&mut fields);
    skill.text_hash = ContentHash::of(front.body);
    skill.text_size = front.body.len();
    keys::mistaken_in_skills(&mut fields, KEYS);
    let findings = fields.into_findings().into_iter();
    skill
        .diagnostics
        .extend(findings.map(|finding| finding.into_diagnostic(skill.layer, &skill.path)));
}

fn nothing(found: &Found, source: &str) -> Skill {
    Skill {
        name: found.directory_name.clone(),
        layer: found.layer,
        path: found.path.clone(),
        source: source.to_owned(),
        usable: false,
        description: String::new(),
        mcp_servers: Vec::new(),
        text_hash: ContentHash::of(b""),
        text_size: 0,
        shadowed: Vec::new(),
        diagnostics: Vec::new(),
    }
}
