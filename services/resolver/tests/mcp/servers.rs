//! Servers as public files describe them: what is understood, kept or refused.

use compozy_domain::Severity;
use compozy_resolver::mcp::Transport;
use compozy_resolver::value::Value;

use crate::support::{good, problem, read, refused, servers};

#[test]
fn r080_r081_the_snake_case_entry_wins_whole() {
    let text = "{\"mcpServers\": {\"s\": {\"command\": \"camel\", \"env\": {\"A\": \"1\"}}, \"a\": {\"command\": \"a\"}},\n\
                \"mcp_servers\": {\"s\": {\"command\": \"snake\"}, \"b\": {\"url\": \"u\"}}}";
    let file = read(text);
    let told: Vec<_> = file
        .warnings
        .iter()
        .map(|found| (found.code, found.severity))
        .collect();
    assert_eq!(told, [("mcp_server_overridden", Severity::Info)]);
    let servers = good(file);
    let names: Vec<&str> = servers.iter().map(|server| server.name.as_str()).collect();
    assert_eq!(names, ["a", "s", "b"]);
    assert_eq!((servers[1].command.as_str(), servers[1].env.len()), ("snake", 0));
    assert_eq!(servers[1].origin.line, Some(2));
}

#[test]
fn the_entry_that_loses_is_not_read() {
    let text = "{\"mcpServers\": {\"s\": {}}, \"mcp_servers\": {\"s\": {\"command\": \"snake\"}}}";
    assert_eq!(good(read(text))[0].command, "snake");
}

#[test]
fn r082_type_and_transport_say_the_same() {
    for field in ["type", "transport"] {
        for (word, transport) in [
            ("http", Transport::Http),
            ("streamable-http", Transport::Http),
            ("streamable_http", Transport::Http),
            ("streamableHttp", Transport::Http),
            ("HTTP", Transport::Http),
            ("sse", Transport::Sse),
            ("remote", Transport::Url),
        ] {
            let server = &good(servers(&format!(
                "\"s\": {{\"{field}\": \"{word}\", \"url\": \"u\"}}"
            )))[0];
            assert_eq!(
                (server.transport, server.url.as_str()),
                (transport, "u"),
                "{field} {word}"
            );
        }
        let file = servers(&format!("\"s\": {{\"{field}\": \"stdio\", \"command\": \"c\"}}"));
        assert!(file.warnings.is_empty());
        assert_eq!(good(file)[0].transport, Transport::Stdio);
        let wrong = format!("\"s\": {{\"{field}\": \"carrier-pigeon\", \"url\": \"u\"}}");
        assert_eq!(
            refused(&wrong),
            ("mcp_bad_value", format!("mcp_servers.s.{field}"))
        );
    }
    good(servers(
        "\"s\": {\"type\": \"http\", \"transport\": \"streamable-http\", \"url\": \"u\"}",
    ));
    let both = "\"s\": {\"type\": \"http\", \"transport\": \"sse\", \"url\": \"u\"}";
    assert_eq!(refused(both).0, "mcp_contradiction");
}

#[test]
fn r083_without_a_type_the_fields_decide() {
    let file = servers("\"s\": {\"command\": \"c\"}, \"t\": {\"url\": \"u\"}");
    assert!(file.warnings.is_empty());
    let servers = good(file);
    assert_eq!(
        (servers[0].transport, servers[1].transport),
        (Transport::Stdio, Transport::Url)
    );
}

#[test]
fn r084_a_server_needs_what_its_type_needs() {
    for (fields, missing) in [
        ("\"type\": \"stdio\"", "command"),
        ("\"type\": \"stdio\", \"command\": \" \"", "command"),
        ("\"type\": \"stdio\", \"url\": \"u\"", "command"),
        ("\"type\": \"http\"", "url"),
        ("\"type\": \"http\", \"command\": \"c\"", "url"),
        ("\"transport\": \"sse\"", "url"),
        ("\"type\": \"sse\", \"url\": null", "url"),
    ] {
        let file = servers(&format!("\"the-one\": {{{fields}}}"));
        let problem = problem(&file);
        assert_eq!(problem.code, "mcp_missing_field", "{fields}");
        assert_eq!(
            problem.key.as_deref(),
            Some(format!("mcp_servers.the-one.{missing}").as_str())
        );
        assert!(problem.message.contains("`the-one`") && problem.message.contains(&format!("`{missing}`")));
    }
}

