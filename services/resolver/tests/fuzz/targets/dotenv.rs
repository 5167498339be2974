//! `.env`: a line that can't be understood costs only itself, and no value is ever told.

use compozy_domain::Layer;
use compozy_resolver::dotenv::{Dotenv, findings, read};

use super::places::are_inside;
use super::planted::MARK;
use super::{Held, holds};

pub(super) const PIECES: &[&str] = &[
    "A=1\n",
    "export ",
    "export\t",
    "COMPOZY_HOME=/x\n",
    "COMPOZY_PROFILE=p\n",
    "=",
    "\"",
    "'",
    "#",
    " #",
    "\\",
    "\\n",
    "\\\"",
    "$",
    "${A}",
    "`",
    "\n",
    "\r\n",
    " ",
    "\t",
    "A",
    "a.b-c",
    "1A=",
    "KEY='a\nb'\n",
    "KEY=\"a\nb\"\n",
    "\\\n",
    "\u{feff}",
    "A=s3cr3t # c\n",
    "=\n",
    "\u{a0}",
    "\u{2028}",
];
/// Entries that are read a second time, each from its own line on.
const AGAIN_MAX: usize = 12;

pub(super) fn check(bytes: &[u8]) -> Held {
    let found = read(bytes);
    lines_ascend(&found, bytes)?;
    for (key, value, _) in &found.entries {
        let is_name = key.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
            && !key.contains(|letter: char| letter.is_whitespace() || letter.is_control() || letter == '=');
        holds(is_name, || format!("{key:?} can't be a variable"))?;
        holds(!value.contains('\0'), || format!("{key} holds a NUL"))?;
        holds(value.len() <= bytes.len(), || {
            format!("{key} is longer than the file")
        })?;
    }
    stands_for_itself(&found, bytes)?;
    nothing_is_told(&found, bytes)
}

fn lines_ascend(found: &Dotenv, bytes: &[u8]) -> Held {
    let entries: Vec<u32> = found.entries.iter().map(|(_, _, line)| *line).collect();
    let problems: Vec<u32> = found.problems.iter().map(|problem| problem.line).collect();
    let count = bytes.split(|byte| *byte == b'\n').count();
    for lines in [&entries, &problems] {
        let ascend = lines.windows(2).all(|pair| pair[0] < pair[1]);
        holds(ascend, || format!("lines are out of order: {lines:?}"))?;
        let is_there = |line: &u32| *line >= 1 && usize::try_from(*line).is_ok_and(|line| line <= count);
        holds(lines.iter().all(is_there), || {
            format!("{lines:?} of a file with {count} lines")
        })?;
    }
    let twice = entries.iter().find(|line| problems.contains(line));
    holds(twice.is_none(), || format!("line {twice:?} is good and bad"))
}

/// An entry is the same without everything above it.
fn stands_for_itself(found: &Dotenv, bytes: &[u8]) -> Held {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    for (key, value, line) in found.entries.iter().take(AGAIN_MAX) {
        let above = usize::try_from(*line).unwrap_or(1) - 1;
        let rest = lines[above..].concat();
        let again = read(&rest);
        let first = again.entries.first();
        let is_same = first.is_some_and(|first| first == &(key.clone(), value.clone(), 1));
        // A mark of the byte order is one at the beginning only.
        let is_marked = rest.starts_with("\u{feff}".as_bytes());
        holds(is_same || is_marked, || {
            format!("{key} of line {line} says something else when it comes first: {again:?}")
        })?;
    }
    Ok(())
}

fn nothing_is_told(found: &Dotenv, bytes: &[u8]) -> Held {
    are_inside(&findings(Layer::Workspace, "/r/.env", found), bytes)?;
    let marked: Vec<u8> = bytes
        .split_inclusive(|byte| *byte == b'\n')
        .flat_map(|line| match line.iter().position(|byte| *byte == b'=') {
            Some(at) => [&line[..=at], MARK.as_bytes(), &line[at + 1..]].concat(),
            None => line.to_vec(),
        })
        .collect();
    let marked = read(&marked);
    let told = format!("{:?}", findings(Layer::Workspace, "/r/.env", &marked));
    holds(!told.contains(MARK), || format!("a value is told: {told}"))
}
