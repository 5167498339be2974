//! MCP servers of agents and skills.

use compozy_domain::Layer;
use compozy_resolver::definition::{Found, read_agent, read_skill};
use compozy_resolver::files::ReadFault;

use crate::support::{MCP_PATH, agent_with, error, found};

fn beside(content: &str, mcp: Result<&str, ReadFault>) -> Found {
    Found {
        mcp: Some((MCP_PATH.to_owned(), mcp.map(|text| text.as_bytes().to_vec()))),
        ..found(content)
    }
}

const INLINE: &str = "---\nname: reviewer\nmcp_servers:\n  - name: s\n    command: inline\n    args: [-p, 8080, 1.10]\n    env: {PORT: 8080}\n  - name: u\n    url: https://h/\n    type: http\n---\nReview.\n";

#[test]
fn servers_of_the_front_matter_are_a_list_or_a_table() {
    let table = agent_with("mcp_servers:\n  s:\n    command: inline\n    disabled: true");
    assert_eq!(table.diagnostics, []);
    assert_eq!(
        (table.mcp_servers[0].name.as_str(), table.mcp_servers[0].disabled),
        ("s", true)
    );
    let list = read_agent(&found(INLINE));
    assert_eq!(list.diagnostics, []);
    let server = &list.mcp_servers[0];
    assert_eq!(
        (server.command.as_str(), server.env["PORT"].as_str()),
        ("inline", "8080")
    );
    assert_eq!(server.args, ["-p", "8080", "1.10"]);
    assert_eq!(
        (server.origin.layer, server.origin.line),
        (Layer::Workspace, Some(4))
    );
    assert_eq!(server.origin.path.as_deref(), Some(found("").path.as_str()));
}

#[test]
fn servers_that_can_not_work_are_errors_in_their_line() {
    let cases = [
        ("mcp_servers:\n  - name: s", 4),
        ("mcp_servers:\n  - command: x", 4),
        ("mcp_servers:\n  - name: s\n    command: x\n    url: y", 4),
        (
            "mcp_servers:\n  - {name: s, command: x}\n  - {name: \" s \", command: y}",
            5,
        ),
        ("mcp_servers:\n  a/b: {command: x}", 4),
        ("mcp_servers: x", 3),
    ];
    for (line, number) in cases {
        let agent = agent_with(line);
        assert!(!agent.usable, "{line}");
        assert!(
            (number..number + 3).contains(&error(&agent.diagnostics).1),
            "{line}: {:?}",
            agent.diagnostics
        );
    }
}

#[test]
fn r149_the_file_beside_it_replaces_servers_of_the_same_name() {
    let sidecar = r#"{"mcpServers": {"s": {"command": "beside"}, "t": {"command": "new"}}}"#;
    let agent = read_agent(&beside(INLINE, Ok(sidecar)));
    assert!(agent.usable, "{:#?}", agent.diagnostics);
    let servers: Vec<_> = agent
        .mcp_servers
        .iter()
        .map(|server| (server.name.as_str(), server.command.as_str()))
        .collect();
    assert_eq!(servers, [("s", "beside"), ("u", ""), ("t", "new")]);
    assert!(agent.mcp_servers[0].args.is_empty(), "whole");
    assert_eq!(agent.mcp_servers[0].origin.path.as_deref(), Some(MCP_PATH));
}

#[test]
fn r150_a_broken_file_beside_it_is_an_error_of_this_agent_only() {
    let agent = read_agent(&beside(INLINE, Ok("{\n  // no\n}")));
    assert_eq!((agent.usable, agent.name.as_str()), (false, "reviewer"));
    assert_eq!(error(&agent.diagnostics).1, 2);
    assert_eq!(agent.diagnostics[0].path, MCP_PATH);
    for fault in [
        ReadFault::Unreadable,
        ReadFault::NotRegular,
        ReadFault::TooLarge { limit: 1 },
    ] {
        let agent = read_agent(&beside(INLINE, Err(fault)));
        assert!(!agent.usable);
        assert_eq!(agent.diagnostics[0].path, MCP_PATH);
    }
    assert!(read_agent(&found(INLINE)).usable, "others are usable");
}

#[test]
fn a_skill_has_the_servers_of_the_file_beside_it() {
    let sidecar = r#"{"mcpServers": {"s": {"command": "beside", "alwaysAllow": []}}}"#;
    let skill = read_skill(&beside("---\nname: k\n---\nText.\n", Ok(sidecar)), "agents");
    assert!(skill.usable);
    assert_eq!(skill.mcp_servers[0].name, "s");
    assert_eq!(skill.diagnostics.len(), 1);
    assert!(!read_skill(&beside("---\nname: k\n---\nText.\n", Ok("[]")), "agents").usable);
}
