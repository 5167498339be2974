//! What `config explain` prints.

use serde::Serialize;

use super::{LeafView, is_within, set_count};
use crate::nearest;
use crate::output::diagnostic::DiagnosticView;
use crate::output::snapshot::SnapshotView;
use crate::output::style::Style;
use crate::output::table::{Cell, Table};
use crate::output::{Answer, Human, layer, tree};

/// What `config explain` prints: where values come from.
#[derive(Debug, Serialize)]
pub(crate) struct ExplainView {
    profile_name: String,
    profile_source: &'static str,
    pub(crate) leaves: Vec<LeafView>,
    #[serde(skip)]
    findings: Vec<DiagnosticView>,
    /// The root of the workspace, from which paths are shown where there is little room.
    #[serde(skip)]
    root: String,
    /// Whether one value was asked for, and not a table or everything.
    #[serde(skip)]
    is_one_value: bool,
}

impl From<SnapshotView> for ExplainView {
    fn from(snapshot: SnapshotView) -> Self {
        Self {
            findings: snapshot.config_findings(),
            profile_name: snapshot.profile_name().to_owned(),
            profile_source: snapshot.profile_source,
            leaves: snapshot.config_leaves,
            root: snapshot.root,
            is_one_value: false,
        }
    }
}

impl ExplainView {
    /// Keeps one value, or those of one table.
    pub(crate) fn narrow(&mut self, typed: &str) {
        let key = &tree::canonical_key(typed).unwrap_or_else(|| typed.to_owned());
        self.is_one_value = self.leaves.iter().any(|leaf| leaf.key == *key);
        self.leaves.retain(|leaf| leaf.is_within(key));
        // A key that was misspelt in a file may be why this one does not say what somebody expects.
        let table = |key: &str| key.split('.').next().unwrap_or_default().to_owned();
        self.findings.retain(|finding| {
            is_within(&finding.key, key) || nearest::of(&table(key), [table(&finding.key).as_str()]).is_some()
        });
    }
}

impl Answer for ExplainView {
    const ROWS: Option<&'static str> = Some("leaves");

    fn human(&self, human: &mut Human) {
        match self.leaves.as_slice() {
            [leaf] if self.is_one_value => story(human, leaf, &self.root),
            leaves => human.table(&table(leaves, &self.root)),
        }
    }

    fn findings(&self) -> Vec<&DiagnosticView> {
        self.findings.iter().collect()
    }

    fn notes(&self) -> Vec<String> {
        let (set, all) = (set_count(&self.leaves), self.leaves.len());
        if self.is_one_value || set == all {
            return Vec::new();
        }
        vec![format!(
            "{set} of {all} values are set in files, the others are built in"
        )]
    }
}

/// One value, from where it comes, and over what it won.
fn story(human: &mut Human, leaf: &LeafView, root: &str) {
    human.labelled(&format!("{} =", leaf.key), Style::bold, &leaf.value());
    let mut lines = Vec::new();
    if let Some(winner) = &leaf.winner {
        lines.push(vec![
            Cell::good("  from"),
            winner.layer_cell(),
            Cell::path_in(root, winner.place()),
            Cell::plain(""),
        ]);
    }
    for loser in &leaf.losers {
        lines.push(vec![
            Cell::faint("  over"),
            loser.layer_cell(),
            Cell::path_in(root, loser.place()),
            Cell::faint(loser.said()),
        ]);
    }
    let mut table = Table::new(&["", "FROM", "WHERE", "VALUE"])
        .headless()
        .yielding(&["WHERE", "VALUE"]);
    for line in lines {
        table.row(line);
    }
    human.table(&table);
    if leaf.is_secret {
        human.faint("  a secret: its value is shown nowhere");
    }
}

/// A row for each value, and below it one for each that it overrode.
fn table(leaves: &[LeafView], root: &str) -> Table {
    let mut table = Table::new(&["KEY", "FROM", "WHERE", "VALUE"]).yielding(&["WHERE", "VALUE"]);
    for leaf in leaves {
        let Some(winner) = &leaf.winner else { continue };
        let paint = if leaf.is_set() { Cell::plain } else { Cell::faint };
        table.row(vec![
            paint(leaf.key.clone()),
            winner.layer_cell(),
            winner.place_cell(root),
            paint(leaf.value()),
        ]);
        for loser in &leaf.losers {
            table.row(vec![
                Cell::plain(""),
                Cell::faint(format!("over {}", layer::spoken(loser.layer))),
                loser.place_cell(root),
                Cell::faint(loser.said()),
            ]);
        }
    }
    table
}
