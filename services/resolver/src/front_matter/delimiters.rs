//! The lines `---` around a front matter.

use super::{Finding, Place};

const MARK: &[u8] = "\u{feff}".as_bytes();
const REMEDY: &str = "begin the file with a line `---`, then the fields, then another line `---`";

/// A file, cut at its delimiters.
#[derive(Debug)]
pub(super) struct Parts<'f> {
    /// What stands behind the first delimiter; up to the second one, if there is one.
    pub(super) front: Option<&'f [u8]>,
    /// Everything behind the second delimiter.
    pub(super) body: &'f [u8],
    /// Line of the second delimiter, if it is there.
    pub(super) closing_line: Option<u32>,
    /// What is unusual about them.
    pub(super) findings: Vec<Finding>,
}

/// Cuts a file at the first two lines that are delimiters. Later ones belong to the text.
pub(super) fn split(bytes: &[u8]) -> Parts<'_> {
    let content = bytes.strip_prefix(MARK).unwrap_or(bytes);
    let mut findings = Vec::new();
    if content.len() < bytes.len() {
        findings.push(Finding::info(
            "front_matter_byte_order_mark",
            Place::start_of(1),
            "the file begins with a byte order mark, which is passed over",
            "save the file as UTF-8 without a byte order mark",
        ));
    }
    let (opening, rest) = line(content);
    if !is_delimiter(opening) {
        findings.push(unopened(content, opening));
        return Parts {
            front: None,
            body: &bytes[bytes.len()..],
            closing_line: None,
            findings,
        };
    }
    blanks(opening, 1, &mut findings);
    let mut has_carriage_return = opening.ends_with(b"\r\n");
    let mut remaining = rest;
    let mut number = 2;
    while !remaining.is_empty() {
        let (current, behind) = line(remaining);
        has_carriage_return |= current.ends_with(b"\r\n");
        if is_delimiter(current) {
            blanks(current, number, &mut findings);
            findings.extend(has_carriage_return.then(carriage_return));
            return Parts {
                front: Some(&rest[..rest.len() - remaining.len()]),
                body: behind,
                closing_line: Some(number),
                findings,
            };
        }
        remaining = behind;
        number += 1;
    }
    findings.push(unclosed());
    Parts {
        front: Some(rest),
        body: &bytes[bytes.len()..],
        closing_line: None,
        findings,
    }
}

/// The first line with its end, and what follows.
fn line(bytes: &[u8]) -> (&[u8], &[u8]) {
    let end = bytes
        .iter()
        .position(|byte| *byte == b'\n')
        .map_or(bytes.len(), |at| at + 1);
    bytes.split_at(end)
}

fn is_delimiter(line: &[u8]) -> bool {
    line.trim_ascii_end() == b"---"
}

fn blanks(delimiter: &[u8], number: u32, findings: &mut Vec<Finding>) {
    let end = delimiter.strip_suffix(b"\n").unwrap_or(delimiter);
    let end = end.strip_suffix(b"\r").unwrap_or(end);
    if end.len() > 3 {
        findings.push(Finding::info(
            "front_matter_delimiter_blanks",
            Place {
                line: number,
                column: 4,
            },
            "blanks follow the `---`, which are passed over",
            "remove the blanks",
        ));
    }
}

fn carriage_return() -> Finding {
    Finding::info(
        "front_matter_crlf",
        Place::start_of(1),
        "lines end in CR LF, which is read like LF",
        "save the file with line ends LF if other tools trip over it",
    )
}

fn unopened(content: &[u8], opening: &[u8]) -> Finding {
    let bare = opening.trim_ascii();
    let message = if content.is_empty() {
        "the file is empty"
    } else if bare.is_empty() {
        "the first line is blank: the delimiter `---` must be the very first line"
    } else if bare == b"---" {
        "the delimiter `---` is indented: it must begin in the first column"
    } else if bare.starts_with(b"---") {
        "the first line must be exactly `---`, three dashes and nothing else"
    } else {
        "there is no front matter: the first line must be the delimiter `---`"
    };
    Finding::error("front_matter_unopened", Place::start_of(1), message, REMEDY)
}

fn unclosed() -> Finding {
    Finding::error(
        "front_matter_unclosed",
        Place::start_of(1),
        "the front matter that begins here has no end: no other line is exactly `---`",
        "put a line `---` between the fields and the text",
    )
}
