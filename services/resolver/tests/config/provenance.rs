//! Where each effective value comes from.

use compozy_domain::Layer;
use compozy_resolver::value::Value;

use crate::support::{Files, leaf, losers, text, texts, user, winner};

#[test]
fn r069_winner_and_losers_have_file_and_line() {
    let config = user("\n[defaults]\nprovider = \"u\"\n")
        .workspace("#\n#\n#\n#\n#\n[defaults]\n  provider = \"w\"\n")
        .resolved();
    let found = leaf(&config, "defaults.provider");
    assert_eq!(found.value, text("w"));
    assert_eq!(winner(&config, "defaults.provider"), "workspace config.toml 7:3");
    assert_eq!(
        losers(&config, "defaults.provider"),
        ["user config.toml 3:1", "default"]
    );
    let values: Vec<_> = found.losers.iter().map(|(_, value)| value.clone()).collect();
    assert_eq!(values, [text("u"), text("")]);
    assert!(found.losers[1].0.path.is_none() && found.losers[1].0.line.is_none());
}

#[test]
fn r070_a_key_that_nobody_sets_is_the_default() {
    let config = Files::default().resolved();
    assert_eq!(winner(&config, "session.start_timeout"), "default");
    assert!(losers(&config, "session.start_timeout").is_empty());
}

#[test]
fn r071_the_record_wins_and_the_files_that_lost_are_listed() {
    let config = user("defaults.agent = \"u\"\n")
        .config(Layer::Profile, "defaults.agent = \"p\"\n")
        .agent("r")
        .resolved();
    let found = leaf(&config, "defaults.agent");
    assert_eq!(
        (found.winner.layer, found.winner.path),
        (Layer::Registration, None)
    );
    assert_eq!(
        losers(&config, "defaults.agent"),
        ["profile config.toml 1:10", "user config.toml 1:10", "default"]
    );
}

#[test]
fn r072_each_field_of_a_patched_server_has_its_own_winner() {
    let config = user("[[mcp_servers]]\nname = \"s\"\ncommand = \"c\"\nargs = [\"1\"]\n")
        .workspace("[[mcp_servers]]\nargs = [\"2\"]\nname = \"s\"\n")
        .resolved();
    assert_eq!(winner(&config, "mcp_servers.s.command"), "user config.toml 3:1");
    assert_eq!(winner(&config, "mcp_servers.s.args"), "workspace config.toml 2:1");
    assert_eq!(losers(&config, "mcp_servers.s.args"), ["user config.toml 4:1"]);
}

#[test]
fn r073_each_variable_of_a_merged_environment_has_its_own_winner() {
    let config = user("[providers.p]\nenv = { A = \"1\" }\n")
        .workspace("[providers.p.env]\nB = \"2\"\n")
        .resolved();
    assert_eq!(winner(&config, "providers.p.env.A"), "user config.toml 2:9");
    assert_eq!(winner(&config, "providers.p.env.B"), "workspace config.toml 2:1");
}

#[test]
fn r074_an_empty_list_is_one_leaf() {
    let config = user("skills.disabled_skills = [\"a\", \"b\"]\n")
        .workspace("\n\nskills.disabled_skills = []\n")
        .resolved();
    let found = leaf(&config, "skills.disabled_skills");
    assert_eq!(found.value, texts(&[]));
    assert_eq!(
        winner(&config, "skills.disabled_skills"),
        "workspace config.toml 3:8"
    );
    assert_eq!(found.losers[0].1, texts(&["a", "b"]));
    let below = config
        .leaves()
        .iter()
        .filter(|leaf| leaf.key.starts_with("skills.disabled_skills"));
    assert_eq!(below.count(), 1);
}

#[test]
fn r075_a_server_of_mcp_json_has_the_line_of_the_server() {
    let json = "{\n  \"mcpServers\": {\n    \"s\": {\n      \"command\": \"c\",\n      \"env\": { \"A\": \"1\" }\n    }\n  }\n}";
    let config = user("[[mcp_servers]]\nname = \"s\"\ncommand = \"old\"\n")
        .mcp(Layer::Workspace, json)
        .resolved();
    for key in ["mcp_servers.s.command", "mcp_servers.s.env.A"] {
        assert_eq!(winner(&config, key), "workspace mcp.json 3:5", "{key}");
    }
    assert_eq!(losers(&config, "mcp_servers.s.command"), ["user config.toml 3:1"]);
    assert_eq!(
        crate::support::place(&config.servers()[0].origin),
        "workspace mcp.json 3:5"
    );
}

#[test]
fn r076_what_stands_on_one_line_has_one_line() {
    let config = Files::default()
        .workspace("[providers]\np = { command = \"c\", env.A = \"1\", env.B = \"2\" }\n")
        .resolved();
    for key in ["providers.p.command", "providers.p.env.A", "providers.p.env.B"] {
        assert_eq!(leaf(&config, key).winner.line, Some(2), "{key}");
    }
    assert_eq!(winner(&config, "providers.p.env.B"), "workspace config.toml 2:39");
}

#[test]
fn r079_a_key_of_the_active_profile_of_the_workspace() {
    let config = Files::default()
        .config(
            Layer::WorkspaceProfile,
            "\r\n[session]\r\nruntime_ttl = \"5s\"\r\n",
        )
        .resolved();
    assert_eq!(
        winner(&config, "session.runtime_ttl"),
        "workspace_profile config.toml 3:1"
    );
}

#[test]
fn keys_are_quoted_as_toml_would_and_found_either_way() {
    let config =
        user("[[mcp_servers]]\nname = \"a.b c\"\ncommand = \"c\"\n[loops]\n\"x y\" = 1\n").resolved();
    assert!(config.leaf("mcp_servers.\"a.b c\".command").is_some());
    assert_eq!(leaf(&config, "loops.'x y'").key, "loops.\"x y\"");
    assert_eq!(leaf(&config, "\"defaults\".agent").key, "defaults.agent");
    assert!(config.leaf("no such").is_none() && config.leaf("").is_none());
}

#[test]
fn each_job_says_where_it_comes_from() {
    let config = user("automation.jobs = []\n")
        .workspace("[[automation.jobs]]\nname = \"j\"\n\n[[automation.jobs]]\nname = \"k\"\n")
        .resolved();
    assert_eq!(winner(&config, "automation.jobs.1"), "workspace config.toml 4:1");
    let empty = user("automation.jobs = []\n").resolved();
    assert_eq!(leaf(&empty, "automation.jobs").value, Value::List(Vec::new()));
}

#[test]
fn leaves_are_sorted_and_make_the_tree() {
    let config = user("[loops]\nb = 1\na.x = 2\n[providers.p]\nmodel = \"m\"\n").resolved();
    assert!(config.leaves().windows(2).all(|pair| pair[0].key < pair[1].key));
}
