//! One key set or taken out, everything else as it was.

use compozy_domain::Layer;
use compozy_resolver::config::keys::{KEYS, Kind};
use compozy_resolver::config::{Edited, check_file, set, unset};

use crate::merge::two_values;
use crate::support::told;

const FILE: &str = "# the head\n\n[defaults] # why\nagent   = 'general'   # mine\n\n# about providers\n[providers.p]\nenv = { A = \"1\", B = \"2\" }\n\n[[mcp_servers]]\nname = \"s\"\ncommand = \"c\"\n";

fn edited(text: &str, key: &str, value: &str) -> Edited {
    set(Layer::User, "/c", text, key, value).unwrap()
}

#[test]
fn a_value_is_replaced_in_its_place() {
    let new = edited(FILE, "defaults.agent", "reviewer");
    assert_eq!(new.text, FILE.replace("'general'", "\"reviewer\""));
    assert_eq!((new.line, new.changed), (Some(4), true));
    let new = edited(FILE, "providers.p.env.A", "x");
    assert_eq!(new.text, FILE.replace("A = \"1\"", "A = \"x\""));
    let new = edited(FILE, "mcp_servers.s.command", "d");
    assert_eq!((new.text, new.line), (FILE.replace("\"c\"", "\"d\""), Some(12)));
}

#[test]
fn the_same_value_in_other_words_is_no_change() {
    let same = edited(FILE, "defaults.agent", "\"general\"");
    assert_eq!(
        (same.text.as_str(), same.line, same.changed),
        (FILE, Some(4), false)
    );
}

#[test]
fn a_new_key_finds_its_table() {
    let new = edited(FILE, "defaults.provider", "p");
    assert_eq!(new.text, FILE.replace("# mine\n", "# mine\nprovider = \"p\"\n"));
    assert_eq!(new.line, Some(5));
    let new = edited(FILE, "session.start_timeout", "10s");
    assert!(new.text.starts_with(FILE.trim_end()), "{}", new.text);
    assert!(
        new.text.contains("[session]\nstart_timeout = \"10s\"\n"),
        "{}",
        new.text
    );
    let new = edited(FILE, "grpc.tls.cert", "/c");
    assert!(
        new.text.contains("[grpc.tls]\ncert = \"/c\"\n") && !new.text.contains("[grpc]\n"),
        "{}",
        new.text
    );
    let new = edited(FILE, "providers.p.env.C", "3");
    assert!(new.text.contains("B = \"2\", C = \"3\" }"), "{}", new.text);
    let new = edited(FILE, "mcp_servers.\"t u\".url", "http://t");
    assert!(
        new.text
            .contains("[[mcp_servers]]\nname = \"t u\"\nurl = \"http://t\"\n"),
        "{}",
        new.text
    );
    assert_eq!(edited("", "http.port", "2123").text, "[http]\nport = 2123\n");
    assert_eq!(
        edited("http.host = \"h\"\n", "http.port", "1").text,
        "http.host = \"h\"\nhttp.port = 1\n"
    );
    assert_eq!(
        edited("", "loops.any.x", "1.2.3").text,
        "[loops.any]\nx = \"1.2.3\"\n"
    );
}

#[test]
fn line_ends_and_a_byte_order_mark_stay() {
    let text = "\u{feff}[defaults]\r\nagent = \"a\"\r\n";
    assert_eq!(
        edited(text, "defaults.agent", "b").text,
        text.replace("\"a\"", "\"b\"")
    );
    let new = edited(text, "defaults.provider", "p");
    assert_eq!(new.text, format!("{text}provider = \"p\"\r\n"));
}

#[test]
fn a_key_is_taken_out_and_comments_stay() {
    let without = |key: &str| unset(Layer::User, "/c", FILE, key).unwrap();
    let new = without("defaults.agent");
    assert_eq!(new.text, FILE.replace("agent   = 'general'   # mine\n", ""));
    assert_eq!((new.line, new.changed), (None, true));
    assert_eq!(without("providers.p.env.A").text, FILE.replace("A = \"1\", ", ""));
    assert_eq!(
        without("providers.p.env").text,
        FILE.replace("env = { A = \"1\", B = \"2\" }\n", "")
    );
    let same = without("session.start_timeout");
    assert_eq!((same.text.as_str(), same.changed), (FILE, false));
    let head = "# of the file\n\nhttp.port = 1\n# of the table\n[log]\n";
    assert_eq!(
        unset(Layer::User, "/c", head, "http.port").unwrap().text,
        "# of the file\n\n# of the table\n[log]\n"
    );
}

