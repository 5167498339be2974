//! Bugs on purpose, to show that the checks of this repository find them. Only with the feature `planted-bugs`,
//! which no release has, and only the one that the environment names.

/// The environment variable that names the bug of a process.
#[cfg(feature = "planted-bugs")]
const VARIABLE: &str = "COMPOZY_PLANTED_BUG";

/// Whether this process has a bug.
#[cfg(feature = "planted-bugs")]
#[must_use]
pub fn is(bug: &str) -> bool {
    static PLANTED: std::sync::LazyLock<Option<String>> =
        std::sync::LazyLock::new(|| std::env::var(VARIABLE).ok());
    PLANTED.as_deref() == Some(bug)
}

/// Whether this process has a bug: never without the feature.
#[cfg(not(feature = "planted-bugs"))]
#[must_use]
pub const fn is(_bug: &str) -> bool {
    false
}
