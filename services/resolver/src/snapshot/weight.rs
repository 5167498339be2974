//! What a snapshot occupies in memory, roughly and rather too much than too little.

use std::collections::BTreeMap;

use compozy_domain::Diagnostic;

use super::Snapshot;
use crate::config::Leaf;
use crate::definition::{Agent, Shadowed, Skill};
use crate::mcp::McpServer;
use crate::value::{Table, Value};

/// What an entry of a map costs besides its key and value.
const MAP_ENTRY: usize = 16;
/// What an allocation costs besides what is in it.
const ALLOCATION: usize = 24;

impl Snapshot {
    /// Bytes that it occupies, roughly.
    #[must_use]
    pub fn weight(&self) -> usize {
        let own = self.agent_skills.iter();
        size_of::<Self>()
            + table(&self.config.tree)
            + sum(&self.config.leaves, leaf)
            + sum(&self.config.servers, server)
            + sum(&self.config.diagnostics, diagnostic)
            + sum(&self.agents, agent)
            + sum(&self.skills, skill)
            + own
                .map(|(name, skills)| text(name) + sum(skills, skill))
                .sum::<usize>()
            + sum(&self.sources, |source| size_of_val(source) + held(&source.path))
            + sum(&self.diagnostics, diagnostic)
    }
}

fn sum<T>(items: &[T], weight: impl Fn(&T) -> usize) -> usize {
    items.iter().map(weight).sum()
}

/// What a text holds outside of itself.
fn held(text: &str) -> usize {
    if text.is_empty() {
        0
    } else {
        text.len() + ALLOCATION
    }
}

fn text(text: &str) -> usize {
    size_of::<String>() + held(text)
}

fn texts(list: &[String]) -> usize {
    sum(list, |item| text(item))
}

fn value(value: &Value) -> usize {
    size_of::<Value>()
        + match value {
            Value::Text(text) | Value::Time(text) => held(text),
            Value::Integer(_) | Value::Float(_) | Value::Flag(_) => 0,
            Value::List(items) => sum(items, self::value),
            Value::Table(entries) => table(entries),
        }
}

fn table(entries: &Table) -> usize {
    let entries = entries.iter();
    entries
        .map(|(key, item)| MAP_ENTRY + text(key) + value(item))
        .sum()
}

fn leaf(leaf: &Leaf) -> usize {
    let paths = leaf.losers.iter().map(|(origin, said)| {
        size_of_val(origin) + origin.path.as_ref().map_or(0, |text| held(text)) + value(said)
    });
    let winner = leaf.winner.path.as_ref().map_or(0, |text| held(text));
    size_of::<Leaf>() + held(&leaf.key) + value(&leaf.value) + winner + paths.sum::<usize>()
}

fn diagnostic(diagnostic: &Diagnostic) -> usize {
    size_of::<Diagnostic>()
        + held(&diagnostic.path)
        + held(&diagnostic.message)
        + held(&diagnostic.remedy)
        + diagnostic.key.as_ref().map_or(0, |text| held(text))
}

fn server(server: &McpServer) -> usize {
    let map = |map: &BTreeMap<String, String>| -> usize {
        map.iter()
            .map(|(key, value)| MAP_ENTRY + text(key) + text(value))
            .sum()
    };
    size_of::<McpServer>()
        + held(&server.name)
        + held(&server.command)
        + texts(&server.args)
        + map(&server.env)
        + map(&server.secret_env)
        + map(&server.headers)
        + held(&server.cwd)
        + held(&server.url)
        + server.auth.as_ref().map_or(0, value)
        + held(&server.description)
        + table(&server.other)
        + server.origin.path.as_ref().map_or(0, |text| held(text))
}

fn shadowed(shadowed: &Shadowed) -> usize {
    size_of::<Shadowed>() + held(&shadowed.path)
}

fn agent(agent: &Agent) -> usize {
    let lists = [
        &agent.tools,
        &agent.deny_tools,
        &agent.toolsets,
        &agent.disabled_skills,
        &agent.category_path,
    ];
    size_of::<Agent>()
        + held(&agent.name)
        + held(&agent.directory_name)
        + held(&agent.path)
        + held(&agent.description)
        + lists.into_iter().map(|list| texts(list)).sum::<usize>()
        + sum(&agent.mcp_servers, server)
        + sum(&agent.hooks, value)
        + sum(&agent.shadowed, shadowed)
        + sum(&agent.diagnostics, diagnostic)
}

fn skill(skill: &Skill) -> usize {
    size_of::<Skill>()
        + held(&skill.name)
        + held(&skill.path)
        + held(&skill.source)
        + held(&skill.description)
        + sum(&skill.mcp_servers, server)
        + sum(&skill.shadowed, shadowed)
        + sum(&skill.diagnostics, diagnostic)
}
