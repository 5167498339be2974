//! Which layer wins, and who may say what.

use compozy_domain::Layer;

use crate::support::{Files, LAYERS, config_path, losers, user, winner, workspace};

#[test]
fn r010_without_any_file_the_defaults_count() {
    let config = Files::default().resolved();
    assert_eq!(config.text("defaults.agent"), Some("general"));
    assert_eq!(config.text("permissions.mode"), Some("approve-all"));
    assert_eq!(config.text("defaults.provider"), Some(""));
    assert!(config.diagnostics().is_empty() && config.servers().is_empty());
}

#[test]
fn r012_the_highest_layer_wins_and_without_it_the_next() {
    let say = |layer: Layer| format!("[defaults]\nprovider = \"{}\"\n", layer.as_str());
    let mut layers = LAYERS.to_vec();
    while let Some(highest) = layers.last().copied() {
        let files = layers.iter().fold(Files::default(), |files, layer| {
            files.config(*layer, &say(*layer))
        });
        assert_eq!(files.resolved().text("defaults.provider"), Some(highest.as_str()));
        layers.pop();
    }
    assert_eq!(Files::default().resolved().text("defaults.provider"), Some(""));
}

#[test]
fn r013_r014_the_agent_of_the_record_wins_while_it_is_there() {
    let files = Files::default().config(Layer::WorkspaceProfile, "defaults.agent = \"builder\"\n");
    let config = files.clone().agent("reviewer").resolved();
    assert_eq!(config.text("defaults.agent"), Some("reviewer"));
    assert_eq!(winner(&config, "defaults.agent"), "registration");
    assert_eq!(files.resolved().text("defaults.agent"), Some("builder"));
}

#[test]
fn r061_r064_r220_what_the_daemon_owns_only_the_user_may_set() {
    let owned = [
        "daemon",
        "http",
        "grpc",
        "store",
        "changes",
        "workspaces",
        "auth",
        "log",
        "telemetry",
        "config",
        "memory.session",
        "memory.global_dir",
        "marketplace",
        "gateway",
        "shell",
    ];
    for key in owned {
        for layer in [Layer::Profile, Layer::Workspace, Layer::WorkspaceProfile] {
            let text = match key {
                "memory.global_dir" => "# one\n\nmemory.global_dir = \"/x\"\n".to_owned(),
                key => format!("# one\n\n[{key}]\n"),
            };
            let problems = Files::default().config(layer, &text).problems();
            assert_eq!(problems.len(), 1, "{key} {problems:?}");
            let problem = &problems[0];
            assert_eq!(problem.code, "config_key_not_allowed");
            assert_eq!(
                (problem.path.as_str(), problem.line),
                (&*config_path(layer), Some(3))
            );
            assert_eq!(problem.key.as_deref(), Some(key));
            assert_eq!(problem.layer, Some(layer));
            assert!(problem.message.contains(key), "{}", problem.message);
            assert!(problem.message.contains(layer.as_str()), "{}", problem.message);
        }
    }
    let config = user("[gateway]\nx = 1\n[shell]\ny = 2\n[http]\nport = 1\n").resolved();
    assert_eq!(winner(&config, "gateway.x"), "user config.toml 2:1");
}

#[test]
fn a_key_in_a_table_of_the_daemon_is_refused_where_it_stands() {
    let problems = workspace("x = 1\nhttp.port = 70000\n").problems();
    let codes: Vec<_> = problems
        .iter()
        .map(|problem| (problem.code, problem.line))
        .collect();
    assert_eq!(
        codes,
        [
            ("config_unknown_key", Some(1)),
            ("config_key_not_allowed", Some(2))
        ]
    );
}

#[test]
fn r062_r063_what_profiles_may_not_set() {
    for key in [
        "http",
        "daemon",
        "log",
        "gateway",
        "shell",
        "marketplace",
        "observability",
        "network",
        "sandboxes",
    ] {
        for layer in [Layer::Profile, Layer::WorkspaceProfile] {
            for text in [
                format!("\n[{key}]\n"),
                format!("\n{key} = 1\n"),
                format!("\n{key} = {{}}\n"),
                format!("\n\"{key}\".a.b = 1\n"),
                format!("\n[[{key}]]\n"),
                format!("\n[ {key} . a ]\n[{key}.b]\n"),
            ] {
                let problems = Files::default().config(layer, &text).problems();
                assert_eq!(problems.len(), 1, "{text}");
                assert_eq!(
                    (problems[0].code, problems[0].key.as_deref(), problems[0].line),
                    ("config_key_not_allowed", Some(key), Some(2)),
                    "{text}"
                );
            }
            let problems = Files::default().config(layer, &format!("[{key}]\n")).problems();
            assert!(
                problems[0].message.contains(layer.as_str()),
                "{}",
                problems[0].message
            );
        }
    }
    let config =
        workspace("[sandboxes.x]\nimage = \"i\"\n[network]\na = 1\n[observability]\nb = 1\n").resolved();
    assert_eq!(config.text("sandboxes.x.image"), Some("i"));
}

#[test]
fn r065_a_profile_may_have_providers() {
    let config = Files::default()
        .config(Layer::Profile, "[providers.x]\ncommand = \"c\"\n")
        .resolved();
    assert_eq!(winner(&config, "providers.x.command"), "profile config.toml 2:1");
}

#[test]
fn layers_that_say_nothing_change_nothing() {
    let alone = user("[limits]\ncalls = 3\n").resolved();
    let mut files = user("[limits]\ncalls = 3\n").workspace("# nothing\r\n");
    for layer in LAYERS {
        files = files.mcp(layer, "{}");
    }
    assert!(alone == files.resolved());
    assert_eq!(losers(&alone, "limits.calls"), ["default"]);
}
