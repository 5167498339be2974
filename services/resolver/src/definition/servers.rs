//! MCP servers of a definition: those that an agent's front matter describes, and those of the `mcp.json` beside it,
//! which replaces the ones of the same name.

use std::collections::HashSet;

use compozy_domain::{Diagnostic, Layer};

use super::Found;
use super::fields::Fields;
use super::file::unread;
use crate::config::Origin;
use crate::front_matter::{Finding, Place};
use crate::mcp::{self, McpServer, server_name};
use crate::node::{Content, Node};

/// Fields of a server that hold texts, or lists or tables of them.
const TEXTS: &[&str] = &[
    "command",
    "args",
    "env",
    "secret_env",
    "cwd",
    "url",
    "headers",
    "description",
    "timeout",
];

/// The servers of `mcp_servers`, and what there is to say about them.
pub(super) fn inline(fields: &mut Fields<'_>, layer: Layer, path: &str) -> (Vec<McpServer>, Vec<Diagnostic>) {
    let mut servers = Vec::new();
    let mut told = Vec::new();
    let mut names = HashSet::new();
    for (name, place, node) in described(fields) {
        let name = match server_name(&name) {
            Ok(name) => name.to_owned(),
            Err(rule) => {
                fields.tell(invalid(place, &format!("the name of a server {rule}")));
                continue;
            }
        };
        if !names.insert(name.clone()) {
            fields.tell(invalid(place, "two servers have this name"));
            continue;
        }
        let origin = Origin {
            layer,
            path: Some(path.to_owned()),
            line: Some(place.line),
            column: Some(place.column),
        };
        match McpServer::from_node(&name, &node, &origin) {
            Ok((server, warnings)) => {
                servers.push(server);
                told.extend(warnings);
            }
            Err(problems) => told.extend(problems),
        }
    }
    (servers, told)
}

/// Reads the `mcp.json` beside a definition and puts its servers in the place of those of the same name.
pub(super) fn add_sidecar(found: &Found, servers: &mut Vec<McpServer>, diagnostics: &mut Vec<Diagnostic>) {
    let Some((path, content)) = &found.mcp else { return };
    let bytes = match content {
        Ok(bytes) => bytes,
        Err(fault) => return diagnostics.push(unread(found.layer, path, fault)),
    };
    let file = mcp::read(found.layer, path, bytes);
    let is_broken = !file.problems.is_empty();
    diagnostics.extend(file.problems);
    diagnostics.extend(file.warnings);
    if is_broken {
        return;
    }
    for server in file.servers.into_iter().filter_map(|table| table.server) {
        match servers.iter_mut().find(|known| known.name == server.name) {
            Some(known) => *known = server,
            None => servers.push(server),
        }
    }
}

/// Name, place and fields of each server: of a list of tables with a `name`, or of a table by name.
fn described(fields: &mut Fields<'_>) -> Vec<(String, Place, Node)> {
    let Some(node) = fields.get("mcp_servers") else {
        return Vec::new();
    };
    let mut described = Vec::new();
    match &node.content {
        Content::Table(entries) => {
            for (name, server) in entries {
                described.push((name.clone(), Place::of(server), as_texts(fields, server)));
            }
        }
        Content::List(items) => {
            for item in items {
                let name = item
                    .get("name")
                    .and_then(|name| fields.text_of(name))
                    .map(str::to_owned);
                match name {
                    Some(name) => described.push((name, Place::of(item), as_texts(fields, item))),
                    None => fields.tell(invalid(Place::of(item), "a server must be a table with a `name`")),
                }
            }
        }
        _ => {
            let remedy = "write each server as a table with a `name`, one below the other, each behind `- `";
            fields.wrong_type("mcp_servers", node, "a list of servers", remedy);
        }
    }
    described
}

/// The fields of a server without its name, numbers and flags as they are written where texts are expected: `8080` in
/// a list of arguments is one.
fn as_texts(fields: &Fields<'_>, server: &Node) -> Node {
    let Content::Table(entries) = &server.content else {
        return server.clone();
    };
    let mut texts = Vec::with_capacity(entries.len());
    for (key, value) in entries {
        if key == "name" {
            continue;
        }
        let is_text = TEXTS.contains(&key.as_str());
        texts.push((
            key.clone(),
            if is_text {
                written(fields, value)
            } else {
                value.clone()
            },
        ));
    }
    Node {
        content: Content::Table(texts),
        ..server.clone()
    }
}

fn written(fields: &Fields<'_>, node: &Node) -> Node {
    let content = match &node.content {
        Content::List(items) => Content::List(items.iter().map(|item| written(fields, item)).collect()),
        Content::Table(entries) => {
            let entries = entries.iter();
            Content::Table(
                entries
                    .map(|(key, value)| (key.clone(), written(fields, value)))
                    .collect(),
            )
        }
        other => match fields.text_of(node) {
            Some(text) => Content::Text(text.to_owned()),
            None => other.clone(),
        },
    };
    Node { content, ..*node }
}

fn invalid(place: Place, message: &str) -> Finding {
    Finding::error(
        "agent_mcp_server_invalid",
        place,
        message,
        "give each server a table with a `name` of its own",
    )
    .about("mcp_servers")
}