#[test]
fn r085_a_command_or_a_url_but_not_both() {
    for kind in ["", "\"type\": \"stdio\", ", "\"type\": \"http\", "] {
        let both = format!("\"s\": {{{kind}\"command\": \"c\", \"url\": \"u\"}}");
        assert_eq!(
            refused(&both),
            ("mcp_contradiction", "mcp_servers.s.url".to_owned())
        );
    }
    for neither in [
        "\"s\": {}",
        "\"s\": {\"args\": []}",
        "\"s\": {\"command\": \"\", \"url\": \"\"}",
    ] {
        assert_eq!(refused(neither).0, "mcp_missing_field", "{neither}");
    }
}

#[test]
fn r086_what_is_unknown_is_kept_with_one_warning() {
    let file = servers("\"s\": {\"command\": \"c\",\n \"alwaysAllow\": [\"x\"], \"serverUrl\": \"u\"}");
    let warnings = file.warnings.clone();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert_eq!(
        (warnings[0].severity, warnings[0].line, warnings[0].column),
        (Severity::Warning, Some(2), Some(2))
    );
    assert_eq!(warnings[0].key.as_deref(), Some("mcp_servers.s.alwaysAllow"));
    assert!(warnings[0].message.contains("`alwaysAllow`") && warnings[0].message.contains("`s`"));
    assert!(
        warnings[1].remedy.contains("`url`"),
        "what was probably meant: {}",
        warnings[1].remedy
    );
    let server = &good(file)[0];
    assert_eq!(
        server.other["alwaysAllow"],
        Value::List(vec![Value::Text("x".to_owned())])
    );
    assert_eq!(server.shown().other, server.other);
}

#[test]
fn a_name_within_a_server_repeats_its_own_or_has_no_effect() {
    let file = servers("\"s\": {\"command\": \"c\", \"name\": \"s \"}");
    assert!(file.warnings.is_empty() && good(file)[0].other.is_empty());
    let file = servers("\"s\": {\"command\": \"c\", \"name\": \"A nicer one\"}");
    let [warning] = &file.warnings[..] else {
        panic!("{:?}", file.warnings)
    };
    assert_eq!(warning.key.as_deref(), Some("mcp_servers.s.name"));
    assert!(!warning.message.contains("kept") && !warning.message.contains("nicer"));
    assert_eq!(good(file)[0].name, "s");
}

#[test]
fn unknown_keys_beside_the_servers_are_kept_with_one_warning_each() {
    let file = read("{\"$schema\": \"x\",\n \"mcpServers\": {},\n \"flat\": {\"command\": \"c\"}}");
    let told: Vec<_> = file
        .warnings
        .iter()
        .map(|found| (found.code, found.line))
        .collect();
    assert_eq!(told, [("mcp_unknown_key", Some(1)), ("mcp_unknown_key", Some(3))]);
    assert!(
        file.warnings[1].remedy.contains("mcpServers"),
        "where servers belong"
    );
    let kept: Vec<&str> = file.other.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(kept, ["$schema", "flat"]);
    assert!(file.servers.is_empty() && file.problems.is_empty());
}

#[test]
fn r087_r088_names_are_trimmed_unique_and_free_of_slashes() {
    assert_eq!(good(servers("\" a \": {\"command\": \"c\"}"))[0].name, "a");
    let same = "\"a\": {\"command\": \"c\"}, \" a \": {\"command\": \"c\"}";
    assert_eq!(refused(same).0, "mcp_duplicate_name");
    for name in ["", "  ", "a/b", "/", "a\\nb", "\\u0000"] {
        assert_eq!(
            refused(&format!("\"{name}\": {{\"command\": \"c\"}}")).0,
            "mcp_bad_name",
            "{name}"
        );
    }
}

#[test]
fn r092_variables_are_returned_as_written() {
    let server = good(servers(
        "\"s\": {\"command\": \"${BIN}\", \"args\": [\"--root\", \"${HOME}/x\", \"$A\", \"%B%\"], \"cwd\": \"~/x\"}",
    ))
    .remove(0);
    assert_eq!(server.args, ["--root", "${HOME}/x", "$A", "%B%"]);
    assert_eq!((server.command.as_str(), server.cwd.as_str()), ("${BIN}", "~/x"));
    assert_eq!(server.shown().args, server.args);
}

