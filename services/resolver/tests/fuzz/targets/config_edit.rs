//! One key of a `config.toml`, set and taken out: the first line of the input says what to do, `set user a.b value`,
//! the rest is the file.

use compozy_domain::Layer;
use compozy_resolver::config::{Edited, UnknownKeys, check_file_with, key, set, unset};
use toml_edit::{DocumentMut, Item, TableLike};

use super::places::are_silent;
use super::planted::{MARK, in_toml};
use super::{Held, holds};

pub(super) const PIECES: &[&str] = &[
    "set user defaults.agent a\n",
    "set workspace providers.p.command c\n",
    "set user providers.p.env.A 1\n",
    "set user mcp_servers.s.command c\n",
    "set user mcp_servers.s.env.A b\n",
    "set user skills.disabled_skills [\"a\"]\n",
    "set user loops.a.b 3\n",
    "set user loops.x { y = 1 }\n",
    "set profile defaults.provider \"q\"\n",
    "set user hooks.declarations.h.event e\n",
    "set user grpc.listen 127.0.0.1:1\n",
    "set user changes.retain_entries 5\n",
    "[",
    "]",
    "[[",
    "{",
    "}",
    "=",
    " = ",
    ".",
    ",",
    "\"",
    "'",
    "\"\"\"",
    "'''",
    "# c\n",
    "#",
    "\n",
    "\r\n",
    " ",
    "\t",
    "\\",
    "[defaults]\n",
    "agent = \"a\" # c\n",
    "[providers.p]\n",
    "[providers]\n",
    "p.command = \"c\"\n",
    "providers = { p = { command = \"c\" } }\n",
    "env = { A = \"1\", B = \"2\" }\n",
    "env.A = \"1\"\n",
    "[[mcp_servers]]\nname = \"s\"\ncommand = \"c\"\n",
    "mcp_servers = [{ name = \"s\", command = \"c\" }]\n",
    "[mcp_servers.env]\n",
    "[[hooks.declarations]]\nname = \"h\"\nevent = \"e\"\n",
    "[loops]\na.b = 1\n",
    "[loops.a]\n",
    "[skills]\ndisabled_skills = [\n  \"a\", # c\n]\n",
    "\u{feff}",
    "x = 1\n",
    "\"providers\".'p'.command = \"d\"\n",
    "[ providers . p ] # c\n",
    "''' a\nb'''\n",
];
const PATH: &str = "/c/config.toml";

pub(super) fn check(bytes: &[u8]) -> Held {
    let Ok(input) = std::str::from_utf8(bytes) else {
        return Ok(());
    };
    let (first, text) = input.split_once('\n').unwrap_or((input, ""));
    let Some(order) = Order::of(first) else {
        return Ok(());
    };
    match set(order.layer, PATH, text, order.key, order.value) {
        Ok(edited) => is_set(&order, text, &edited)?,
        // Places of what is wrong are those of the file that would have been.
        Err(problems) => holds(!problems.is_empty(), || "is refused without a reason".to_owned())?,
    }
    match unset(order.layer, PATH, text, order.key) {
        Ok(edited) => is_unset(&order, text, &edited)?,
        Err(problems) => holds(!problems.is_empty(), || "is refused without a reason".to_owned())?,
    }
    let marked = String::from_utf8(in_toml(text.as_bytes())).unwrap_or_default();
    let value = format!("{MARK}{}", order.value);
    let refused = set(order.layer, PATH, &marked, order.key, &value).err();
    are_silent(&refused.unwrap_or_default(), &[])
}

struct Order<'t> {
    layer: Layer,
    key: &'t str,
    value: &'t str,
}

impl<'t> Order<'t> {
    fn of(line: &'t str) -> Option<Self> {
        let mut words = line.strip_prefix("set ")?.splitn(3, ' ');
        let word = words.next()?;
        let layers = [
            Layer::User,
            Layer::Profile,
            Layer::Workspace,
            Layer::WorkspaceProfile,
        ];
        let layer = layers.into_iter().find(|layer| layer.as_str() == word)?;
        Some(Self {
            layer,
            key: words.next()?,
            value: words.next().unwrap_or_default(),
        })
    }
}

fn is_set(order: &Order<'_>, text: &str, edited: &Edited) -> Held {
    is_good(order, edited)?;
    holds(edited.line.is_some(), || "is set on no line".to_owned())?;
    let again = set(order.layer, PATH, &edited.text, order.key, order.value);
    let is_settled = again
        .as_ref()
        .is_ok_and(|again| !again.changed && again.text == edited.text);
    holds(is_settled, || {
        format!(
            "is changed again by the same: {:?}",
            again.map(|again| again.text)
        )
    })?;
    let parts = key::split(order.key).unwrap_or_default();
    others_are_same(&parts, text, &edited.text)?;
    comments_are_same(&parts, text, &edited.text, true)
}

fn is_unset(order: &Order<'_>, text: &str, edited: &Edited) -> Held {
    holds(edited.line.is_none(), || "is still there".to_owned())?;
    is_good(order, edited)?;
    let parts = key::split(order.key).unwrap_or_default();
    holds(value_of(&edited.text, &parts).is_none(), || {
        "has a value still".to_owned()
    })?;
    others_are_same(&parts, text, &edited.text)?;
    comments_are_same(&parts, text, &edited.text, false)
}

