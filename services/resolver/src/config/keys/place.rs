//! What stands at a path.

use super::{KEYS, KeyRule, Kind, Layers, TABLES, TableRule};

/// Parts of the longest typed key.
const PARTS_MAX: usize = 4;

/// What stands at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::config) enum Place {
    /// A typed key.
    Key(&'static KeyRule),
    /// A table whose keys are typed.
    Table,
    /// A table whose keys are names that somebody chose.
    Names,
    /// Somebody else's.
    Opaque,
    /// Nobody's.
    Unknown,
}

/// The typed key at exactly this path.
pub(in crate::config) fn rule(path: &[&str]) -> Option<&'static KeyRule> {
    // Files may nest far deeper than typed keys do, with thousands of values down there.
    if path.len() > PARTS_MAX {
        return None;
    }
    KEYS.iter().find(|rule| rule.matches(path))
}

/// The typed key that a path is, or lies in; the nearest, where typed keys lie in one another.
pub(in crate::config) fn rule_above(path: &[&str]) -> Option<&'static KeyRule> {
    let found = (1..=path.len()).rev().find_map(|end| rule(&path[..end]));
    // Entries of lists by name have typed keys of their own: one that has none is not known.
    found.filter(|rule| rule.kind != Kind::Named)
}

/// The table that is known as a whole and nearest above a path, or at it.
pub(in crate::config) fn table(path: &[&str]) -> Option<&'static TableRule> {
    let is_above = |table: &&TableRule| {
        let mut parts = path.iter();
        table
            .path
            .split('.')
            .all(|part| parts.next().is_some_and(|own| *own == part))
    };
    TABLES
        .iter()
        .filter(is_above)
        .max_by_key(|table| table.path.len())
}

/// Who may set something at a path. What nobody knows, nobody forbids.
pub(in crate::config) fn layers(path: &[&str]) -> Layers {
    table(path).map_or(Layers::Every, |table| table.layers)
}

/// What stands at a path.
pub(in crate::config) fn place(path: &[&str]) -> Place {
    if let Some(rule) = rule(path) {
        return Place::Key(rule);
    }
    match next_parts(path).next() {
        Some("*") => return Place::Names,
        Some(_) => return Place::Table,
        None => {}
    }
    match path {
        [top] if is_opaque(top) => Place::Opaque,
        // Below a table of somebody else's, only a typed table of ours in it is strict.
        [top, between @ ..] if is_opaque(top) => match between.len() > 1 && is_typed(&path[..path.len() - 1])
        {
            true => Place::Unknown,
            false => Place::Opaque,
        },
        _ => Place::Unknown,
    }
}

/// The keys that are known right below a path; `*` for names.
pub(in crate::config) fn next_parts(path: &[&str]) -> impl Iterator<Item = &'static str> {
    KEYS.iter().filter_map(move |rule| rule.part_below(path))
}

fn is_typed(path: &[&str]) -> bool {
    next_parts(path).next().is_some()
}

fn is_opaque(top: &str) -> bool {
    TABLES.iter().any(|table| table.path == top && table.is_opaque)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_has_its_place() {
        let place = |text: &str| place(&text.split('.').collect::<Vec<_>>());
        assert!(matches!(place("defaults.agent"), Place::Key(_)));
        assert!(matches!(place("providers.p.env"), Place::Key(_)));
        assert_eq!(place("providers"), Place::Names);
        assert_eq!(place("providers.p"), Place::Table);
        assert_eq!(place("providers.p.x"), Place::Unknown);
        assert_eq!(place("memory"), Place::Table);
        assert_eq!(place("memory.other"), Place::Opaque);
        assert_eq!(place("memory.other.deep"), Place::Opaque);
        assert_eq!(place("memory.session.x"), Place::Unknown);
        assert_eq!(place("loops"), Place::Opaque);
        assert_eq!(place("loops.a.b.c"), Place::Opaque);
        assert_eq!(place("automation.other"), Place::Opaque);
        assert_eq!(place("foo"), Place::Unknown);
        assert_eq!(place("agents.reviewer"), Place::Unknown);
    }

    #[test]
    fn the_longest_key_is_known() {
        let parts = KEYS.iter().map(|rule| rule.key.split('.').count());
        assert_eq!(parts.max(), Some(PARTS_MAX));
    }
}
