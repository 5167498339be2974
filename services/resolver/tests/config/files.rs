//! What a file may look like, and one file alone.

use compozy_domain::Layer;
use compozy_resolver::config::{
    CONFIG_BYTES_MAX, UnknownKeys, check_file, check_file_with, not_regular, read_user_file, too_large,
    unreadable,
};

use crate::support::{Files, told, user, workspace};

#[test]
fn the_remedy_of_a_slip_is_right_inside_of_its_table() {
    let text = b"version = 2\nfoo = 1\n[permisions]\n[defaults]\nagnet = 'a'\nstart_timeout = '1s'\n[[mcp_servers]]\nname = 'a.b'\ncommand = 'c'\nagrs = []\n";
    let found = check_file(Layer::User, "/c", text);
    let remedies: Vec<&str> = found.problems.iter().map(|found| found.remedy.as_str()).collect();
    assert_eq!(
        remedies,
        [
            "remove it",
            "remove it",
            "write `permissions`, or remove it",
            "write `agent` for `agnet`, or remove it",
            "set `session.start_timeout` instead, or remove it",
            "write `args` for `agrs`, or remove it",
        ]
    );
}

#[test]
fn sources_of_skills_are_told_with_everything_else_of_the_file_and_where_they_stand() {
    let text =
        b"foo = 1\n[skills]\nsources = [\n  \"agents\",\n  \"claud\",\n]\ncustom_sources = [\"~bob/kit\"]\n";
    let found = check_file(Layer::Workspace, "/c", text);
    let told: Vec<_> = found
        .problems
        .iter()
        .map(|found| (found.code, found.line))
        .collect();
    assert_eq!(
        told,
        [
            ("config_unknown_key", Some(1)),
            ("unknown_skill_source", Some(5)),
            ("invalid_source_path", Some(7))
        ]
    );
}

#[test]
fn r025_a_mebibyte_is_read_and_a_byte_more_is_not() {
    let largest = format!("#{}", "x".repeat(CONFIG_BYTES_MAX - 1));
    assert!(workspace(&largest).resolve().is_ok());
    let problems = workspace(&format!("{largest}x")).problems();
    assert_eq!(told(&problems), ["config_too_large 0:0 -"]);
    assert_eq!(problems[0].path, "/workspace/config.toml");
    assert_eq!(
        problems[0],
        too_large(Layer::Workspace, "/workspace/config.toml", CONFIG_BYTES_MAX)
    );
}

#[test]
fn r027_an_empty_file_says_nothing_and_line_ends_do_not_matter() {
    let nothing = Files::default().resolved();
    for text in ["", "# only\n# comments\n", "\r\n", "\u{feff}"] {
        assert!(workspace(text).resolved() == nothing, "{text:?}");
    }
    let unix = workspace("[defaults]\nprovider = \"p\"\n").resolved();
    assert!(workspace("[defaults]\r\nprovider = \"p\"\r\n").resolved() == unix);
    assert!(workspace("\u{feff}[defaults]\nprovider = \"p\"\n").resolved() == unix);
}

#[test]
fn syntax_is_told_with_line_and_column_in_characters() {
    let problems = user("[defaults]\nä = ü\n").problems();
    assert_eq!(problems[0].code, "config_syntax");
    assert_eq!(problems[0].line, Some(2));
    let found = check_file(Layer::User, "/c", b"a = \"x\"\nb = \"\xff\"\n");
    assert_eq!(told(&found.problems), ["config_syntax 2:6 -"]);
    assert!(found.problems[0].message.contains("UTF-8"));
}

#[test]
fn the_users_file_alone_says_what_unknown_keys_are() {
    let text = b"config.unknown_keys = \"warn\"\nfoo = 1\ndaemon.drain_timeout = \"1m 30s\"\n";
    let (file, warnings) = read_user_file("/c", text).unwrap();
    assert_eq!(told(&warnings), ["config_unknown_key 2:1 foo"]);
    assert_eq!(file.unknown_keys(), UnknownKeys::Warn);
    let timeout = file.get("daemon.drain_timeout").unwrap();
    assert_eq!((timeout.as_text(), timeout.line), (Some("1m 30s"), 3));
    assert!(file.get("foo").is_none() && file.get("daemon.socket").is_none());
    let problems = read_user_file("/c", b"foo = 1\nhttp.port = 0.5\n").unwrap_err();
    assert_eq!(
        told(&problems),
        ["config_unknown_key 1:1 foo", "config_wrong_type 2:6 http.port"]
    );
    assert!(!format!("{file:?}").contains("1m"));
}

#[test]
fn a_workspaces_file_alone() {
    let found = check_file(Layer::Workspace, "/c", b"foo = 1\n");
    assert_eq!((found.problems.len(), found.warnings.len()), (1, 0));
    let found = check_file_with(Layer::Workspace, "/c", b"foo = 1\n", UnknownKeys::Warn);
    assert_eq!((found.problems.len(), found.warnings.len()), (0, 1));
}

#[test]
fn files_that_cannot_be_read_are_named_with_what_to_do() {
    for found in [
        not_regular(Layer::User, "/h/mcp.json"),
        unreadable(Layer::User, "/h/mcp.json"),
        too_large(Layer::User, "/h/mcp.json", 7),
    ] {
        assert_eq!(found.path, "/h/mcp.json");
        assert!(!found.message.contains("/h") && !found.remedy.is_empty());
    }
}

#[test]
fn a_large_file_of_nothing_but_slips_is_told_once() {
    let hostile = format!("x = [{}]\n", "}".repeat(512 * 1024));
    let problems = user(&hostile).problems();
    assert_eq!(problems.len(), 1, "{} problems", problems.len());
    assert_eq!((problems[0].code, problems[0].line), ("config_syntax", Some(1)));
}
