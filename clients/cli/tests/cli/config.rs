//! Section 5: the configuration.

use compozy_client::proto::admin::v1::SetConfigRequest;
use serde_json::{Value, json};

use crate::autostart::Installation;
use crate::fake::{Fake, config_invalid};
use crate::run::{Done, text};

/// Stands in for the daemon's program: tells what it was asked, reports two findings, and ends as told.
const REPORTING: &str = r#"
printf '%s\n' "$*" >> "$COMPOZY_HOME/asked"
case "$*" in
schema*json*)
    echo '{"keys":[{"key":"loops","type":"opaque","default":null},{"key":"defaults.agent","type":"text","default":"general"}]}';;
*json*)
    echo '{"path":"/w/config.toml","line":4,"column":1,"code":"config_unknown_key","severity":"error","layer":"workspace","key":"x","profile":null,"message":"unknown key `x`","remedy":"correct it"}'
    echo '{"path":"/w/mcp.json","line":null,"column":null,"code":"mcp_unknown_field","severity":"warning","layer":null,"key":null,"profile":null,"message":"unknown field","remedy":""}';;
*)
    echo '/w/config.toml:4:1: config_unknown_key: unknown key `x`'
    echo 'a remark' >&2;;
esac
exit "$(cat "$COMPOZY_HOME/exit")""#;

fn installation(exit: &str) -> Installation {
    let place = Installation::new(Some(REPORTING));
    std::fs::create_dir_all(place.home()).unwrap();
    std::fs::write(place.home().join("exit"), exit).unwrap();
    place
}

fn asked(place: &Installation) -> Vec<String> {
    let text = std::fs::read_to_string(place.home().join("asked")).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn human(fake: &Fake, arguments: &[&str]) -> Done {
    let done = fake.run_form("human", "", arguments).done();
    assert_eq!(done.exit, 0, "{}", done.stderr);
    done
}

fn keys(explained: &Value) -> Vec<&str> {
    let leaves = explained["leaves"].as_array().unwrap();
    leaves.iter().map(|leaf| leaf["key"].as_str().unwrap()).collect()
}

#[test]
fn c105_winner_and_losers_with_file_and_line() {
    let fake = Fake::with_two();
    let (own, user) = (
        text(fake.path("a/.compozy/config.toml")),
        text(fake.home().join("config.toml")),
    );
    let explain = ["config", "explain", "defaults.agent", "--workspace", "a"];
    let json = fake.run("", &explain).done().json();
    assert_eq!(json["resolution_source"], "flag");
    let leaf = &json["leaves"][0];
    let winner = json!({"layer": "WORKSPACE", "path": own, "line": 2, "column": 1, "value": "reviewer"});
    assert_eq!(
        (&leaf["key"], &leaf["winner"]),
        (&json!("defaults.agent"), &winner)
    );
    let loser = json!({"layer": "USER", "path": user, "line": 5, "column": 1, "value": "claude"});
    assert_eq!(
        (&leaf["losers"][0], leaf["losers"].as_array().unwrap().len()),
        (&loser, 2)
    );

    let done = human(&fake, &explain);
    let lines: Vec<&str> = done.stdout.lines().collect();
    assert_eq!(lines[0], "defaults.agent = \"reviewer\"");
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(lines[1]), ["from", "workspace", &format!("{own}:2")]);
    assert_eq!(
        words(lines[2]),
        ["over", "user", &format!("{user}:5"), "\"claude\""]
    );
    assert_eq!(words(lines[3]), ["over", "default", "built", "in", "\"general\""]);
    // Aligned.
    assert_eq!(lines[1].find("workspace"), lines[2].find("user"));
    assert_eq!(lines[2].find("\"claude\""), lines[3].find("\"general\""));
}

