#![allow(clippy::unwrap_used)]

use super::*;

fn home() -> Home {
    Home::at("/h")
}

fn parse(text: &str) -> Result<Config, Failure> {
    Config::parse(&home(), text, &Overrides::default())
}

fn problem(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

#[test]
fn an_empty_file_gives_the_documented_defaults() {
    let config = parse("").unwrap();
    assert_eq!(config.store.url, "sqlite:///h/compozy.db");
    assert!(config.store.full_durability && !config.store.transaction_pooler && !config.store.is_postgres());
    assert_eq!(config.drain_timeout, Duration::from_secs(20));
    assert_eq!(
        (config.listen, config.socket, config.tls, config.host_id),
        (None, None, None, None)
    );
    assert!(config.workspaces.register_home && config.memory_auto_create);
    assert_eq!(config.changes_retain, Duration::from_secs(168 * 3_600));
    assert_eq!(config.changes_retain_entries, 1_000_000);
    assert_eq!(config.limits.streams_per_connection, 256);
}

#[test]
fn typed_keys_are_read() {
    let config = parse(
        "[daemon]\nsocket = \"$COMPOZY_HOME/x.sock\"\ndrain_timeout = \"1m 30s\"\nhost_id = \"rack.1\"\n\
         [grpc]\nlisten = \"127.0.0.1:2123\"\ntls.cert = \"/c\"\ntls.key = \"/k\"\n\
         [store]\nurl = \"postgres://u:s3cr3t@db/c\"\ndurability = \"normal\"\n\
         [workspaces]\nallowed_roots = [\"/srv\"]\n[log]\nstderr = \"json\"\n",
    )
    .unwrap();
    assert_eq!(config.socket.as_deref(), Some(std::path::Path::new("/h/x.sock")));
    assert_eq!(config.drain_timeout, Duration::from_secs(90));
    assert_eq!(
        config.listen.clone().unwrap(),
        Listen {
            address: "127.0.0.1:2123".to_owned(),
            key: "grpc.listen"
        }
    );
    assert!(config.store.is_postgres() && !config.store.full_durability);
    assert!(
        !config.workspaces.register_home,
        "not on Postgres unless it is asked for"
    );
    assert_eq!(config.workspaces.allowed_roots, [PathBuf::from("/srv")]);
    assert_eq!(config.log.stderr, LogStderr::Json);
    assert!(!format!("{config:?}").contains("s3cr3t"));
}

#[test]
fn every_problem_is_told_at_once_with_line_and_nearest_key() {
    let text = "[grpc]\nlisen = \"x\"\n\n[daemon]\ndrain_timeout = 20\n\n[deamon]\na = 1\n[store]\ndurability = \"half\"\n";
    let told = problem(text);
    for part in [
        "/h/config.toml",
        "line 2: unknown key `grpc.lisen`, did you mean `grpc.listen`?",
        "line 5: `daemon.drain_timeout` has to be a span",
        "line 7: unknown key `deamon`",
        "line 10: `store.durability` has to be one of \"full\", \"normal\"",
        "unknown_keys",
    ] {
        assert!(told.contains(part), "{part} is missing in: {told}");
    }
}

#[test]
fn unknown_keys_can_be_warnings() {
    let config = parse("[config]\nunknown_keys = \"warn\"\n[grpc]\nlisen = \"x\"\n").unwrap();
    assert_eq!(config.warnings.len(), 1);
    assert!(config.warnings[0].contains("line 4"), "{:?}", config.warnings);
}

#[test]
fn tables_of_other_parts_are_accepted_as_they_are() {
    let open = "[gateway]\nx = 1\n[automation]\njobs = []\n[providers.claude]\nmodel = \"m\"\n\
                [[mcp_servers]]\nname = \"n\"\n[memory]\nother = 1\n[memory.workspace]\nauto_create = false\n\
                [hooks]\ndeclarations = []\n";
    assert!(!parse(open).unwrap().memory_auto_create);
    assert!(problem("[memory.workspace]\nauto = true\n").contains("`memory.workspace.auto`"));
    assert!(problem("[agents.reviewer]\nx = 1\n").contains("`agents.reviewer`"));
}

#[test]
fn a_file_that_is_no_toml_names_its_line_and_not_its_content() {
    let told = problem("[store]\nurl = \"postgres://u:secret@db\n");
    assert!(told.contains("line 2") && !told.contains("secret"), "{told}");
}

#[test]
fn a_wrong_variable_does_not_blame_the_file() {
    let overrides = Overrides {
        listen: None,
        store_url: Some("mysql://u:secret@db".to_owned()),
    };
    let told = Config::parse(&home(), "", &overrides).unwrap_err().to_string();
    assert!(told.contains("COMPOZY_STORE_URL"), "{told}");
    assert!(
        !told.contains("config.toml") && !told.contains("secret"),
        "{told}"
    );
}

#[test]
fn flags_and_variables_win() {
    let overrides = Overrides {
        listen: Some("127.0.0.1:1".to_owned()),
        store_url: Some("postgres://other".to_owned()),
    };
    let config = Config::parse(
        &home(),
        "grpc.listen = \"127.0.0.1:2\"\nhttp.port = 3\n",
        &overrides,
    )
    .unwrap();
    assert_eq!(
        config.listen.unwrap(),
        Listen {
            address: "127.0.0.1:1".to_owned(),
            key: "--listen"
        }
    );
    assert_eq!(config.store.url, "postgres://other");
    assert_eq!(
        parse("http.port = 3\n").unwrap().listen.unwrap().address,
        "localhost:3"
    );
    assert_eq!(
        parse("http.port = 3\nhttp.host = \"::1\"\n")
            .unwrap()
            .listen
            .unwrap()
            .address,
        "[::1]:3"
    );
}

#[test]
fn what_belongs_together_is_checked_together() {
    assert!(problem("grpc.tls.cert = \"/c\"\n").contains("grpc.tls.key"));
    assert!(problem("grpc.tls.client_ca = \"/c\"\n").contains("grpc.tls.key"));
    assert!(problem("daemon.socket = \"rel.sock\"\n").contains("absolute"));
    assert!(problem("daemon.host_id = \"a b\"\n").contains("daemon.host_id"));
    assert!(problem("store.url = \"mysql://secret\"\n").contains("store.url"));
    assert!(!problem("store.url = \"mysql://secret\"\n").contains("secret"));
    assert!(problem("grpc.listen = \"2123\"\n").contains("127.0.0.1:2123"));
    assert!(problem("log.level = \"loud=x=y\"\n").contains("log.level"));
}

#[test]
fn a_link_a_fifo_or_a_huge_file_is_refused_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::at(directory.path());
    let path = home.config_path();
    let refused = || {
        Config::load(&home, &Overrides::default())
            .unwrap_err()
            .to_string()
    };
    std::os::unix::fs::symlink("/dev/null", &path).unwrap();
    assert!(refused().contains("config.toml is no regular file"));
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    assert!(refused().contains("no regular file"));
    std::fs::remove_dir(&path).unwrap();
    std::fs::write(&path, " ".repeat(1024 * 1024 + 1)).unwrap();
    assert!(refused().contains("longer than"));
    std::fs::remove_file(&path).unwrap();
    assert!(Config::load(&home, &Overrides::default()).is_ok());
}

