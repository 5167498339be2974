//! MCP servers, as written in files.

use std::collections::BTreeMap;

use compozy_client::proto::workspace::v1::McpServer;
use serde::Serialize;
use serde_json::Value;

use super::config::OriginView;
use super::table::{Cell, Table};
use super::{layer, tree};

/// `compozy.workspace.v1.McpServer`. Enum values stand without the prefix of their type.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct McpServerView {
    pub(crate) name: String,
    transport: &'static str,
    command: String,
    args: Vec<String>,
    env: BTreeMap<String, String>,
    secret_env: BTreeMap<String, String>,
    cwd: String,
    url: String,
    headers: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    auth: Option<Value>,
    timeout: String,
    disabled: bool,
    description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    other: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<OriginView>,
}

impl From<McpServer> for McpServerView {
    fn from(server: McpServer) -> Self {
        let transport = server.transport().as_str_name();
        let transport = transport.strip_prefix("MCP_TRANSPORT_").unwrap_or(transport);
        let McpServer {
            name,
            transport: _,
            command,
            args,
            env,
            secret_env,
            cwd,
            url,
            headers,
            auth,
            timeout,
            disabled,
            description,
            other,
            origin,
        } = server;
        Self {
            name,
            transport,
            command,
            args,
            env: env.into_iter().collect(),
            secret_env: secret_env.into_iter().collect(),
            cwd,
            url,
            headers: headers.into_iter().collect(),
            auth: auth.map(tree::json),
            timeout,
            disabled,
            description,
            other: other.map(tree::object),
            origin: origin.map(OriginView::from),
        }
    }
}

impl McpServerView {
    /// What is run, or where it answers.
    fn target(&self) -> String {
        if self.command.is_empty() {
            return self.url.clone();
        }
        let words: Vec<&str> = std::iter::once(&self.command)
            .chain(&self.args)
            .map(String::as_str)
            .collect();
        words.join(" ")
    }

    fn state_cell(&self) -> Cell {
        if self.disabled {
            Cell::faint("off")
        } else {
            Cell::good("on")
        }
    }
}

/// Rows for a person.
pub(super) fn table(servers: &[McpServerView], root: &str) -> Table {
    let mut table = Table::new(&["MCP SERVER", "STATE", "TRANSPORT", "WHERE", "RUNS"]);
    table = table.yielding(&["RUNS", "WHERE"]);
    for server in servers {
        let place = server.origin.as_ref().map(OriginView::place).unwrap_or_default();
        table.row(vec![
            Cell::plain(&server.name),
            server.state_cell(),
            Cell::plain(layer::spoken(server.transport)),
            Cell::path_in(root, place),
            Cell::plain(server.target()),
        ]);
    }
    table
}
