//! `config.toml` of every layer: what is taken is TOML, what is wrong has a place, every value says truly where it
//! comes from, and no secret is shown.

use compozy_domain::{Diagnostic, Layer};
use compozy_resolver::config::{
    EffectiveConfig, Leaf, Origin, UnknownKeys, check_file_with, key, read_user_file, resolve,
};
use compozy_resolver::value::{Table, Value};

use super::layers::Layers;
use super::places::{are_inside, are_silent, is_inside};
use super::planted::{in_json, in_toml};
use super::secrets::{is_redacted, is_secret_name, is_secret_table, password, server_is_silent, shown_hides};
use super::{Held, holds};

pub(super) const PIECES: &[&str] = &[
    "[",
    "]",
    "[[",
    "]]",
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
    "#",
    "\n",
    "\r\n",
    " ",
    "\t",
    "\\",
    "\\u00e9",
    "\\U0010FFFF",
    "#%% profile\n",
    "#%% workspace\n",
    "#%% workspace_profile\n",
    "#%% workspace mcp\n",
    "#%% user mcp\n",
    "[defaults]\nagent = \"a\"\n",
    "[providers.p]\n",
    "command = \"c\"\n",
    "env = { A_TOKEN = \"s3cr3t\" }\n",
    "secret_env.X = \"s3cr3t\"\n",
    "[[mcp_servers]]\nname = \"s\"\n",
    "url = \"https://u:s3cr3t@h\"\n",
    "headers = { A = \"s3cr3t\" }\n",
    "[[hooks.declarations]]\nname = \"h\"\nevent = \"e\"\n",
    "[[automation.jobs]]\nname = \"j\"\n",
    "[sandboxes.b]\n",
    "config.unknown_keys = \"warn\"\n",
    "store.url = \"postgres://a:s3cr3t@h/d\"\n",
    "loops.x = ",
    "[loops]\n",
    "[a.b]\n",
    "x = 1\n",
    "skills.sources = [\"agents\"]\n",
    "permissions.mode = \"deny-all\"\n",
    "session.start_timeout = \"1m\"\n",
    "1",
    "-0",
    "0x1f",
    "0b1",
    "1_0",
    "1e3",
    "inf",
    "nan",
    "9223372036854775808",
    "true",
    "2020-01-01",
    "2020-01-01T00:00:00Z",
    "[1, 2]",
    "{ a = 1 }",
    "\"a\".",
    "'a' = 1\n",
    "{\"mcpServers\": {\"s\": {\"command\": \"c\"}}}\n",
    "memory.session.ledger_root = \"/x\"\n",
    "gateway.api_key = \"s3cr3t\"\n",
    "\u{feff}",
    "name",
    "a",
    "[[",
    "x = [",
    "x = {",
];

pub(super) fn check(bytes: &[u8]) -> Held {
    let layers = Layers::of(bytes);
    for (layer, path, bytes) in layers.each().filter(|(_, path, _)| path.ends_with("config.toml")) {
        alone(layer, &path, bytes)?;
    }
    match resolve(&layers.sources(), "reviewer") {
        Ok(config) => effective(&config, &layers)?,
        Err(problems) => {
            holds(!problems.is_empty(), || "fails without a reason".to_owned())?;
            are_in_their_files(&problems, &layers)?;
        }
    }
    match resolve(&layers.map(in_toml, in_json).sources(), "reviewer") {
        Ok(config) => are_silent(config.diagnostics(), &[]),
        Err(problems) => are_silent(&problems, &[]),
    }
}

