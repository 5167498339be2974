//! Where something comes from, by the names of the API for programs and in words for people.

use compozy_client::proto::workspace::v1::Layer;

/// The name without the prefix of its type. A layer that this release does not know is UNSPECIFIED.
pub(super) fn name(layer: i32) -> &'static str {
    let known = Layer::try_from(layer).unwrap_or_default().as_str_name();
    known.strip_prefix("LAYER_").unwrap_or(known)
}

/// A name of the API as a person says it; nothing where nothing is known.
pub(super) fn spoken(name: &str) -> String {
    if name == "UNSPECIFIED" {
        return String::new();
    }
    name.to_lowercase().replace('_', " ")
}
