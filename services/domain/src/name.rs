//! Names of workspaces: the unique handle, compared without regard to case.

use icu_casemap::CaseMapper;
use icu_normalizer::ComposingNormalizerBorrowed;
use icu_properties::CodePointMapData;
use icu_properties::props::{GeneralCategory, GeneralCategoryGroup};

use crate::error::CatalogError;
use crate::id::is_ulid;

/// Code points of a name at most, after normalisation.
pub const NAME_CHARS_MAX: usize = 64;
const RESERVED: [&str; 3] = ["default", "all", "global"];
const FORBIDDEN_STARTS: [&str; 5] = [".", "-", "~", "ws_", "ws-"];

/// A valid name: its spelling and the key under which it is unique.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceName {
    text: String,
    key: String,
}

impl WorkspaceName {
    /// Reads a name: trims it, normalises it to NFC and checks the rules.
    ///
    /// # Errors
    /// [`CatalogError::InvalidName`] with the rule that it breaks.
    pub fn parse(given: &str) -> Result<Self, CatalogError> {
        let text = normal_form(given);
        match broken_rule(&text) {
            None => Ok(Self {
                key: fold(&text),
                text,
            }),
            Some(problem) => Err(CatalogError::InvalidName { problem }),
        }
    }

    /// Takes a stored name as it is.
    #[must_use]
    pub fn from_stored(text: String, key: String) -> Self {
        Self { text, key }
    }

    /// The spelling that was given, trimmed and in NFC.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The key under which the name is unique: simple case folding of the NFC form.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The key that a reference by name is looked up with. Any text has one; only those of valid names can
    /// be found.
    #[must_use]
    pub fn lookup_key(given: &str) -> String {
        fold(&normal_form(given))
    }

    /// A valid name made of the base name of a directory, whatever that holds.
    #[must_use]
    pub fn derived_from(base_name: &str) -> Self {
        let cleaned: String = normal_form(base_name)
            .chars()
            .map(|c| if is_allowed(c) { c } else { '-' })
            .collect();
        let mut stem = cleaned.trim();
        while let Some(start) = FORBIDDEN_STARTS.iter().find(|start| stem.starts_with(**start)) {
            stem = stem[start.len()..].trim_start();
        }
        let stem = cut(stem, NAME_CHARS_MAX);
        if stem.is_empty() {
            return Self::valid("workspace".to_owned());
        }
        match Self::parse(&stem) {
            Ok(name) => name,
            // Only a reserved or ULID-shaped stem is left to be refused; a suffix makes it an ordinary name.
            Err(_) => Self::valid(stem).with_suffix(2),
        }
    }

    /// This name with `-n` behind it, cut so that the whole still fits.
    #[must_use]
    pub fn with_suffix(&self, number: u64) -> Self {
        let suffix = format!("-{number}");
        let stem = cut(&self.text, NAME_CHARS_MAX - suffix.len());
        Self::valid(format!("{}{suffix}", stem.trim_end()))
    }

    fn valid(text: String) -> Self {
        Self {
            key: fold(&text),
            text,
        }
    }
}

fn normal_form(given: &str) -> String {
    ComposingNormalizerBorrowed::new_nfc()
        .normalize(given.trim())
        .into_owned()
}

fn fold(text: &str) -> String {
    let mapper = CaseMapper::new();
    text.chars().map(|c| mapper.simple_fold(c)).collect()
}

fn cut(text: &str, chars: usize) -> String {
    text.chars().take(chars).collect::<String>().trim_end().to_owned()
}

fn broken_rule(text: &str) -> Option<String> {
    let length = text.chars().count();
    if length == 0 {
        return Some("a name must not be blank".into());
    }
    if length > NAME_CHARS_MAX {
        return Some(format!(
            "a name has at most {NAME_CHARS_MAX} characters, this one has {length}"
        ));
    }
    if let Some(bad) = text.chars().find(|c| !is_allowed(*c)) {
        return Some(format!(
            "a name holds letters, marks, digits, spaces, '.', '_' and '-' only, not U+{:04X}",
            u32::from(bad)
        ));
    }
    if let Some(start) = FORBIDDEN_STARTS.iter().find(|start| text.starts_with(**start)) {
        return Some(format!("a name must not start with '{start}'"));
    }
    if is_ulid(&text.to_ascii_uppercase()) {
        return Some("a name must not look like a durable id".into());
    }
    let folded = fold(text);
    if RESERVED.contains(&folded.as_str()) {
        return Some(format!("the name '{folded}' is reserved"));
    }
    None
}

