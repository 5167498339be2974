//! From the files of all layers to one configuration, or to everything that is wrong with any of them.

use std::collections::HashSet;

use compozy_domain::{Diagnostic, Layer};

use super::check::{Checked, UnknownKeys, check};
use super::merge::{Merging, Outcome, Speaker, origin_without_file, server_fields};
use super::problem::shorten;
use super::read::read;
use super::{EffectiveConfig, LayerFiles, key};
use crate::mcp::{self, McpFile, McpServer};
use crate::value::Value;

/// Merges the layers, lowest first, under the agent of the workspace's record; empty is none.
///
/// # Errors
/// Every problem of every file, sorted; never none.
pub fn resolve(layers: &[LayerFiles], default_agent: &str) -> Result<EffectiveConfig, Vec<Diagnostic>> {
    let mut findings = Findings::default();
    let read: Vec<ReadLayer<'_>> = layers.iter().map(|files| findings.layer(files)).collect();
    findings.unknown_keys(&read);

    let mut merging = Merging::new();
    for layer in &read {
        layer.speak(&mut merging);
    }
    if !default_agent.is_empty() {
        let origin = origin_without_file(Layer::Registration);
        merging.say(
            &["defaults", "agent"],
            origin,
            Value::Text(default_agent.to_owned()),
        );
    }
    findings.problems.append(&mut merging.problems);
    let servers = findings.servers(&merging);
    let Findings {
        mut problems,
        mut warnings,
        ..
    } = findings;
    if !problems.is_empty() {
        Diagnostic::sort(&mut problems);
        return Err(problems);
    }
    Diagnostic::sort(&mut warnings);
    let Outcome { tree, leaves } = merging.outcome();
    Ok(EffectiveConfig {
        tree,
        leaves,
        servers,
        diagnostics: warnings,
    })
}

/// One layer, as far as it can be read.
struct ReadLayer<'f> {
    layer: Layer,
    config: Option<(&'f str, Checked)>,
    mcp: Option<(&'f str, McpFile)>,
}

impl ReadLayer<'_> {
    fn speak(&self, merging: &mut Merging) {
        if let Some((path, checked)) = &self.config {
            let speaker = Speaker {
                layer: self.layer,
                path,
                place: None,
            };
            merging.file(&speaker, &checked.node);
        }
        let Some((path, file)) = &self.mcp else { return };
        for server in &file.servers {
            let speaker = Speaker {
                layer: self.layer,
                path,
                place: Some((server.node.line, server.node.column)),
            };
            merging.server(&speaker, &server.name, &server.node);
        }
    }
}

#[derive(Default)]
struct Findings {
    problems: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
    /// Whether there is a file of which not even all keys are known.
    is_part_unread: bool,
}

impl Findings {
    fn layer<'f>(&mut self, files: &'f LayerFiles) -> ReadLayer<'f> {
        let config = files.config.as_ref().map(|file| {
            let mut parsed = read(files.layer, &file.path, &file.bytes);
            self.is_part_unread |= !parsed.is_whole;
            let mut checked = check(files.layer, &file.path, &parsed.node);
            parsed.problems.append(&mut checked.problems);
            shorten(&mut parsed.problems);
            self.problems.append(&mut parsed.problems);
            (file.path.as_str(), checked)
        });
        let mcp = files.mcp.as_ref().map(|file| {
            let mut found = mcp::read(files.layer, &file.path, &file.bytes);
            self.is_part_unread |= found.problems.iter().any(|problem| problem.key.is_none());
            self.problems.append(&mut found.problems);
            self.warnings.append(&mut found.warnings);
            (file.path.as_str(), found)
        });
        ReadLayer {
            layer: files.layer,
            config,
            mcp,
        }
    }

    /// Only the user says what unknown keys are, for all files.
    fn unknown_keys(&mut self, layers: &[ReadLayer<'_>]) {
        let user = layers.iter().find(|layer| layer.layer == Layer::User);
        let user = user.and_then(|layer| layer.config.as_ref());
        let unknown_keys = user.map_or(UnknownKeys::Error, |(_, checked)| checked.unknown_keys());
        for layer in layers {
            let Some((path, checked)) = &layer.config else {
                continue;
            };
            let mut found = checked.unknown(layer.layer, path, unknown_keys);
            shorten(&mut found);
            match unknown_keys {
                UnknownKeys::Error => self.problems.append(&mut found),
                UnknownKeys::Warn => self.warnings.append(&mut found),
            }
        }
    }

    /// What became of the servers. One about which something is wrong already is not looked at: what is missing in it
    /// may be the very thing that could not be read.
    fn servers(&mut self, merging: &Merging) -> Vec<McpServer> {
        let Some(named) = merging.servers().filter(|_| !self.is_part_unread) else {
            return Vec::new();
        };
        let wrong: HashSet<String> = self.problems.iter().filter_map(server_of).collect();
        let mut servers = Vec::with_capacity(named.entries().len());
        for entry in named.entries() {
            if wrong.contains(&entry.name) {
                continue;
            }
            let table = server_fields(&entry.fields);
            match McpServer::from_table(&entry.name, &table, &entry.origin) {
                Ok(server) => servers.push(server),
                Err(mut problems) => self.problems.append(&mut problems),
            }
        }
        servers
    }
}

/// The server that a problem is about.
fn server_of(problem: &Diagnostic) -> Option<String> {
    let parts = key::split(problem.key.as_deref()?)?;
    match parts.as_slice() {
        [table, name, ..] if table == "mcp_servers" || table == "mcpServers" => Some(name.trim().to_owned()),
        _ => None,
    }
}
