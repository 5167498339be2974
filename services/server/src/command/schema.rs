//! `compozyd schema`: the table of keys, for a person, a program, or the page about the configuration.

use std::io::{self, Write};

use compozy_domain::Layer;
use compozy_resolver::config::keys::Layers;
use compozy_resolver::config::{SchemaEntry, schema as entries};

use super::{SchemaArguments, SchemaFormat, printed};
use crate::failure::Failure;

pub(super) fn schema(arguments: &SchemaArguments) -> Result<(), Failure> {
    let entries = entries();
    printed(match arguments.format {
        SchemaFormat::Text => text(&entries),
        SchemaFormat::Json => json(&entries),
        SchemaFormat::Markdown => write!(io::stdout(), "{}", markdown(&entries)),
    })
}

fn text(entries: &[SchemaEntry]) -> io::Result<()> {
    let heads = ["key", "type", "default", "merge", "layers", "meaning"].map(str::to_owned);
    let rows: Vec<[String; 6]> = std::iter::once(heads).chain(entries.iter().map(row)).collect();
    let mut widths = [0; 6];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let mut stdout = io::stdout().lock();
    for row in &rows {
        let cells = row
            .iter()
            .zip(widths)
            .map(|(cell, width)| format!("{cell:<width$}"));
        let line = cells.collect::<Vec<_>>().join("  ");
        writeln!(stdout, "{}", line.trim_end())?;
    }
    stdout.flush()
}

fn row(entry: &SchemaEntry) -> [String; 6] {
    [
        entry.key.clone(),
        entry.kind.clone(),
        entry.default.clone().unwrap_or_else(|| "-".to_owned()),
        entry.strategy.to_owned(),
        layers(entry).join(","),
        entry.about.to_owned(),
    ]
}

fn json(entries: &[SchemaEntry]) -> io::Result<()> {
    let keys: Vec<serde_json::Value> = entries.iter().map(object).collect();
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{:#}", serde_json::json!({ "keys": keys }))?;
    stdout.flush()
}

fn object(entry: &SchemaEntry) -> serde_json::Value {
    let layers = layers(entry);
    let SchemaEntry {
        key,
        kind,
        default,
        strategy,
        layers: _,
        secret,
        about,
    } = entry;
    serde_json::json!({
        "key": key,
        "type": kind,
        "default": default,
        "merge": strategy,
        "layers": layers,
        "secret": secret,
        "about": about,
    })
}

/// The table of docs/configuration.md, which a test compares with it.
fn markdown(entries: &[SchemaEntry]) -> String {
    let mut table =
        "| key | type | default | merge | layers | meaning |\n| --- | --- | --- | --- | --- | --- |\n"
            .to_owned();
    for entry in entries {
        let default = entry.default.as_ref().map(|default| format!("`{default}`"));
        let layers = match layers(entry) {
            layers if layers.len() == Layers::Every.list().len() => "every".to_owned(),
            layers => layers.join(", "),
        };
        let cells = [
            format!("`{}`", entry.key),
            entry.kind.clone(),
            default.unwrap_or_default(),
            entry.strategy.to_owned(),
            layers,
            entry.about.to_owned(),
        ];
        let cells = cells.map(|cell| cell.replace('|', "\\|"));
        table.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    table
}

fn layers(entry: &SchemaEntry) -> Vec<&'static str> {
    entry.layers.iter().map(|layer: &Layer| layer.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r047_the_page_about_the_configuration_is_the_table_of_keys() {
        let page = include_str!("../../../../docs/configuration.md");
        let expected = format!(
            "<!-- keys: begin -->\n{}<!-- keys: end -->\n",
            markdown(&entries())
        );
        assert!(
            page.contains(&expected),
            "put the output of `compozyd schema --format markdown` between the markers of docs/configuration.md"
        );
    }
}
