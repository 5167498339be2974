//! Skills that are compiled in: the lowest tier.

use compozy_domain::Layer;

use crate::definition::Found;

/// A skill that is compiled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bundled {
    /// The name of its directory.
    pub directory_name: &'static str,
    /// Its `SKILL.md`.
    pub text: &'static str,
}

/// The skills of this build.
pub(super) const BUNDLED: &[Bundled] = &[];

impl Bundled {
    /// Where it is said to lie: no path of any disk.
    #[must_use]
    pub fn path(&self) -> String {
        format!("bundled:{}/SKILL.md", self.directory_name)
    }

    /// As if it had been found on a disk.
    pub(super) fn found(&self) -> Found {
        Found {
            layer: Layer::Bundled,
            path: self.path(),
            directory_name: self.directory_name.to_owned(),
            content: Ok(self.text.as_bytes().to_vec()),
            mcp: None,
        }
    }
}
