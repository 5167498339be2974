//! What agents and skills have in common: how usable they are, what they shadow, their text.

use compozy_client::proto::workspace::v1::{GetDefinitionResponse, ShadowedDefinition};
use serde::Serialize;

use super::diagnostic::DiagnosticView;
use super::table::{Cell, Table};
use super::{Answer, Human, layer};

/// `compozy.workspace.v1.ShadowedDefinition`.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ShadowedView {
    layer: &'static str,
    path: String,
}

/// `compozy.workspace.v1.GetDefinitionResponse`.
#[derive(Debug, Serialize)]
pub(crate) struct TextView {
    text: String,
    digest: String,
    size: i64,
    path: String,
    layer: &'static str,
}

/// A definition as a row of a table.
#[derive(Debug, Clone, Copy)]
pub(super) struct DefinitionRow<'a> {
    pub(super) name: &'a str,
    pub(super) layer: &'static str,
    pub(super) usable: bool,
    pub(super) description: &'a str,
    pub(super) path: &'a str,
    pub(super) shadowed: &'a [ShadowedView],
    pub(super) diagnostics: &'a [DiagnosticView],
}

impl From<ShadowedDefinition> for ShadowedView {
    fn from(shadowed: ShadowedDefinition) -> Self {
        let ShadowedDefinition { layer, path } = shadowed;
        Self {
            layer: layer::name(layer),
            path,
        }
    }
}

impl From<GetDefinitionResponse> for TextView {
    fn from(answer: GetDefinitionResponse) -> Self {
        let GetDefinitionResponse {
            text,
            digest,
            size,
            path,
            layer,
        } = answer;
        Self {
            text,
            digest,
            size,
            path,
            layer: layer::name(layer),
        }
    }
}

impl Answer for TextView {
    /// The very text, so that it can be piped on.
    fn human(&self, human: &mut Human) {
        human.foreign(&self.text);
    }
}

impl ShadowedView {
    pub(super) fn sentence(&self) -> String {
        format!("{} ({})", self.path, layer::spoken(self.layer))
    }
}

impl DefinitionRow<'_> {
    /// In one word.
    pub(super) fn state_cell(&self) -> Cell {
        if !self.usable {
            return Cell::bad("broken");
        }
        if self.diagnostics.iter().any(DiagnosticView::is_warning) {
            return Cell::doubtful("warning");
        }
        Cell::good("ok")
    }
}

/// Text of any form, with one blank where it has blanks or line breaks.
pub(super) fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Rows for a person: below each one those that it shadows.
pub(super) fn table<'a>(
    what: &'static str,
    root: &str,
    rows: impl IntoIterator<Item = DefinitionRow<'a>>,
) -> Table {
    let mut table = Table::new(&[what, "STATE", "LAYER", "PATH", "DESCRIPTION"]);
    table = table.yielding(&["DESCRIPTION", "PATH"]);
    for row in rows {
        table.row(vec![
            Cell::plain(row.name),
            row.state_cell(),
            Cell::plain(layer::spoken(row.layer)),
            Cell::path_in(root, row.path),
            Cell::plain(in_one_line(row.description)),
        ]);
        for loser in row.shadowed {
            table.row(vec![
                Cell::plain(""),
                Cell::faint("shadowed"),
                Cell::faint(layer::spoken(loser.layer)),
                Cell::path_in(root, &loser.path),
                Cell::plain(""),
            ]);
        }
    }
    table
}

/// `3 usable, 1 broken, 2 shadowed`, as far as there are some.
pub(super) fn summary<'a>(rows: impl IntoIterator<Item = DefinitionRow<'a>>) -> String {
    let (mut usable, mut broken, mut shadowed) = (0, 0, 0);
    for row in rows {
        if row.usable {
            usable += 1;
        } else {
            broken += 1;
        }
        shadowed += row.shadowed.len();
    }
    let mut parts = vec![format!("{usable} usable")];
    for (count, what) in [(broken, "broken"), (shadowed, "shadowed")] {
        if count > 0 {
            parts.push(format!("{count} {what}"));
        }
    }
    parts.join(", ")
}
