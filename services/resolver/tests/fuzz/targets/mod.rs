//! What is tried, and what has to hold for any file.

mod config;
mod config_edit;
mod dotenv;
mod front_matter;
mod layers;
mod mcp_json;
mod places;
mod planted;
mod secrets;

/// What has to hold, or the first thing that does not.
pub(crate) type Held = Result<(), String>;

/// One reader.
pub(crate) struct Target {
    pub(crate) name: &'static str,
    check: fn(&[u8]) -> Held,
    /// Words and signs of the language.
    pub(crate) pieces: &'static [&'static str],
}

impl Target {
    /// Reads a file and says what is wrong about how it was read.
    pub(crate) fn check(&self, bytes: &[u8]) -> Held {
        if planted::is_marked(bytes) {
            return Ok(());
        }
        (self.check)(bytes)
    }
}

const TARGETS: &[Target] = &[
    Target {
        name: "config",
        check: config::check,
        pieces: config::PIECES,
    },
    Target {
        name: "config_edit",
        check: config_edit::check,
        pieces: config_edit::PIECES,
    },
    Target {
        name: "dotenv",
        check: dotenv::check,
        pieces: dotenv::PIECES,
    },
    Target {
        name: "front_matter",
        check: front_matter::check,
        pieces: front_matter::PIECES,
    },
    Target {
        name: "mcp_json",
        check: mcp_json::check,
        pieces: mcp_json::PIECES,
    },
];

/// The target of this name.
pub(crate) fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

/// What is said if something does not hold.
fn holds(condition: bool, otherwise: impl FnOnce() -> String) -> Held {
    if condition { Ok(()) } else { Err(otherwise()) }
}