#[test]
fn r077_one_leaf_or_every_effective_leaf_sorted() {
    let fake = Fake::with_two();
    let all = fake.run("a", &["config", "explain"]).done().json();
    let expected = [
        "defaults.agent",
        "limits.max_sessions",
        "mcp_servers.\"git.hub\".env.API_TOKEN",
        "permissions.mode",
        "skills.disabled_skills",
    ];
    assert_eq!(keys(&all), expected);
    assert!(keys(&all).is_sorted());
    let one = fake
        .run("a", &["config", "explain", "permissions.mode"])
        .done()
        .json();
    assert_eq!(keys(&one), ["permissions.mode"]);
    assert_eq!(
        (&one["leaves"][0]["winner"]["layer"], &one["leaves"][0]["losers"]),
        (&json!("DEFAULT"), &json!([]))
    );
    // A table is everything in it, and no key that only begins alike.
    let table = fake.run("a", &["config", "explain", "mcp_servers"]).done().json();
    assert_eq!(keys(&table), ["mcp_servers.\"git.hub\".env.API_TOKEN"]);
    assert_eq!(
        fake.run("a", &["config", "explain", "perm"]).done().error(66)["reason"],
        "KEY_NOT_FOUND"
    );
    let done = fake
        .run_form("human", "a", &["config", "explain", "limits"])
        .done();
    assert!(!done.stderr.contains("are built in"), "{}", done.stderr);
    // A record a line.
    let lines = fake.run_form("jsonl", "a", &["config", "explain"]).done().lines();
    assert_eq!(
        (lines.len(), &lines[1]["key"], &lines[1]["winner"]["value"]),
        (5, &json!("limits.max_sessions"), &json!(4))
    );

    let done = fake.run_form("human", "a", &["config", "explain"]).done();
    let lines: Vec<&str> = done.stdout.lines().collect();
    assert!(
        lines[0].starts_with("KEY ") && lines[1].starts_with("defaults.agent "),
        "{}",
        done.stdout
    );
    assert!(
        lines[2].trim_start().starts_with("over user") && lines[2].ends_with("\"claude\""),
        "{}",
        done.stdout
    );
    assert!(lines[3].contains("over default"), "{}", done.stdout);
    assert!(
        done.stderr.contains("4 of 5 values are set in files"),
        "{}",
        done.stderr
    );
    // What is wrong with the files is told beside it.
    assert!(
        done.stderr.contains("config.toml:4:1: unknown key `permisions`"),
        "{}",
        done.stderr
    );
    assert!(!done.stderr.contains("AGENT.md"), "{}", done.stderr);
}

#[test]
fn an_unknown_key_says_which_one_was_meant() {
    let fake = Fake::with_two();
    let error = fake
        .run("a", &["config", "explain", "defaults.agnet"])
        .done()
        .error(66);
    assert_eq!(
        (&error["reason"], &error["metadata"]["key"]),
        (&json!("KEY_NOT_FOUND"), &json!("defaults.agnet"))
    );
    let hint = error["hint"].as_str().unwrap();
    assert!(
        hint.starts_with("did you mean defaults.agent?") && hint.contains("compozy config schema"),
        "{hint}"
    );
    let error = fake
        .run("a", &["config", "explain", "permission"])
        .done()
        .error(66);
    assert!(
        error["hint"]
            .as_str()
            .unwrap()
            .starts_with("did you mean permissions?"),
        "{error}"
    );
    let error = fake.run("a", &["config", "explain", "xyz"]).done().error(66);
    assert!(
        !error["hint"].as_str().unwrap().contains("did you mean"),
        "{error}"
    );
}

#[test]
fn a_key_that_nobody_has_set_is_no_slip() {
    let place = installation("0");
    let fake = Fake::with_two();
    let socket = format!("unix://{}", text(fake.home().join("daemon.sock")));
    let explain = |key: &str| {
        let all = ["--server", &socket, "config", "explain", key, "--workspace", "a"];
        place.run(&all).done().error(66)
    };
    // `loops` is a key of the schema, and no value counts under it.
    let error = explain("loops");
    assert_eq!(
        (&error["reason"], &error["message"]),
        (
            &json!("KEY_NOT_FOUND"),
            &json!("nobody has set loops, and it has no default")
        )
    );
    assert!(
        explain("lops")["hint"]
            .as_str()
            .unwrap()
            .starts_with("did you mean loops?")
    );
}

