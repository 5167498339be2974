//! Why something is no YAML, in our own words: the parser's own messages may quote the file.

use granit_parser::{ErrorKind, ScanError};

use super::super::place::Lines;
use super::super::{DEPTH_MAX, Finding, NODES_MAX, Place, TOO_DEEP, TOO_LARGE};

const QUOTE: &str = "put the whole value between double quotes";
const SPACES: &str = "indent with spaces";

/// What the parser stopped at.
pub(super) fn of(problem: &ScanError, text: &str, lines: &mut Lines<'_>) -> Finding {
    let offset = problem.marker().byte_offset().unwrap_or(text.len());
    let kind = problem.kind();
    let indentation = indentation_before(text, offset);
    if is_tab(kind) || indentation.is_some_and(|blanks| blanks.contains('\t')) {
        let place = lines.place(tab(text, offset).unwrap_or(offset));
        let message = "a tab is used as indentation, which YAML does not take";
        return Finding::error("front_matter_tab", place, message, SPACES);
    }
    let place = lines.place(offset);
    if matches!(kind, ErrorKind::RecursionLimitExceeded) {
        return too_deep(place);
    }
    let (message, remedy) = match kind {
        ErrorKind::SimpleKeyExpected | ErrorKind::ExpectedBlockMappingKey
            if indentation.is_some_and(|blanks| !blanks.is_empty()) =>
        {
            words(&ErrorKind::InvalidIndentation)
        }
        _ => words(kind),
    };
    Finding::error("front_matter_syntax", place, message, remedy)
}

/// Values stand too deep in each other.
pub(super) fn too_deep(place: Place) -> Finding {
    Finding::error(
        TOO_DEEP,
        place,
        format!("values are nested more than {DEPTH_MAX} deep"),
        "flatten the front matter",
    )
}

/// There are too many values, or aliases stand for too many.
pub(super) fn too_many(place: Place) -> Finding {
    Finding::error(
        TOO_LARGE,
        place,
        format!("the front matter has more than {NODES_MAX} values, or its aliases stand for more"),
        "move what belongs into the text out of the front matter, and use fewer aliases",
    )
}

/// An alias stands inside of what it stands for.
pub(super) fn endless_alias(place: Place) -> Finding {
    Finding::error(
        "front_matter_syntax",
        place,
        "an alias stands inside of its own anchor",
        "write the value out",
    )
}

/// A line `...` ends one document and another one begins.
pub(super) fn second_document(place: Place) -> Finding {
    Finding::error(
        "front_matter_syntax",
        place,
        "a second YAML document begins here",
        "remove the line `...`",
    )
}

/// A key that is a list or a table, or no key at all.
pub(super) fn no_key(place: Place) -> Finding {
    Finding::error(
        "front_matter_syntax",
        place,
        "a key must be a text",
        "if this is meant as text, put it between double quotes",
    )
}

/// What stands before a place on its line, if that is nothing but blanks.
fn indentation_before(text: &str, offset: usize) -> Option<&str> {
    let before = &text[..text.floor_char_boundary(offset)];
    let line = before.rsplit('\n').next().unwrap_or_default();
    line.trim_matches([' ', '\t']).is_empty().then_some(line)
}

const fn is_tab(kind: &ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::TabNotAllowed
            | ErrorKind::TabInBlockIndentation
            | ErrorKind::TabInIndentation
            | ErrorKind::TabInPlainScalar
            | ErrorKind::TabAtBlockScalarStart
    )
}

/// The first tab in the indentation of a line, from the line of `offset` on: the parser sometimes points at the value
/// before it.
fn tab(text: &str, offset: usize) -> Option<usize> {
    let start = text[..text.floor_char_boundary(offset)]
        .rfind('\n')
        .map_or(0, |at| at + 1);
    let mut line_start = start;
    for line in text[start..].split_inclusive('\n') {
        let indentation = line.len() - line.trim_start_matches([' ', '\t']).len();
        if let Some(at) = line[..indentation].find('\t') {
            return Some(line_start + at);
        }
        line_start += line.len();
    }
    None
}

