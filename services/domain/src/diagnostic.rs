//! What was found in files, named so that a person can act on it and a program can tell it apart.

use crate::change::stored_words;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Probably not what was meant.
    Warning,
    /// Something does not work.
    Error,
}

/// Where a value, an agent or a skill comes from. Layers of the configuration are ordered, the later wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// Built in.
    Default,
    /// The daemon's home.
    User,
    /// The active profile's directory in the home.
    Profile,
    /// The root's `.compozy`, or a convention directory of the root.
    Workspace,
    /// The active profile's directory in the root's `.compozy`.
    WorkspaceProfile,
    /// The workspace's record.
    Registration,
    /// An additional root, or a custom source of skills.
    Additional,
    /// Compiled in.
    Bundled,
    /// Installed into the home from a marketplace.
    Marketplace,
    /// The winning agent's own directory.
    AgentLocal,
}

/// One finding. Holds no content of the file that it is about, only names, places and rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The file or directory; empty if none.
    pub path: String,
    /// Line in the file, from 1.
    pub line: Option<u32>,
    /// Column in the line in characters, from 1.
    pub column: Option<u32>,
    /// Stable code in snake case.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// The layer.
    pub layer: Option<Layer>,
    /// The dotted key.
    pub key: Option<String>,
    /// The profile.
    pub profile: Option<String>,
    /// One sentence without the path, such as "unknown key `permisions`, did you mean `permissions`?".
    pub message: String,
    /// What to do about it; empty if nothing has to be done.
    pub remedy: String,
}

stored_words!(Severity {
    Info = "info",
    Warning = "warning",
    Error = "error",
});
stored_words!(Layer {
    Default = "default",
    User = "user",
    Profile = "profile",
    Workspace = "workspace",
    WorkspaceProfile = "workspace_profile",
    Registration = "registration",
    Additional = "additional",
    Bundled = "bundled",
    Marketplace = "marketplace",
    AgentLocal = "agent_local",
});

impl Diagnostic {
    /// A finding about a file as a whole.
    #[must_use]
    pub fn new(
        code: &'static str,
        severity: Severity,
        layer: Layer,
        path: impl Into<String>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            path: path.into(),
            line: None,
            column: None,
            code,
            severity,
            layer: Some(layer),
            key: None,
            profile: None,
            message: message.into(),
            remedy: remedy.into(),
        }
    }

    /// At this place of the file.
    #[must_use]
    pub fn at(self, line: u32, column: u32) -> Self {
        Self {
            line: Some(line),
            column: Some(column),
            ..self
        }
    }

    /// About this key.
    #[must_use]
    pub fn about(self, key: impl Into<String>) -> Self {
        Self {
            key: Some(key.into()),
            ..self
        }
    }

    /// Sorts by path, then position, then what it says, and drops repetitions.
    pub fn sort(diagnostics: &mut Vec<Self>) {
        diagnostics.sort_by(|one, other| one.place().cmp(&other.place()));
        diagnostics.dedup();
    }

    /// `path:line:column`, as far as it is known.
    #[must_use]
    pub fn location(&self) -> String {
        let mut text = self.path.clone();
        for number in [self.line, self.column].into_iter().flatten() {
            text.push(':');
            text.push_str(&number.to_string());
        }
        text
    }

    fn place(&self) -> (&str, Option<u32>, Option<u32>, &str, &str, Option<&str>) {
        let key = self.key.as_deref();
        (&self.path, self.line, self.column, self.code, &self.message, key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, line: u32, column: u32) -> Diagnostic {
        Diagnostic::new("x", Severity::Error, Layer::User, path, "is wrong", "mend it").at(line, column)
    }

    #[test]
    fn r190_r197_they_are_sorted_by_place_and_not_repeated() {
        let mut all = vec![
            found("/b", 1, 1),
            found("/a", 10, 2),
            found("/a", 9, 7),
            found("/a", 10, 1),
            found("/b", 1, 1),
        ];
        Diagnostic::sort(&mut all);
        let places: Vec<String> = all.iter().map(Diagnostic::location).collect();
        assert_eq!(places, ["/a:9:7", "/a:10:1", "/a:10:2", "/b:1:1"]);
    }
}
