//! What becomes of what several layers say.

use compozy_domain::Layer;
use compozy_resolver::config::EffectiveConfig;
use compozy_resolver::config::keys::{DefaultValue, KEYS, KeyRule, Kind, Merge};
use compozy_resolver::config::schema;
use compozy_resolver::value::Value;

use crate::support::{Files, at, config_path, leaf, text, texts, told, user, winner};

fn tree(config: &EffectiveConfig, path: &str) -> Option<Value> {
    at(&config.shown(), path)
}

fn names(config: &EffectiveConfig, path: &str) -> Vec<String> {
    let Some(Value::List(items)) = tree(config, path) else {
        return Vec::new();
    };
    let names = items
        .iter()
        .map(|item| item.as_table().unwrap()["name"].as_text().unwrap());
    names.map(str::to_owned).collect()
}

#[test]
fn r031_r032_r033_a_list_is_replaced_whole() {
    let below = "skills.disabled_skills = [\"a\"]\n";
    let with = |above: &str| {
        let config = user(below).workspace(above).resolved();
        let names = config.texts("skills.disabled_skills");
        names.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(with("skills.disabled_skills = [\"b\", \"c\"]\n"), ["b", "c"]);
    assert!(with("skills.disabled_skills = []\n").is_empty());
    assert_eq!(with("skills.sources = []\n"), ["a"]);
}

#[test]
fn r034_a_table_merges_key_by_key() {
    let config = user("[limits]\ncalls = 1\nwatchers = 2\n")
        .workspace("[limits]\ncalls = 3\n")
        .resolved();
    assert_eq!(leaf(&config, "limits.calls").value, Value::Integer(3));
    assert_eq!(leaf(&config, "limits.watchers").value, Value::Integer(2));
}

#[test]
fn r035_providers_merge_field_by_field() {
    let config = user("[providers.p]\ncommand = \"c\"\nmodel = \"m\"\n")
        .workspace("[providers.p]\nmodel = \"n\"\n")
        .resolved();
    assert_eq!(config.text("providers.p.command"), Some("c"));
    assert_eq!(config.text("providers.p.model"), Some("n"));
}

#[test]
fn r036_environments_of_sandboxes_merge_by_key() {
    let config = user("[sandboxes.s]\nenv = { A = \"1\", B = \"1\" }\n")
        .workspace("[sandboxes.s]\nenv = { B = \"2\" }\n")
        .resolved();
    assert_eq!(tree(&config, "sandboxes.s.env.A"), Some(text("1")));
    assert_eq!(tree(&config, "sandboxes.s.env.B"), Some(text("2")));
}

#[test]
fn r037_servers_keep_their_order_and_are_patched() {
    let config = user(
        "[[mcp_servers]]\nname = \"x\"\ncommand = \"x\"\n[[mcp_servers]]\nname = \"y\"\ncommand = \"y\"\n",
    )
    .workspace(
        "[[mcp_servers]]\nname = \" y \"\ncwd = \"/w\"\n[[mcp_servers]]\nname = \"z\"\nurl = \"http://z\"\n",
    )
    .resolved();
    let servers: Vec<_> = config
        .servers()
        .iter()
        .map(|server| server.name.as_str())
        .collect();
    assert_eq!(servers, ["x", "y", "z"]);
    assert_eq!(names(&config, "mcp_servers"), servers);
    let patched = &config.servers()[1];
    assert_eq!((patched.command.as_str(), patched.cwd.as_str()), ("y", "/w"));
}

#[test]
fn r038_arguments_are_replaced() {
    let config = user("[[mcp_servers]]\nname = \"s\"\ncommand = \"c\"\nargs = [\"1\"]\n")
        .config(Layer::Profile, "[[mcp_servers]]\nname = \"s\"\nargs = []\n")
        .resolved();
    assert_eq!(config.servers()[0].command, "c");
    assert!(config.servers()[0].args.is_empty());
    assert_eq!(leaf(&config, "mcp_servers.s.args").value, texts(&[]));
}

#[test]
fn r015_a_server_of_mcp_json_is_taken_whole_at_the_place_of_the_first() {
    let config = Files::default()
        .config(
            Layer::Profile,
            "[[mcp_servers]]\nname = \"t\"\ncommand = \"c\"\nargs = [\"1\"]\nenv = { A = \"1\" }\ndescription = \"d\"\n\
             [[mcp_servers]]\nname = \"u\"\ncommand = \"u\"\n",
        )
        .mcp(
            Layer::Profile,
            r#"{"mcpServers": {"n": {"command": "n"}, "t": {"url": "http://t", "env": {"B": "2"}}}}"#,
        )
        .resolved();
    assert_eq!(names(&config, "mcp_servers"), ["t", "u", "n"]);
    let server = &config.servers()[0];
    assert_eq!((server.url.as_str(), server.command.as_str()), ("http://t", ""));
    assert!(server.args.is_empty() && server.description.is_empty());
    assert_eq!(server.env.keys().collect::<Vec<_>>(), ["B"]);
    assert!(
        config.leaf("mcp_servers.t.command").is_none(),
        "nothing of it remains"
    );
    assert!(config.leaf("mcp_servers.t.env.A").is_none());
}

#[test]
fn r016_a_later_layer_patches_a_server_of_mcp_json() {
    let config = Files::default()
        .mcp(
            Layer::User,
            r#"{"mcpServers": {"s": {"command": "c", "args": ["1"]}}}"#,
        )
        .workspace("[[mcp_servers]]\nname = \"s\"\nargs = [\"2\"]\n")
        .resolved();
    let server = &config.servers()[0];
    assert_eq!(
        (server.command.as_str(), server.args.as_slice()),
        ("c", &["2".to_owned()][..])
    );
}

#[test]
fn both_names_of_the_transport_are_one_field() {
    let config = Files::default()
        .mcp(
            Layer::User,
            r#"{"mcpServers": {"s": {"type": "http", "url": "http://s"}}}"#,
        )
        .workspace("[[mcp_servers]]\nname = \"s\"\ntransport = \"sse\"\n")
        .resolved();
    assert_eq!(
        config.servers()[0].transport,
        compozy_resolver::mcp::Transport::Sse
    );
}

#[test]
fn a_server_that_says_its_transport_under_both_names_can_be_patched() {
    let server = |transport: &str| {
        format!(
            "{{\"mcpServers\": {{\"s\": {{\"type\": \"http\", \"transport\": {transport}, \"url\": \"u\"}}}}}}"
        )
    };
    let said = [
        Files::default().mcp(Layer::User, &server("\"streamable-http\"")),
        Files::default().mcp(Layer::User, &server("null")),
        user("[[mcp_servers]]\nname = \"s\"\ntype = \"http\"\ntransport = \"http\"\nurl = \"u\"\n"),
    ];
    for files in said {
        for field in ["type", "transport"] {
            let patch = format!("[[mcp_servers]]\nname = \"s\"\n{field} = \"sse\"\n");
            let config = files.clone().workspace(&patch).resolved();
            let transport = config.servers()[0].transport;
            assert_eq!(transport, compozy_resolver::mcp::Transport::Sse);
            assert!(config.leaf("mcp_servers.s.type").is_none(), "one field, one leaf");
            assert_eq!(
                winner(&config, "mcp_servers.s.transport"),
                "workspace config.toml 3:1"
            );
        }
    }
    let contradiction =
        user("[[mcp_servers]]\nname = \"s\"\ntype = \"http\"\ntransport = \"sse\"\nurl = \"u\"\n").problems();
    assert_eq!(contradiction[0].code, "mcp_contradiction");
}

#[test]
fn r097_r098_servers_of_lower_layers_stay() {
    let server = |command: &str| format!(r#"{{"mcpServers": {{"s": {{"command": "{command}"}}}}}}"#);
    let files = Files::default().mcp(Layer::Profile, &server("p"));
    let both = files
        .clone()
        .mcp(Layer::WorkspaceProfile, &server("wp"))
        .resolved();
    assert_eq!(both.servers()[0].command, "wp");
    assert_eq!(files.clone().resolved().servers()[0].command, "p");
    let other = files.mcp(Layer::Workspace, "{}").resolved();
    assert_eq!(other.servers()[0].command, "p");
}

#[test]
fn what_a_patch_makes_of_a_server_has_to_work() {
    let files = Files::default().mcp(Layer::User, r#"{"mcpServers": {"s": {"command": "c"}}}"#);
    let both = files
        .clone()
        .workspace("\n[[mcp_servers]]\nname = \"s\"\nurl = \"http://x\"\n")
        .problems();
    assert_eq!(both.len(), 1);
    assert_eq!(
        (both[0].path.as_str(), both[0].line),
        (&*config_path(Layer::Workspace), Some(2))
    );
    assert!(
        both[0].message.contains('s') && both[0].message.contains("url"),
        "{}",
        both[0].message
    );
    let neither = files
        .workspace("[[mcp_servers]]\nname = \"t\"\nargs = []\n")
        .problems();
    assert_eq!(neither.len(), 1);
    assert_eq!(neither[0].layer, Some(Layer::Workspace));
}

#[test]
fn what_is_wrong_with_a_server_is_told_once() {
    let problems =
        user("[[mcp_servers]]\nname = \"s\"\ncomand = \"c\"\n[[mcp_servers]]\nname = \"t\"\ncommand = 3\n")
            .problems();
    assert_eq!(
        told(&problems),
        [
            "config_unknown_key 3:1 mcp_servers.s.comand",
            "config_wrong_type 6:1 mcp_servers.t.command"
        ]
    );
}

#[test]
fn r039_a_hook_takes_the_place_of_the_one_of_its_name() {
    let config = user(
        "[[hooks.declarations]]\nname = \"a\"\nevent = \"x\"\n\
         [[hooks.declarations]]\nname = \"b\"\nevent = \"x\"\ncommand = \"old\"\nenv = { A = \"1\" }\n",
    )
    .workspace("[[hooks.declarations]]\nname = \"b\"\nevent = \"y\"\n[[hooks.declarations]]\nname = \"c\"\nevent = \"z\"\n")
    .resolved();
    assert_eq!(names(&config, "hooks.declarations"), ["a", "b", "c"]);
    assert_eq!(tree(&config, "hooks.declarations.1.event"), Some(text("y")));
    assert_eq!(tree(&config, "hooks.declarations.1.command"), None);
    assert_eq!(tree(&config, "hooks.declarations.1.env"), None);
}

#[test]
fn r040_r041_jobs_and_triggers_are_appended() {
    for list in ["jobs", "triggers"] {
        let say = |name: &str| format!("[[automation.{list}]]\nname = \"{name}\"\n");
        let config = user(&say("j1"))
            .config(Layer::Profile, &say("j1"))
            .workspace(&say("j2"))
            .resolved();
        assert_eq!(names(&config, &format!("automation.{list}")), ["j1", "j1", "j2"]);
        assert_eq!(
            winner(&config, &format!("automation.{list}.2")),
            "workspace config.toml 1:1"
        );
    }
}

#[test]
fn r042_r056_opaque_tables_are_merged_as_they_are() {
    let config = user("[loops]\nx = 1\n[loops.deep]\na = [1, 2.5, true]\nat = 1979-05-27 07:32:00\n")
        .workspace("[loops]\ny = 2\n[window_manager]\nany.thing = \"k\"\n[automation]\nz = {}\n[network]\nn = 1\n[memory.other]\nm = 1\n")
        .resolved();
    assert_eq!(tree(&config, "loops.x"), Some(Value::Integer(1)));
    assert_eq!(tree(&config, "loops.y"), Some(Value::Integer(2)));
    assert_eq!(
        tree(&config, "loops.deep.at"),
        Some(Value::Time("1979-05-27 07:32:00".to_owned()))
    );
    assert_eq!(tree(&config, "window_manager.any.thing"), Some(text("k")));
    assert_eq!(
        tree(&config, "automation.z"),
        Some(Value::Table(std::collections::BTreeMap::new()))
    );
    assert_eq!(tree(&config, "memory.other.m"), Some(Value::Integer(1)));
    assert_eq!(winner(&config, "network.n"), "workspace config.toml 8:1");
}

#[test]
fn r043_an_opaque_list_of_tables_is_replaced() {
    let config = user("[[goals.list]]\na = 1\n[[goals.list]]\na = 2\n")
        .workspace("[[goals.list]]\nb = 1\n")
        .resolved();
    assert_eq!(tree(&config, "goals.list.0.b"), Some(Value::Integer(1)));
    assert_eq!(tree(&config, "goals.list.1"), None);
}

#[test]
fn r044_a_table_and_a_value_do_not_merge() {
    let typed = user("[limits]\ncalls = 1\n")
        .workspace("\nlimits = 3\n")
        .problems();
    assert_eq!(told(&typed), ["config_wrong_type 2:1 limits"]);
    assert_eq!(typed[0].path, config_path(Layer::Workspace));
    for (below, above) in [("[a]\nb = 1\n", "a = 3"), ("a = 3", "[loops.a]\nb = 1\n")] {
        let below = format!("[loops]\n{}", below.replace("[a]", "[loops.a]"));
        let above = format!("[loops]\n{above}").replace("[loops]\n[loops.a]", "[loops.a]");
        let problems = user(&below).workspace(&above).problems();
        assert_eq!(problems.len(), 1, "{above}");
        assert_eq!(problems[0].code, "config_shape_conflict");
        assert_eq!(problems[0].path, config_path(Layer::Workspace));
        assert!(problems[0].line.is_some() && problems[0].message.contains("line"));
    }
}

#[test]
fn r044_a_table_with_nothing_in_it_is_a_table_all_the_same() {
    for (below, above) in [
        ("loops.a = 3\n", "[loops.a]\n"),
        ("\n[loops.a]\n", "loops.a = 3\n"),
    ] {
        let problems = user(below).workspace(above).problems();
        assert_eq!(problems.len(), 1, "{above}");
        assert_eq!(problems[0].code, "config_shape_conflict");
        assert_eq!(problems[0].path, config_path(Layer::Workspace));
    }
}

#[test]
fn r039_of_a_table_in_a_hook_that_is_replaced_nothing_remains() {
    for matcher in ["{}", "{ a = {} }", "{ a = { b = {} }, c = \"x\" }"] {
        let config = user(&format!(
            "[[hooks.declarations]]\nname = \"h\"\nmatcher = {matcher}\n"
        ))
        .workspace("[[hooks.declarations]]\nname = \"h\"\nevent = \"x\"\n")
        .resolved();
        assert_eq!(tree(&config, "hooks.declarations.0.matcher"), None, "{matcher}");
        let config = Files::default()
            .mcp(
                Layer::User,
                r#"{"mcpServers": {"s": {"url": "u", "auth": {"a": {"b": {}}}}}}"#,
            )
            .mcp(Layer::Workspace, r#"{"mcpServers": {"s": {"url": "u"}}}"#)
            .resolved();
        assert_eq!(tree(&config, "mcp_servers.0.auth"), None);
        assert_eq!(config.servers()[0].auth, None);
    }
}

#[test]
fn r045_a_workspace_may_choose_another_mode() {
    let config = user("permissions.mode = \"deny-all\"\n")
        .workspace("permissions.mode = \"approve-reads\"\n")
        .resolved();
    assert_eq!(config.text("permissions.mode"), Some("approve-reads"));
}

/// Two values of a key, as TOML writes them.
pub(crate) fn two_values(kind: Kind) -> [String; 2] {
    let pair = |one: &str, other: &str| [one.to_owned(), other.to_owned()];
    match kind {
        Kind::Flag => pair("true", "false"),
        Kind::Count(least, most) => [least.to_string(), most.to_string()],
        Kind::Span | Kind::SpanBetween(..) | Kind::SpanOrSeconds => pair("\"11s\"", "\"12s\""),
        Kind::Texts => pair("[\"a\"]", "[\"b\", \"c\"]"),
        Kind::Paths => pair("[\"/a\"]", "[\"/b\", \"~/c\"]"),
        Kind::SkillSources => pair("[\"agents\"]", "[\"claude\", \"compozy\"]"),
        Kind::SkillPaths => pair("[\"/a\"]", "[\"/b\", \"~/c\"]"),
        Kind::Choice(words) => [format!("\"{}\"", words[0]), format!("\"{}\"", words[1])],
        Kind::Address => pair("\"h:1\"", "\"h:2\""),
        Kind::Path => pair("\"/a\"", "\"/b\""),
        Kind::TextMap => pair("{ A = \"1\", B = \"1\" }", "{ B = \"2\" }"),
        Kind::StoreUrl => pair("\"sqlite:///a\"", "\"postgres://h/d\""),
        Kind::Named => pair("[{ name = \"a\" }]", "[{ name = \"b\" }]"),
        Kind::Tables => pair("[{ a = 1 }]", "[{ a = 2 }]"),
        Kind::Text | Kind::AgentName | Kind::ProviderName | Kind::HostId | Kind::Any => {
            pair("\"a\"", "\"b\"")
        }
    }
}

/// A file that says one key.
fn saying(rule: &KeyRule, value: &str) -> String {
    match rule.key.split_once(".*.") {
        Some(("mcp_servers", field)) => {
            let command = if field == "url" { "" } else { "command = \"c\"\n" };
            let command = if field == "command" { "" } else { command };
            // What says how to reach it has to fit what is reached.
            let value = if matches!(field, "transport" | "type") {
                "\"stdio\""
            } else {
                value
            };
            format!("[[mcp_servers]]\nname = \"n\"\n{command}{field} = {value}\n")
        }
        Some((list @ "hooks.declarations", field)) => {
            format!("[[{list}]]\nname = \"n\"\n{field} = {value}\n")
        }
        Some((table, field)) => format!("[{table}.n]\n{field} = {value}\n"),
        None if rule.key == "mcp_servers" => {
            let name = value.split('"').nth(1).unwrap();
            format!("[[mcp_servers]]\nname = \"{name}\"\ncommand = \"c\"\n")
        }
        None => format!("{} = {value}\n", rule.key),
    }
}

#[test]
fn r046_every_key_merges_as_the_table_says() {
    for rule in KEYS {
        let [below, above] = two_values(rule.kind).map(|value| saying(rule, &value));
        let files = user(&below).workspace(&above);
        if !rule.layers().allow(Layer::Workspace) {
            let problems = files.problems();
            assert!(
                problems
                    .iter()
                    .all(|problem| problem.code == "config_key_not_allowed")
            );
            assert_eq!(problems.len(), 1, "{}", rule.key);
            continue;
        }
        let config = files.resolved();
        let (user_alone, workspace_alone) = (user(&below).resolved(), user(&above).resolved());
        let field = rule.key.replace("mcp_servers.*", "mcp_servers.0");
        let field = field
            .replace("hooks.declarations.*", "hooks.declarations.0")
            .replace('*', "n");
        let field = field.replace("mcp_servers.0.type", "mcp_servers.0.transport");
        let value = |config: &EffectiveConfig| at(config.tree_with_secrets(), &field).unwrap();
        let (merged, below, above) = (value(&config), value(&user_alone), value(&workspace_alone));
        let count = |value: &Value| match value {
            Value::List(items) => items.len(),
            Value::Table(table) => table.len(),
            _ => 0,
        };
        match rule.merge {
            Merge::Replace => assert_eq!(merged, above, "{}", rule.key),
            Merge::Append | Merge::ByNamePatch | Merge::ByNameReplace => {
                assert_eq!(count(&merged), count(&below) + count(&above), "{}", rule.key);
            }
            Merge::ByKey if rule.kind == Kind::TextMap => {
                // A hook is taken whole, whatever its fields are.
                let is_hook = rule.key.starts_with("hooks.");
                assert_eq!(count(&merged), if is_hook { 1 } else { 2 }, "{}", rule.key);
                assert_eq!(
                    at(merged.as_table().unwrap(), "B"),
                    Some(text("2")),
                    "{}",
                    rule.key
                );
            }
            Merge::ByKey => assert_eq!(merged, above, "{}", rule.key),
        }
    }
}

#[test]
fn r047_the_schema_has_every_key_and_the_opaque_tables() {
    let schema = schema();
    assert!(schema.windows(2).all(|pair| pair[0].key < pair[1].key));
    for rule in KEYS {
        let entry = schema.iter().find(|entry| entry.key == rule.key).unwrap();
        assert_eq!(entry.kind, rule.kind.name());
        assert_eq!(entry.strategy, rule.merge.name());
        assert_eq!(entry.default.is_some(), rule.default != DefaultValue::Unset);
        assert!(!entry.about.is_empty() && !entry.layers.is_empty());
    }
    let opaque: Vec<_> = schema.iter().filter(|entry| entry.kind == "opaque").collect();
    let names: Vec<_> = opaque.iter().map(|entry| entry.key.as_str()).collect();
    assert_eq!(
        names,
        [
            "attention",
            "automation",
            "cmd_palette",
            "extensions",
            "gateway",
            "goals",
            "loops",
            "marketplace",
            "mcp",
            "memory",
            "network",
            "observability",
            "redact",
            "roles",
            "shell",
            "task",
            "tools",
            "window_manager",
            "worktrees"
        ]
    );
    let retain = schema
        .iter()
        .find(|entry| entry.key == "changes.retain_entries")
        .unwrap();
    assert_eq!(retain.default.as_deref(), Some("1000000"));
}