/// One file by itself.
fn alone(layer: Layer, path: &str, bytes: &[u8]) -> Held {
    let found = check_file_with(layer, path, bytes, UnknownKeys::Warn);
    are_inside(&found.problems, bytes)?;
    are_inside(&found.warnings, bytes)?;
    let has_place = |found: &Diagnostic| found.line.is_some() || found.code == "config_more_findings";
    holds(found.problems.iter().all(has_place), || {
        format!("no place: {:?}", found.problems)
    })?;
    if layer == Layer::User {
        let refused = read_user_file(path, bytes).err().unwrap_or_default();
        are_inside(&refused, bytes)?;
    }
    let body = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let codes: Vec<&str> = found.problems.iter().map(|problem| problem.code).collect();
    let is_slip = codes.contains(&"config_syntax") || codes.contains(&"config_duplicate_key");
    let Ok(text) = std::str::from_utf8(body) else {
        return holds(is_slip, || "takes what is no text".to_owned());
    };
    // Another reader goes as deep as the stack does.
    if codes.contains(&"config_too_deep") {
        return Ok(());
    }
    match text.parse::<toml_edit::Document<String>>() {
        Ok(_) => holds(!is_slip, || format!("does not take TOML: {codes:?}")),
        // A number that nobody can hold is no slip here, but refused all the same.
        Err(_) => holds(!codes.is_empty(), || "takes what is no TOML".to_owned()),
    }
}

fn are_in_their_files(found: &[Diagnostic], layers: &Layers) -> Held {
    for one in found {
        let bytes = layers.at(&one.path);
        holds(bytes.is_some(), || format!("is about no file: {one:?}"))?;
        are_inside(std::slice::from_ref(one), bytes.unwrap_or_default())?;
    }
    Ok(())
}

fn effective(config: &EffectiveConfig, layers: &Layers) -> Held {
    are_in_their_files(config.diagnostics(), layers)?;
    let keys: Vec<&str> = config.leaves().iter().map(|leaf| leaf.key.as_str()).collect();
    holds(keys.windows(2).all(|pair| pair[0] < pair[1]), || {
        format!("out of order: {keys:?}")
    })?;
    for leaf in config.leaves() {
        is_said(leaf, layers)?;
        is_in_tree(leaf, config)?;
        is_hidden(leaf)?;
    }
    tree_hides(config.tree_with_secrets(), &config.shown())?;
    for server in config.servers() {
        server_is_silent(server)?;
        shown_hides(server)?;
    }
    Ok(())
}

/// Whether the places that say a value are places of files, and in the order of their layers.
fn is_said(leaf: &Leaf, layers: &Layers) -> Held {
    let mut above = leaf.winner.layer;
    let losers = leaf.losers.iter().map(|(origin, _)| origin);
    for origin in std::iter::once(&leaf.winner).chain(losers) {
        holds(origin.layer <= above, || {
            format!("{}: {:?} lost to {above:?}", leaf.key, origin.layer)
        })?;
        above = origin.layer;
        is_place(leaf, origin, layers)?;
    }
    Ok(())
}

fn is_place(leaf: &Leaf, origin: &Origin, layers: &Layers) -> Held {
    let (Some(path), Some(line), Some(column)) = (&origin.path, origin.line, origin.column) else {
        let has_no_file = matches!(origin.layer, Layer::Default | Layer::Registration);
        return holds(has_no_file, || {
            format!("{}: no place in {:?}", leaf.key, origin.layer)
        });
    };
    let bytes = layers.at(path).unwrap_or_default();
    holds(is_inside(bytes, line, column), || {
        format!("{} is not at {origin:?}", leaf.key)
    })?;
    // A bare word can be looked for; a list's entry is called by its number or name.
    let last = leaf.key.rsplit('.').next().unwrap_or_default();
    let is_word = last
        .bytes()
        .all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    let text = String::from_utf8_lossy(bytes);
    let here = text
        .split('\n')
        .nth(usize::try_from(line).unwrap_or(0) - 1)
        .unwrap_or_default();
    let is_escaped =
        here.contains('\\') || path.ends_with("mcp.json") || last == "declarations" || last == "mcp_servers";
    holds(!is_word || is_escaped || here.contains(last), || {
        format!("{} is not on the line of {origin:?}", leaf.key)
    })
}

fn is_in_tree(leaf: &Leaf, config: &EffectiveConfig) -> Held {
    let found = config.leaf(&leaf.key);
    holds(found.is_some_and(|found| found.key == leaf.key), || {
        format!("{} is not found by its key", leaf.key)
    })?;
    let parts = key::split(&leaf.key).unwrap_or_default();
    let value = at(config.tree_with_secrets(), &parts);
    // A number that is none is not equal to itself.
    let is_same = value.is_some_and(|value| format!("{value:?}") == format!("{:?}", leaf.value));
    holds(is_same, || format!("{} is not in the tree", leaf.key))
}

