//! What an agent or a skill is called. A broken definition shadows those of its name, so each of them has one, whatever
//! its file looks like.

use compozy_domain::text::check_agent;

use super::fields::Fields;
use crate::front_matter::{Finding, Place};
use crate::node::Content;

/// Characters of a skill's name at most.
const SKILL_NAME_MAX: usize = 128;
/// Names that the product itself uses.
const RESERVED: &[&str] = &["coordinator", "dreaming-curator"];
const AGENT_RULE: &str =
    "must begin with a small letter and have up to 106 small letters, digits, `_` and `-` (a-z, 0-9)";

/// The name of an agent, of the front matter if that has a good one, else of the directory.
pub(super) fn of_agent(fields: &mut Fields<'_>, directory: &str) -> String {
    let name = agent_name(fields, directory);
    if is_reserved(&name) || is_reserved(directory) {
        let place = fields.name_place();
        fields.tell(
            Finding::error(
                "agent_name_reserved",
                place,
                format!("the names {} are reserved, in any case", listed(RESERVED)),
                "give the agent and its directory another name",
            )
            .about("name"),
        );
    }
    name
}

/// The name of a skill.
pub(super) fn of_skill(fields: &mut Fields<'_>, directory: &str) -> String {
    let Some(node) = fields.name_node() else {
        if fields.is_whole() {
            fields.tell(missing("skill_name_missing", directory));
        }
        return directory.to_owned();
    };
    let place = Place::of(&node);
    let Some(text) = fields.text_of(&node) else {
        fields.tell(invalid(
            "skill_name_invalid",
            place,
            &format!("must be a text, not {}", node.kind()),
        ));
        return directory.to_owned();
    };
    let name = text.trim();
    let broken_rule = if name.is_empty() {
        "must not be empty"
    } else if name.contains('/') {
        "must not hold a `/`"
    } else if name.chars().any(char::is_control) {
        "must not hold control characters or line ends"
    } else if name.chars().count() > SKILL_NAME_MAX {
        "must have at most 128 characters"
    } else {
        return name.to_owned();
    };
    fields.tell(invalid("skill_name_invalid", place, broken_rule));
    directory.to_owned()
}

fn agent_name(fields: &mut Fields<'_>, directory: &str) -> String {
    let Some(node) = fields.name_node() else {
        if fields.is_whole() {
            fields.tell(without_name(directory));
        }
        return directory.to_owned();
    };
    let place = Place::of(&node);
    // `name: 42` is a number, and a name that happens to look like one is better not taken for a text.
    let Content::Text(name) = &node.content else {
        let rule = format!("must be a text, not {}, and {AGENT_RULE}", node.kind());
        fields.tell(invalid("agent_name_invalid", place, &rule));
        return directory.to_owned();
    };
    if is_reserved(name) {
        return name.clone();
    }
    if !is_agent_name(name) {
        fields.tell(invalid("agent_name_invalid", place, AGENT_RULE));
        return directory.to_owned();
    }
    if name != directory {
        fields.tell(
            Finding::warning(
                "agent_name_mismatch",
                place,
                format!(
                    "the name is not that of the directory, `{directory}`; the agent is known by its name"
                ),
                "give both the same name",
            )
            .about("name"),
        );
    }
    name.clone()
}

fn without_name(directory: &str) -> Finding {
    if is_agent_name(directory) || is_reserved(directory) {
        return missing("agent_name_missing", directory);
    }
    Finding::error(
        "agent_name_missing",
        Place::start_of(1),
        "there is no `name`, and the name of the directory is none for an agent",
        format!("add a `name`: it {AGENT_RULE}"),
    )
    .about("name")
}

fn missing(code: &'static str, directory: &str) -> Finding {
    Finding::warning(
        code,
        Place::start_of(1),
        format!("there is no `name`; the name of the directory is used, `{directory}`"),
        "add a line `name: ...` to the front matter",
    )
    .about("name")
}

fn invalid(code: &'static str, place: Place, rule: &str) -> Finding {
    let message = format!("the name {rule}");
    Finding::error(code, place, message, "give it another name").about("name")
}

fn is_agent_name(name: &str) -> bool {
    !name.is_empty() && check_agent(name, "name").is_ok()
}

fn is_reserved(name: &str) -> bool {
    RESERVED
        .iter()
        .any(|reserved| reserved.eq_ignore_ascii_case(name))
}

fn listed(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(" and ")
}
