//! `mcp.json`: what is taken is JSON and says the same to everybody; no value of it is told, no secret shown.

use compozy_domain::Layer;
use compozy_resolver::mcp::{McpFile, read};
use compozy_resolver::node::{Content, Node};
use serde_json::Value;

use super::places::{are_inside, are_silent};
use super::planted::in_json;
use super::secrets::{server_is_silent, shown_hides};
use super::{Held, holds};

pub(super) const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"",
    "{\"mcpServers\": {",
    "\"mcp_servers\"",
    "\"mcpServers\"",
    "\"command\": \"c\"",
    "\"url\": \"https://u:s3cr3t@h/p?token=s3cr3t\"",
    "\"type\": \"http\"",
    "\"transport\": \"stdio\"",
    "\"args\": [\"a\"]",
    "\"env\": {\"A_TOKEN\": \"s3cr3t\", \"B\": \"c\"}",
    "\"secret_env\": {\"X\": \"s3cr3t\"}",
    "\"headers\": {\"Authorization\": \"s3cr3t\"}",
    "\"auth\": {\"a\": [\"s3cr3t\"]}",
    "\"timeout\": 30",
    "\"disabled\": true",
    "\"description\": \"d\"",
    "\"cwd\": \"/\"",
    "\"other\": {\"apiKey\": \"s3cr3t\"}",
    "\"a\"",
    "\"\"",
    "\" \"",
    "\"a/b\"",
    "\"\\u0000\"",
    "\\u00e9",
    "\\ud800",
    "\\ud83d\\ude00",
    "\\n",
    "\\",
    "1",
    "-0",
    "01",
    "1.5e3",
    "1e400",
    "9223372036854775808",
    "-1",
    "true",
    "false",
    "null",
    "nul",
    " ",
    "\n",
    "\t",
    "// c\n",
    "/* c */",
    "# c\n",
    "'a'",
    "NaN",
    ", ,",
    ",}",
    "\u{feff}",
    "\u{2028}",
    "\u{a0}",
];
const PATH: &str = "/r/.compozy/mcp.json";

pub(super) fn check(bytes: &[u8]) -> Held {
    let file = read(Layer::Workspace, PATH, bytes);
    are_inside(&file.problems, bytes)?;
    are_inside(&file.warnings, bytes)?;
    agrees_with_others(&file, bytes)?;
    for table in &file.servers {
        holds(!table.name.is_empty() && table.name == table.name.trim(), || {
            format!("{:?} is the name of a server", table.name)
        })?;
        let Some(server) = &table.server else { continue };
        server_is_silent(server)?;
        shown_hides(server)?;
        holds(server.command.is_empty() != server.url.is_empty(), || {
            format!("{} has both of command and url, or none", server.name)
        })?;
    }
    let marked = in_json(bytes);
    let told = read(Layer::Workspace, PATH, &marked);
    are_silent(&told.problems, &[])?;
    are_silent(&told.warnings, &[])
}

/// What is taken is JSON; what is JSON is not called something else.
fn agrees_with_others(file: &McpFile, bytes: &[u8]) -> Held {
    let body = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let other: Result<Value, _> = serde_json::from_slice(body);
    let Ok(value) = other else {
        return holds(!file.problems.is_empty(), || "takes what is no JSON".to_owned());
    };
    let slip = file.problems.iter().find(|problem| problem.code == "mcp_syntax");
    // What no computer can hold is a slip here and may be rounded there.
    let is_number = slip.is_some_and(|slip| slip.message.contains("number is too large"));
    holds(slip.is_none() || is_number, || {
        format!("does not take JSON: {slip:?}")
    })?;
    if !file.problems.is_empty() {
        return Ok(());
    }
    for (key, node) in &file.other {
        let says_same = value.get(key).is_some_and(|value| is_same(node, value));
        holds(says_same, || format!("{key:?} says something else to others"))?;
    }
    for table in &file.servers {
        let there = ["mcp_servers", "mcpServers"].iter().find_map(|own| {
            let servers = value.get(own)?.as_object()?;
            let mut fitting = servers.iter().filter(|(name, _)| name.trim() == table.name);
            fitting.next().map(|(_, server)| server)
        });
        let says_same = there.is_some_and(|value| is_same(&table.node, value));
        holds(says_same, || {
            format!("server {:?} says something else to others", table.name)
        })?;
    }
    Ok(())
}

fn is_same(node: &Node, value: &Value) -> bool {
    match (&node.content, value) {
        (Content::Null, Value::Null) => true,
        (Content::Text(own), Value::String(other)) => own == other,
        (Content::Flag(own), Value::Bool(other)) => own == other,
        (Content::Integer(own), Value::Number(other)) => {
            other.as_i64().is_some_and(|other| other == *own) || (*own == 0 && other.as_f64() == Some(0.0))
        }
        (Content::Float(own), Value::Number(other)) => {
            let other = other.as_f64().unwrap_or(f64::NAN);
            // Others round the last digit in another way.
            (own - other).abs() <= own.abs() * 1e-14
        }
        (Content::List(own), Value::Array(other)) => {
            own.len() == other.len() && own.iter().zip(other).all(|(own, other)| is_same(own, other))
        }
        (Content::Table(own), Value::Object(other)) => {
            let says_same =
                |(key, node): &(String, Node)| other.get(key).is_some_and(|other| is_same(node, other));
            own.len() == other.len() && own.iter().all(says_same)
        }
        _ => false,
    }
}
