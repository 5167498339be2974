//! One `mcp.json`, alone.

use std::collections::HashSet;

use compozy_domain::{Diagnostic, Layer, Severity};

use super::McpServer;
use super::json::{self, Fault};
use super::names::{server_name, shown_key, shown_name};
use crate::config::Origin;
use crate::node::{Content, Node};
use crate::places::Places;

/// Bytes of an `mcp.json` at most.
pub const MCP_BYTES_MAX: usize = 1024 * 1024;
/// Findings of one kind of severity that one file may give: a hostile one has room for thousands.
const FINDINGS_MAX: usize = 200;
/// The two names of the table of servers. For one server the first one wins.
const TABLES: [&str; 2] = ["mcp_servers", "mcpServers"];
const BOM: &[u8] = b"\xef\xbb\xbf";

/// What an `mcp.json` says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct McpFile {
    /// The servers that win their names, in the order of the file.
    pub servers: Vec<ServerTable>,
    /// What else is in it, as written.
    pub other: Vec<(String, Node)>,
    /// Errors, those of the servers included. With any, the file can't be used.
    pub problems: Vec<Diagnostic>,
    /// The other findings, those about the servers included.
    pub warnings: Vec<Diagnostic>,
}

/// One server as the file describes it.
#[derive(Clone, PartialEq)]
pub struct ServerTable {
    /// Its name, trimmed.
    pub name: String,
    /// Its fields, at the place of its key.
    pub node: Node,
    /// The same as a server; `None` if something is wrong with it.
    pub server: Option<McpServer>,
}

impl std::fmt::Debug for ServerTable {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = formatter.debug_struct("ServerTable");
        shown.field("name", &self.name).field("line", &self.node.line);
        shown.finish_non_exhaustive()
    }
}

/// Reads a file. Each server in it stands for itself, whatever other layers say, so all of it is checked here.
#[must_use]
pub fn read(layer: Layer, path: &str, bytes: &[u8]) -> McpFile {
    let mut reading = Reading {
        layer,
        path,
        file: McpFile::default(),
    };
    if let Some(node) = reading.parsed(bytes) {
        reading.top(node);
    }
    let mut file = reading.file;
    shorten(&mut file.problems);
    shorten(&mut file.warnings);
    file
}

struct Reading<'p> {
    layer: Layer,
    path: &'p str,
    file: McpFile,
}

