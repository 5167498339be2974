//! What `config show` prints.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use super::LeafView;
use crate::output::diagnostic::DiagnosticView;
use crate::output::snapshot::SnapshotView;
use crate::output::{Answer, Human, layer, profile};

/// What `config show` prints: the configuration as a whole.
#[derive(Debug, Serialize)]
pub(crate) struct ConfigView {
    root: String,
    profile_name: String,
    profile_source: &'static str,
    config: Value,
    /// For people, who get the origins as comments.
    #[serde(skip)]
    leaves: Vec<LeafView>,
    #[serde(skip)]
    findings: Vec<DiagnosticView>,
}

impl From<SnapshotView> for ConfigView {
    fn from(snapshot: SnapshotView) -> Self {
        Self {
            findings: snapshot.config_findings(),
            profile_name: snapshot.profile_name().to_owned(),
            profile_source: snapshot.profile_source,
            config: snapshot.config.unwrap_or_else(|| Value::Object(Map::new())),
            root: snapshot.root,
            leaves: snapshot.config_leaves,
        }
    }
}

impl Answer for ConfigView {
    /// TOML, with where each value comes from behind it.
    fn human(&self, human: &mut Human) {
        let profile = profile::sourced(&self.profile_name, self.profile_source);
        human.faint(&format!("# {}, profile {profile}", self.root));
        // By table: sorted by key, the leaves of one table may lie apart, and TOML has each table once.
        let mut tables: BTreeMap<&str, Vec<&LeafView>> = BTreeMap::new();
        for leaf in &self.leaves {
            tables.entry(leaf.parts().0).or_default().push(leaf);
        }
        for (name, leaves) in tables {
            human.gap();
            if !name.is_empty() {
                human.heading(&format!("[{name}]"));
            }
            write_table(human, &leaves);
        }
    }

    fn findings(&self) -> Vec<&DiagnosticView> {
        self.findings.iter().collect()
    }

    fn notes(&self) -> Vec<String> {
        vec!["`compozy config explain <key>` tells what a value overrode".to_owned()]
    }
}

fn write_table(human: &mut Human, leaves: &[&LeafView]) {
    let settings: Vec<String> = leaves
        .iter()
        .map(|leaf| format!("{} = {}", leaf.parts().1, leaf.value()))
        .collect();
    // A long value does not push the comments of all others away.
    let lengths = settings.iter().map(|text| text.chars().count());
    let width = lengths.filter(|length| *length <= 48).max().unwrap_or(0);
    for (leaf, setting) in leaves.iter().zip(&settings) {
        let origin = match &leaf.winner {
            Some(winner) if winner.is_built_in() => "default".to_owned(),
            Some(winner) => format!("{}, {}", layer::spoken(winner.layer), winner.place()),
            None => String::new(),
        };
        human.commented(&format!("{setting:width$}"), &format!("  # {origin}"));
    }
}