#[test]
fn r095_a_server_can_be_switched_off() {
    let servers = good(servers(
        "\"s\": {\"command\": \"c\", \"disabled\": true}, \"t\": {\"command\": \"c\"}",
    ));
    assert_eq!((servers[0].disabled, servers[1].disabled), (true, false));
}

#[test]
fn known_fields_of_a_wrong_type_are_refused() {
    for field in [
        "\"command\": [\"c\"]",
        "\"command\": 1",
        "\"args\": \"x\"",
        "\"args\": [1]",
        "\"args\": {}",
        "\"env\": [\"A=1\"]",
        "\"env\": {\"A\": [1]}",
        "\"env\": {\"A\": {}}",
        "\"secret_env\": \"x\"",
        "\"headers\": [\"a\"]",
        "\"headers\": {\"a\": {}}",
        "\"cwd\": true",
        "\"disabled\": \"true\"",
        "\"disabled\": 1",
        "\"timeout\": []",
        "\"timeout\": -1",
        "\"description\": 3",
        "\"type\": 7",
    ] {
        let command = if field.starts_with("\"command") {
            ""
        } else {
            ", \"command\": \"c\""
        };
        assert_eq!(
            refused(&format!("\"s\": {{{field}{command}}}")).0,
            "mcp_wrong_type",
            "{field}"
        );
    }
    assert_eq!(refused("\"s\": {\"url\": {}}").0, "mcp_wrong_type");
    assert_eq!(refused("\"s\": []").0, "mcp_wrong_type");
    assert_eq!(refused("\"s\": null").0, "mcp_wrong_type");
    assert_eq!(problem(&read("{\"mcpServers\": []}")).code, "mcp_wrong_type");
}

#[test]
fn what_no_process_can_be_given_is_refused() {
    for field in [
        "\"env\": {\"\": \"x\"}",
        "\"env\": {\"A=B\": \"x\"}",
        "\"args\": [\"\\u0000\"]",
    ] {
        assert_eq!(
            refused(&format!("\"s\": {{{field}, \"command\": \"c\"}}")).0,
            "mcp_bad_value",
            "{field}"
        );
    }
}

#[test]
fn numbers_and_flags_of_an_environment_are_texts_with_a_warning() {
    let file = servers(
        "\"s\": {\"command\": \"c\", \"env\": {\"PORT\": 80, \"ON\": true, \"NO\": null, \"T\": \"x\"}}",
    );
    let told: Vec<_> = file.warnings.iter().map(|found| found.code).collect();
    assert_eq!(told, ["mcp_not_text", "mcp_not_text"]);
    assert!(
        !file.warnings.iter().any(|found| found.message.contains("80")),
        "no values in messages"
    );
    let env = &good(file)[0].env;
    assert_eq!(
        (env["PORT"].as_str(), env["ON"].as_str(), env["T"].as_str()),
        ("80", "true", "x")
    );
    assert!(!env.contains_key("NO"));
}

#[test]
fn a_timeout_is_kept_as_written() {
    for (written, kept) in [("30", "30"), ("1.5", "1.5"), ("\"30s\"", "30s"), ("null", "")] {
        let server = &good(servers(&format!(
            "\"s\": {{\"url\": \"u\", \"timeout\": {written}}}"
        )))[0];
        assert_eq!(server.timeout, kept);
    }
}

#[test]
fn every_problem_of_a_file_is_told_at_once() {
    let file = servers("\"a\": {},\n\"b/c\": {\"command\": \"c\"},\n\"d\": {\"url\": 1, \"disabled\": 2}");
    let told: Vec<_> = file
        .problems
        .iter()
        .map(|problem| (problem.code, problem.line))
        .collect();
    assert_eq!(
        told,
        [
            ("mcp_missing_field", Some(1)),
            ("mcp_bad_name", Some(2)),
            ("mcp_wrong_type", Some(3)),
            ("mcp_wrong_type", Some(3)),
        ]
    );
}
