//! What holds for any files: every value says truly where it comes from, and is what a merge by hand would give.

use std::collections::BTreeMap;

use compozy_domain::Layer;
use compozy_resolver::config::secrets::shown_text;
use compozy_resolver::config::{EffectiveConfig, Origin, check_file, set, unset};
use compozy_resolver::value::Value;
use proptest::prelude::*;

use crate::support::{Files, LAYERS, config_path, leaf, text};

/// Keys of tables that a layer may set, each with a text of its own.
const KEYS: [(&str, &str); 10] = [
    ("defaults", "provider"),
    ("defaults", "agent"),
    ("providers.p", "command"),
    ("providers.p", "model"),
    ("providers.q", "command"),
    ("providers.p.env", "A"),
    ("providers.p.env", "B"),
    ("loops", "x"),
    ("loops.deep", "y"),
    ("memory.other", "z"),
];
/// Names and fields of things that are told apart by name.
const NAMES: [&str; 3] = ["s", "t", "u"];
const SERVER_FIELDS: [&str; 3] = ["command", "cwd", "description"];
const HOOK_FIELDS: [&str; 3] = ["command", "event", "cwd"];

/// What one layer says.
#[derive(Debug, Clone)]
struct Said {
    layer: Layer,
    keys: Vec<usize>,
    list: Option<usize>,
    servers: Vec<(usize, Vec<usize>)>,
    hooks: Vec<(usize, Vec<usize>)>,
    jobs: usize,
    json: Vec<(usize, Vec<usize>)>,
}

/// Things with a name, in any order, with any of their fields in any order.
fn named() -> impl Strategy<Value = Vec<(usize, Vec<usize>)>> {
    let names = proptest::sample::subsequence(vec![0, 1, 2], 0..=3).prop_shuffle();
    let fields = proptest::sample::subsequence(vec![1, 2], 0..=2).prop_shuffle();
    (names, proptest::collection::vec(fields, 3)).prop_map(|(names, fields)| {
        let named = names.into_iter().zip(fields);
        // Each of them can work by itself.
        named
            .map(|(name, fields)| (name, [vec![0], fields].concat()))
            .collect()
    })
}

fn said(layer: Layer) -> impl Strategy<Value = Said> {
    let keys: Vec<usize> = (0..KEYS.len()).collect();
    let keys = proptest::sample::subsequence(keys, 0..=KEYS.len()).prop_shuffle();
    (
        keys,
        proptest::option::of(0_usize..3),
        named(),
        named(),
        0_usize..3,
        named(),
    )
        .prop_map(move |(keys, list, servers, hooks, jobs, json)| Said {
            layer,
            keys,
            list,
            servers,
            hooks,
            jobs,
            json,
        })
}

fn layers() -> impl Strategy<Value = Vec<Said>> {
    let all = LAYERS.map(said);
    (all, proptest::sample::subsequence(vec![0, 1, 2, 3], 0..=4))
        .prop_map(|(all, spoken)| spoken.into_iter().map(|at| all[at].clone()).collect())
}

impl Said {
    /// A value that nobody else says.
    fn value(&self, what: &str) -> String {
        let what: String = what
            .chars()
            .map(|c| if c.is_alphanumeric() { c } else { '-' })
            .collect();
        format!(
            "v-{}-{}",
            self.layer.as_str().replace('_', "-"),
            what.to_lowercase()
        )
    }

    fn config(&self) -> String {
        let mut out = String::new();
        // Keys of one table stand together, because a table is opened once.
        let mut tables: Vec<&str> = Vec::new();
        for key in &self.keys {
            if !tables.contains(&KEYS[*key].0) {
                tables.push(KEYS[*key].0);
            }
        }
        for table in tables {
            out.push_str(&format!("[{table}]\n"));
            for (_, key) in self
                .keys
                .iter()
                .map(|at| KEYS[*at])
                .filter(|(own, _)| *own == table)
            {
                out.push_str(&format!(
                    "{key} = \"{}\"\n",
                    self.value(&format!("{table}.{key}"))
                ));
            }
        }
        if let Some(count) = self.list {
            let items: Vec<String> = (0..count)
                .map(|at| format!("\"{}\"", self.value(&format!("list{at}"))))
                .collect();
            out.push_str(&format!("[skills]\ndisabled_skills = [{}]\n", items.join(", ")));
        }
        for (list, named, fields) in [
            ("mcp_servers", &self.servers, SERVER_FIELDS),
            ("hooks.declarations", &self.hooks, HOOK_FIELDS),
        ] {
            for (name, own) in named {
                let name = NAMES[*name];
                out.push_str(&format!("[[{list}]]\nname = \"{name}\"\n"));
                for field in own.iter().map(|field| fields[*field]) {
                    out.push_str(&format!(
                        "{field} = \"{}\"\n",
                        self.value(&format!("{list}.{name}.{field}"))
                    ));
                }
            }
        }
        for job in 0..self.jobs {
            out.push_str(&format!(
                "[[automation.jobs]] # {}\n",
                self.value(&format!("job{job}"))
            ));
            out.push_str(&format!("id = \"{}\"\n", self.value(&format!("job{job}"))));
        }
        out
    }

