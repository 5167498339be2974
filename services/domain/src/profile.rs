//! Profiles: named overlays of config, agents and skills, and which one is active.

use std::fmt;

use crate::change::stored_words;
use crate::clock::Timestamp;
use crate::error::CatalogError;
use crate::id::{Etag, ProfileId, WorkspaceId};

/// Characters of a profile's name at most.
pub const NAME_CHARS_MAX: usize = 32;
/// Characters of an icon at most.
pub const ICON_CHARS_MAX: usize = 32;
/// Names that mean something else than a profile.
const RESERVED: [&str; 3] = [ProfileName::DEFAULT, "all", "global"];

/// The name of a profile, and of its directories: `^[a-z][a-z0-9-]{0,31}$`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProfileName(String);

/// Whether a profile can be selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProfileState {
    /// It can.
    Active,
    /// It is kept with its directories and can't.
    Archived,
}

/// The record of a profile. The permanent one is not stored: [`Profile::permanent`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// Its id; `default` for the permanent one.
    pub id: ProfileId,
    /// Its name.
    pub name: ProfileName,
    /// `#` and six hex digits; empty if none.
    pub color: String,
    /// A word or an emoji; empty if none.
    pub icon: String,
    /// Whether it can be selected.
    pub state: ProfileState,
    /// Rises by one with every change; 0 for the permanent one.
    pub version: i64,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// New values for how a profile is shown; `None` keeps one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProfileUpdate {
    /// [`check_color`]
    pub color: Option<String>,
    /// [`check_icon`]
    pub icon: Option<String>,
}

/// Who chose the active profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProfileSource {
    /// The session was created under it.
    Session,
    /// The request.
    Request,
    /// `COMPOZY_PROFILE` of the caller.
    Environment,
    /// The selection that is remembered for the workspace.
    Workspace,
    /// The selection for everything else.
    Global,
    /// Nobody.
    Default,
}

/// Everything that may say which profile is active.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileChoices<T> {
    /// The session's own.
    pub session: Option<T>,
    /// The request's.
    pub request: Option<T>,
    /// `COMPOZY_PROFILE` of the caller.
    pub environment: Option<T>,
    /// Remembered for the workspace.
    pub workspace: Option<T>,
    /// Remembered for everything else.
    pub global: Option<T>,
}

/// The profile that is remembered for a workspace, or for everything else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// The workspace; `None` for everything that has no selection of its own.
    pub workspace_id: Option<WorkspaceId>,
    /// The profile.
    pub profile_id: ProfileId,
}

stored_words!(ProfileState {
    Active = "active",
    Archived = "archived",
});

impl ProfileName {
    /// The name of the permanent profile.
    pub const DEFAULT: &'static str = "default";

    /// Reads the name of a profile that is to be made.
    ///
    /// # Errors
    /// [`CatalogError::InvalidName`].
    pub fn parse(text: &str) -> Result<Self, CatalogError> {
        let invalid = |problem: &str| {
            Err(CatalogError::InvalidName {
                problem: problem.to_owned(),
            })
        };
        if !Self::is_well_formed(text) {
            return invalid(
                "a profile's name is 1 to 32 lower-case letters, digits and '-', starting with a letter",
            );
        }
        if RESERVED.contains(&text) {
            return invalid("'default', 'all' and 'global' are no names of profiles to be made");
        }
        Ok(Self(text.to_owned()))
    }

    /// Whether a text could be the name of a profile, `default` included.
    #[must_use]
    pub fn is_well_formed(text: &str) -> bool {
        text.len() <= NAME_CHARS_MAX
            && text.starts_with(|first: char| first.is_ascii_lowercase())
            && text
                .bytes()
                .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
    }

    /// The name of the permanent profile.
    #[must_use]
    pub fn permanent() -> Self {
        Self(Self::DEFAULT.to_owned())
    }

    /// Takes a stored name as it is.
    #[must_use]
    pub fn from_stored(text: String) -> Self {
        Self(text)
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is the permanent profile, which has no directory in any layer.
    #[must_use]
    pub fn is_permanent(&self) -> bool {
        self.0 == Self::DEFAULT
    }
}

impl fmt::Display for ProfileName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Profile {
    /// The profile that is always there.
    #[must_use]
    pub fn permanent() -> Self {
        Self {
            id: ProfileId::from_stored(ProfileName::DEFAULT.to_owned()),
            name: ProfileName::permanent(),
            color: String::new(),
            icon: String::new(),
            state: ProfileState::Active,
            version: 0,
            created_at: Timestamp::from_nanos(0),
            updated_at: Timestamp::from_nanos(0),
        }
    }

