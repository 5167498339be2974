//! No secret leaves the configuration by any door but one.

use compozy_domain::Layer;
use compozy_resolver::value::{REDACTED, Value};

use crate::support::{Files, at, leaf, text, user};

const SECRET: &str = "s3cr3t";

/// Everything that can be shown of a configuration.
fn everything_shown(files: &Files) -> String {
    let config = files.resolved();
    let leaves: Vec<_> = config
        .leaves()
        .iter()
        .map(|leaf| {
            (
                leaf.key.clone(),
                leaf.shown(),
                format!("{:?}", leaf.shown_losers()),
            )
        })
        .collect();
    let servers: Vec<_> = config
        .servers()
        .iter()
        .map(|server| format!("{server:?}"))
        .collect();
    format!(
        "{:?} {leaves:?} {config:?} {:?} {servers:?} {files_debug}",
        config.shown(),
        config.diagnostics(),
        files_debug = config.leaves().len()
    )
}

fn all() -> Files {
    user(
        "store.url = \"postgres://app:s3cr3t@db/c\"\n\
         [providers.p]\nenv = { API_TOKEN = \"s3cr3t\", LANG = \"C\" }\nsecret_env = { X = \"s3cr3t\" }\n\
         base_url = \"https://u:s3cr3t@api/?api_key=s3cr3t\"\n\
         [sandboxes.s]\nenv.DB_PASSWORD = \"s3cr3t\"\n\
         [[mcp_servers]]\nname = \"t\"\nurl = \"https://x?token=s3cr3t\"\nheaders = { X-Any = \"s3cr3t\" }\nauth = { type = \"s3cr3t\" }\n\
         [[hooks.declarations]]\nname = \"h\"\nenv = { MY_SECRET = \"s3cr3t\" }\nsecret_env = { Y = \"s3cr3t\" }\n\
         [gateway]\napi_key = \"s3cr3t\"\nmode = \"open\"\nlist = [{ password = \"s3cr3t\", headers = { A = \"s3cr3t\" } }]\n\
         [[automation.jobs]]\nname = \"j\"\nenv = { GH_TOKEN = \"s3cr3t\" }\n[automation.auth]\nany = [\"s3cr3t\"]\n",
    )
    .mcp(
        Layer::Workspace,
        r#"{"mcpServers": {"s": {"command": "c",
            "env": {"API_TOKEN": "s3cr3t-1", "LANG": "C"},
            "headers": {"Authorization": "s3cr3t-2"},
            "secret_env": {"ANY": "s3cr3t-3"},
            "auth": {"kind": "s3cr3t-4", "more": ["s3cr3t-5"]},
            "x": {"token": "s3cr3t-6"},
            "httpHeaders": {"X-Foo": "s3cr3t-7"}, "apiKeys": ["s3cr3t-8"]},
            "u": {"url": "https://h/p?x=s3cr3t-9&s3cr3t-10#s3cr3t-11"}}}"#,
    )
}

#[test]
fn r093_no_secret_is_shown_and_all_keys_are() {
    let shown = everything_shown(&all());
    assert!(!shown.contains(SECRET), "{shown}");
    let config = all().resolved();
    for key in [
        "providers.p.env.API_TOKEN",
        "mcp_servers.s.env.API_TOKEN",
        "mcp_servers.s.headers.Authorization",
        "mcp_servers.s.secret_env.ANY",
        "mcp_servers.s.auth.kind",
        "mcp_servers.s.httpHeaders.X-Foo",
        "gateway.api_key",
        "hooks.declarations.h.secret_env.Y",
    ] {
        let found = leaf(&config, key);
        assert!(found.is_secret, "{key}");
        assert_eq!(found.shown(), text(REDACTED), "{key}");
        assert!(
            format!("{:?}", found.value).contains(SECRET),
            "the process itself has it"
        );
    }
    assert_eq!(
        leaf(&config, "store.url").shown(),
        text("postgres://app:<redacted>@db/c")
    );
}

