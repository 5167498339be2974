//! From a table to a server: which fields there are, and what makes a server that can't work.

use compozy_domain::Diagnostic;

use super::fields::Fields;
use super::names::shown_name;
use super::{McpServer, Transport};
use crate::config::Origin;
use crate::node::{Content, Node};
use crate::value::{Table, Value};

/// Fields of other products that mean one of ours, all in small letters and without `_`. They are not read as such:
/// what such a file says to its own product may differ from what it would say here.
const RELATIVES: &[(&str, &str)] = &[
    ("enabled", "disabled"),
    ("environment", "env"),
    ("httpurl", "url"),
    ("requestheaders", "headers"),
    ("secretenv", "secret_env"),
    ("serverurl", "url"),
    ("timeoutms", "timeout"),
    ("transporttype", "transport"),
    ("workingdirectory", "cwd"),
];
const FIELDS: &[&str] = &[
    "type",
    "transport",
    "command",
    "args",
    "env",
    "secret_env",
    "cwd",
    "url",
    "headers",
    "auth",
    "timeout",
    "disabled",
    "description",
];

impl McpServer {
    /// A server from the table in which a file describes it. `name` is trimmed and checked already, see
    /// [`super::server_name`]; `origin` is the place of the server. Answers the warnings besides.
    ///
    /// # Errors
    /// Everything that is wrong, each at its own place.
    pub fn from_node(
        name: &str,
        node: &Node,
        origin: &Origin,
    ) -> Result<(Self, Vec<Diagnostic>), Vec<Diagnostic>> {
        let mut fields = Fields {
            server: name,
            origin,
            problems: Vec::new(),
            warnings: Vec::new(),
        };
        let mut server = Self::empty(name, origin);
        let Content::Table(entries) = &node.content else {
            let message = format!(
                "MCP server `{}` has to be a table, it is {}",
                shown_name(name),
                node.kind()
            );
            fields.problem(
                "mcp_wrong_type",
                "command",
                node,
                message,
                "describe the server in a table",
            );
            return Err(fields.problems);
        };
        let mut said = Vec::new();
        for (field, value) in entries {
            if matches!(field.as_str(), "type" | "transport") {
                said.extend(
                    fields
                        .transport(field, value)
                        .map(|transport| (field, value, transport)),
                );
            } else {
                server.take(&mut fields, field, value);
            }
        }
        if let [(_, _, first), (field, value, second)] = said.as_slice()
            && first != second
        {
            let message = "`type` and `transport` contradict each other".to_owned();
            let message = format!("MCP server `{}`: {message}", shown_name(name));
            fields.problem("mcp_contradiction", field, value, message, "remove one of them");
        }
        let said = said.first().map(|(_, _, transport)| *transport);
        server.settle_transport(&mut fields, node, said);
        let Fields {
            problems, warnings, ..
        } = fields;
        if problems.is_empty() {
            Ok((server, warnings))
        } else {
            Err(problems)
        }
    }

    /// A server out of a merged table. Its fields were read, and warned about, where they stand; here it is told
    /// whether all of them together make a server that can work. `origin` is the highest place that said something.
    ///
    /// # Errors
    /// Everything that is wrong, at the place of `origin`.
    pub fn from_table(name: &str, table: &Table, origin: &Origin) -> Result<Self, Vec<Diagnostic>> {
        let (line, column) = (origin.line.unwrap_or(1), origin.column.unwrap_or(1));
        let node = placed(&Value::Table(table.clone()), line, column);
        Self::from_node(name, &node, origin).map(|(server, _)| server)
    }

    fn empty(name: &str, origin: &Origin) -> Self {
        Self {
            name: name.to_owned(),
            transport: Transport::Stdio,
            command: String::new(),
            args: Vec::new(),
            env: std::collections::BTreeMap::new(),
            secret_env: std::collections::BTreeMap::new(),
            cwd: String::new(),
            url: String::new(),
            headers: std::collections::BTreeMap::new(),
            auth: None,
            timeout: String::new(),
            disabled: false,
            description: String::new(),
            other: Table::new(),
            origin: origin.clone(),
        }
    }

    fn take(&mut self, fields: &mut Fields<'_>, field: &str, value: &Node) {
        match field {
            "command" => self.command = fields.text(field, value),
            "args" => self.args = fields.texts(field, value),
            "env" => self.env = fields.text_map(field, value),
            "secret_env" => self.secret_env = fields.text_map(field, value),
            "cwd" => self.cwd = fields.text(field, value),
            "url" => self.url = fields.text(field, value),
            "headers" => self.headers = fields.text_map(field, value),
            "auth" => self.auth = value.to_value(),
            "timeout" => self.timeout = fields.timeout(field, value),
            "disabled" => self.disabled = fields.flag(field, value),
            "description" => self.description = fields.text(field, value),
            // Lists of servers name each server in it; in a table of servers it repeats the key.
            "name" if value.as_text().is_some_and(|text| text.trim() == self.name) => {}
            "name" => warn_other_name(fields, value),
            _ => {
                warn_unknown(fields, field, value);
                if let Some(value) = value.to_value() {
                    self.other.insert(field.to_owned(), value);
                }
            }
        }
    }

