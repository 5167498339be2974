//! Which keys and values there are, and what is said about the others.

use compozy_domain::{Layer, Severity};

use crate::support::{Files, config_path, told, user, workspace};

#[test]
fn r048_an_unknown_table_names_its_line_and_the_nearest() {
    let problems = workspace("\n\n\n[permisions]\nmode = \"deny-all\"\n").problems();
    assert_eq!(told(&problems), ["config_unknown_key 4:2 permisions"]);
    let problem = &problems[0];
    assert_eq!(problem.path, config_path(Layer::Workspace));
    assert!(problem.message.contains("`permisions`") && problem.message.contains("`permissions`"));
    assert!(
        problem.message.contains("config.unknown_keys"),
        "{}",
        problem.message
    );
}

#[test]
fn r049_unknown_keys_can_be_warnings() {
    let config = user("config.unknown_keys = \"warn\"\n")
        .workspace("\n\n\n[permisions]\nmode = \"deny-all\"\n")
        .resolved();
    let [warning] = config.diagnostics() else {
        panic!("{:?}", config.diagnostics())
    };
    assert_eq!(warning.severity, Severity::Warning);
    assert_eq!(
        (warning.path.as_str(), warning.line),
        (&*config_path(Layer::Workspace), Some(4))
    );
    assert!(warning.message.contains("`permissions`"), "{}", warning.message);
    assert!(!config.shown().contains_key("permisions"));
    assert!(
        config
            .leaves()
            .iter()
            .all(|leaf| !leaf.key.contains("permisions"))
    );
}

#[test]
fn r050_only_the_users_file_says_what_unknown_keys_are() {
    let problems = workspace("config.unknown_keys = \"warn\"\n[permisions]\n").problems();
    assert_eq!(
        told(&problems),
        [
            "config_key_not_allowed 1:1 config",
            "config_unknown_key 2:2 permisions"
        ]
    );
}

#[test]
fn r051_it_is_about_unknown_keys_only() {
    let problems = user("config.unknown_keys = \"warn\"\n")
        .workspace("permissions.mode = \"yes\"\ndefaults.agent = 3\n")
        .problems();
    assert_eq!(
        told(&problems),
        [
            "config_bad_value 1:13 permissions.mode",
            "config_wrong_type 2:10 defaults.agent"
        ]
    );
}

#[test]
fn r053_r059_a_word_that_is_none_of_the_allowed_ones() {
    let problems = user("config.unknown_keys = \"never\"\npermissions.mode = \"yes\"\n").problems();
    assert!(
        problems[0].message.contains("\"error\", \"warn\""),
        "{}",
        problems[0].message
    );
    let modes = "\"deny-all\", \"approve-reads\", \"approve-all\"";
    assert!(problems[1].message.contains(modes), "{}", problems[1].message);
    assert!(
        problems
            .iter()
            .all(|problem| !problem.message.contains("never") && !problem.message.contains("yes"))
    );
}

#[test]
fn r054_an_unknown_key_in_a_table() {
    let problems = user("session.start_timout = \"60s\"\n").problems();
    assert_eq!(told(&problems), ["config_unknown_key 1:9 session.start_timout"]);
    assert!(problems[0].message.contains("`session.start_timeout`"));
}

#[test]
fn r055_a_table_that_nobody_knows() {
    let problems = workspace("[foo]\nbar = 1\n").problems();
    assert_eq!(told(&problems), ["config_unknown_key 1:2 foo"]);
    assert!(
        !problems[0].message.contains("did you mean"),
        "{}",
        problems[0].message
    );
}

#[test]
fn typed_tables_take_no_unknown_keys_at_any_depth() {
    for (text, key) in [
        ("[agents.reviewer]\nx = 1\n", "agents.reviewer"),
        ("[providers.p]\ncomand = \"x\"\n", "providers.p.comand"),
        ("[sandboxes.s]\nimg = \"x\"\n", "sandboxes.s.img"),
        ("[memory.workspace]\nauto = true\n", "memory.workspace.auto"),
        (
            "[[hooks.declarations]]\nname = \"h\"\ncomand = \"x\"\n",
            "hooks.declarations.h.comand",
        ),
        (
            "[[mcp_servers]]\nname = \"a b\"\nurl = \"http://x\"\nx = 1\n",
            "mcp_servers.\"a b\".x",
        ),
    ] {
        let problems = user(text).problems();
        assert_eq!(problems.len(), 1, "{text}");
        assert_eq!(
            (problems[0].code, problems[0].key.as_deref()),
            ("config_unknown_key", Some(key))
        );
    }
}

