//! The effective configuration, and where each value of it comes from.

mod explain;
mod show;

use compozy_client::proto::workspace::v1::{ConfigLeaf, ConfigOrigin};
use serde::Serialize;
use serde_json::Value;

use super::table::Cell;
use super::{layer, tree};

pub(crate) use explain::ExplainView;
pub(crate) use show::ConfigView;

/// `compozy.workspace.v1.ConfigOrigin`.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct OriginView {
    layer: &'static str,
    path: String,
    line: i32,
    column: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Value>,
}

/// `compozy.workspace.v1.ConfigLeaf`.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct LeafView {
    pub(crate) key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    winner: Option<OriginView>,
    losers: Vec<OriginView>,
    is_secret: bool,
}

impl From<ConfigOrigin> for OriginView {
    fn from(origin: ConfigOrigin) -> Self {
        let ConfigOrigin {
            layer,
            path,
            line,
            column,
            value,
        } = origin;
        Self {
            layer: layer::name(layer),
            path,
            line,
            column,
            value: value.map(tree::json),
        }
    }
}

impl From<ConfigLeaf> for LeafView {
    fn from(leaf: ConfigLeaf) -> Self {
        let ConfigLeaf {
            key,
            winner,
            losers,
            is_secret,
        } = leaf;
        Self {
            key,
            winner: winner.map(OriginView::from),
            losers: losers.into_iter().map(OriginView::from).collect(),
            is_secret,
        }
    }
}

/// Whether a dotted key is this one, or lies in the table of that name.
fn is_within(key: &str, table: &str) -> bool {
    key.strip_prefix(table)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

impl OriginView {
    pub(super) fn layer_cell(&self) -> Cell {
        let spoken = layer::spoken(self.layer);
        if self.is_built_in() {
            Cell::faint(spoken)
        } else {
            Cell::plain(spoken)
        }
    }

    /// `path:line`, or what stands in its place.
    pub(super) fn place(&self) -> String {
        match (self.path.as_str(), self.layer, self.line) {
            ("", "DEFAULT", _) => "built in".to_owned(),
            ("", "REGISTRATION", _) => "the workspace's record".to_owned(),
            (path, _, 0) => path.to_owned(),
            (path, _, line) => format!("{path}:{line}"),
        }
    }

    /// What it says, as TOML writes it.
    fn said(&self) -> String {
        self.value.as_ref().map(tree::inline).unwrap_or_default()
    }

    /// The place in a table of many, where the layer says enough of what is built in.
    fn place_cell(&self, root: &str) -> Cell {
        if self.is_built_in() {
            return Cell::plain("");
        }
        Cell::path_in(root, self.place())
    }

    fn is_built_in(&self) -> bool {
        self.layer == "DEFAULT"
    }
}

impl LeafView {
    /// Whether this is the key, or lies in the table of that name.
    pub(crate) fn is_within(&self, key: &str) -> bool {
        is_within(&self.key, key)
    }

    /// Whether somebody has set it.
    fn is_set(&self) -> bool {
        self.winner.as_ref().is_some_and(|winner| !winner.is_built_in())
    }

    fn value(&self) -> String {
        self.winner.as_ref().map(OriginView::said).unwrap_or_default()
    }

    /// The table that it lies in, and its name there.
    fn parts(&self) -> (&str, &str) {
        let (mut quoted, mut escaped) = (false, false);
        let mut last = None;
        for (place, letter) in self.key.char_indices() {
            quoted ^= letter == '"' && !escaped;
            escaped = letter == '\\' && !escaped;
            if letter == '.' && !quoted {
                last = Some(place);
            }
        }
        last.map_or(("", self.key.as_str()), |dot| {
            (&self.key[..dot], &self.key[dot + 1..])
        })
    }
}

/// How many values somebody has set.
pub(super) fn set_count(leaves: &[LeafView]) -> usize {
    leaves.iter().filter(|leaf| leaf.is_set()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(key: &str) -> LeafView {
        LeafView {
            key: key.to_owned(),
            winner: None,
            losers: Vec::new(),
            is_secret: false,
        }
    }

    #[test]
    fn a_key_is_cut_at_its_last_dot_that_is_not_quoted() {
        assert_eq!(leaf("a.b.c").parts(), ("a.b", "c"));
        assert_eq!(leaf("a.\"x.y\".c").parts(), ("a.\"x.y\"", "c"));
        assert_eq!(leaf("a.\"x.y\"").parts(), ("a", "\"x.y\""));
        assert_eq!(leaf(r#"a."x\".y".c"#).parts(), (r#"a."x\".y""#, "c"));
        assert_eq!(leaf("a").parts(), ("", "a"));
    }

    #[test]
    fn a_table_holds_what_lies_below_its_name() {
        assert!(leaf("a.b").is_within("a") && leaf("a.b").is_within("a.b"));
        assert!(!leaf("ab.c").is_within("a") && !leaf("a.b").is_within("a.b.c"));
    }
}