    /// A server is a command or a URL, and what it says about itself may not be the other one.
    fn settle_transport(&mut self, fields: &mut Fields<'_>, node: &Node, said: Option<Transport>) {
        let has_command = !self.command.trim().is_empty();
        let has_url = !self.url.trim().is_empty();
        let name = shown_name(&self.name);
        let (field, message, remedy) = match (has_command, has_url) {
            (true, true) => (
                "url",
                format!("MCP server `{name}` has both `command` and `url`"),
                "keep `command` for a program, or `url` for a server at an address",
            ),
            (false, true) if said == Some(Transport::Stdio) => (
                "command",
                format!("MCP server `{name}` is said to be stdio, has a `url`, but no `command`"),
                "add `command`, or correct its type to http or sse",
            ),
            (true, false) if matches!(said, Some(Transport::Http | Transport::Sse | Transport::Url)) => (
                "url",
                format!("MCP server `{name}` is said to have an address, has a `command`, but no `url`"),
                "add `url`, or correct its type to stdio",
            ),
            (false, false) => missing(&name, said),
            (true, false) => {
                self.transport = Transport::Stdio;
                return;
            }
            (false, true) => {
                self.transport = said.unwrap_or(Transport::Url);
                return;
            }
        };
        // A field of a wrong type is told already, and counts as there.
        let is_told = |field: &str| {
            let there = node.get(field);
            there.is_some_and(|node| !matches!(node.content, Content::Text(_) | Content::Null))
        };
        if is_told("command") || is_told("url") {
            return;
        }
        let code = if has_command && has_url {
            "mcp_contradiction"
        } else {
            "mcp_missing_field"
        };
        let at = node.get(field).unwrap_or(node);
        fields.problem(code, field, at, message, remedy);
    }
}

fn missing(name: &str, said: Option<Transport>) -> (&'static str, String, &'static str) {
    match said {
        Some(Transport::Stdio) => (
            "command",
            format!("MCP server `{name}` has no `command`, which stdio needs"),
            "add `command`, or remove the server",
        ),
        Some(Transport::Http | Transport::Sse | Transport::Url) => (
            "url",
            format!("MCP server `{name}` has no `url`, which http and sse need"),
            "add `url`, or remove the server",
        ),
        None => (
            "command",
            format!("MCP server `{name}` has neither `command` nor `url`"),
            "add `command` for a program, or `url` for a server at an address",
        ),
    }
}

/// A name within a table that has one already: which of two names is meant elsewhere, nobody here can tell.
fn warn_other_name(fields: &mut Fields<'_>, value: &Node) {
    let message = format!(
        "{} is another name than the one that the file calls it by; it has no effect",
        fields.named("name")
    );
    fields.warn(
        "mcp_unknown_field",
        "name",
        value,
        message,
        "remove it, or rename the server",
    );
}

fn warn_unknown(fields: &mut Fields<'_>, field: &str, value: &Node) {
    let plain: String = field.chars().filter(|letter| *letter != '_').collect();
    let plain = plain.to_ascii_lowercase();
    let meant = RELATIVES
        .iter()
        .find_map(|(relative, known)| (*relative == plain).then_some(*known))
        .or_else(|| {
            FIELDS
                .iter()
                .copied()
                .find(|known| known.replace('_', "") == plain)
        });
    let shown = shown_name(field);
    let message = format!(
        "{} is not known here; it is kept and has no effect",
        fields.named(&shown)
    );
    let remedy = match meant {
        Some(known) => format!("write `{known}` if that is meant"),
        None => "remove it if nobody else reads this file".to_owned(),
    };
    fields.warn(
        "mcp_unknown_field",
        &super::names::shown_key(field),
        value,
        message,
        &remedy,
    );
}

/// A value as if all of it stood at one place.
fn placed(value: &Value, line: u32, column: u32) -> Node {
    let content = match value {
        Value::Text(text) => Content::Text(text.clone()),
        Value::Integer(number) => Content::Integer(*number),
        Value::Float(number) => Content::Float(*number),
        Value::Flag(flag) => Content::Flag(*flag),
        Value::Time(text) => Content::Time(text.clone()),
        Value::List(items) => Content::List(items.iter().map(|item| placed(item, line, column)).collect()),
        Value::Table(table) => {
            let entries = table.iter();
            Content::Table(
                entries
                    .map(|(key, value)| (key.clone(), placed(value, line, column)))
                    .collect(),
            )
        }
    };
    Node {
        line,
        column,
        content,
    }
}
