//! Hooks of an agent, as written: what they mean is decided by whoever runs them. Secrets in them are not kept.

use super::fields::Fields;
use crate::config::secrets;
use crate::front_matter::{Finding, Place};
use crate::node::{Content, Node};
use crate::value::Value;

/// A table for each hook; one table for all of them, as other products have it, is kept as one.
pub(super) fn read(fields: &mut Fields<'_>) -> Vec<Value> {
    let Some(node) = fields.get("hooks") else {
        return Vec::new();
    };
    let items = match &node.content {
        Content::List(items) => items.as_slice(),
        _ => std::slice::from_ref(node),
    };
    let mut hooks = Vec::with_capacity(items.len());
    for item in items {
        match table(item) {
            Some(hook) => hooks.push(secrets::shown(&["front_matter"], &hook)),
            None => fields.tell(
                Finding::error(
                    "agent_hook_invalid",
                    Place::of(item),
                    format!("a hook must be a table, and is {}", item.kind()),
                    "write each hook as a table of its own, below `- `",
                )
                .about("hooks"),
            ),
        }
    }
    hooks
}

fn table(node: &Node) -> Option<Value> {
    match node.to_value()? {
        Value::Table(table) => Some(Value::Table(table)),
        _ => None,
    }
}
