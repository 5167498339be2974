//! Names of the API: without the prefix of their type for programs, as words for people.

/// A name without the prefix of its type.
pub(super) fn short(name: &'static str, prefix: &str) -> &'static str {
    name.strip_prefix(prefix).unwrap_or(name)
}

/// A name as a person says it.
pub(super) fn spoken(name: &str) -> String {
    name.to_lowercase().replace('_', " ")
}
