//! A mark in every value of a file, as far as that can be told without reading it: whatever is said about the file
//! must not repeat it. What is probably the name of something stays as it is, because names are told.

/// The mark.
pub(super) const MARK: &str = "pl4nted";

/// Whether the mark is in a file already, where it may be the name of something.
pub(super) fn is_marked(bytes: &[u8]) -> bool {
    bytes.windows(MARK.len()).any(|word| word == MARK.as_bytes())
}

/// JSON with the mark in front of every text that is no key.
pub(super) fn in_json(bytes: &[u8]) -> Vec<u8> {
    let mut marked = Vec::with_capacity(bytes.len() * 2);
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'"' {
            marked.push(bytes[at]);
            at += 1;
            continue;
        }
        let end = end_of_text(bytes, at);
        let behind = past_comments(bytes, end);
        push_text(&mut marked, bytes, at, end, 1, is_before(bytes, behind, b":"));
        at = end;
    }
    marked
}

/// TOML with the mark in front of every text behind a `=` that is neither a key nor a `name`.
pub(super) fn in_toml(bytes: &[u8]) -> Vec<u8> {
    let mut marked = Vec::with_capacity(bytes.len() * 2);
    let (mut at, mut depth, mut is_value) = (0, 0_usize, false);
    while at < bytes.len() {
        let byte = bytes[at];
        let quotes = quotes(bytes, at);
        if quotes > 0 {
            let end = match quotes {
                1 => end_of_text(bytes, at),
                _ => end_of_lines(bytes, at),
            };
            let is_name = bytes[..at].trim_ascii_end().ends_with(b"=") && ends_with_name(&bytes[..at]);
            let is_key = !is_value || is_name || is_before(bytes, end, b"=.");
            push_text(&mut marked, bytes, at, end, quotes, is_key);
            at = end;
            continue;
        }
        match byte {
            b'#' => {
                let end = bytes[at..].iter().position(|byte| *byte == b'\n');
                let end = end.map_or(bytes.len(), |end| at + end);
                marked.extend(&bytes[at..end]);
                at = end;
                continue;
            }
            b'=' => is_value = true,
            b'[' | b'{' if is_value => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'\n' if depth == 0 => is_value = false,
            _ => {}
        }
        marked.push(byte);
        at += 1;
    }
    marked
}

/// Lines `key: value` with the mark at the end of the last word, unless that is a name.
pub(super) fn in_lines(bytes: &[u8]) -> Vec<u8> {
    let mut marked = Vec::with_capacity(bytes.len() * 2);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        match end_of_value(line) {
            Some(end) => {
                marked.extend(&line[..end]);
                marked.extend(MARK.as_bytes());
                marked.extend(&line[end..]);
            }
            None => marked.extend(line),
        }
    }
    marked
}

fn end_of_value(line: &[u8]) -> Option<usize> {
    let start = line.windows(2).position(|pair| pair == b": ")? + 2;
    let last = line.iter().rposition(u8::is_ascii_alphanumeric)? + 1;
    let word = line[..last]
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_alphanumeric());
    let before = &line[..last - word.count()];
    let behind = line[last..].trim_ascii_start();
    let is_key = before.len() < start || behind.iter().any(|byte| matches!(byte, b':' | b'='));
    (!is_key && !ends_with_name(before)).then_some(last)
}

/// Whether what follows is the value of a `name`.
fn ends_with_name(before: &[u8]) -> bool {
    let near = &before[before.len().saturating_sub(16)..];
    near.windows(4).any(|word| word == b"name")
}

/// Quotes that open a text of TOML here: none, one, or three of a kind.
fn quotes(bytes: &[u8], at: usize) -> usize {
    match &bytes[at..] {
        [b'"', b'"', b'"', ..] | [b'\'', b'\'', b'\'', ..] => 3,
        [b'"' | b'\'', ..] => 1,
        _ => 0,
    }
}

/// The end of a text on one line, its closing quote included.
fn end_of_text(bytes: &[u8], start: usize) -> usize {
    let quote = bytes[start];
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' if quote == b'"' => at += 2,
            b'\n' => return at,
            byte if *byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The end of a text over several lines.
fn end_of_lines(bytes: &[u8], start: usize) -> usize {
    let quote = bytes[start];
    let mut at = start + 3;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if quote == b'"' => at += 2,
            _ if bytes[at..].starts_with(&[quote; 3]) => {
                let more = bytes[at + 3..].iter().take(2).take_while(|byte| **byte == quote);
                return at + 3 + more.count();
            }
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The end of the comments that follow, which the reader of JSON passes over once it has told them.
fn past_comments(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    loop {
        at += bytes[at..]
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
        let rest = &bytes[at..];
        let length = if rest.starts_with(b"#") || rest.starts_with(b"//") {
            rest.iter().position(|byte| *byte == b'\n')
        } else if rest.starts_with(b"/*") {
            rest.windows(2)
                .skip(2)
                .position(|pair| pair == b"*/")
                .map(|at| at + 4)
        } else {
            return at;
        };
        match length {
            Some(length) => at += length,
            None => return bytes.len(),
        }
    }
}

fn is_before(bytes: &[u8], end: usize, signs: &[u8]) -> bool {
    let behind = bytes[end.min(bytes.len())..].trim_ascii_start();
    behind.first().is_some_and(|sign| signs.contains(sign))
}

fn push_text(marked: &mut Vec<u8>, bytes: &[u8], start: usize, end: usize, quotes: usize, is_key: bool) {
    let inside = (start + quotes).min(end);
    marked.extend(&bytes[start..inside]);
    if !is_key {
        marked.extend(MARK.as_bytes());
    }
    marked.extend(&bytes[inside..end]);
}