#[test]
fn a_key_may_be_quoted_as_toml_allows_it() {
    let fake = Fake::with_two();
    for key in ["'defaults'.agent", "defaults . \"agent\""] {
        let json = fake.run("a", &["config", "explain", key]).done().json();
        assert_eq!(keys(&json), ["defaults.agent"]);
    }
    let json = fake
        .run("a", &["config", "explain", "mcp_servers.'git.hub'"])
        .done()
        .json();
    assert_eq!(json["leaves"].as_array().unwrap().len(), 1);
}

#[test]
fn a_secret_is_shown_nowhere() {
    let fake = Fake::with_two();
    let key = "mcp_servers.\"git.hub\".env.API_TOKEN";
    let done = human(&fake, &["config", "explain", key, "--workspace", "a"]);
    assert!(
        done.stdout.starts_with(&format!("{key} = \"<redacted>\"\n")),
        "{}",
        done.stdout
    );
    assert!(done.stdout.contains("a secret"), "{}", done.stdout);
}

#[test]
fn the_whole_configuration_is_toml_with_its_origins() {
    let fake = Fake::with_two();
    let json = fake.run("a", &["config", "show"]).done().json();
    assert_eq!(json["config"]["defaults"], json!({"agent": "reviewer"}));
    assert_eq!(
        (&json["profile_name"], &json["root"]),
        (&json!("default"), &json!(text(fake.path("a"))))
    );
    let done = human(&fake, &["config", "show", "a"]);
    let read: toml::Table = done.stdout.parse().unwrap();
    assert_eq!(read["defaults"]["agent"].as_str(), Some("reviewer"));
    assert_eq!(read["skills"]["disabled_skills"].as_array().unwrap().len(), 2);
    assert_eq!(
        read["mcp_servers"]["git.hub"]["env"]["API_TOKEN"].as_str(),
        Some("<redacted>")
    );
    let line = |key: &str| done.stdout.lines().find(|line| line.starts_with(key)).unwrap();
    let own = text(fake.path("a/.compozy/config.toml"));
    assert!(
        line("agent").ends_with(&format!("# workspace, {own}:2")),
        "{}",
        line("agent")
    );
    assert!(line("mode").ends_with("# default"), "{}", line("mode"));
}

#[test]
fn every_table_stands_once_in_the_whole_configuration() {
    let fake = Fake::with_two();
    fake.snapshots(|snapshot| {
        // Sorted by key, `a.z` comes behind the table `a.y`.
        for key in ["a.b", "a.y.c", "a.z", "a.\"q\\\".r\".s"] {
            let mut leaf = snapshot.config_leaves[0].clone();
            leaf.key = key.to_owned();
            snapshot.config_leaves.push(leaf);
        }
    });
    let done = human(&fake, &["config", "show", "a"]);
    let read: toml::Table = done.stdout.parse().unwrap();
    assert_eq!(read["a"]["z"].as_str(), Some("reviewer"));
    assert_eq!(read["a"]["y"]["c"].as_str(), Some("reviewer"));
    assert_eq!(read["a"]["q\".r"]["s"].as_str(), Some("reviewer"));
}