fn at<'v>(table: &'v Table, parts: &[String]) -> Option<&'v Value> {
    let (first, rest) = parts.split_first()?;
    rest.iter()
        .try_fold(table.get(first)?, |value, part| match value {
            Value::Table(table) => table.get(part),
            Value::List(items) => {
                let is_called = |item: &&Value| {
                    let name = item
                        .as_table()
                        .and_then(|table| table.get("name"))
                        .and_then(Value::as_text);
                    name == Some(part)
                };
                items
                    .iter()
                    .find(is_called)
                    .or_else(|| items.get(part.parse::<usize>().ok()?))
            }
            _ => None,
        })
}

/// Whether a secret beyond doubt is shown by its leaf.
fn is_hidden(leaf: &Leaf) -> Held {
    let shown = leaf.shown();
    let is_same = format!("{shown:?}") == format!("{:?}", leaf.value);
    holds(leaf.is_secret != is_same, || {
        format!("{}: secret is {}", leaf.key, leaf.is_secret)
    })?;
    let losers = leaf.shown_losers();
    let pairs = leaf
        .losers
        .iter()
        .zip(&losers)
        .map(|((_, value), (_, shown))| (value, shown));
    for (value, shown) in std::iter::once((&leaf.value, &shown)).chain(pairs) {
        let parts = key::split(&leaf.key).unwrap_or_default();
        hides(&parts, value, shown).map_err(|fault| format!("{}: {fault}", leaf.key))?;
    }
    Ok(())
}

fn tree_hides(tree: &Table, shown: &Table) -> Held {
    holds(tree.keys().eq(shown.keys()), || {
        "the shown tree has other keys".to_owned()
    })?;
    for (key, value) in tree {
        hides(std::slice::from_ref(key), value, &shown[key])
            .map_err(|fault| format!("in the tree, {key}: {fault}"))?;
    }
    Ok(())
}

fn hides(path: &[String], value: &Value, shown: &Value) -> Held {
    if is_secret(path) {
        return holds(is_redacted(shown), || {
            format!("{} is shown", key::join(path.iter().map(String::as_str)))
        });
    }
    match (value, shown) {
        (Value::Table(table), Value::Table(shown)) => {
            holds(table.keys().eq(shown.keys()), || {
                "other keys are shown".to_owned()
            })?;
            for (key, value) in table {
                hides(&[path, std::slice::from_ref(key)].concat(), value, &shown[key])?;
            }
            Ok(())
        }
        (Value::List(items), Value::List(shown)) => {
            holds(items.len() == shown.len(), || {
                "a list of another length is shown".to_owned()
            })?;
            for (item, shown) in items.iter().zip(shown) {
                hides(&[path, &["0".to_owned()]].concat(), item, shown)?;
            }
            Ok(())
        }
        (Value::Text(text), Value::Text(shown)) => match password(text) {
            Some(password) => holds(!shown.contains(password), || {
                "the password of a URL is shown".to_owned()
            }),
            None => Ok(()),
        },
        _ => Ok(()),
    }
}

/// Whether a value is a secret beyond doubt: in an environment, a server, or a table of another product.
fn is_secret(path: &[String]) -> bool {
    let parts: Vec<&str> = path.iter().map(String::as_str).collect();
    match parts.as_slice() {
        ["providers" | "sandboxes", _, "secret_env", _, ..] => true,
        ["providers" | "sandboxes", _, "env", name] => is_secret_name(name),
        ["mcp_servers", _, table, _, ..] if is_secret_table(table) => true,
        ["mcp_servers", _, "env", name] => is_secret_name(name),
        ["gateway" | "loops" | "tools" | "extensions", below @ ..] => {
            below.iter().any(|part| is_secret_name(part))
        }
        _ => false,
    }
}
