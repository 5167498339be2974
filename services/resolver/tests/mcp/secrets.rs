//! Nothing that a file keeps secret is shown.

use compozy_resolver::mcp::shown_url;
use compozy_resolver::value::REDACTED;

use crate::support::{good, read, servers};

const SECRETS: &str = "\"s\": {\"url\": \"https://u:s3cr3t-0@h/p?token=s3cr3t-1&x=s3cr3t-2#s3cr3t-3\",\n\
    \"env\": {\"API_TOKEN\": \"s3cr3t-4\", \"DB\": \"postgres://u:s3cr3t-5@h/d\", \"LANG\": \"C\"},\n\
    \"secret_env\": {\"PLAIN\": \"s3cr3t-6\"}, \"headers\": {\"Authorization\": \"s3cr3t-7\", \"X\": \"s3cr3t-8\"},\n\
    \"auth\": {\"type\": \"s3cr3t-9\", \"list\": [\"s3cr3t-10\", {\"deep\": 7}]},\n\
    \"apiKey\": \"s3cr3t-11\", \"oauth\": {\"id\": \"s3cr3t-12\"}, \"requestInit\": {\"headers\": {\"X\": \"s3cr3t-13\"}},\n\
    \"environment\": {\"MY_SECRET\": \"s3cr3t-14\", \"ok\": \"visible\"}}";

#[test]
fn r093_r094_keys_are_shown_and_secrets_are_not() {
    let file = servers(SECRETS);
    for found in file.warnings.iter().chain(&file.problems) {
        assert!(!format!("{found:?}").contains("s3cr3t"), "{found:?}");
    }
    assert!(!format!("{:?}", file.servers).contains("s3cr3t"));
    let server = good(file).remove(0);
    assert!(!format!("{server:?}").contains("s3cr3t"));
    let shown = server.shown();
    let all = format!(
        "{:?} {:?} {:?} {:?} {:?} {:?} {:?}",
        shown.url, shown.env, shown.secret_env, shown.headers, shown.auth, shown.other, shown.args
    );
    assert!(!all.contains("s3cr3t"), "{all}");
    for key in [
        "API_TOKEN",
        "PLAIN",
        "Authorization",
        "deep",
        "apiKey",
        "oauth",
        "requestInit",
        "MY_SECRET",
    ] {
        assert!(all.contains(key), "{key} in {all}");
    }
    assert_eq!(
        (shown.env["LANG"].as_str(), shown.env["API_TOKEN"].as_str()),
        ("C", REDACTED)
    );
    assert!(all.contains("visible"));
}

#[test]
fn r093_errors_hold_no_values() {
    for text in [
        "{\"mcpServers\": {\"s\": {\"command\": 1, \"env\": {\"T\": [\"s3cr3t\"]}, \"headers\": \"s3cr3t\"}}}",
        "{\"mcpServers\": {\"s\": {\"type\": \"s3cr3t\", \"url\": \"s3cr3t\", \"command\": \"s3cr3t\"}}}",
        "{\"mcpServers\": {\"s\": {\"auth\": \"s3cr3t}}}",
        "{\"mcpServers\": {\"s\": {\"auth\": s3cr3t}}}",
        "{\"mcpServers\": {\"s\": {\"args\": [\"\\u0000s3cr3t\"], \"env\": {\"A=\": \"s3cr3t\"}}}}",
    ] {
        let file = read(text);
        assert!(!file.problems.is_empty());
        assert!(
            !format!("{:?}", file.problems).contains("s3cr3t"),
            "{:?}",
            file.problems
        );
    }
}

#[test]
fn a_url_is_shown_without_what_may_be_secret() {
    for (url, shown) in [
        ("https://h/p", "https://h/p"),
        ("https://h:1/@scope/x", "https://h:1/@scope/x"),
        ("https://u:p@h/p", "https://<redacted>@h/p"),
        ("https://u:p@q@h", "https://<redacted>@h"),
        ("https://h/?a=1&b=&c", "https://h/?a=<redacted>&b=&<redacted>"),
        ("https://h/?a=b=c", "https://h/?a=<redacted>"),
        ("https:/?me:pw@h/mcp://me:pw@h/mcp?x=y", "https:/?<redacted>"),
        ("https://h#x", "https://h#<redacted>"),
        ("${URL}/mcp", "${URL}/mcp"),
        ("u:p@h/x", "<redacted>@h/x"),
        ("https://u:p/w@h/x", "https://u:<redacted>@h/x"),
        ("", ""),
    ] {
        assert_eq!(shown_url(url), shown);
    }
}

#[test]
fn r093_secrets_in_what_is_run_are_not_shown() {
    let file = servers(
        r#""s": {"command": "c --token=s3cr3t", "args": ["-y", "db://u:s3cr3t@h/d", "--token", "s3cr3t",
            "--api-key=s3cr3t", "-H", "Authorization: Bearer s3cr3t", "-e", "GH_TOKEN=s3cr3t", "--root", "${HOME}/x"],
            "cwd": "https://u:s3cr3t@h", "description": "see https://u:s3cr3t@h",
            "env": {"A_HEADERS": "{\"X\": \"s3cr3t\"}", "DB_PASS": "s3cr3t", "CONNECTION": "Host=h;Password=s3cr3t;Ssl=1"}}"#,
    );
    let shown = good(file).remove(0).shown();
    let (run, said) = (
        (&shown.command, &shown.args, &shown.cwd),
        (&shown.description, &shown.env),
    );
    let all = format!("{run:?} {said:?}");
    assert!(!all.contains("s3cr3t"), "{all}");
    assert_eq!(shown.args[8..], ["GH_TOKEN=<redacted>", "--root", "${HOME}/x"]);
    assert_eq!(shown.env["CONNECTION"], "Host=h;Password=<redacted>;Ssl=1");
}