#[test]
fn a_key_is_set_by_the_daemon() {
    let fake = Fake::with_two();
    let file = text(fake.home().join("config.toml"));
    let set = |arguments: &[&str]| {
        fake.run("", &[&["config", "set"], arguments].concat())
            .done()
            .json()
    };
    let json = set(&["defaults.agent", "x"]);
    assert_eq!(
        json,
        json!({"path": file, "line": 7, "changed": true, "needs_restart": false})
    );
    let request: SetConfigRequest = fake.last("SetConfig");
    assert_eq!(
        (request.key.as_str(), request.value.as_str(), request.unset),
        ("defaults.agent", "x", false)
    );
    // A value may begin with a dash, and may be empty.
    set(&["limits.x", "-1"]);
    assert_eq!(fake.last::<SetConfigRequest>("SetConfig").value, "-1");
    set(&["defaults.provider", ""]);
    assert_eq!(fake.last::<SetConfigRequest>("SetConfig").value, "");
    assert_eq!(set(&["defaults.agent", "--unset"])["line"], 0);
    assert!(fake.last::<SetConfigRequest>("SetConfig").unset);

    let human = |arguments: &[&str]| human(&fake, &[&["config", "set"], arguments].concat());
    assert_eq!(
        human(&["defaults.agent", "x"]).stdout,
        format!("defaults.agent is set in {file}:7\n")
    );
    assert!(
        human(&["defaults.agent", "same"])
            .stdout
            .contains("nothing was changed")
    );
    assert!(
        human(&["defaults.agent", "--unset"])
            .stdout
            .contains("no longer set")
    );
    assert!(
        human(&["grpc.listen", "x"])
            .stderr
            .contains("next start of the daemon")
    );

    for refused in [
        &["defaults.agent"][..],
        &["k", "v", "--unset"],
        &["k", "v", "--workspace", "a"],
        &[" ", "v"],
    ] {
        let calls = fake.calls().len();
        assert_eq!(
            fake.run("", &[&["config", "set"], refused].concat()).done().exit,
            64,
            "{refused:?}"
        );
        assert_eq!(fake.calls().len(), calls);
    }
}

#[test]
fn a_refused_value_changes_nothing_and_says_so() {
    let fake = Fake::with_two();
    let place = format!("{}:3:1", text(fake.home().join("config.toml")));
    fake.fail(
        "SetConfig",
        config_invalid(&[(&place, "config_type: it takes a text")], 1, ""),
    );
    let done = fake
        .run_form("human", "", &["config", "set", "defaults.agent", "4"])
        .done();
    assert_eq!(done.exit, 65);
    assert!(
        done.stderr.contains(&format!(
            "  {place}: config_type: it takes a text\nhint: nothing was changed"
        )),
        "{}",
        done.stderr
    );
}

#[test]
fn a_key_of_the_workspace_is_set_by_the_daemons_program() {
    let script = r#"
printf '%s\n' "$*" > "$COMPOZY_HOME/asked"
[ -z "$COMPOZY_REFUSED" ] || { printf 'error: nothing was changed\n/w/config.toml:3:1: config_type: it takes a text\n' >&2; exit 65; }
echo '{"path":"x","key":"k","line":3,"changed":true}'"#;
    let place = Installation::new(Some(script));
    let fake = Fake::with_two();
    std::fs::create_dir_all(place.home()).unwrap();
    let socket = format!("unix://{}", text(fake.home().join("daemon.sock")));
    let all = [
        "--server",
        &socket,
        "config",
        "set",
        "defaults.agent",
        "x y",
        "--workspace-file",
        "--workspace",
        "a",
    ];
    let file = text(fake.path("a/.compozy/config.toml"));
    let json = place.run(&all).done().json();
    assert_eq!(
        json,
        json!({"path": file, "line": 3, "changed": true, "needs_restart": false})
    );
    let expected = format!("set-config --format json --layer workspace --file {file} -- defaults.agent x y");
    assert_eq!(asked(&place), [expected]);
    assert!(!fake.calls().contains(&"SetConfig"));
    let error = place.run(&all).env("COMPOZY_REFUSED", "k").done().error(65);
    assert_eq!(
        (&error["reason"], &error["metadata"]["path"]),
        (&json!("CONFIG_INVALID"), &json!(file))
    );
    let problem = json!({"path": "/w/config.toml", "line": 3, "column": 1, "code": "config_type",
        "message": "it takes a text"});
    assert_eq!(error["problems"], json!([problem]));
    assert!(
        error["hint"].as_str().unwrap().starts_with("nothing was changed"),
        "{error}"
    );
}

