//! Servers that several layers described together.

use compozy_domain::Layer;
use compozy_resolver::config::Origin;
use compozy_resolver::mcp::{McpServer, Transport, server_name};
use compozy_resolver::value::{Table, Value};

fn origin() -> Origin {
    Origin {
        layer: Layer::Workspace,
        path: Some("/r/.compozy/config.toml".to_owned()),
        line: Some(7),
        column: Some(1),
    }
}

fn table(fields: &[(&str, Value)]) -> Table {
    fields
        .iter()
        .map(|(key, value)| ((*key).to_owned(), value.clone()))
        .collect()
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

#[test]
fn a_merged_table_becomes_a_server() {
    let fields = table(&[
        ("name", text("s")),
        ("command", text("c")),
        ("args", Value::List(vec![text("a")])),
        ("env", Value::Table(table(&[("A", text("1"))]))),
        ("timeout", Value::Integer(5)),
    ]);
    let server = McpServer::from_table("s", &fields, &origin()).unwrap();
    assert_eq!(
        (server.transport, server.command.as_str()),
        (Transport::Stdio, "c")
    );
    assert_eq!(
        (
            server.args.len(),
            server.env["A"].as_str(),
            server.timeout.as_str()
        ),
        (1, "1", "5")
    );
    assert!(server.other.is_empty(), "its name is not one of its fields");
    assert_eq!(server.origin, origin());
}

#[test]
fn what_can_t_work_is_told_at_the_highest_place() {
    let patched = table(&[("command", text("c")), ("url", text("u"))]);
    let problems = McpServer::from_table("s", &patched, &origin()).unwrap_err();
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].location(), "/r/.compozy/config.toml:7:1");
    assert_eq!(problems[0].layer, Some(Layer::Workspace));
    assert!(McpServer::from_table("s", &Table::new(), &origin()).is_err());
}

#[test]
fn names_have_one_rule_wherever_they_stand() {
    assert_eq!(server_name(" a b "), Ok("a b"));
    assert!(server_name(" ").is_err() && server_name("a/b").is_err() && server_name("a\tb").is_err());
}
