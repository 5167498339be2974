//! The lines of a `.env`.

use super::{Dotenv, DotenvFault, DotenvProblem};

/// Reads all of them; answers the line behind the last one.
pub(super) fn read(text: &str, found: &mut Dotenv) -> u32 {
    let mut rest = text;
    let mut line = 1;
    while !rest.is_empty() {
        let (first, behind) = rest.split_once('\n').unwrap_or((rest, ""));
        let taken = match entry(first, behind) {
            Ok(None) => 1,
            Ok(Some(Entry { key, value, lines })) => {
                found.entries.push((key, value, line));
                lines
            }
            Err(fault) => {
                found.problems.push(DotenvProblem { line, fault });
                1
            }
        };
        for _ in 0..taken {
            rest = rest.split_once('\n').map_or("", |(_, behind)| behind);
            line += 1;
        }
    }
    line
}

struct Entry {
    key: String,
    value: String,
    /// How many lines it takes.
    lines: u32,
}

/// What a line says; `behind` are the lines after it, for a value that goes on there.
fn entry(line: &str, behind: &str) -> Result<Option<Entry>, DotenvFault> {
    // Blanks at its end may belong to a value that goes on in the next line.
    let line = line.strip_suffix('\r').unwrap_or(line).trim_start();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let line = match line.strip_prefix("export") {
        Some(rest) if rest.starts_with([' ', '\t']) => rest.trim_start(),
        _ => line,
    };
    let (key, value) = line.split_once('=').ok_or(DotenvFault::NoAssignment)?;
    let (key, value) = (key.trim_end(), value.trim_start());
    if !is_key(key) {
        // Prose with an `=` in it is no assignment with a bad key.
        let is_prose = key.contains(char::is_whitespace);
        return Err(if is_prose {
            DotenvFault::NoAssignment
        } else {
            DotenvFault::BadKey
        });
    }
    let (value, lines) = match value.chars().next() {
        Some(quote @ ('"' | '\'')) => quoted(&value[1..], behind, quote)?,
        _ => (plain(value).to_owned(), 1),
    };
    if value.contains('\0') {
        return Err(DotenvFault::Nul);
    }
    Ok(Some(Entry {
        key: key.to_owned(),
        value,
        lines,
    }))
}

fn is_key(key: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphabetic() || letter == '_';
    let is_later = |letter: char| is_letter(letter) || letter.is_ascii_digit() || matches!(letter, '.' | '-');
    key.starts_with(is_letter) && key.chars().all(is_later)
}

/// A value without quotes ends at a comment, which has a blank before it.
fn plain(value: &str) -> &str {
    let mut previous = ' ';
    for (at, letter) in value.char_indices() {
        if letter == '#' && previous.is_whitespace() {
            return value[..at].trim_end();
        }
        previous = letter;
    }
    value.trim_end()
}

/// A value in quotes, which may go on over lines, and how many lines it takes. `first` is what follows the opening
/// quote in its line.
fn quoted(first: &str, behind: &str, quote: char) -> Result<(String, u32), DotenvFault> {
    let mut value = String::new();
    let mut lines = 1;
    let mut line = first;
    let mut rest = behind;
    loop {
        if let Some(after) = take_to_quote(line, quote, &mut value) {
            let after = after.trim();
            let is_clean = after.is_empty() || after.starts_with('#');
            return if is_clean {
                Ok((value, lines))
            } else {
                Err(DotenvFault::BehindQuote)
            };
        }
        if rest.is_empty() {
            return Err(DotenvFault::OpenQuote);
        }
        let (next, behind) = rest.split_once('\n').unwrap_or((rest, ""));
        (line, rest) = (next.strip_suffix('\r').unwrap_or(next), behind);
        value.push('\n');
        lines += 1;
    }
}

/// Adds a line to the value up to the closing quote, and answers what is behind that; `None` if there is none.
fn take_to_quote<'l>(line: &'l str, quote: char, value: &mut String) -> Option<&'l str> {
    let mut letters = line.char_indices();
    while let Some((at, letter)) = letters.next() {
        if letter == quote {
            return Some(&line[at + 1..]);
        }
        if letter != '\\' || quote == '\'' {
            value.push(letter);
            continue;
        }
        match letters.next() {
            Some((_, 'n')) => value.push('\n'),
            Some((_, 'r')) => value.push('\r'),
            Some((_, 't')) => value.push('\t'),
            Some((_, escaped @ ('"' | '\\' | '$' | '`'))) => value.push(escaped),
            Some((_, other)) => value.extend(['\\', other]),
            None => value.push('\\'),
        }
    }
    None
}