#[test]
fn c104_files_are_checked_by_the_daemons_program() {
    let place = installation("65");
    let done = place
        .run_form("human", &["config", "validate", "--", "bad.toml", "-x"])
        .done();
    assert_eq!(
        (done.exit, done.stdout.as_str()),
        (65, "/w/config.toml:4:1: config_unknown_key: unknown key `x`\n")
    );
    assert_eq!(done.stderr, "a remark\n");
    assert_eq!(asked(&place), ["validate -- bad.toml -x"]);
    let done = place.run(&["config", "validate", "bad.toml"]).done();
    assert_eq!(done.exit, 65);
    let json: Value = serde_json::from_str(&done.stdout).unwrap();
    let found = &json["diagnostics"][0];
    assert_eq!(
        (&found["path"], &found["line"], &found["key"]),
        (&json!("/w/config.toml"), &json!(4), &json!("x"))
    );
    assert_eq!(
        (&found["severity"], &json["diagnostics"][1]["line"]),
        (&json!("ERROR"), &json!(0))
    );
    assert!(!done.stdout.contains("null"), "{}", done.stdout);
    let done = place.run_form("jsonl", &["config", "validate"]).done();
    assert_eq!((done.exit, done.stdout.lines().count()), (65, 2));
    assert_eq!(asked(&place)[2], "validate --format json --");
    let toon: Value =
        toon_format::decode_default(&place.run_form("toon", &["config", "validate"]).done().stdout).unwrap();
    assert_eq!(toon["diagnostics"][1]["code"], "mcp_unknown_field");

    let place = installation("0");
    assert_eq!(
        place
            .run_form("human", &["config", "validate", "good.toml"])
            .done()
            .exit,
        0
    );
    assert!(!place.home().join("daemon.sock").exists() && !place.home().join("starts").exists());
}

#[test]
fn c106_the_schema_is_that_of_the_daemons_program() {
    let place = installation("0");
    let done = place.run_form("human", &["config", "schema"]).done();
    assert_eq!((done.exit, done.stdout.lines().count()), (0, 1));
    assert_eq!(asked(&place), ["schema"]);
    let json = place.run(&["config", "schema"]).done().json();
    assert_eq!(json["keys"][0], json!({"key": "loops", "type": "opaque"}));
    let lines = place.run_form("jsonl", &["config", "schema"]).done().lines();
    assert_eq!(lines[1]["default"], "general");
}

#[test]
fn c129_offline_commands_start_no_daemon() {
    let place = Installation::serving();
    for arguments in [
        &["config", "validate", "f"][..],
        &["config", "schema"],
        &["version"],
        &["completion", "bash"],
    ] {
        place.run(arguments).done();
        assert!(!place.home().join("daemon.sock").exists(), "{arguments:?}");
    }
}

#[test]
fn a_program_that_cannot_be_run_or_fails_is_told() {
    let place = Installation::new(None);
    let error = place.run(&["config", "validate", "f"]).done().error(69);
    assert!(error["message"].as_str().unwrap().contains("compozyd"), "{error}");
    let place = Installation::new(Some("echo 'error: no such file: f; name another' >&2\nexit 66"));
    let error = place.run(&["config", "validate", "f"]).done().error(66);
    assert_eq!(error["message"], "no such file: f; name another");
    let done = place.run_form("human", &["config", "validate", "f"]).done();
    assert_eq!((done.exit, done.stderr.lines().count()), (66, 1));
    let error = place
        .run(&["--server", "unix:///s", "config", "validate", "f"])
        .done()
        .error(64);
    assert_eq!(error["reason"], "USAGE");
}
