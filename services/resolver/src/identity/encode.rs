//! Writing the file: a new one, and an old one with another id in which everything else stays.

use std::ops::Range;

use compozy_domain::DurableId;
use toml_edit::{DocumentMut, value};

use super::parse::{IdentityProblem, read};
use super::{Identity, key, time};

/// The content of a new file: the three keys in their order, and `forked_from` behind them if it is set.
#[must_use]
pub fn encode(identity: &Identity) -> Vec<u8> {
    let mut document = DocumentMut::new();
    document[key::WORKSPACE_ID] = value(identity.durable_id.as_str());
    document[key::CREATED_AT] = value(time::format(identity.created_at));
    document[key::REALPATH] = value(identity.realpath_at_creation.as_str());
    if let Some(origin) = &identity.forked_from {
        document[key::FORKED_FROM] = value(origin.as_str());
    }
    document.to_string().into_bytes()
}

/// The content of a valid file with another id. With `forked_from` that key is set, too. Every other byte
/// stays: comments, keys that are not known, and line ends, which an editor of whole documents would make its
/// own.
///
/// # Errors
/// The rule that the old content breaks.
pub fn with_durable_id(
    old: &[u8],
    durable_id: &DurableId,
    forked_from: Option<&DurableId>,
) -> Result<Vec<u8>, IdentityProblem> {
    let (_, places) = read(old)?;
    let mut edits = vec![(places.workspace_id, quoted(durable_id))];
    if let Some(origin) = forked_from {
        edits.push(match places.forked_from {
            Some(place) => (place, quoted(origin)),
            None => new_line(
                old,
                places.realpath.end,
                &format!("{} = {}", key::FORKED_FROM, quoted(origin)),
            ),
        });
    }
    // From the back to the front, so that the places that are left still hold.
    edits.sort_by_key(|(place, _)| std::cmp::Reverse(place.start));
    let mut new = old.to_vec();
    for (place, text) in edits {
        new.splice(place, text.into_bytes());
    }
    Ok(new)
}

/// A durable id is made of letters and digits: nothing in it needs an escape.
fn quoted(id: &DurableId) -> String {
    format!("\"{id}\"")
}

/// A line behind the one that holds `offset`, with the same kind of line end.
fn new_line(old: &[u8], offset: usize, line: &str) -> (Range<usize>, String) {
    let rest = old.get(offset..).unwrap_or_default();
    let Some(newline) = rest.iter().position(|byte| *byte == b'\n') else {
        return (old.len()..old.len(), format!("\n{line}\n"));
    };
    let end = if rest[..newline].ends_with(b"\r") {
        "\r\n"
    } else {
        "\n"
    };
    let next = offset + newline + 1;
    (next..next, format!("{line}{end}"))
}
