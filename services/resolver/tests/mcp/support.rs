//! Files of one layer, and what is told about them.

use compozy_domain::{Diagnostic, Layer, Severity};
use compozy_resolver::mcp::{self, McpFile, McpServer};

pub(crate) const PATH: &str = "/r/.compozy/mcp.json";

pub(crate) fn read(text: &str) -> McpFile {
    mcp::read(Layer::Workspace, PATH, text.as_bytes())
}

/// A file with one table of servers.
pub(crate) fn servers(inside: &str) -> McpFile {
    read(&format!("{{\"mcpServers\": {{{inside}}}}}"))
}

/// The servers of a file without problems.
pub(crate) fn good(file: McpFile) -> Vec<McpServer> {
    assert!(file.problems.is_empty(), "{:?}", file.problems);
    file.servers
        .into_iter()
        .map(|table| table.server.unwrap())
        .collect()
}

/// The only problem of a file.
pub(crate) fn problem(file: &McpFile) -> &Diagnostic {
    let [problem] = file.problems.as_slice() else {
        panic!("{:?}", file.problems)
    };
    assert_eq!(
        (problem.path.as_str(), problem.layer),
        (PATH, Some(Layer::Workspace))
    );
    assert_eq!(problem.severity, Severity::Error);
    assert!(!problem.message.is_empty() && !problem.remedy.is_empty());
    problem
}

/// Code, line and column of the only problem.
pub(crate) fn fault(text: &str) -> (&'static str, u32, u32) {
    let file = read(text);
    let problem = problem(&file);
    (problem.code, problem.line.unwrap(), problem.column.unwrap())
}

/// Code and key of the only problem of a file with these servers.
pub(crate) fn refused(inside: &str) -> (&'static str, String) {
    let file = servers(inside);
    let problem = problem(&file);
    assert!(problem.line.is_some(), "{problem:?}");
    (problem.code, problem.key.clone().unwrap_or_default())
}