fn setting(config: &Config, key: &str) -> (String, bool, bool) {
    let setting = config.settings.iter().find(|setting| setting.key == key).unwrap();
    (setting.value.clone(), setting.is_default, setting.is_secret)
}

#[test]
fn settings_are_those_in_effect_without_secrets() {
    let text = "http.port = 3\nlog.keep = 2\nlimits.watchers = 7\ndefaults.provider = \"p\"\n\
                workspaces.allowed_roots = [\"/srv\"]\n[store]\nurl = \"postgres://u:s3cr3t@db/c\"\n";
    let config = parse(text).unwrap();
    for (key, value, is_default) in [
        ("grpc.listen", "\"localhost:3\"", false),
        ("http.port", "3", false),
        ("log.keep", "2", false),
        ("log.level", "\"info\"", true),
        ("limits.watchers", "7", false),
        ("limits.calls", "1024", true),
        ("workspaces.allowed_roots", "[\"/srv\"]", false),
        ("workspaces.register_home", "false", true),
        ("memory.workspace.auto_create", "true", true),
        ("auth.tokens_file", "", true),
    ] {
        assert_eq!(
            setting(&config, key),
            (value.to_owned(), is_default, false),
            "{key}"
        );
    }
    let (url, is_default, is_secret) = setting(&config, "store.url");
    assert!(url.contains("postgres://u:<redacted>@db/c") && !is_default && is_secret);
    assert!(!format!("{:?}", config.settings).contains("s3cr3t"));
    assert!(
        config
            .settings
            .iter()
            .all(|setting| !setting.key.starts_with("defaults."))
    );
    assert!(config.settings.is_sorted_by_key(|setting| setting.key));
    let overrides = Overrides {
        listen: Some("127.0.0.1:1".to_owned()),
        store_url: Some("postgres://other".to_owned()),
    };
    let config = Config::parse(&home(), "", &overrides).unwrap();
    assert_eq!(
        setting(&config, "grpc.listen"),
        ("\"127.0.0.1:1\"".to_owned(), false, false)
    );
    assert_eq!(
        setting(&config, "store.url"),
        ("\"postgres://other\"".to_owned(), false, false)
    );
}

#[test]
fn what_the_daemon_obeys_needs_a_restart_and_nothing_else() {
    for key in [
        "daemon.socket",
        "log.level",
        "limits.calls",
        "store.url",
        "memory.workspace.auto_create",
        "auth.tokens_file",
    ] {
        assert!(needs_restart(key), "{key}");
    }
    for key in [
        "defaults.agent",
        "permissions.mode",
        "config.unknown_keys",
        "providers.p.model",
        "gateway.x",
        "nonsense",
    ] {
        assert!(!needs_restart(key), "{key}");
    }
}
