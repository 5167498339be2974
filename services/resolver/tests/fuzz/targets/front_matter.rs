//! Agents and skills: whatever stands in the file there is one, and what is said about it is true.

use compozy_domain::{Diagnostic, Layer, Severity};
use compozy_resolver::definition::{
    Agent, DESCRIPTION_CHARS_MAX, Found, Skill, read_agent, read_skill, text_of,
};
use compozy_resolver::files::ContentHash;
use compozy_resolver::front_matter;

use super::places::{are_inside, are_silent};
use super::planted::{in_lines, in_toml};
use super::secrets::{server_is_silent, shown_hides};
use super::{Held, holds};

pub(super) const PIECES: &[&str] = &[
    "---\n",
    "---",
    "--- \n",
    "...\n",
    "\n",
    "\r\n",
    "\u{feff}",
    "name: a\n",
    "name: ",
    "description: ",
    "description: Use when: x\n",
    "tools: [a, b]\n",
    "tools:\n  - a\n",
    "deny_tools: a, b\n",
    "permissions: approve-all\n",
    "model: 4.10\n",
    "skills:\n  disabled: [x]\n",
    "mcp_servers:\n  - name: s\n    command: c\n",
    "mcp_servers: {s: {url: 'https://u:s3cr3t@h'}}\n",
    "hooks:\n  - event: e\n    env: {A_TOKEN: s3cr3t}\n",
    "category_path: [a, b]\n",
    ": ",
    ":",
    " ",
    "  ",
    "\t",
    "- ",
    "#",
    " #",
    "\"",
    "'",
    "''",
    "[",
    "]",
    "{",
    "}",
    "&a ",
    "*a",
    "<<: *a\n",
    "!x ",
    "!!binary ",
    "|\n",
    ">-\n",
    "%YAML 1.2\n",
    "@",
    "`",
    "x",
    "\\",
    "\\x",
    "= ",
    "=",
    "a = 1\n",
    "name = \"a\"\n",
    "[mcp]\n",
    "[[hooks]]\n",
    "\"\"\"",
    "'''",
    "<a>",
    "</a>",
    "? ",
    ",",
    "true",
    "no",
    "1.10",
    "~",
    "null",
    "0x1f",
    "2020-01-01",
    "k: a: b\n",
    "k: 'a'b\n",
    "k: [\n",
    "Text.\n",
    "\u{2028}",
    "\u{85}",
    "\u{7}",
    "&a [*a, *a]",
];
/// What shows the form that a person should have written: there is nothing to show but what is written.
const QUOTES: &[&str] = &["front_matter_recovered", "front_matter_value_cut"];

pub(super) fn check(bytes: &[u8]) -> Held {
    let (agent, skill) = both(bytes);
    for found in [&agent.diagnostics, &skill.diagnostics] {
        are_inside(found, bytes)?;
        let has_place = found
            .iter()
            .all(|one| one.line.is_some() || one.code.contains("more_findings"));
        holds(has_place, || format!("something has no place: {found:?}"))?;
    }
    is_true_of_itself(&agent, &skill, bytes)?;
    for server in agent.mcp_servers.iter().chain(&skill.mcp_servers) {
        server_is_silent(server)?;
        shown_hides(server)?;
    }
    let front = bytes.len() - text_of(bytes).unwrap_or_default().len();
    for marked in [in_lines(&bytes[..front]), in_toml(&bytes[..front])] {
        let (agent, skill) = both(&[&marked, &bytes[front..]].concat());
        are_silent(&agent.diagnostics, QUOTES)?;
        are_silent(&skill.diagnostics, QUOTES)?;
    }
    a_mark_in_front_changes_nothing(&agent, bytes)
}

fn is_true_of_itself(agent: &Agent, skill: &Skill, bytes: &[u8]) -> Held {
    let front = front_matter::read(bytes);
    holds(bytes.ends_with(front.body), || {
        "the text is not the end of the file".to_owned()
    })?;
    let hash = ContentHash::of(front.body);
    holds(agent.prompt_hash == hash && skill.text_hash == hash, || {
        "the hash is not that of the text".to_owned()
    })?;
    holds(text_of(bytes).unwrap_or_default() == front.body, || {
        "two texts of one file".to_owned()
    })?;
    for (usable, name, found) in [
        (agent.usable, &agent.name, &agent.diagnostics),
        (skill.usable, &skill.name, &skill.diagnostics),
    ] {
        let is_faultless = found.iter().all(|one| one.severity != Severity::Error);
        holds(usable == is_faultless, || {
            format!("usable is {usable} with {found:?}")
        })?;
        holds(!name.is_empty(), || "has no name".to_owned())?;
        holds(!usable || front.fields.is_some(), || {
            "is usable without fields".to_owned()
        })?;
    }
    for description in [&agent.description, &skill.description] {
        let letters = description.chars().count();
        holds(letters <= DESCRIPTION_CHARS_MAX, || {
            format!("a description of {letters}")
        })?;
    }
    Ok(())
}

/// A mark of the byte order in front of a file says nothing about it.
fn a_mark_in_front_changes_nothing(agent: &Agent, bytes: &[u8]) -> Held {
    if bytes.starts_with("\u{feff}".as_bytes()) {
        return Ok(());
    }
    let (marked, _) = both(&["\u{feff}".as_bytes(), bytes].concat());
    let others = |found: &[Diagnostic]| {
        let others = found
            .iter()
            .filter(|one| one.code != "front_matter_byte_order_mark");
        others.cloned().collect::<Vec<_>>()
    };
    let is_same = others(&agent.diagnostics) == others(&marked.diagnostics) || agent.diagnostics.len() > 90;
    holds(
        is_same && marked.name == agent.name && marked.usable == agent.usable,
        || format!("reads as {:?} with a mark in front", marked.diagnostics),
    )
}

fn both(bytes: &[u8]) -> (Agent, Skill) {
    let found = Found {
        layer: Layer::Workspace,
        path: "/w/.compozy/agents/reviewer/AGENT.md".to_owned(),
        directory_name: "reviewer".to_owned(),
        content: Ok(bytes.to_vec()),
        mcp: None,
    };
    (read_agent(&found), read_skill(&found, "compozy"))
}
