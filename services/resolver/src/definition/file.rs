//! The file of a definition: whether it can be read, and what all kinds of definitions have in common.

use compozy_domain::{Diagnostic, Layer, Severity};

use super::fields::Fields;
use super::{DEFINITION_BYTES_MAX, DESCRIPTION_CHARS_MAX, Found};
use crate::files::ReadFault;
use crate::front_matter::{self, Finding, FrontMatter, Place};

/// The file, taken apart.
///
/// # Errors
/// Why it can't be read at all.
pub(super) fn open(found: &Found) -> Result<FrontMatter<'_>, ReadFault> {
    let bytes = found.content.as_ref().map_err(ReadFault::clone)?;
    if bytes.len() > DEFINITION_BYTES_MAX {
        let limit = DEFINITION_BYTES_MAX;
        return Err(ReadFault::TooLarge { limit });
    }
    Ok(front_matter::read(bytes))
}

/// A file that can't be read, and is never taken as absent.
pub(super) fn unread(layer: Layer, path: &str, fault: &ReadFault) -> Diagnostic {
    let (code, message, remedy) = match fault {
        ReadFault::TooLarge { limit } => (
            "definition_too_large",
            format!("the file is larger than {limit} bytes"),
            "move parts of it into other files that it names",
        ),
        ReadFault::NotRegular => (
            "definition_not_regular",
            "has to be a regular file, and is a link, a directory, a pipe or a device".to_owned(),
            "put the file itself there",
        ),
        ReadFault::Unreadable => (
            "definition_unreadable",
            "the daemon's user may not read it".to_owned(),
            "let the daemon's user read it",
        ),
        ReadFault::Directory(_) | ReadFault::Other { .. } => (
            "definition_unreadable",
            format!("it can't be read: {fault}"),
            "try again; if it stays, see the log of the daemon",
        ),
    };
    Diagnostic::new(code, Severity::Error, layer, path, message, remedy)
}

/// What it is for, cut to what is kept.
pub(super) fn description(fields: &mut Fields<'_>) -> String {
    let text = fields.text("description");
    let Some((end, _)) = text.char_indices().nth(DESCRIPTION_CHARS_MAX) else {
        return text;
    };
    let place = fields.get("description").map_or(Place::start_of(1), Place::of);
    let count = text.chars().count();
    fields.tell(
        Finding::warning(
            "description_cut",
            place,
            format!(
                "the description has {count} characters, of which the first {DESCRIPTION_CHARS_MAX} are kept"
            ),
            "shorten it, and move details into the text",
        )
        .about("description"),
    );
    text[..end].to_owned()
}

/// Whether none of the findings makes the definition useless.
pub(super) fn is_usable(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().all(|found| found.severity != Severity::Error)
}