#[test]
fn r093_a_server_shows_the_same_in_the_tree_and_by_itself() {
    let config = all().resolved();
    let server = config.servers().iter().find(|server| server.name == "u").unwrap();
    assert_eq!(
        server.shown().url,
        "https://h/p?x=<redacted>&<redacted>#<redacted>"
    );
    assert_eq!(
        leaf(&config, "mcp_servers.u.url").shown(),
        text(&server.shown().url)
    );
}

#[test]
fn r094_what_is_no_secret_is_shown() {
    let config = all().resolved();
    for (key, value) in [
        ("mcp_servers.s.env.LANG", "C"),
        ("providers.p.env.LANG", "C"),
        ("gateway.mode", "open"),
        ("mcp_servers.s.command", "c"),
        ("auth.tokens_file", "/t"),
    ] {
        if key == "auth.tokens_file" {
            let config = user("auth.tokens_file = \"/t\"\ngrpc.tls.key = \"/k\"\n").resolved();
            assert_eq!(leaf(&config, key).shown(), text(value));
            assert_eq!(leaf(&config, "grpc.tls.key").shown(), text("/k"));
            continue;
        }
        let found = leaf(&config, key);
        assert!(!found.is_secret, "{key}");
        assert_eq!(found.shown(), text(value), "{key}");
    }
    assert_eq!(at(&config.shown(), "mcp_servers.0.name"), Some(text("t")));
}

#[test]
fn r078_a_secret_is_redacted_as_winner_and_as_loser() {
    let say = |value: &str| format!("[providers.p]\nenv = {{ API_TOKEN = \"{value}\" }}\n");
    let config = user(&say("s3cr3t-u")).workspace(&say("s3cr3t-w")).resolved();
    let found = leaf(&config, "providers.p.env.API_TOKEN");
    assert_eq!(found.shown(), text(REDACTED));
    let losers = found.shown_losers();
    assert_eq!(losers.len(), 1);
    assert_eq!(losers[0].1, text(REDACTED));
    assert_eq!(losers[0].0.line, Some(2));
}

#[test]
fn a_losing_secret_is_redacted_below_a_winner_that_is_none() {
    let config = user("loops.dsn_like = \"x\"\n[providers.p]\nbase_url = \"https://u:s3cr3t@a\"\n")
        .workspace("[providers.p]\nbase_url = \"https://b\"\n")
        .resolved();
    let found = leaf(&config, "providers.p.base_url");
    assert!(!found.is_secret);
    assert!(!format!("{:?}", found.shown_losers()).contains(SECRET));
}

#[test]
fn no_problem_repeats_what_a_file_says() {
    for broken in [
        "store.url = \"s3cr3t",
        "a = s3cr3t",
        "store.url = s3cr3t\n[",
        "x = '''s3cr3t",
        "store.url = [\"s3cr3t\"]",
        "providers.p.env = \"s3cr3t\"",
        "permissions.mode = \"s3cr3t\"",
        "http.port = 1s3cr3t",
        "x = 2020-01-s3cr3t",
        "a = \"\\s3cr3t\"",
        "a = 1\na = \"s3cr3t\"",
        "mcp_servers = [{ name = \"n\", transport = \"s3cr3t\" }]",
    ] {
        let problems = user(broken).problems();
        let told = format!("{problems:?}");
        assert!(!told.contains(SECRET), "{told}");
    }
}

#[test]
fn numbers_below_a_secret_key_are_redacted_and_counts_of_tokens_are_not() {
    let config = user("[loops]\npassword = 1234\nmax_tokens = 4096\n").resolved();
    assert_eq!(leaf(&config, "loops.password").shown(), text(REDACTED));
    assert_eq!(leaf(&config, "loops.max_tokens").shown(), Value::Integer(4096));
}

#[test]
fn a_number_that_is_none_is_no_secret() {
    let config = user("[loops]\nx = nan\ny = [inf, -0.0]\n").resolved();
    assert!(!leaf(&config, "loops.x").is_secret && !leaf(&config, "loops.y").is_secret);
}
