//! The MCP servers of an agent: those of the configuration, and its own in the place of those with the same name.

use compozy_resolver::definition::Agent;
use compozy_resolver::mcp::McpServer;
use compozy_resolver::snapshot::Snapshot;

/// The servers that are to be started, with their secrets. One that is switched off switches off the one below it, too.
pub(super) fn of(snapshot: &Snapshot, agent: Option<&Agent>) -> Vec<McpServer> {
    let mut servers: Vec<McpServer> = snapshot.config.servers().to_vec();
    for own in agent.into_iter().flat_map(|agent| &agent.mcp_servers) {
        match servers.iter_mut().find(|server| server.name == own.name) {
            Some(server) => server.clone_from(own),
            None => servers.push(own.clone()),
        }
    }
    servers.retain(|server| !server.disabled);
    servers
}