    fn json(&self) -> String {
        let servers = self.json.iter().map(|(name, fields)| {
            let name = NAMES[*name];
            let fields = fields.iter().map(|field| SERVER_FIELDS[*field]);
            let fields: Vec<String> = fields
                .map(|field| format!("\"{field}\": \"{}\"", self.value(&format!("json.{name}.{field}"))))
                .collect();
            format!("\"{name}\": {{{}}}", fields.join(", "))
        });
        format!(
            "{{\"mcpServers\": {{\n{}\n}}}}\n",
            servers.collect::<Vec<_>>().join(",\n")
        )
    }
}

fn files(layers: &[Said]) -> Files {
    layers.iter().fold(Files::default(), |files, said| {
        files
            .config(said.layer, &said.config())
            .mcp(said.layer, &said.json())
    })
}

/// The merge by hand: every statement in its order, the last one counts.
fn by_hand(layers: &[Said]) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::new();
    let mut jobs = 0;
    for said in layers {
        for (table, key) in said.keys.iter().map(|at| KEYS[*at]) {
            let key = format!("{table}.{key}");
            all.insert(key.clone(), text(&said.value(&key)));
        }
        if let Some(count) = said.list {
            let items = (0..count).map(|at| text(&said.value(&format!("list{at}"))));
            all.insert("skills.disabled_skills".to_owned(), Value::List(items.collect()));
        }
        let mut put = |key: String, value: String| all.insert(key, text(&value));
        for (name, fields) in &said.servers {
            for field in fields.iter().map(|field| SERVER_FIELDS[*field]) {
                let key = format!("mcp_servers.{}.{field}", NAMES[*name]);
                put(key.clone(), said.value(&key));
            }
        }
        for (name, fields) in &said.hooks {
            let name = NAMES[*name];
            all.retain(|key, _| !key.starts_with(&format!("hooks.declarations.{name}.")));
            for field in fields.iter().map(|field| HOOK_FIELDS[*field]) {
                let key = format!("hooks.declarations.{name}.{field}");
                all.insert(key.clone(), text(&said.value(&key)));
            }
        }
        for job in 0..said.jobs {
            let id = said.value(&format!("job{job}"));
            let table = BTreeMap::from([("id".to_owned(), text(&id))]);
            all.insert(format!("automation.jobs.{jobs}"), Value::Table(table));
            jobs += 1;
        }
        for (name, fields) in &said.json {
            let name = NAMES[*name];
            all.retain(|key, _| !key.starts_with(&format!("mcp_servers.{name}.")));
            for field in fields.iter().map(|field| SERVER_FIELDS[*field]) {
                let value = said.value(&format!("json.{name}.{field}"));
                all.insert(format!("mcp_servers.{name}.{field}"), text(&value));
            }
        }
    }
    all
}

/// Whether the line of an origin says a value.
fn says(layers: &[Said], origin: &Origin, value: &Value) -> bool {
    let said = layers.iter().find(|said| said.layer == origin.layer);
    let Some(said) = said else { return false };
    let is_config = origin.path.as_deref() == Some(config_path(origin.layer).as_str());
    let file = if is_config { said.config() } else { said.json() };
    let line = usize::try_from(origin.line.unwrap()).unwrap();
    let line = file.lines().nth(line - 1).unwrap_or_default();
    match value {
        Value::Text(text) => line.contains(&format!("\"{text}\"")),
        Value::List(items) => items.iter().all(|item| line.contains(item.as_text().unwrap())),
        Value::Table(table) => line.contains(table["id"].as_text().unwrap()),
        _ => false,
    }
}

/// Effective values that are not built in.
fn said_values(config: &EffectiveConfig) -> BTreeMap<String, Value> {
    let said = config
        .leaves()
        .iter()
        .filter(|leaf| leaf.winner.layer != Layer::Default);
    said.map(|leaf| (leaf.key.clone(), leaf.value.clone())).collect()
}

