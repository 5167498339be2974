//! MCP servers: `mcp.json` as it is found in the wild, and the tables of the same shape in `config.toml` and in front
//! matters.
//!
//! [`read`] is for whole files, [`McpServer::from_node`] for one table of a file, [`McpServer::from_table`] for what
//! several layers said together. All three have the rules about fields and transports from one place.

mod fields;
mod file;
mod json;
mod names;
mod server;
mod shown;

use std::collections::BTreeMap;

pub use file::{MCP_BYTES_MAX, McpFile, ServerTable, read};
pub use names::server_name;
pub use shown::shown_url;
pub(crate) use shown::{is_suspicious, shown_field};

use crate::config::Origin;
use crate::value::{Table, Value};

/// How to reach a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// A process, over its standard input and output.
    Stdio,
    /// HTTP.
    Http,
    /// HTTP with server-sent events.
    Sse,
    /// A URL whose file does not say which.
    Url,
}

/// A server as written. Holds secrets: what is shown of it comes from [`McpServer::shown`].
#[derive(Clone, PartialEq)]
pub struct McpServer {
    /// Its name, trimmed.
    pub name: String,
    /// How to reach it.
    pub transport: Transport,
    /// Program; empty for URLs.
    pub command: String,
    /// Arguments.
    pub args: Vec<String>,
    /// Environment.
    pub env: BTreeMap<String, String>,
    /// Environment whose values are secrets.
    pub secret_env: BTreeMap<String, String>,
    /// Working directory; empty for the session's.
    pub cwd: String,
    /// URL; empty for programs.
    pub url: String,
    /// Headers; all secret.
    pub headers: BTreeMap<String, String>,
    /// Authentication; secret.
    pub auth: Option<Value>,
    /// How long it may take, as written.
    pub timeout: String,
    /// Whether it is switched off.
    pub disabled: bool,
    /// What it is for.
    pub description: String,
    /// Fields that are not understood, as written.
    pub other: Table,
    /// Where it comes from: of one that several layers patched, the highest.
    pub origin: Origin,
}

impl std::fmt::Debug for McpServer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = formatter.debug_struct("McpServer");
        shown.field("name", &self.name).field("origin", &self.origin);
        shown.finish_non_exhaustive()
    }
}
