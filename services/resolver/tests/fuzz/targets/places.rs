//! What is true of every diagnostic: it stands inside of its file, and says nothing of what the file holds.

use compozy_domain::Diagnostic;

use super::planted::MARK;
use super::{Held, holds};

/// Whether a place is one of the file, or right behind the end of one of its lines.
pub(super) fn is_inside(bytes: &[u8], line: u32, column: u32) -> bool {
    let (Ok(line), Ok(column)) = (usize::try_from(line), usize::try_from(column)) else {
        return false;
    };
    let Some(before) = line.checked_sub(1) else {
        return false;
    };
    let Some(line) = bytes.split(|byte| *byte == b'\n').nth(before) else {
        return false;
    };
    column >= 1 && column <= String::from_utf8_lossy(line).chars().count() + 1
}

/// Whether what was found stands where it can be looked at, and can be understood.
pub(super) fn are_inside(found: &[Diagnostic], bytes: &[u8]) -> Held {
    for one in found {
        holds(!one.message.is_empty() && !one.code.is_empty(), || {
            format!("says nothing: {one:?}")
        })?;
        let is_line = |text: &str| !text.contains(|letter: char| letter.is_control());
        holds(is_line(&one.message) && is_line(&one.remedy), || {
            format!("would not be printed as one line: {one:?}")
        })?;
        holds(one.line.is_some() == one.column.is_some(), || {
            format!("has half a place: {one:?}")
        })?;
        if let (Some(line), Some(column)) = (one.line, one.column) {
            holds(is_inside(bytes, line, column), || {
                format!("lies outside of the file: {one:?}")
            })?;
        }
    }
    Ok(())
}

/// Whether nothing of what was found repeats the mark that was planted into values.
pub(super) fn are_silent(found: &[Diagnostic], quotes: &[&str]) -> Held {
    for one in found.iter().filter(|one| !quotes.contains(&one.code)) {
        let says = |text: &str| text.contains(MARK);
        // What is a value in one language may be part of a name in the other, and names are told.
        if one.key.as_deref().is_some_and(says) {
            continue;
        }
        holds(!says(&one.message) && !says(&one.remedy), || {
            format!("repeats a value: {one:?}")
        })?;
    }
    Ok(())
}