    /// The state of the record for conditional writes.
    #[must_use]
    pub fn etag(&self) -> Etag {
        Etag::of_state(self.version)
    }

    /// Refuses a change that was meant for another state of the record.
    ///
    /// # Errors
    /// [`CatalogError::EtagMismatch`].
    pub fn require_etag(&self, given: Option<&Etag>) -> Result<(), CatalogError> {
        match given {
            Some(given) if *given != self.etag() => Err(CatalogError::EtagMismatch {
                id: self.id.to_string(),
            }),
            _ => Ok(()),
        }
    }
}

impl<T> ProfileChoices<T> {
    /// The first that says anything, and who that is.
    #[must_use]
    pub fn first(self) -> Option<(T, ProfileSource)> {
        let all = [
            (self.session, ProfileSource::Session),
            (self.request, ProfileSource::Request),
            (self.environment, ProfileSource::Environment),
            (self.workspace, ProfileSource::Workspace),
            (self.global, ProfileSource::Global),
        ];
        all.into_iter()
            .find_map(|(choice, source)| Some((choice?, source)))
    }
}

/// Checks a color: empty, or `#` and six hex digits. Answers it in lower case.
///
/// # Errors
/// [`CatalogError::InvalidField`].
pub fn check_color(text: &str, field: &str) -> Result<String, CatalogError> {
    let digits = text.strip_prefix('#').unwrap_or_default();
    let is_color = digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if text.is_empty() || is_color {
        return Ok(text.to_ascii_lowercase());
    }
    Err(CatalogError::invalid_field(
        field,
        "has to be '#' and six hex digits, such as #2f6fed, or empty",
    ))
}

/// Checks an icon.
///
/// # Errors
/// [`CatalogError::InvalidField`].
pub fn check_icon(text: &str, field: &str) -> Result<String, CatalogError> {
    if text.chars().count() <= ICON_CHARS_MAX && !text.contains(char::is_control) {
        return Ok(text.to_owned());
    }
    Err(CatalogError::invalid_field(
        field,
        "has to be at most 32 characters without control characters",
    ))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn r100_names_of_the_grammar_are_taken() {
        for name in ["a", "a-1", "a-", &"a".repeat(32)] {
            assert_eq!(ProfileName::parse(name).unwrap().as_str(), name);
        }
    }

    #[test]
    fn r101_r102_other_names_are_refused() {
        let too_long = "a".repeat(33);
        let bad = [
            "Marketing",
            "a b",
            "-a",
            "1a",
            "a_b",
            "",
            &too_long,
            "default",
            "all",
            "global",
            "ä",
            "a/b",
            "a\n",
        ];
        for name in bad {
            let refused = ProfileName::parse(name);
            assert!(
                matches!(refused, Err(CatalogError::InvalidName { .. })),
                "{name:?}"
            );
        }
    }

    #[test]
    fn r110_the_first_that_says_anything_chooses() {
        let mut choices = ProfileChoices {
            session: Some("a"),
            request: Some("b"),
            environment: Some("c"),
            workspace: Some("d"),
            global: Some("e"),
        };
        assert_eq!(choices.clone().first(), Some(("a", ProfileSource::Session)));
        choices.session = None;
        assert_eq!(choices.clone().first(), Some(("b", ProfileSource::Request)));
        choices.request = None;
        assert_eq!(choices.clone().first(), Some(("c", ProfileSource::Environment)));
        choices.environment = None;
        assert_eq!(choices.clone().first(), Some(("d", ProfileSource::Workspace)));
        choices.workspace = None;
        assert_eq!(choices.clone().first(), Some(("e", ProfileSource::Global)));
        choices.global = None;
        assert_eq!(choices.first(), None);
    }

    #[test]
    fn colors_are_hex_and_icons_are_short() {
        assert_eq!(check_color("#2F6FED", "color").unwrap(), "#2f6fed");
        assert_eq!(check_color("", "color").unwrap(), "");
        for bad in ["red", "#12345", "#1234567", "#12345g"] {
            assert!(check_color(bad, "color").is_err(), "{bad}");
        }
        assert_eq!(check_icon("🦊", "icon").unwrap(), "🦊");
        assert!(check_icon("a\nb", "icon").is_err());
        assert!(check_icon(&"x".repeat(33), "icon").is_err());
    }
}