/// Whether the file can be used: as the daemon would see it, unknown keys aside.
fn is_good(order: &Order<'_>, edited: &Edited) -> Held {
    let found = check_file_with(order.layer, PATH, edited.text.as_bytes(), UnknownKeys::Warn);
    holds(found.problems.is_empty(), || {
        format!("{:?} in {:?}", found.problems, edited.text)
    })
}

/// Whether every other key says what it said.
fn others_are_same(parts: &[String], before: &str, after: &str) -> Held {
    let (Some(mut old), Some(mut new)) = (parsed(before), parsed(after)) else {
        return Err("was edited and is no TOML".to_owned());
    };
    for document in [&mut old, &mut new] {
        remove(document.as_table_mut(), parts);
    }
    let (old, new) = (plain(&old), plain(&new));
    holds(old == new, || format!("other keys were\n{old}and are\n{new}"))
}

/// Whether every comment is there still. Those behind or inside of the value itself may go with it.
fn comments_are_same(parts: &[String], before: &str, after: &str, is_set: bool) -> Held {
    let own = value_of(before, parts)
        .map(|value| value.to_string())
        .unwrap_or_default();
    let is_alone = |line: &str| line.trim_start().starts_with('#') && !own.contains(line.trim());
    let has_texts = |text: &str| text.contains("\"\"\"") || text.contains("'''");
    if has_texts(before) || has_texts(after) || (own.contains('\n') && !is_set) {
        return Ok(());
    }
    let of = |text: &str| {
        let lines = text.lines().filter(|line| is_alone(line));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let (old, new) = (of(before), of(after));
    holds(old == new, || format!("comments were {old:?} and are {new:?}"))
}

fn parsed(text: &str) -> Option<DocumentMut> {
    text.strip_prefix('\u{feff}').unwrap_or(text).parse().ok()
}

fn value_of(text: &str, parts: &[String]) -> Option<Item> {
    let document = parsed(text)?;
    let (last, above) = parts.split_last()?;
    let mut found = None;
    with_table(document.clone().as_table_mut(), above, &mut |table| {
        found = table.get(last).cloned();
    });
    found
}

fn remove(table: &mut dyn TableLike, parts: &[String]) {
    let Some((last, above)) = parts.split_last() else {
        return;
    };
    with_table(table, above, &mut |table| {
        table.remove(last);
    });
}

/// Calls with the table of a dotted key; an entry of a list by name is called by it.
fn with_table(table: &mut dyn TableLike, parts: &[String], call: &mut dyn FnMut(&mut dyn TableLike)) {
    let Some((part, rest)) = parts.split_first() else {
        return call(table);
    };
    let Some(item) = table.get_mut(part) else { return };
    let is_called = |table: &dyn TableLike, name: &str| {
        let own = table.get("name").and_then(Item::as_str);
        own.is_some_and(|own| own.trim() == name)
    };
    if let Some(tables) = item.as_array_of_tables_mut() {
        let Some((name, rest)) = rest.split_first() else {
            return;
        };
        if let Some(table) = tables.iter_mut().find(|table| is_called(*table, name)) {
            with_table(table, rest, call);
        }
    } else if let Some(items) = item.as_array_mut() {
        let Some((name, rest)) = rest.split_first() else {
            return;
        };
        let mut tables = items.iter_mut().filter_map(toml_edit::Value::as_inline_table_mut);
        if let Some(table) = tables.find(|table| is_called(*table, name)) {
            with_table(table, rest, call);
        }
    } else if let Some(table) = item.as_table_like_mut() {
        with_table(table, rest, call);
    }
}

/// What a document says, whatever it looks like; tables with nothing in them say nothing.
fn plain(document: &DocumentMut) -> String {
    let mut lines = Vec::new();
    push_plain(&mut lines, "", document.as_item());
    lines.sort();
    lines.concat()
}

fn push_plain(lines: &mut Vec<String>, path: &str, item: &Item) {
    if let Some(tables) = item.as_array_of_tables() {
        for (at, table) in tables.iter().enumerate() {
            push_entries(lines, &format!("{path}.{at}"), table);
        }
    } else if let Some(table) = item.as_table_like() {
        push_entries(lines, path, table);
    } else if let Some(items) = item.as_array() {
        if items.is_empty() {
            lines.push(format!("{path} = []\n"));
        }
        for (at, value) in items.iter().enumerate() {
            push_plain(lines, &format!("{path}.{at}"), &Item::Value(value.clone()));
        }
    } else if let Some(value) = item.as_value() {
        lines.push(format!("{path} = {}\n", value.clone().decorated("", "")));
    }
}

fn push_entries(lines: &mut Vec<String>, path: &str, table: &dyn TableLike) {
    let before = lines.len();
    for (key, item) in table.iter() {
        push_plain(lines, &format!("{path}.{key:?}"), item);
    }
    // An entry that has nothing but its name is the place of a key that was taken out again.
    if table.contains_key("name") && lines.len() == before + 1 {
        lines.truncate(before);
    }
}
