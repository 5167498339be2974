//! What is JSON, what is not, and where.

use compozy_domain::{Layer, Severity};
use compozy_resolver::mcp::{MCP_BYTES_MAX, read as read_bytes};

use crate::support::{PATH, fault, problem, read};

#[test]
fn r090_comments_trailing_commas_and_second_values_have_a_place() {
    assert_eq!(fault("{\n  // a comment\n}"), ("mcp_syntax", 2, 3));
    assert_eq!(fault("{\"mcpServers\": {} /* c */}"), ("mcp_syntax", 1, 19));
    assert_eq!(
        fault("{\"mcpServers\": {\n\"é\": {\"command\": \"c\"},\n}}"),
        ("mcp_syntax", 2, 22)
    );
    assert_eq!(fault("{\"x\": [1,]}"), ("mcp_syntax", 1, 9));
    assert_eq!(fault("{}\n{}"), ("mcp_syntax", 2, 1));
    assert_eq!(fault("{} // done"), ("mcp_syntax", 1, 4));
    assert!(problem(&read("{\n// x\n}")).remedy.contains("comments"));
    assert!(problem(&read("{\"x\": [1,]}")).remedy.contains("trailing comma"));
}

#[test]
fn what_is_too_much_for_json_is_told_at_once_with_what_is_wrong_besides() {
    let text =
        "// mine\n{\n  # servers\n  \"mcpServers\": { /* one */\n    \"s\": {\"args\": [\"a\", ],},\n  }\n}";
    let found = read(text).problems;
    let told: Vec<_> = found
        .iter()
        .map(|found| (found.code, found.line.unwrap()))
        .collect();
    assert_eq!(
        told,
        [
            ("mcp_syntax", 1),
            ("mcp_syntax", 3),
            ("mcp_syntax", 4),
            ("mcp_syntax", 5),
            ("mcp_syntax", 5),
            ("mcp_syntax", 5),
            ("mcp_missing_field", 5),
        ],
        "{found:?}"
    );
    assert_eq!(fault("{ /* without an end"), ("mcp_syntax", 1, 3));
    assert_eq!(fault("{ /x }"), ("mcp_syntax", 1, 3));
    let many = format!("{{{}}}", "/**/".repeat(100_000));
    assert!(read(&many).problems.len() <= 201);
}

#[test]
fn r091_a_file_holds_an_object() {
    assert_eq!(fault(""), ("mcp_syntax", 1, 1));
    assert_eq!(fault(" \n "), ("mcp_syntax", 2, 2));
    assert_eq!(fault("[]"), ("mcp_wrong_type", 1, 1));
    assert_eq!(fault("\n  \"x\""), ("mcp_wrong_type", 2, 3));
    let empty = read("{}");
    assert!(empty.servers.is_empty() && empty.problems.is_empty() && empty.warnings.is_empty());
}

#[test]
fn r089_no_key_may_stand_twice_in_one_object() {
    let text = "{\"mcpServers\": {\n \"s\": {\"command\": \"a\"},\n \"s\": {\"command\": \"b\"}}}";
    assert_eq!(fault(text), ("mcp_duplicate_key", 3, 2));
    // The same key in another spelling, and deeper in the file.
    assert_eq!(
        fault("{\"mcpServers\": {\"s\": {\"command\": \"a\", \"\\u0063ommand\": \"b\"}}}"),
        ("mcp_duplicate_key", 1, 39)
    );
    assert_eq!(
        fault("{\"mcpServers\": {\"s\": {\"command\": \"a\", \"env\": {\"A\": \"1\", \"A\": \"1\"}}}}").0,
        "mcp_duplicate_key"
    );
    // All of them are told at once.
    assert_eq!(
        read("{\"a\": 1, \"a\": 2, \"b\": {\"c\": 1, \"c\": 2}, \"a\": 3}")
            .problems
            .len(),
        3
    );
}

#[test]
fn texts_numbers_and_words_are_those_of_json() {
    for wrong in [
        "{\"a\": \"x\ny\"}",
        "{\"a\": \"\\x\"}",
        "{\"a\": \"\\u12\"}",
        "{\"a\": \"\\u12é\"}",
        "{\"a\": \"\\ud800\"}",
        "{\"a\": \"\\udc00\"}",
        "{\"a\": \"\\ud800\\u0041\"}",
        "{\"a\": \"open}",
        "{\"a\": 01}",
        "{\"a\": -}",
        "{\"a\": 1.}",
        "{\"a\": .5}",
        "{\"a\": 1e}",
        "{\"a\": +1}",
        "{\"a\": 9223372036854775808}",
        "{\"a\": 1e999}",
        "{\"a\": NaN}",
        "{\"a\": True}",
        "{\"a\": nul}",
        "{\"a\": 'x'}",
        "{a: 1}",
        "{\"a\" 1}",
        "{\"a\": 1 \"b\": 2}",
        "{\"a\": }",
        "{\"a\"",
        "{,}",
        "{\"a\": [1 2]}",
        "{\"a\": [",
        "\u{a0}{}",
    ] {
        assert_eq!(fault(wrong).0, "mcp_syntax", "{wrong}");
    }
    let text = "{\"mcpServers\": {\"s\": {\"command\": \"\\ud83d\\ude00\\u00e9\\n\\/\"}}}";
    let server = read(text).servers[0].server.clone().unwrap();
    assert_eq!(server.command, "\u{1f600}é\n/");
}

#[test]
fn a_byte_order_mark_is_told_and_counts_for_no_column() {
    let file = read_bytes(Layer::User, PATH, b"\xef\xbb\xbf{\"a\": 1,}");
    assert_eq!((problem_place(&file.problems[0])), (Some(1), Some(8)));
    let file = read_bytes(Layer::User, PATH, b"\xef\xbb\xbf{}");
    assert!(file.problems.is_empty());
    assert_eq!(file.warnings.len(), 1);
    assert_eq!(
        (file.warnings[0].code, file.warnings[0].severity),
        ("mcp_bom", Severity::Info)
    );
}

#[test]
fn bytes_that_are_no_text_have_a_place() {
    let file = read_bytes(Layer::User, PATH, b"{\n\"\xc3\xa9\xff\": 1}");
    assert_eq!(problem_place(&file.problems[0]), (Some(2), Some(3)));
}

#[test]
fn r096_one_mebibyte_is_read_and_not_a_byte_more() {
    let mut bytes = b"{}".to_vec();
    bytes.resize(MCP_BYTES_MAX, b' ');
    assert!(read_bytes(Layer::User, PATH, &bytes).problems.is_empty());
    bytes.push(b' ');
    let file = read_bytes(Layer::User, PATH, &bytes);
    assert_eq!(file.problems[0].code, "mcp_too_large");
    assert_eq!(file.problems[0].path, PATH);
}

fn problem_place(problem: &compozy_domain::Diagnostic) -> (Option<u32>, Option<u32>) {
    (problem.line, problem.column)
}