#[test]
fn what_is_wrong_is_refused() {
    for (key, value, code) in [
        ("defaults.agnt", "x", "config_unknown_key"),
        ("foo", "1", "config_unknown_key"),
        ("defaults", "x", "config_bad_key"),
        ("mcp_servers", "[]", "config_bad_key"),
        ("mcp_servers.s", "{}", "config_bad_key"),
        ("providers.p", "{}", "config_bad_key"),
        ("gateway", "{}", "config_bad_key"),
        ("", "x", "config_bad_key"),
        ("a..b", "x", "config_bad_key"),
        ("http.port", "70000", "config_bad_value"),
        ("http.port", "\"1\"", "config_wrong_type"),
        ("http.port", "1 2", "config_bad_value"),
        ("http.port", "", "config_bad_value"),
        ("session.start_timeout", "60", "config_bad_value"),
        ("permissions.mode", "s3cr3t", "config_bad_value"),
        ("providers.Acme.command", "x", "config_bad_name"),
        ("skills.sources", "agents", "config_bad_value"),
        ("skills.sources", "[\"agnets\"]", "unknown_skill_source"),
        (
            "skills.sources",
            "[\"claude\", \"claude\"]",
            "duplicate_skill_source",
        ),
        ("skills.custom_sources", "[\"kit\"]", "invalid_source_path"),
        ("mcp_servers.\"a/b\".command", "x", "config_bad_name"),
    ] {
        let problems = set(Layer::User, "/c", FILE, key, value).unwrap_err();
        assert_eq!(problems[0].code, code, "{key} {problems:?}");
        assert!(!format!("{problems:?}").contains("s3cr3t"));
    }
    let problems = set(Layer::Workspace, "/c", "", "http.port", "1").unwrap_err();
    assert_eq!(problems[0].code, "config_key_not_allowed");
    let problems = unset(Layer::User, "/c", FILE, "providers.p").unwrap_err();
    assert_eq!(problems[0].code, "config_bad_key");
    let deep = format!("loops.{}", vec!["a"; 400].join("."));
    assert!(set(Layer::User, "/c", "", &deep, "1").is_err());
    assert!(set(Layer::User, "/c", "", &"a.".repeat(100_000), "1").is_err());
}

#[test]
fn no_place_is_one_of_a_text_that_is_never_written() {
    let file = "foo = 1\n\n[log]\nkeep = 3\n";
    let problems = set(Layer::User, "/c", file, "log.keep", "0").unwrap_err();
    assert_eq!(
        told(&problems),
        ["config_bad_value 0:0 log.keep", "config_unknown_key 1:1 foo"]
    );
    let above = "[log]\nkeep = 0\n";
    let problems = set(Layer::User, "/c", above, "defaults.agent", "x").unwrap_err();
    assert_eq!(told(&problems), ["config_bad_value 2:1 log.keep"]);
    let problems = set(Layer::User, "/c", above, "http.port", "x").unwrap_err();
    assert_eq!(problems[0].line, None);
}

#[test]
fn a_broken_file_is_not_touched_and_says_why() {
    let problems = set(Layer::User, "/c", "a = \nb = 1\n", "defaults.agent", "x").unwrap_err();
    assert_eq!(problems[0].code, "config_syntax");
    let problems = set(Layer::User, "/c", "foo = 1\n", "defaults.agent", "x").unwrap_err();
    assert_eq!(told(&problems), ["config_unknown_key 1:1 foo"]);
    assert!(set(Layer::Workspace, "/c", "foo = 1\n", "defaults.agent", "x").is_ok());
    assert!(set(Layer::User, "/c", "gateway.x = 1\n", "gateway.x.y", "1").is_err());
}

#[test]
fn lists_by_name_that_are_values_are_edited_too() {
    let text = "mcp_servers = [{ name = \"s\", command = \"c\" }]\n";
    let new = edited(text, "mcp_servers.s.command", "d");
    assert_eq!(new.text, text.replace("\"c\"", "\"d\""));
    let new = edited(text, "mcp_servers.s.args", "[\"1\"]");
    assert!(
        new.text.contains("command = \"c\", args = [\"1\"] }]"),
        "{}",
        new.text
    );
    let new = unset(Layer::User, "/c", &new.text, "mcp_servers.s.args").unwrap();
    assert!(!new.text.contains("args"), "{}", new.text);
}

#[test]
fn every_key_can_be_set_changed_and_taken_out_and_all_else_stays() {
    let keys = KEYS
        .iter()
        .filter(|rule| !rule.key.contains('*') && rule.kind != Kind::Named);
    for rule in keys.filter(|rule| !FILE.contains(rule.key.rsplit('.').next().unwrap())) {
        let [one, other] = two_values(rule.kind);
        let first = edited(FILE, rule.key, &one);
        let mut rest = first.text.lines();
        for line in FILE.lines() {
            assert!(
                rest.any(|new| new == line),
                "{} lost '{line}' in\n{}",
                rule.key,
                first.text
            );
        }
        let line = usize::try_from(first.line.unwrap()).unwrap();
        let word = rule.key.rsplit('.').next().unwrap();
        assert!(
            first.text.lines().nth(line - 1).unwrap().starts_with(word),
            "{}",
            rule.key
        );
        let second = edited(&first.text, rule.key, &other);
        assert_eq!((second.line, second.changed), (first.line, true), "{}", rule.key);
        assert_eq!(second.text.replace(&other, &one), first.text, "{}", rule.key);
        let third = unset(Layer::User, "/c", &second.text, rule.key).unwrap();
        assert!(
            check_file(Layer::User, "/c", third.text.as_bytes())
                .problems
                .is_empty()
        );
        let is_there = |line: &&str| !line.trim().is_empty() && !line.starts_with('[');
        let lines = |text: &str| {
            text.lines()
                .filter(is_there)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(lines(&third.text), lines(FILE), "{}", rule.key);
    }
}

#[test]
fn a_table_that_only_had_tables_gets_keys_of_its_own() {
    let text = "# tls\n[grpc.tls]\ncert = \"/c\" # one\n\n# the log\n[log]\nkeep = 3\n";
    let new = edited(text, "grpc.listen", "h:1");
    assert!(
        text.lines().all(|line| new.text.lines().any(|new| new == line)),
        "{}",
        new.text
    );
    assert!(new.text.contains("[grpc]\nlisten = \"h:1\"\n"), "{}", new.text);
}