/// The same layers with everything that has no order in another one.
fn reordered(layers: &[Said]) -> Vec<Said> {
    let mut layers = layers.to_vec();
    for said in &mut layers {
        said.keys.reverse();
        for (_, fields) in said
            .servers
            .iter_mut()
            .chain(&mut said.hooks)
            .chain(&mut said.json)
        {
            fields.reverse();
        }
    }
    layers
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_value_is_what_a_merge_by_hand_gives_and_says_truly_where_it_comes_from(layers in layers()) {
        let config = files(&layers).resolved();
        prop_assert_eq!(said_values(&config), by_hand(&layers));
        for leaf in config.leaves().iter().filter(|leaf| leaf.winner.layer != Layer::Default) {
            prop_assert!(says(&layers, &leaf.winner, &leaf.value), "{} at {:?}", leaf.key, leaf.winner);
            let mut above = leaf.winner.layer;
            for (origin, value) in &leaf.losers {
                prop_assert!(origin.layer <= above, "{} {:?}", leaf.key, leaf.losers);
                above = origin.layer;
                prop_assert!(origin.layer == Layer::Default || says(&layers, origin, value));
            }
        }
    }

    #[test]
    fn the_order_of_keys_in_a_file_does_not_matter(layers in layers()) {
        let config = files(&layers).resolved();
        let other = files(&reordered(&layers)).resolved();
        prop_assert_eq!(config.shown(), other.shown());
        prop_assert_eq!(said_values(&config), said_values(&other));
    }

    #[test]
    fn the_tree_holds_every_leaf(layers in layers()) {
        let config = files(&layers).resolved();
        let text = format!("{:?}", config.tree_with_secrets());
        for leaf in config.leaves() {
            prop_assert!(text.contains(&format!("{:?}", leaf.value)), "{}", leaf.key);
        }
    }

    #[test]
    fn no_file_makes_it_panic_and_what_is_wrong_has_a_place(text in "([a-c.\\[\\]{}=\",#'0-9 \\n\\t\\\\]|mcp_servers|name|loops|env|\u{e9}){0,60}") {
        let found = check_file(Layer::User, "/c", text.as_bytes());
        for problem in &found.problems {
            prop_assert!(problem.line.is_some() && problem.column.is_some(), "{:?}", problem);
        }
        let resolved = Files::default().workspace(&text).resolve();
        prop_assert!(!found.problems.is_empty() || resolved.is_ok() || !resolved.unwrap_err().is_empty());
    }

    #[test]
    fn a_password_in_a_url_is_shown_nowhere(
        before in "\\PC{0,8}",
        user in "[a-z]{0,4}",
        host in "[a-z.]{1,6}(:[0-9]{1,4})?",
        after in "(/[a-z@]{0,4})?([?][a-z=&]{0,6})?\\PC{0,6}",
    ) {
        let text = format!("{before} db://{user}:s3cr3t-Pw@{host}{after}");
        let shown = shown_text(&text);
        prop_assert!(!shown.contains("s3cr3t"), "{shown}");
        prop_assert_eq!(shown_text(&shown), shown.clone());
        let tagged = before.replace("://", "");
        prop_assert_eq!(shown_text(&tagged), tagged);
    }

    #[test]
    fn bytes_of_any_kind_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = check_file(Layer::Workspace, "/c", &bytes);
    }

    #[test]
    fn what_is_set_is_read_back_and_nothing_else_changes(layers in layers(), value in "\\PC{0,12}|[\"'\\\\\n\t a]{0,8}", at in 2_usize..5) {
        let before = layers.first().map(Said::config).unwrap_or_default();
        let key = format!("{}.{}", KEYS[at].0, KEYS[at].1);
        // What begins with a quote is read as TOML.
        let typed = toml_edit::Value::from(value.as_str()).to_string();
        let edited = set(Layer::User, "/c", &before, &key, &typed).unwrap();
        let config = Files::default().config(Layer::User, &edited.text).resolved();
        let found = leaf(&config, &key);
        prop_assert_eq!(&found.value, &text(&value));
        prop_assert_eq!(found.winner.line, edited.line);
        let others = |text: &str| {
            let config = Files::default().config(Layer::User, text).resolved();
            let mut said = said_values(&config);
            said.remove(&key);
            said
        };
        prop_assert_eq!(others(&before), others(&edited.text));
        let without = unset(Layer::User, "/c", &edited.text, &key).unwrap();
        prop_assert_eq!(others(&without.text), others(&before));
        prop_assert!(!said_values(&Files::default().config(Layer::User, &without.text).resolved()).contains_key(&key));
    }
}
