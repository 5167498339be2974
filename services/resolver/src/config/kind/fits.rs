//! Whether a value is of a kind.

use compozy_domain::HostId;
use compozy_domain::text::check_agent;

use super::{Kind, SPAN_MAX, span};
use crate::node::{Content, Node};

/// What is wrong with a value, and where in it.
pub(in crate::config) struct Misfit<'n> {
    pub(in crate::config) node: &'n Node,
    pub(in crate::config) rule: String,
    pub(in crate::config) is_wrong_type: bool,
}

impl Kind {
    /// Everything that is wrong with a value. What stands inside of tables with a meaning of their own is not looked
    /// at here.
    pub(in crate::config) fn misfits(self, node: &Node) -> Vec<Misfit<'_>> {
        match self {
            Self::Texts | Self::Paths | Self::SkillSources | Self::SkillPaths => self.misfits_of_list(node),
            Self::TextMap => misfits_of_map(node),
            Self::Tables | Self::Named => misfits_of_tables(node),
            _ => self.misfit(node).into_iter().collect(),
        }
    }

    fn misfit(self, node: &Node) -> Option<Misfit<'_>> {
        let fits = match (self, &node.content) {
            (Self::Any, _) | (Self::Flag, Content::Flag(_)) => Ok(()),
            (Self::Count(least, most), Content::Integer(number)) => {
                let fits = (least..=most).contains(number);
                fits.then_some(()).ok_or_else(|| self.rule())
            }
            (Self::SpanOrSeconds, Content::Integer(seconds)) => {
                let fits =
                    u64::try_from(*seconds).is_ok_and(|seconds| (1..=SPAN_MAX.as_secs()).contains(&seconds));
                fits.then_some(()).ok_or_else(|| self.rule())
            }
            (Self::SpanOrSeconds, Content::Float(seconds)) => {
                let fits = *seconds > 0.0 && *seconds <= SPAN_MAX.as_secs_f64();
                fits.then_some(()).ok_or_else(|| self.rule())
            }
            (kind, Content::Text(text)) if kind.is_text() => kind.check_text(text),
            _ => return Some(wrong_type(node, self)),
        };
        fits.err().map(|rule| Misfit {
            node,
            rule,
            is_wrong_type: false,
        })
    }

    fn misfits_of_list(self, node: &Node) -> Vec<Misfit<'_>> {
        let Content::List(items) = &node.content else {
            return vec![wrong_type(node, self)];
        };
        let item_kind = match self {
            Self::Paths => Self::Path,
            _ => Self::Text,
        };
        let wrong = items.iter().filter_map(|item| item_kind.misfit(item));
        let named = wrong.map(|wrong| Misfit {
            rule: format!("{}: an entry {}", self.rule(), wrong.rule),
            ..wrong
        });
        named.collect()
    }

    fn check_text(self, text: &str) -> Result<(), String> {
        if text.contains('\0') {
            return Err("may not hold a NUL character".to_owned());
        }
        let fits = match self {
            Self::Span | Self::SpanOrSeconds => span(text).is_some(),
            Self::SpanBetween(least, most) => {
                let given = span(text);
                given.is_some() && span(least) <= given && given <= span(most)
            }
            Self::Choice(words) => words.contains(&text),
            Self::Address => is_address(text),
            Self::Path => is_path(text),
            Self::AgentName => check_agent(text, "").is_ok(),
            Self::ProviderName => text.is_empty() || is_provider_name(text),
            Self::HostId => HostId::parse(text).is_some(),
            Self::StoreUrl => is_store_url(text),
            _ => true,
        };
        fits.then_some(()).ok_or_else(|| self.rule())
    }
}

/// Names of providers come from repositories and become paths.
pub(in crate::config) fn is_provider_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let mut bytes = name.bytes();
    name.len() <= 64
        && bytes.next().is_some_and(is_plain)
        && bytes.all(|byte| is_plain(byte) || byte == b'_' || byte == b'-')
}

fn wrong_type(node: &Node, kind: Kind) -> Misfit<'_> {
    Misfit {
        node,
        rule: format!("{}, it is {}", kind.rule(), node.kind()),
        is_wrong_type: true,
    }
}

fn misfits_of_map(node: &Node) -> Vec<Misfit<'_>> {
    let Some(entries) = node.as_table() else {
        return vec![wrong_type(node, Kind::TextMap)];
    };
    let values = entries.iter().map(|(_, value)| value);
    values.filter_map(|value| Kind::Text.misfit(value)).collect()
}

fn misfits_of_tables(node: &Node) -> Vec<Misfit<'_>> {
    let Content::List(items) = &node.content else {
        return vec![wrong_type(node, Kind::Tables)];
    };
    let wrong = items.iter().filter(|item| item.as_table().is_none());
    wrong.map(|item| wrong_type(item, Kind::Tables)).collect()
}

fn is_address(text: &str) -> bool {
    text.rsplit_once(':')
        .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
}

fn is_path(text: &str) -> bool {
    let first = text.split('/').next().unwrap_or_default();
    text.starts_with('/') || first == "~" || first == "$COMPOZY_HOME"
}

fn is_store_url(text: &str) -> bool {
    let file = text.strip_prefix("sqlite://").unwrap_or_default();
    file.starts_with('/')
        || file.starts_with("$COMPOZY_HOME/")
        || text.starts_with("postgres://")
        || text.starts_with("postgresql://")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_paths_and_stores() {
        assert!(is_address("127.0.0.1:2123") && is_address("[::1]:0"));
        assert!(!is_address("2123") && !is_address(":1") && !is_address("h:70000"));
        assert!(is_path("/a") && is_path("~/a") && is_path("~") && is_path("$COMPOZY_HOME/x"));
        assert!(!is_path("a") && !is_path("~bob/a") && !is_path("$HOME/a") && !is_path(""));
        assert!(is_store_url("sqlite:///a") && is_store_url("sqlite://$COMPOZY_HOME/a.db"));
        assert!(!is_store_url("sqlite://~/a") && !is_store_url("sqlite://a") && !is_store_url("mysql://x"));
    }
}
