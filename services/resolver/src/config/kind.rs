//! What a value has to be: the kinds of the table of keys, and whether a value is of one.

mod fits;

use std::time::Duration;

use super::sources::PRESETS;

pub(super) use fits::{Misfit, is_provider_name};

/// What a value has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Any text.
    Text,
    /// true or false.
    Flag,
    /// A whole number in this range.
    Count(i64, i64),
    /// A span such as "20s", "168h" or "1h 30m".
    Span,
    /// A span between these two.
    SpanBetween(&'static str, &'static str),
    /// A span, or a number of seconds.
    SpanOrSeconds,
    /// A list of texts.
    Texts,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// `host:port`.
    Address,
    /// An absolute path; `~` and `$COMPOZY_HOME` in front expand.
    Path,
    /// A list of such paths.
    Paths,
    /// A list of names of sources of skills.
    SkillSources,
    /// A list of directories of skills; in the files of a workspace they may be relative.
    SkillPaths,
    /// A table of texts under any names.
    TextMap,
    /// The name of an agent, or nothing.
    AgentName,
    /// The name of a provider, or nothing.
    ProviderName,
    /// Whose disk this is.
    HostId,
    /// Where the catalog lies.
    StoreUrl,
    /// A list of tables, told apart by their `name`.
    Named,
    /// A list of tables.
    Tables,
    /// Anything.
    Any,
}

impl Kind {
    /// What it is called in tables for people.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Text => "text".to_owned(),
            Self::Flag => "true or false".to_owned(),
            Self::Count(least, most) => format!("whole number from {least} to {most}"),
            Self::Span => "span".to_owned(),
            Self::SpanBetween(least, most) => format!("span from {least} to {most}"),
            Self::SpanOrSeconds => "span or seconds".to_owned(),
            Self::Texts => "list of texts".to_owned(),
            Self::SkillSources => format!("list of {}", PRESETS.join(" | ")),
            Self::Choice(words) => words.join(" | "),
            Self::Address => "host:port".to_owned(),
            Self::Path => "path".to_owned(),
            Self::Paths | Self::SkillPaths => "list of paths".to_owned(),
            Self::TextMap => "table of texts".to_owned(),
            Self::AgentName => "name of an agent".to_owned(),
            Self::ProviderName => "name of a provider".to_owned(),
            Self::HostId => "host id".to_owned(),
            Self::StoreUrl => "URL of a store".to_owned(),
            Self::Named => "list of tables with a name".to_owned(),
            Self::Tables => "list of tables".to_owned(),
            Self::Any => "anything".to_owned(),
        }
    }

    /// Whether it is written as a text.
    #[must_use]
    pub const fn is_text(self) -> bool {
        matches!(
            self,
            Self::Text
                | Self::Span
                | Self::SpanBetween(..)
                | Self::SpanOrSeconds
                | Self::Choice(_)
                | Self::Address
                | Self::Path
                | Self::AgentName
                | Self::ProviderName
                | Self::HostId
                | Self::StoreUrl
        )
    }

    /// What the value has to be, as the end of a sentence that begins with the key.
    pub(super) fn rule(self) -> String {
        match self {
            Self::Text => "has to be a text".to_owned(),
            Self::Flag => "has to be true or false".to_owned(),
            Self::Count(least, most) => format!("has to be a whole number from {least} to {most}"),
            Self::Span => "has to be a span such as \"20s\", \"5m\" or \"168h\", at most 876000h".to_owned(),
            Self::SpanBetween(least, most) => format!("has to be a span from \"{least}\" to \"{most}\""),
            Self::SpanOrSeconds => {
                "has to be a span such as \"20s\", or seconds above 0, at most 876000h".to_owned()
            }
            Self::Texts | Self::SkillSources | Self::SkillPaths => "has to be a list of texts".to_owned(),
            Self::Choice(words) => format!("has to be one of \"{}\"", words.join("\", \"")),
            Self::Address => "has to be an address such as \"127.0.0.1:2123\"".to_owned(),
            Self::Path => "has to be an absolute path, or start with ~ or $COMPOZY_HOME".to_owned(),
            Self::Paths => "has to be a list of absolute paths".to_owned(),
            Self::TextMap => "has to be a table of texts".to_owned(),
            Self::AgentName => {
                "has to be empty, or the name of an agent: a lower-case letter, then lower-case letters, \
                                digits, '_' and '-', at most 106"
                    .to_owned()
            }
            Self::ProviderName => format!("has to be empty, or the name of a provider: {PROVIDER_NAME_RULE}"),
            Self::HostId => "has to be 1 to 64 letters, digits, '.', '_' or '-'".to_owned(),
            Self::StoreUrl => "has to be sqlite:///absolute/path or postgres://...".to_owned(),
            Self::Named => "has to be a list of tables with a `name` each".to_owned(),
            Self::Tables => "has to be a list of tables".to_owned(),
            Self::Any => "may be anything".to_owned(),
        }
    }
}

/// The grammar of names of providers, for messages.
pub(super) const PROVIDER_NAME_RULE: &str =
    "a lower-case letter or digit, then lower-case letters, digits, '_' and '-', at most 64";

/// The longest span, which nobody lives to see the end of: a point in time that is further away may be none at all.
pub(super) const SPAN_MAX: Duration = Duration::from_secs(876_000 * 60 * 60);

/// A span such as "20s" or "1h 30m"; `None` if it is none, nothing or less, or more than a hundred years.
#[must_use]
pub fn span(text: &str) -> Option<Duration> {
    let span: jiff::SignedDuration = text.parse().ok()?;
    let span = Duration::try_from(span).ok()?;
    (!span.is_zero() && span <= SPAN_MAX).then_some(span)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_a_unit_and_are_more_than_nothing() {
        for good in ["60s", "500ms", "1h 30m", "168h", "2m", "876000h"] {
            assert!(span(good).is_some(), "{good}");
        }
        for bad in [
            "60",
            "-1s",
            "1 week",
            "0s",
            "",
            "s",
            "1d",
            "876000h 1ns",
            "2562047788015215h",
        ] {
            assert!(span(bad).is_none(), "{bad}");
        }
    }
}
