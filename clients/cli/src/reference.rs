//! How a person names a workspace or a directory. Which name means what is the daemon's to decide;
//! here only paths are told from names, because only this process knows its own directory.

use std::path::Path;

use clap::builder::NonEmptyStringValueParser;
use clap::builder::TypedValueParser;
use compozy_client::Client;
use compozy_client::proto::workspace::v1::WorkspaceRef;
use compozy_client::proto::workspace::v1::workspace_ref::Form;

use crate::app::App;
use crate::failure::Failure;

/// An argument that must not be blank.
pub(crate) fn not_blank() -> impl TypedValueParser<Value = String> {
    NonEmptyStringValueParser::new().try_map(|text| {
        if text.trim().is_empty() {
            Err("it must not be blank".to_owned())
        } else {
            Ok(text)
        }
    })
}

/// The path that a reference is, as it was written; `None` for ids and names. The forced prefixes
/// come first; then what is absolute, starts with a dot or holds a separator is a path.
pub(crate) fn path_in(text: &str) -> Option<&str> {
    let text = text.trim();
    if let Some(path) = text.strip_prefix("path:") {
        return Some(path.trim());
    }
    if ["id:", "name:", "durable:"]
        .iter()
        .any(|prefix| text.starts_with(prefix))
    {
        return None;
    }
    (text.starts_with('.') || text.contains('/')).then_some(text)
}

/// The reference to send: paths are made absolute, everything else goes as it is.
pub(crate) async fn workspace(app: &App, client: &Client, text: &str) -> Result<WorkspaceRef, Failure> {
    let form = match path_in(text) {
        Some(path) => Form::Path(absolute(app, client, path).await?),
        None => Form::Any(text.trim().to_owned()),
    };
    Ok(WorkspaceRef { form: Some(form) })
}

/// Makes a path absolute from the current directory. `..` stays: only the daemon can tell what it
/// means behind a link. A relative path says nothing to a daemon on another host.
pub(crate) async fn absolute(app: &App, client: &Client, path: &str) -> Result<String, Failure> {
    if Path::new(path).is_absolute() {
        return Ok(path.to_owned());
    }
    if !app.is_on_this_host(client).await? {
        return Err(Failure::nothing_resolves(
            format!("\"{path}\" is a relative path, and relative references need a daemon on this host"),
            "name the workspace by its id or name, or give an absolute path of the daemon's host",
        )
        .with("path", path));
    }
    let made = std::path::absolute(path).map_err(|error| {
        let message =
            format!("\"{path}\" cannot be made absolute, because the current directory is gone: {error}");
        Failure::nothing_resolves(message, "give an absolute path")
    })?;
    made.into_os_string().into_string().map_err(|_| {
        Failure::usage(
            "the current directory's path is not valid UTF-8",
            "give an absolute path",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c023_paths_are_told_from_names() {
        for text in ["./a", "a/", "a/deep", "./x/../a", ".", "..", "/abs", ".hidden"] {
            assert_eq!(path_in(text), Some(text));
        }
        assert_eq!(path_in(" path:a "), Some("a"));
        for text in [
            "a",
            "ws_0123456789abcdef",
            "name:x/y",
            "id:./x",
            "durable:01HXJ9YR4QZ0V7M3T5B8N2C6KD",
        ] {
            assert_eq!(path_in(text), None, "{text}");
        }
    }
}
