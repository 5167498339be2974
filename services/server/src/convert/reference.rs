//! References to workspaces.

use compozy_domain::text::refuse_control_characters;
use compozy_domain::{CatalogError, WorkspaceRef, limits};
use compozy_proto::workspace::v1 as pb;
use compozy_proto::workspace::v1::workspace_ref::Form;

use crate::registry::Reference;

/// Reads the reference in a field of a request.
///
/// # Errors
/// [`CatalogError::InvalidField`] for none, a blank or a too long one; what may be wrong with a path.
pub fn reference(reference: Option<pb::WorkspaceRef>, field: &str) -> Result<Reference, CatalogError> {
    let form = reference.and_then(|pb::WorkspaceRef { form }| form);
    let Some(form) = form else {
        return Err(CatalogError::invalid_field(field, "must name a workspace"));
    };
    let (member, text) = match &form {
        Form::Id(text) => ("id", text),
        Form::DurableId(text) => ("durable_id", text),
        Form::Name(text) => ("name", text),
        Form::Path(text) => ("path", text),
        Form::Any(text) => ("any", text),
    };
    let field = format!("{field}.{member}");
    if text.len() > limits::PATH_BYTES_MAX {
        return Err(CatalogError::invalid_field(field, "must have at most 4096 bytes"));
    }
    let decided = match &form {
        // An id that is not well formed names nothing.
        Form::Id(text) => WorkspaceRef::id(text),
        Form::DurableId(text) => WorkspaceRef::durable(text),
        Form::Name(text) => {
            refuse_control_characters(text, &field)?;
            WorkspaceRef::name(text)
        }
        Form::Path(text) => WorkspaceRef::path(text, &field)?,
        Form::Any(text) => {
            refuse_control_characters(text, &field)?;
            WorkspaceRef::any(text, &field)?
        }
    };
    let text = printable(text);
    Ok(Reference {
        form: decided,
        text,
        field,
    })
}

/// The text for messages, which are one line whatever an ill-formed id holds.
fn printable(text: &str) -> String {
    if text.chars().any(char::is_control) {
        return text.escape_debug().to_string();
    }
    text.to_owned()
}