#[test]
fn r057_a_number_in_quotes_and_one_out_of_range() {
    assert_eq!(
        told(&user("http.port = \"2123\"\n").problems()),
        ["config_wrong_type 1:6 http.port"]
    );
    let problems = user("http.port = 70000\n").problems();
    assert_eq!(told(&problems), ["config_bad_value 1:6 http.port"]);
    assert!(problems[0].message.contains("65535") && !problems[0].message.contains("70000"));
}

#[test]
fn r058_spans_need_a_unit_and_are_texts() {
    for (value, code) in [
        ("\"60\"", "config_bad_value"),
        ("\"-1s\"", "config_bad_value"),
        ("\"1 week\"", "config_bad_value"),
        ("60", "config_wrong_type"),
    ] {
        let problems = workspace(&format!("session.start_timeout = {value}\n")).problems();
        assert_eq!(
            told(&problems),
            [format!("{code} 1:9 session.start_timeout")],
            "{value}"
        );
    }
}

#[test]
fn the_lease_of_a_runtime_lasts_as_long_as_a_caller_may_ask_for() {
    for value in ["1ms", "999ms", "1h 1ns", "100h"] {
        let problems = user(&format!("session.runtime_ttl = \"{value}\"\n")).problems();
        assert_eq!(
            told(&problems),
            ["config_bad_value 1:9 session.runtime_ttl"],
            "{value}"
        );
        assert!(
            problems[0].message.contains("from \"1s\" to \"1h\""),
            "{}",
            problems[0].message
        );
    }
    for value in ["1s", "60m"] {
        let resolved = user(&format!("session.runtime_ttl = \"{value}\"\n")).resolve();
        assert!(resolved.is_ok(), "{value}");
    }
}

#[test]
fn a_span_ends_while_somebody_may_still_be_there() {
    for text in [
        "changes.retain = \"2562047788015215h\"\n",
        "grpc.connection_age = \"876001h\"\n",
        "providers.p.timeout = 9223372036854775807\n",
        "providers.p.timeout = 1e300\n",
        "providers.p.timeout = inf\n",
    ] {
        let problems = user(text).problems();
        assert_eq!(
            (problems.len(), problems[0].code),
            (1, "config_bad_value"),
            "{text}"
        );
        assert!(problems[0].message.contains("876000h"), "{}", problems[0].message);
    }
    assert!(
        user("changes.retain = \"876000h\"\nproviders.p.timeout = 0.5\n")
            .resolve()
            .is_ok()
    );
}

#[test]
fn r060_all_problems_of_a_file_and_of_all_files_are_told_at_once() {
    let problems = user("[foo]\n[defaults]\nagent = 3\nagnt = \"x\"\n")
        .workspace("[http]\n")
        .config(Layer::WorkspaceProfile, "= broken")
        .mcp(Layer::Profile, "{,}")
        .problems();
    let places: Vec<_> = problems
        .iter()
        .map(|problem| (problem.path.as_str(), problem.line, problem.code))
        .collect();
    assert_eq!(
        places[1..],
        [
            ("/user/config.toml", Some(1), "config_unknown_key"),
            ("/user/config.toml", Some(3), "config_wrong_type"),
            ("/user/config.toml", Some(4), "config_unknown_key"),
            ("/workspace/config.toml", Some(1), "config_key_not_allowed"),
            ("/workspace_profile/config.toml", Some(1), "config_syntax"),
        ]
    );
    assert_eq!(places[0].0, "/profile/mcp.json");
    assert!(problems.iter().all(|problem| problem.severity == Severity::Error));
    assert!(
        problems
            .iter()
            .all(|problem| !problem.message.is_empty() && !problem.remedy.is_empty())
    );
}

#[test]
fn r068_a_key_that_is_there_twice_names_the_second_line() {
    let problems = user("[defaults]\nagent = \"a\"\n\nagent = \"b\"\n").problems();
    assert_eq!(
        (problems[0].code, problems[0].line),
        ("config_duplicate_key", Some(4))
    );
    assert_eq!(problems[0].path, config_path(Layer::User));
    assert!(problems[0].message.contains("`agent`"), "{}", problems[0].message);
    for (text, line) in [
        ("[log]\n[http]\n[log]\n", 3),
        ("a.b = 1\n[a]\n", 2),
        ("log = { level = \"info\",\n level = \"warn\" }\n", 2),
        ("[[loops]]\n[loops]\n", 2),
    ] {
        let problems = user(text).problems();
        assert!(
            problems
                .iter()
                .any(|problem| problem.code == "config_duplicate_key" && problem.line == Some(line)),
            "{text} {problems:?}"
        );
    }
}