fn words(kind: &ErrorKind) -> (&'static str, &'static str) {
    use ErrorKind as K;
    match kind {
        K::MappingValueNotAllowed | K::InvalidColonPlacement => (
            "a colon followed by a blank stands in a value that is not quoted",
            QUOTE,
        ),
        K::UnexpectedCharacter { character } if character.is_control() => {
            ("a control character stands here", "remove it")
        }
        K::UnexpectedCharacter { .. } | K::PlainScalarStartsWithDashFlowIndicator => (
            "a value that is not quoted begins with a character that YAML reserves",
            QUOTE,
        ),
        K::UnknownAnchor | K::MissingAnchorOrAliasName => (
            "`*` or `&` at the beginning of a value makes it an alias or anchor, which this is none",
            QUOTE,
        ),
        K::UnclosedQuotedScalar | K::DocumentIndicatorInQuotedScalar => (
            "a quote is opened here and never closed",
            "close the quote on its line",
        ),
        K::InvalidTrailingSingleQuotedScalar | K::InvalidTrailingDoubleQuotedScalar => (
            "text follows the closing quote of a value",
            "put the whole value between double quotes and a backslash before each double quote in it",
        ),
        K::UnknownQuotedScalarEscape
        | K::InvalidQuotedScalarHexEscape
        | K::InvalidLowSurrogateHexEscape
        | K::InvalidLowSurrogate
        | K::MissingLowSurrogate
        | K::UnpairedLowSurrogate
        | K::InvalidUnicodeEscape => (
            "a backslash between double quotes begins no escape that YAML knows",
            "write the backslash twice, or use single quotes",
        ),
        K::UnexpectedEofFlowSequence
        | K::UnexpectedEofFlowMapping
        | K::UnexpectedEofImplicitFlowMapping
        | K::UnclosedFlowCollection { .. }
        | K::MisplacedFlowCollectionEnd
        | K::MismatchedFlowCollectionEnd { .. }
        | K::ExpectedFlowMappingSeparator
        | K::ExpectedFlowSequenceSeparator => (
            "a bracket is not closed, or closed by another one",
            "close it; if it is meant as text, put the whole value between double quotes",
        ),
        K::InvalidBlockScalarHeader | K::ZeroBlockScalarIndent => (
            "`|` or `>` begins a block of text, which has to follow on the next lines",
            "put the text on the next lines, indented; or put the whole value between double quotes",
        ),
        K::CommentInterceptedScalar => (
            "` #` begins a comment here, but the value goes on behind it",
            QUOTE,
        ),
        K::SimpleKeyExpected | K::InvalidSimpleKey | K::ExpectedBlockMappingKey => (
            "this is no `key: value`",
            "indent the lines of a value that goes on, or put the whole value between double quotes",
        ),
        K::BlockSequenceEntryNotAllowed
        | K::InvalidBlockEntryWhitespace
        | K::ExpectedBlockSequenceEntry
        | K::BlockEntryInFlowCollection => (
            "a list item can't stand here",
            "put each `- item` on a line of its own; if it is meant as text, between double quotes",
        ),
        K::InvalidIndentation
        | K::InvalidBlockScalarIndent
        | K::InvalidQuotedScalarIndent
        | K::InvalidFlowScalarIndent => (
            "the indentation does not fit the lines above",
            "indent the items of a list or table equally",
        ),
        K::DirectiveDisallowed => (
            "a line that begins with `%` is a directive to YAML",
            "remove the line",
        ),
        K::BomInsideDocument => ("a byte order mark stands inside of the front matter", "remove it"),
        _ => ("this is not valid YAML", QUOTE),
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    fn at(text: &str) -> (&'static str, Place) {
        let found = parse(text, 2).unwrap_err();
        (found.code, found.place.unwrap())
    }

    #[test]
    fn r133_a_tab_is_found_where_it_is() {
        let tab = |line, column| ("front_matter_tab", Place { line, column });
        assert_eq!(at("tools:\n\t- a\n"), tab(3, 1));
        assert_eq!(at("a:\n  b: c\n\td: e\n"), tab(4, 1));
        assert_eq!(at("a:\n  b: c\n  \td: e\n"), tab(4, 3));
        assert_eq!(at("a: b\n\tc: d\n"), tab(3, 1));
        assert_eq!(at("a: |\n  b\n\tc\n"), tab(4, 1));
    }

    #[test]
    fn what_is_indented_wrongly_is_said_to_be() {
        let found = parse("a:\n  - b\n - c\n", 2).unwrap_err();
        assert!(found.message.contains("indentation"), "{found:?}");
        let found = parse("a: b\nc\n", 2).unwrap_err();
        assert!(found.message.contains("`key: value`"), "{found:?}");
    }

    #[test]
    fn messages_do_not_quote() {
        for text in [
            "a: s3cr3t: b\n",
            "a: \"s3cr3t\" b\n",
            "a: [s3cr3t\n",
            "a: *s3cr3t\n",
            "s3cr3t\na: b\n",
        ] {
            let found = parse(text, 2).unwrap_err();
            assert!(!format!("{found:?}").contains("s3cr3t"), "{found:?}");
        }
    }
}
