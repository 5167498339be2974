//! Texts of sessions: a query is a part of the folded text of the row, or of the folded name of its workspace. That
//! name lies in the row of the workspace alone, so that a rename writes one row.

use compozy_domain::text::fold_for_search;

use crate::error::Result;
use crate::sql::db::Tx;
use crate::sql::dialect::Dialect;
use crate::sql::select::Conditions;

/// Characters of the shortest text that an index of trigrams finds.
const TRIGRAM: usize = 3;
/// Names that are written by one statement.
const NAMES_AT_ONCE: usize = 500;

/// Whether a query can't be a part of any text: none holds a control character but the one between the fields.
pub(crate) fn finds_nothing(query: &str) -> bool {
    query.chars().any(char::is_control)
}

/// Whether an index of trigrams finds a query.
pub(crate) fn has_trigrams(query: &str) -> bool {
    query.chars().nth(TRIGRAM - 1).is_some()
}

/// Whether a row matches, for a walk along an index.
pub(crate) fn holds(dialect: Dialect, binds: &mut Conditions, query: &str) -> String {
    let query = binds.bind(query);
    let (in_row, in_name) = (
        dialect.contains("s.search", &query),
        dialect.contains("n.name_search", &query),
    );
    format!("({in_row} OR s.workspace_id IN (SELECT n.id FROM workspace n WHERE {in_name}))")
}

/// The rows whose own text matches: tables, and the condition.
pub(crate) fn of_rows(dialect: Dialect, binds: &mut Conditions, query: &str) -> (&'static str, String) {
    let part = binds.bind(query);
    let in_row = dialect.contains("s.search", &part);
    if !has_trigrams(query) {
        return ("session s", in_row);
    }
    // The index gives candidates, and the row is looked at.
    match dialect {
        Dialect::Sqlite => {
            let phrase = binds.bind(phrase(query));
            let candidates = format!("session_search MATCH {phrase} AND {in_row}");
            let from = "session_search CROSS JOIN session s ON s.number = session_search.rowid";
            (from, candidates)
        }
        Dialect::Postgres => {
            let pattern = binds.bind(pattern(query));
            ("session s", format!("s.search LIKE {pattern} AND {in_row}"))
        }
    }
}

/// The other rows, those that match by the name of their workspace only.
pub(crate) fn of_names(dialect: Dialect, binds: &mut Conditions, query: &str) -> (&'static str, String) {
    let query = binds.bind(query);
    let (in_row, in_name) = (
        dialect.contains("s.search", &query),
        dialect.contains("n.name_search", &query),
    );
    let from = match dialect {
        Dialect::Sqlite => {
            "workspace n CROSS JOIN session s INDEXED BY session_recent_of ON s.workspace_id = n.id"
        }
        // It takes a third of all names for matches, and would read every session rather than those of a few workspaces.
        Dialect::Postgres => {
            "workspace n CROSS JOIN LATERAL (SELECT * FROM session o WHERE o.workspace_id = n.id OFFSET 0) s"
        }
    };
    (from, format!("{in_name} AND NOT {in_row}"))
}

/// Gives workspaces of before this release their folded names. No statement can fold one.
pub(crate) async fn fill_workspace_names(tx: &mut Tx) -> Result<()> {
    let rows = tx
        .rows("SELECT id, name FROM workspace WHERE name_search = ''", &[])
        .await?;
    let mut names: Vec<(String, String)> = Vec::with_capacity(rows.len());
    for mut row in rows {
        names.push((row.take()?, row.take()?));
    }
    for names in names.chunks(NAMES_AT_ONCE) {
        let mut binds = Conditions::default();
        let mut values: Vec<String> = Vec::with_capacity(names.len());
        for (id, name) in names {
            let (id, name) = (binds.bind(id.as_str()), binds.bind(fold_for_search(name)));
            values.push(format!("({id}, {name})"));
        }
        let sql = format!(
            "WITH folded (id, name) AS (VALUES {}) \
             UPDATE workspace SET name_search = (SELECT f.name FROM folded f WHERE f.id = workspace.id) \
             WHERE id IN (SELECT id FROM folded)",
            values.join(", ")
        );
        tx.execute(&sql, binds.binds()).await?;
    }
    Ok(())
}

/// A query as one phrase of the language of SQLite's index, whatever it holds.
fn phrase(query: &str) -> String {
    format!("\"{}\"", query.replace('"', "\"\""))
}

/// A query as a pattern of LIKE that means it literally.
fn pattern(query: &str) -> String {
    let mut pattern = String::with_capacity(query.len() + 2);
    pattern.push('%');
    for character in query.chars() {
        if matches!(character, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern.push('%');
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s266_s267_s268_a_query_is_taken_literally() {
        assert_eq!(pattern(r"100%_\x"), r"%100\%\_\\x%");
        assert_eq!(phrase(r#"a "b" OR c"#), r#""a ""b"" OR c""#);
    }

    #[test]
    fn s277_two_characters_have_no_trigram() {
        assert!(!has_trigrams("\u{65b0}\u{65b0}") && has_trigrams("\u{65b0}\u{65b0}\u{65b0}"));
    }
}