impl Reading<'_> {
    fn parsed(&mut self, bytes: &[u8]) -> Option<Node> {
        if bytes.len() > MCP_BYTES_MAX {
            let message = format!("the file has more than {MCP_BYTES_MAX} bytes");
            let found = self.found("mcp_too_large", Severity::Error, message, "make it smaller");
            self.file.problems.push(found);
            return None;
        }
        let body = bytes.strip_prefix(BOM).unwrap_or(bytes);
        if body.len() < bytes.len() {
            let message = "the file starts with a byte order mark";
            let found = self.found("mcp_bom", Severity::Info, message, "save it as UTF-8 without one");
            self.file.warnings.push(found.at(1, 1));
        }
        let text = match std::str::from_utf8(body) {
            Ok(text) => text,
            Err(error) => {
                // What comes before the fault is valid.
                let before = String::from_utf8_lossy(&body[..error.valid_up_to()]);
                let (line, column) = Places::new(&before).at(before.len());
                let message = "the file is not valid UTF-8";
                let found = self.found("mcp_syntax", Severity::Error, message, "save it as UTF-8");
                self.file.problems.push(found.at(line, column));
                return None;
            }
        };
        let parsed = json::parse(text);
        for fault in parsed.faults {
            let Fault {
                line,
                column,
                code,
                message,
                remedy,
            } = fault;
            let found = self.found(code, Severity::Error, message, remedy);
            self.file.problems.push(found.at(line, column));
        }
        parsed.node
    }

    fn top(&mut self, node: Node) {
        let (line, column) = (node.line, node.column);
        let kind = node.kind();
        let Content::Table(entries) = node.content else {
            let message = format!("the file has to hold an object, it holds {kind}");
            let remedy = "write { \"mcpServers\": { ... } }";
            let found = self.found("mcp_wrong_type", Severity::Error, message, remedy);
            self.file.problems.push(found.at(line, column));
            return;
        };
        let preferred = preferred_names(&entries);
        for (key, value) in entries {
            if TABLES.contains(&key.as_str()) {
                self.table(&key, value, &preferred);
            } else {
                self.unknown(&key, &value);
                self.file.other.push((key, value));
            }
        }
    }

    fn unknown(&mut self, key: &str, value: &Node) {
        let message = format!(
            "the key `{}` is not known here; it is kept and has no effect",
            shown_name(key)
        );
        let looks_like_servers = value.get("command").is_some()
            || value.get("url").is_some()
            || matches!(key, "servers" | "mcp" | "mcp-servers" | "context_servers");
        let remedy = match looks_like_servers {
            true => "servers are read from `mcpServers` only",
            false => "remove it if nobody else reads this file",
        };
        let found = self.found("mcp_unknown_key", Severity::Warning, message, remedy);
        let found = found.at(value.line, value.column).about(shown_key(key));
        self.file.warnings.push(found);
    }

    fn table(&mut self, table: &str, node: Node, preferred: &HashSet<String>) {
        let kind = node.kind();
        let entries = match node.content {
            Content::Table(entries) => entries,
            Content::Null => return,
            _ => {
                let message = format!("`{table}` has to be an object of servers by name, it is {kind}");
                let found = self.found("mcp_wrong_type", Severity::Error, message, "correct its value");
                let found = found.at(node.line, node.column).about(table);
                self.file.problems.push(found);
                return;
            }
        };
        let mut names = HashSet::new();
        for (key, node) in entries {
            let name = match server_name(&key) {
                Ok(name) => name.to_owned(),
                Err(fault) => {
                    let message = format!("the name of an MCP server {fault}");
                    self.wrong_name(
                        "mcp_bad_name",
                        table,
                        &key,
                        &node,
                        message,
                        "give it another name",
                    );
                    continue;
                }
            };
            if !names.insert(name.clone()) {
                let message = format!("the name `{}` of an MCP server is not unique", shown_name(&name));
                self.wrong_name(
                    "mcp_duplicate_name",
                    table,
                    &key,
                    &node,
                    message,
                    "rename or remove one of them",
                );
            } else if table != TABLES[0] && preferred.contains(&name) {
                self.overridden(&name, &node);
            } else {
                self.server(name, node);
            }
        }
    }

    fn server(&mut self, name: String, node: Node) {
        let origin = Origin {
            layer: self.layer,
            path: Some(self.path.to_owned()),
            line: Some(node.line),
            column: Some(node.column),
        };
        let server = match McpServer::from_node(&name, &node, &origin) {
            Ok((server, warnings)) => {
                self.file.warnings.extend(warnings);
                Some(server)
            }
            Err(problems) => {
                self.file.problems.extend(problems);
                None
            }
        };
        self.file.servers.push(ServerTable { name, node, server });
    }

    fn overridden(&mut self, name: &str, node: &Node) {
        let message = format!(
            "MCP server `{}` is in `mcp_servers`, too, which wins: this one has no effect",
            shown_name(name)
        );
        let found = self.found(
            "mcp_server_overridden",
            Severity::Info,
            message,
            "keep one of the two",
        );
        let found = found
            .at(node.line, node.column)
            .about(format!("mcpServers.{}", shown_key(name)));
        self.file.warnings.push(found);
    }

    fn wrong_name(
        &mut self,
        code: &'static str,
        table: &str,
        key: &str,
        node: &Node,
        message: String,
        remedy: &str,
    ) {
        let found = self.found(code, Severity::Error, message, remedy);
        let found = found
            .at(node.line, node.column)
            .about(format!("{table}.{}", shown_key(key)));
        self.file.problems.push(found);
    }

    fn found(
        &self,
        code: &'static str,
        severity: Severity,
        message: impl Into<String>,
        remedy: &str,
    ) -> Diagnostic {
        Diagnostic::new(code, severity, self.layer, self.path, message, remedy)
    }
}

/// The names of the servers of the table that wins.
fn preferred_names(entries: &[(String, Node)]) -> HashSet<String> {
    let table = entries.iter().find(|(key, _)| key == TABLES[0]);
    let servers = table.and_then(|(_, node)| node.as_table()).unwrap_or_default();
    servers.iter().map(|(key, _)| key.trim().to_owned()).collect()
}

/// Keeps the first ones, and says how many there are.
fn shorten(findings: &mut Vec<Diagnostic>) {
    let Some(last) = findings.get(FINDINGS_MAX) else {
        return;
    };
    let more = findings.len() - FINDINGS_MAX;
    let (layer, path) = (last.layer.unwrap_or(Layer::Default), last.path.clone());
    let severity = findings
        .iter()
        .map(|found| found.severity)
        .max()
        .unwrap_or(Severity::Warning);
    findings.truncate(FINDINGS_MAX);
    let message = format!("{more} more of the kind in this file");
    findings.push(Diagnostic::new(
        "mcp_more_findings",
        severity,
        layer,
        path,
        message,
        "correct the first ones",
    ));
}
