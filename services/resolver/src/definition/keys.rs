//! Keys of a front matter that nobody reads.

use super::fields::Fields;
use crate::front_matter::{Finding, Place, key_shown};

/// Names of other products for fields of ours, in the form of [`folded`].
const RELATIVES: &[(&str, &str)] = &[
    ("allowedtools", "tools"),
    ("disallowedtools", "deny_tools"),
    ("deniedtools", "deny_tools"),
    ("permissionmode", "permissions"),
    ("disabledskills", "skills.disabled"),
    ("category", "category_path"),
    ("effort", "reasoning_effort"),
];
/// Slips of the hand in a key that somebody still meant.
const SLIPS_MAX: usize = 2;

/// Tells of every key of an agent that is not known.
pub(super) fn unknown_to_agents(fields: &mut Fields<'_>, known: &[&str]) {
    for (key, node) in fields.entries() {
        if known.contains(&key.as_str()) {
            continue;
        }
        let mut found = unknown_in_agent(key, Place::of(node));
        if let Some(meant) = meant(key, known) {
            found.message.push_str(&format!("; did you mean `{meant}`?"));
            found.remedy = "correct the key, or remove it".to_owned();
        }
        fields.tell(found);
    }
}

/// A key of an agent that is not known.
pub(super) fn unknown_in_agent(key: &str, place: Place) -> Finding {
    let message = format!("the key `{}` is not known and has no effect", key_shown(key));
    Finding::warning(
        "agent_unknown_key",
        place,
        message,
        "remove it if nothing else reads it",
    )
    .about(key)
}

/// Tells of keys of a skill that were meant to be others. Skills carry keys of many products, and most say nothing to
/// this one; but without a name or description it is worth a look whether there is one with a slip in it.
pub(super) fn mistaken_in_skills(fields: &mut Fields<'_>, known: &[&str]) {
    for (key, node) in fields.entries() {
        if known.contains(&key.as_str()) {
            continue;
        }
        let Some(meant) = meant(key, known).filter(|meant| fields.get(meant).is_none()) else {
            continue;
        };
        let about = format!(
            "the key `{}` is not read; did you mean `{meant}`?",
            key_shown(key)
        );
        let found = Finding::info("skill_unknown_key", Place::of(node), about, "correct the key");
        fields.tell(found.about(key));
    }
}

/// The known key that somebody probably meant.
fn meant<'k>(key: &str, known: &[&'k str]) -> Option<&'k str> {
    // A key of a hostile file may be long; what is longer than any known key is near none.
    if key.len() > 64 {
        return None;
    }
    let folded_key = folded(key);
    let relative = RELATIVES.iter().find(|(name, _)| *name == folded_key);
    if let Some((_, meant)) = relative
        && let Some(known) = known.iter().find(|known| *known == meant)
    {
        return Some(known);
    }
    let near = known
        .iter()
        .map(|known| (strsim::osa_distance(&folded_key, &folded(known)), *known));
    let (distance, meant) = near.min()?;
    (distance <= SLIPS_MAX.min(meant.len() / 3)).then_some(meant)
}

/// A key without what products write differently: case, `-` and `_`.
fn folded(key: &str) -> String {
    key.chars()
        .filter(|letter| *letter != '-' && *letter != '_')
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_and_relatives_find_their_key_and_nonsense_none() {
        let known = [
            "name",
            "description",
            "tools",
            "deny_tools",
            "mcp_servers",
            "permissions",
        ];
        assert_eq!(meant("descripton", &known), Some("description"));
        assert_eq!(meant("Name", &known), Some("name"));
        assert_eq!(meant("allowed-tools", &known), Some("tools"));
        assert_eq!(meant("mcpServers", &known), Some("mcp_servers"));
        assert_eq!(meant("permissionMode", &known), Some("permissions"));
        assert_eq!(meant("colour", &known), None);
        assert_eq!(meant(&"é".repeat(100_000), &known), None);
    }
}
