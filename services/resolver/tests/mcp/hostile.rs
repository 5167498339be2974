//! Files that somebody made to hurt, and files of all kinds.

use std::time::{Duration, Instant};

use compozy_domain::Layer;
use compozy_resolver::mcp::{MCP_BYTES_MAX, read as read_bytes};
use compozy_resolver::{dotenv, node};
use proptest::prelude::*;

use crate::support::{PATH, fault, problem, read};

#[test]
fn r099_deep_nesting_is_refused_at_its_place() {
    let deep = |depth: usize| format!("{{\"x\": {}{}}}", "[".repeat(depth - 1), "]".repeat(depth - 1));
    assert!(read(&deep(64)).problems.is_empty());
    assert_eq!(fault(&deep(65)), ("mcp_too_deep", 1, 70));
    for depth in [10_000, 400_000] {
        assert_eq!(problem(&read(&deep(depth))).code, "mcp_too_deep");
        let objects = "{\"x\":".repeat(depth / 3);
        assert_eq!(problem(&read(&objects)).code, "mcp_too_deep");
    }
}

#[test]
fn a_file_of_one_long_line_costs_no_more_than_one_of_many() {
    let entry = |at: usize| format!("\"k{at}\": {{\"é\": 1}}");
    let entries: Vec<String> = (0..40_000).map(entry).collect();
    let text = format!("{{{}}}", entries.join(","));
    assert!(text.len() < MCP_BYTES_MAX);
    let start = Instant::now();
    let file = read(&text);
    assert!(
        start.elapsed() < Duration::from_secs(20),
        "it would take minutes if each place were counted anew"
    );
    assert!(file.problems.is_empty());
    assert!(
        file.warnings.len() <= 201,
        "what is told is bounded: {}",
        file.warnings.len()
    );
    assert!(file.warnings.last().unwrap().message.contains("39800 more"));
}

/// Pieces of JSON and of what looks like it.
fn nearly_json() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"a\"",
        "\"a\"",
        "\"b\"",
        "\"mcpServers\"",
        "\"command\"",
        "1",
        "-0",
        "01",
        "1.5e3",
        "1e400",
        "true",
        "null",
        "nul",
        " ",
        "\n",
        "\"\\u00e9\"",
        "\"\\ud800\"",
        "\"\\ud83d\\ude00\"",
        "\"",
        "//",
        "é",
        "\t",
        "\"\\n\"",
        "\\",
        "\u{0}",
        "9223372036854775808",
        "\"x",
        "'",
    ]);
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// Values of `serde_json`, keys not repeated.
fn values() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_map(|number| serde_json::json!(number)),
        any::<String>().prop_map(Into::into),
    ];
    leaf.prop_recursive(6, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|entries| serde_json::Value::Object(entries.into_iter().collect())),
        ]
    })
}

fn same(node: &node::Node, value: &serde_json::Value) -> bool {
    match (&node.content, value) {
        (node::Content::Null, serde_json::Value::Null) => true,
        (node::Content::Flag(one), serde_json::Value::Bool(other)) => one == other,
        (node::Content::Integer(one), serde_json::Value::Number(other)) => other.as_i64() == Some(*one),
        (node::Content::Float(one), serde_json::Value::Number(other)) => other.as_f64() == Some(*one),
        (node::Content::Text(one), serde_json::Value::String(other)) => one == other,
        (node::Content::List(one), serde_json::Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (node::Content::Table(one), serde_json::Value::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(key, node)| other.get(key).is_some_and(|value| same(node, value)))
        }
        _ => false,
    }
}

proptest! {
    #[test]
    fn whatever_serde_json_writes_is_read_as_the_same(value in values(), pretty: bool) {
        let document = serde_json::json!({ "kept": value });
        let text = match pretty {
            true => serde_json::to_string_pretty(&document).unwrap(),
            false => document.to_string(),
        };
        let file = read(&text);
        prop_assert!(file.problems.is_empty(), "{:?} in {text}", file.problems);
        prop_assert!(same(&file.other[0].1, &value), "{text}");
    }

    #[test]
    fn what_serde_json_refuses_is_refused(text in nearly_json()) {
        let file = read(&text);
        let is_syntax = file.problems.iter().any(|problem| problem.code == "mcp_syntax");
        let is_refused = serde_json::from_str::<serde_json::Value>(&text).is_err();
        // It takes whole numbers beyond 64 bits with a sign as numbers of another kind; here they are refused.
        prop_assert!(is_refused == is_syntax || text.contains("9223372036854775808"), "{text}");
        let lines = text.lines().count().max(1) + usize::from(text.ends_with('\n'));
        for found in file.problems.iter().chain(&file.warnings) {
            let (Some(line), Some(column)) = (found.line, found.column) else { continue };
            prop_assert!(line as usize <= lines && line > 0, "{found:?} in {text:?}");
            let width = text.split('\n').nth(line as usize - 1).unwrap().chars().count();
            prop_assert!(column as usize <= width + 1 && column > 0, "{found:?} in {text:?}");
        }
    }

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _file = read_bytes(Layer::User, PATH, &bytes);
        let read = dotenv::read(&bytes);
        let _findings = dotenv::findings(Layer::Workspace, "/r/.env", &read);
    }

    #[test]
    fn a_variable_that_is_written_in_quotes_is_read_back(value in "[^\0\r]*") {
        let mut escaped = String::new();
        for letter in value.chars() {
            if matches!(letter, '"' | '\\') {
                escaped.push('\\');
            }
            escaped.push(letter);
        }
        let read = dotenv::read(format!("A=1\nK=\"{escaped}\" # c\nB=2").as_bytes());
        prop_assert!(read.problems.is_empty(), "{:?}", read.problems);
        prop_assert_eq!(&read.entries[1].1, &value);
        prop_assert_eq!(&read.entries[2].0, "B");
    }
}
