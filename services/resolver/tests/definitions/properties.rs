//! Whatever stands in a file, it is read, and what is said about it is true.

use compozy_domain::Severity;
use compozy_resolver::definition::text_of;
use compozy_resolver::files::ContentHash;
use compozy_resolver::front_matter;
use proptest::prelude::*;

use crate::support::{agent, skill};

/// Files made of the pieces that matter to the reader.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        "---\n",
        "---",
        "\n",
        "\r\n",
        "\u{feff}",
        "name: a\n",
        "name",
        "description",
        ": ",
        ":",
        " ",
        "  ",
        "\t",
        "- ",
        "#",
        " #",
        "\"",
        "'",
        "[",
        "]",
        "{",
        "}",
        "&a",
        "*a",
        "!x",
        "|",
        ">",
        "%",
        "@",
        "`",
        "x",
        "é😀",
        "\\",
        "= ",
        "=",
        "mcp_servers:\n",
        "hooks: ",
        "<a>",
        "</a>",
        "...\n",
        "? ",
        ",",
        "true",
        "1.10",
        "~",
        "\u{7}",
        "tools: ",
    ]);
    let text = prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat().into_bytes());
    let framed = text
        .clone()
        .prop_map(|text| [b"---\n".as_slice(), &text, b"\n---\nText.\n"].concat());
    let damaged = (text.clone(), any::<u8>()).prop_map(|(mut text, byte)| {
        text.push(byte);
        text
    });
    prop_oneof![text, framed, damaged, prop::collection::vec(any::<u8>(), 0..64)]
}

/// Characters of a line, its end not counted; `None` if there is no such line.
fn width(bytes: &[u8], line: u32) -> Option<usize> {
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    let line = lines.get(usize::try_from(line).unwrap().checked_sub(1)?)?;
    Some(String::from_utf8_lossy(line).chars().count())
}

/// Descriptions as people type them, on one line.
fn descriptions() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "Use",
        "when:",
        "#12",
        "a",
        ":",
        "\"x\"",
        "'y'",
        "[z]",
        "{w}",
        "@t",
        "`c`",
        "%",
        "*b*",
        "&",
        "!",
        "-",
        "é",
        "\\n",
        ",",
        "x: y",
        "http://h/",
        "<e>",
        "</e>",
        "|",
        ">",
        "?",
        "~",
        "\t",
        "it's",
    ]);
    prop::collection::vec(word, 1..10).prop_map(|words| words.join(" ").trim().to_owned())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn places_lie_inside_of_the_file(bytes in pieces()) {
        let agent = agent(bytes.clone());
        for found in &agent.diagnostics {
            let (line, column) = (found.line.unwrap(), found.column.unwrap());
            // The place behind the last character is that of something that is missing.
            let width = width(&bytes, line);
            prop_assert!(width.is_some_and(|width| column >= 1 && column as usize <= width + 1), "{found:?}");
            prop_assert!(!found.message.is_empty());
        }
        let is_free_of_errors = agent.diagnostics.iter().all(|found| found.severity != Severity::Error);
        prop_assert_eq!(agent.usable, is_free_of_errors);
    }

    #[test]
    fn the_text_is_the_end_of_the_file(bytes in pieces()) {
        let front = front_matter::read(&bytes);
        prop_assert!(bytes.ends_with(front.body));
        let text = text_of(&bytes);
        prop_assert_eq!(text.is_some(), front.closing_line.is_some());
        prop_assert_eq!(text.unwrap_or_default(), front.body);
        let skill = skill(bytes.clone());
        prop_assert_eq!(skill.text_hash, ContentHash::of(front.body));
        prop_assert!(!skill.name.is_empty());
    }

    #[test]
    fn a_description_is_never_half_of_what_is_written_without_a_word(text in descriptions()) {
        let skill = skill(format!("---\nname: foo\ndescription: {text}\n---\nText.\n"));
        let codes: Vec<&str> = skill.diagnostics.iter().map(|found| found.code).collect();
        if codes.contains(&"front_matter_recovered") {
            prop_assert_eq!(&skill.description, &text);
        } else if codes.contains(&"front_matter_value_cut") {
            prop_assert!(text.contains('#'));
        } else if skill.usable {
            // What is quoted, empty, or a block is what it says.
            let is_plain = !text.starts_with(['"', '\'', '|', '>', '~', '#']);
            prop_assert!(!is_plain || skill.description == text, "{text:?} became {:?}", skill.description);
        }
    }
}