#[test]
fn r221_names_of_providers_become_paths() {
    let long = "a".repeat(65);
    for name in ["\"../x\"", "Acme", &long, "\"\"", "-a", "\"a.b\"", "\"é\""] {
        let problems = workspace(&format!("[providers.{name}]\ncommand = \"c\"\n")).problems();
        assert_eq!(problems.len(), 1, "{name}");
        assert_eq!((problems[0].code, problems[0].line), ("config_bad_name", Some(1)));
        let default = workspace(&format!("defaults.provider = '{}'\n", name.trim_matches('"')));
        if name != "\"\"" {
            assert_eq!(default.problems()[0].code, "config_bad_value", "{name}");
        }
    }
    let longest = "a".repeat(64);
    for name in ["acme", "0", "a_b-c", &longest] {
        assert!(
            workspace(&format!("[providers.{name}]\n")).resolve().is_ok(),
            "{name}"
        );
    }
}

#[test]
fn names_in_lists_are_there_unique_and_plain() {
    let entry = |name: &str| format!("[[mcp_servers]]\n{name}\ncommand = \"c\"\n");
    let first = entry("name = \"a\"");
    for (name, code) in [
        ("name = \" a \"", "config_duplicate_name"),
        ("name = \"\"", "config_bad_name"),
        ("name = \"a/b\"", "config_bad_name"),
        ("name = 3", "config_wrong_type"),
        ("", "config_bad_name"),
    ] {
        let problems = user(&format!("{first}{}", entry(name))).problems();
        assert_eq!(problems.len(), 1, "{name} {problems:?}");
        assert_eq!(problems[0].code, code, "{name}");
        assert!(problems[0].line >= Some(4), "{name}");
    }
    for text in [
        "[mcp_servers.s]\ncommand = \"c\"\n",
        "mcp_servers = [1]\n",
        "hooks.declarations = {}\n",
    ] {
        assert_eq!(user(text).problems()[0].code, "config_wrong_type", "{text}");
    }
}

#[test]
fn values_inside_of_lists_and_tables_are_checked() {
    for (text, place) in [
        (
            "http.allowed_origins = [\"a\",\n 3]\n",
            "config_wrong_type 2:2 http.allowed_origins",
        ),
        (
            "[providers.p]\nenv = { A = 1 }\n",
            "config_wrong_type 2:9 providers.p.env.A",
        ),
        (
            "[providers.p]\nenv = { \"A=B\" = \"\" }\n",
            "config_bad_name 2:9 providers.p.env.\"A=B\"",
        ),
        (
            "workspaces.allowed_roots = [\"rel\"]\n",
            "config_bad_value 1:29 workspaces.allowed_roots",
        ),
        (
            "automation.jobs = [1]\n",
            "config_wrong_type 1:20 automation.jobs",
        ),
        ("gateway = 3\n", "config_wrong_type 1:1 gateway"),
        (
            "daemon.host_id = \"a b\"\n",
            "config_bad_value 1:8 daemon.host_id",
        ),
        (
            "defaults.agent = \"A B\"\n",
            "config_bad_value 1:10 defaults.agent",
        ),
        (
            "store.url = \"mysql://s3cr3t\"\n",
            "config_bad_value 1:7 store.url",
        ),
        ("loops.x = 99999999999999999999\n", "config_bad_value 1:11 -"),
    ] {
        let problems = user(text).problems();
        assert_eq!(told(&problems), [place], "{text}");
        assert!(!problems[0].message.contains("s3cr3t"));
    }
}

#[test]
fn a_hostile_file_is_told_in_bounded_time_and_words() {
    let many: String = (0..50_000).map(|at| format!("unknown_{at} = 1\n")).collect();
    let problems = workspace(&many).problems();
    assert_eq!(problems.len(), 1_001);
    assert!(
        problems
            .iter()
            .any(|problem| problem.message.contains("49000 more"))
    );
    let long = format!("\"{}\\u0007\" = 1\n", "k".repeat(100_000));
    assert!(workspace(&long).problems()[0].message.len() < 500);
    for deep in [
        format!("{} = 1\n", vec!["a"; 300_000].join(".")),
        format!("[{}]\n", vec!["a"; 300_000].join(".")),
        format!("loops.x = {}\n", "[".repeat(500_000)),
        format!("loops.x = {}\n", "{a=".repeat(300_000)),
    ] {
        assert_eq!(
            Files::default().workspace(&deep).problems()[0].code,
            "config_too_deep"
        );
    }
}
