//! The name of a file whose front matter can't be read as a whole. A broken agent shadows those of its name, so its
//! name is worth a second look: one line that says it plainly is enough.

use super::{FIRST_LINE, toml, yaml};
use crate::node::{Content, Node};

/// The name that a line of its own gives, the first one that does. With `to_first_blank` only lines before the first
/// blank one are looked at: without a second delimiter, what follows is most likely the text.
pub(super) fn name(text: &str, to_first_blank: bool) -> Option<Node> {
    for (line, number) in text.lines().zip(FIRST_LINE..) {
        if to_first_blank && line.trim().is_empty() {
            return None;
        }
        if let Some(behind) = line.strip_prefix("name")
            && behind.trim_start().starts_with([':', '='])
        {
            return value_of(line, number);
        }
    }
    None
}

fn value_of(line: &str, number: u32) -> Option<Node> {
    let fields = match yaml::parse(line, number) {
        Ok(tree) if !tree.has_half_value => tree.into_fields().fields,
        _ => None,
    };
    let in_yaml = fields.as_ref().and_then(|fields| fields.get("name")).cloned();
    let found = in_yaml.or_else(|| toml::parse(line, number).ok()?.fields?.get("name").cloned())?;
    match &found.content {
        // A byte that is no text was replaced by this character.
        Content::Text(name) if !name.contains('\u{fffd}') => Some(found),
        _ => None,
    }
}