fn is_allowed(c: char) -> bool {
    if matches!(c, ' ' | '.' | '_' | '-') {
        return true;
    }
    let category = CodePointMapData::<GeneralCategory>::new().get(c);
    GeneralCategoryGroup::Letter.contains(category)
        || GeneralCategoryGroup::Mark.contains(category)
        || category == GeneralCategory::DecimalNumber
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;

    use super::*;

    fn accepted(name: &str) -> bool {
        WorkspaceName::parse(name).is_ok()
    }

    #[test]
    fn w115_to_w119_accepted_names_keep_their_spelling() {
        assert_eq!(WorkspaceName::parse("  api  ").unwrap().as_str(), "api");
        assert!(accepted(&"a".repeat(64)));
        assert!(!accepted(&"a".repeat(65)));
        assert!(accepted(&"e\u{301}".repeat(64)));
        assert!(!accepted("") && !accepted("   "));
        for name in ["Проект 1", "日本語", "a.b_c-d", "7"] {
            assert_eq!(WorkspaceName::parse(name).unwrap().as_str(), name);
        }
    }

    #[test]
    fn w120_to_w126_refused_names() {
        for name in [
            ".x",
            "-x",
            "~x",
            "ws_x",
            "ws-x",
            "a/b",
            "a\\b",
            "a:b",
            "01HXJ9YR4QZ0V7M3T5B8N2C6KD",
        ] {
            assert!(!accepted(name), "{name}");
        }
        for name in [
            "default",
            "all",
            "global",
            "Default",
            "ALL",
            "a\tb",
            "a\0b",
            "a\u{a0}b",
            "a\u{202e}b",
            "😀",
        ] {
            assert!(!accepted(name), "{name:?}");
        }
        for name in ["abcdefghijklmnopqrstuvwxyz", "my-ws_x", "defaults", "x."] {
            assert!(accepted(name), "{name}");
        }
    }

    #[test]
    fn w127_to_w130_keys_use_simple_folding_of_nfc() {
        let key = |name: &str| WorkspaceName::parse(name).unwrap().key().to_owned();
        assert_eq!(key("Repo"), key("repo"));
        assert_eq!(key("caf\u{e9}"), key("cafe\u{301}"));
        assert_eq!(key("ΣΑΣ"), key("σας"));
        assert_ne!(key("Straße"), key("STRASSE"));
    }

    #[test]
    fn w133_to_w139_derived_names_keep_every_rule() {
        let derived = |base: &str| WorkspaceName::derived_from(base).as_str().to_owned();
        assert_eq!(derived("project"), "project");
        assert_eq!(derived("my:app"), "my-app");
        assert_eq!(derived(".dotfiles"), "dotfiles");
        assert_eq!(derived("default"), "default-2");
        assert_eq!(
            derived("01HXJ9YR4QZ0V7M3T5B8N2C6KD"),
            "01HXJ9YR4QZ0V7M3T5B8N2C6KD-2"
        );
        assert_eq!(derived("😀"), "workspace");
        assert_eq!(derived("ws_-~x"), "x");
        assert_eq!(derived(". -x"), "x");
        let long = WorkspaceName::derived_from(&"n".repeat(80));
        assert_eq!(long.as_str().chars().count(), 64);
        let second = long.with_suffix(2);
        assert!(second.as_str().ends_with("-2") && second.as_str().chars().count() == 64);
    }

    proptest! {
        #[test]
        fn every_base_name_gives_a_valid_name(base in "\\PC{0,90}", number in 2_u64..100_000) {
            let name = WorkspaceName::derived_from(&base);
            prop_assert_eq!(WorkspaceName::parse(name.as_str()).unwrap(), name.clone());
            let suffixed = name.with_suffix(number);
            prop_assert_eq!(WorkspaceName::parse(suffixed.as_str()).unwrap(), suffixed);
        }
    }
}
