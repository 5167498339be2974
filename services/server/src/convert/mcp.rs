//! MCP servers. Their secrets are redacted here, whoever asks.

use std::collections::BTreeMap;

use compozy_proto::workspace::v1 as pb;
use compozy_resolver::config::Origin;
use compozy_resolver::mcp::{McpServer, Transport};

use super::diagnostic::{layer, place};
use super::tree::{tree, value};

/// Servers, in their order.
#[must_use]
pub fn servers(servers: &[McpServer]) -> Vec<pb::McpServer> {
    servers.iter().map(server).collect()
}

/// A server without its secrets.
#[must_use]
pub fn server(server: &McpServer) -> pb::McpServer {
    let McpServer {
        name,
        transport,
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
        origin: from,
    } = server.shown();
    pb::McpServer {
        name,
        transport: transport_to_wire(transport).into(),
        command,
        args,
        env: texts(env),
        secret_env: texts(secret_env),
        cwd,
        url,
        headers: texts(headers),
        auth: auth.as_ref().map(value),
        timeout,
        disabled,
        description,
        other: (!other.is_empty()).then(|| tree(&other)),
        origin: Some(origin(&from, None)),
    }
}

/// A place that says something, with what it says if that may be shown.
#[must_use]
pub fn origin(origin: &Origin, says: Option<prost_types::Value>) -> pb::ConfigOrigin {
    let Origin {
        layer: of,
        path,
        line,
        column,
    } = origin;
    pb::ConfigOrigin {
        layer: layer(*of).into(),
        path: path.clone().unwrap_or_default(),
        line: place(*line),
        column: place(*column),
        value: says,
    }
}

fn texts(map: BTreeMap<String, String>) -> BTreeMap<String, String> {
    map.into_iter().collect()
}

const fn transport_to_wire(transport: Transport) -> pb::McpTransport {
    match transport {
        Transport::Stdio => pb::McpTransport::Stdio,
        Transport::Http => pb::McpTransport::Http,
        Transport::Sse => pb::McpTransport::Sse,
        Transport::Url => pb::McpTransport::Url,
    }
}
