//! Where the rows of a filter are looked for: along an index in the order of a list, or in the smallest set that an
//! index knows. Postgres weighs its indexes itself, by its statistics; SQLite has none, and is told which one to take.

use compozy_domain::SessionType;

use crate::error::Result;
use crate::sql::db::Tx;
use crate::sql::dialect::Dialect;
use crate::sql::select::Conditions;
use crate::sql::session_counts::counted;
use crate::sql::session_filter::{Asked, Places, Wanted, is_native};
use crate::sql::session_keys::{Branch, Key, Stage};
use crate::sql::session_search as search;

/// Up to so many rows are put in order after they were found; of more, a walk in order meets the first ones soon.
pub(crate) const FEW: i64 = 10_000;
/// Accounts of so many sessions altogether are looked through whatever else is asked for.
const SMALL: i64 = 2_000;
/// A walk that meets one match among so many rows is as good as any.
const DENSE: i64 = 8;

/// The branches of a walk in order: a range of the index for each place and section.
pub(crate) fn walk(
    dialect: Dialect,
    wanted: &Wanted<'_>,
    binds: &mut Conditions,
    stage: Stage,
    after: Option<&Key>,
) -> Vec<Branch> {
    let asked = wanted.asked(dialect, binds, true);
    let mut also = asked.parts.clone();
    also.extend(stage.condition());
    if let Some(after) = after {
        also.push(stage.behind(binds, after));
    }
    let places: Vec<Option<String>> = match &wanted.places {
        Places::All => vec![None],
        Places::Each(ids) => ids.iter().map(|id| Some(binds.bind(id.as_str()))).collect(),
    };
    let from = table(dialect, Some(stage.index(wanted.places != Places::All)), &asked);
    let mut branches = Vec::with_capacity(places.len() * wanted.sections.len() + 1);
    for place in &places {
        let place = place.as_ref().map(|place| format!("s.workspace_id = {place}"));
        for section in &wanted.sections {
            let parts = place
                .iter()
                .cloned()
                .chain([section.condition()])
                .chain(also.clone());
            branches.push(Branch {
                from: from.clone(),
                condition: joined(parts),
                is_few: false,
            });
        }
    }
    let in_places = wanted.in_places(binds);
    for section in wanted.sections.iter().filter_map(|section| section.unknown()) {
        let parts = in_places.iter().cloned().chain([section]).chain(also.clone());
        branches.push(Branch {
            from: table(dialect, Some("session_unknown"), &asked),
            condition: joined(parts),
            is_few: true,
        });
    }
    branches
}

/// The branches that hold all matches and, as far as an index can tell, little else. Together they hold each match
/// once.
pub(crate) async fn matches(tx: &mut Tx, wanted: &Wanted<'_>, binds: &mut Conditions) -> Result<Vec<Branch>> {
    let dialect = tx.dialect();
    if dialect == Dialect::Sqlite && is_small(tx, wanted).await? {
        return Ok(walk(dialect, wanted, binds, walked(wanted), None));
    }
    Ok(sets(dialect, wanted, binds))
}

/// Lets Postgres interpret the plans of this transaction: it takes the costs of conditions on texts for far higher than
/// they are, and compiling the plan would take a hundred times as long as carrying it out.
pub(crate) async fn interpret_plans(tx: &mut Tx) -> Result<()> {
    if tx.dialect() == Dialect::Postgres {
        tx.rows("SELECT set_config('jit', 'off', TRUE)", &[]).await?;
    }
    Ok(())
}

/// Whether the rows of a page are found sooner by looking for all `total` matches than by a walk in order.
pub(crate) async fn are_few(tx: &mut Tx, wanted: &Wanted<'_>, total: i64) -> Result<bool> {
    if total > FEW || wanted.is_sections() {
        return Ok(false);
    }
    if !wanted.is_kept() {
        return Ok(true);
    }
    let filter = wanted.filter;
    if filter.agents.is_empty() && filter.types.contains(&SessionType::User) {
        // No index knows them.
        return Ok(false);
    }
    let walked = whole_sections(tx, wanted).await?;
    Ok(walked > SMALL && walked > total.saturating_mul(DENSE))
}

async fn is_small(tx: &mut Tx, wanted: &Wanted<'_>) -> Result<bool> {
    Ok(wanted.places != Places::All && whole_sections(tx, wanted).await? <= SMALL)
}

/// How many rows its places and sections hold, whatever else is asked of them.
async fn whole_sections(tx: &mut Tx, wanted: &Wanted<'_>) -> Result<i64> {
    let mut count = 0;
    for (sign, cells) in wanted.cells(false, true) {
        count += sign * counted(tx, &cells).await?;
    }
    Ok(count)
}

/// The order whose index knows most of what is asked for.
fn walked(wanted: &Wanted<'_>) -> Stage {
    let filter = wanted.filter;
    if filter.active_after.is_some() || filter.active_before.is_some() {
        Stage::LastActivity
    } else {
        Stage::Recent
    }
}

fn sets(dialect: Dialect, wanted: &Wanted<'_>, binds: &mut Conditions) -> Vec<Branch> {
    if let Some(query) = &wanted.filter.query {
        if let Some(branches) = by_relation(dialect, wanted, binds) {
            return branches;
        }
        return by_text(dialect, wanted, binds, query);
    }
    if let Some(branches) = by_relation(dialect, wanted, binds) {
        return branches;
    }
    let filter = wanted.filter;
    let index = match dialect {
        Dialect::Postgres => None,
        // An index without the rest of what is asked for is worth less than the sections' where those are few.
        Dialect::Sqlite if wanted.is_live() => return walk(dialect, wanted, binds, walked(wanted), None),
        Dialect::Sqlite if wanted.is_of_failed() => Some("session_failed"),
        Dialect::Sqlite if filter.origin.as_ref().is_some_and(|tool| !is_native(tool)) => {
            Some("session_origin")
        }
        Dialect::Sqlite if is_of_runtimes(wanted) => Some("session_runtime"),
        Dialect::Sqlite if !filter.agents.is_empty() => Some("session_agent"),
        Dialect::Sqlite if !filter.providers.is_empty() => Some("session_provider"),
        Dialect::Sqlite if filter.profile.is_some() => Some("session_profile"),
        Dialect::Sqlite if is_of_types(wanted) => Some("session_type"),
        Dialect::Sqlite if filter.created_after.is_some() || filter.created_before.is_some() => {
            Some("session_created")
        }
        Dialect::Sqlite => return walk(dialect, wanted, binds, walked(wanted), None),
    };
    let asked = wanted.asked(dialect, binds, true);
    vec![branch(wanted, binds, table(dialect, index, &asked), asked, None)]
}

/// Children, trees and labels: few rows each, as a rule.
fn by_relation(dialect: Dialect, wanted: &Wanted<'_>, binds: &mut Conditions) -> Option<Vec<Branch>> {
    let filter = wanted.filter;
    let mut branches = Vec::new();
    if filter.parent.is_some() {
        let asked = wanted.asked(dialect, binds, true);
        let from = table(dialect, Some("session_parent"), &asked);
        branches.push(branch(wanted, binds, from, asked, None));
    } else if let Some(root) = &filter.root {
        // Most sessions are a root with nothing below: the index leaves them out.
        let below = wanted.asked(dialect, binds, true);
        let from = table(dialect, Some("session_root"), &below);
        let condition = "s.root_id <> s.id".to_owned();
        branches.push(branch(wanted, binds, from, below, Some(condition)));
        let itself = wanted.asked(dialect, binds, true);
        let from = table(dialect, None, &itself);
        let condition = format!("s.id = {}", binds.bind(root.as_str()));
        branches.push(branch(wanted, binds, from, itself, Some(condition)));
    } else if let Some((key, value)) = filter.labels.iter().next() {
        let asked = wanted.asked(dialect, binds, true);
        let (key, value) = (binds.bind(key.as_str()), binds.bind(value.as_str()));
        let from = with_live(
            "session_label k CROSS JOIN session s ON s.id = k.session_id",
            &asked,
        );
        let (from, condition) = match dialect {
            Dialect::Sqlite => (from, Some(format!("k.key = {key} AND k.value = {value}"))),
            Dialect::Postgres => (table(dialect, None, &asked), None),
        };
        branches.push(branch(wanted, binds, from, asked, condition));
    }
    (!branches.is_empty()).then_some(branches)
}

fn by_text(dialect: Dialect, wanted: &Wanted<'_>, binds: &mut Conditions, query: &str) -> Vec<Branch> {
    if !search::has_trigrams(query) && dialect == Dialect::Sqlite && wanted.places != Places::All {
        return walk(dialect, wanted, binds, walked(wanted), None);
    }
    let parts = [
        search::of_rows(dialect, binds, query),
        search::of_names(dialect, binds, query),
    ];
    let mut branches = Vec::with_capacity(parts.len());
    for (from, condition) in parts {
        let asked = wanted.asked(dialect, binds, false);
        let from = with_live(from, &asked);
        branches.push(branch(wanted, binds, from, asked, Some(condition)));
    }
    branches
}

fn is_of_runtimes(wanted: &Wanted<'_>) -> bool {
    let runtimes = &wanted.filter.runtimes;
    !runtimes.is_empty() && !runtimes.contains(&compozy_domain::session::RuntimeState::None)
}

fn is_of_types(wanted: &Wanted<'_>) -> bool {
    let types = &wanted.filter.types;
    !types.is_empty() && !types.contains(&SessionType::User)
}

/// All matches among some tables.
fn branch(
    wanted: &Wanted<'_>,
    binds: &mut Conditions,
    from: String,
    asked: Asked,
    condition: Option<String>,
) -> Branch {
    let parts = condition
        .into_iter()
        .chain(asked.parts)
        .chain([wanted.in_sections()])
        .chain(wanted.in_places(binds));
    Branch {
        from,
        condition: joined(parts),
        is_few: true,
    }
}

fn table(dialect: Dialect, index: Option<&str>, asked: &Asked) -> String {
    match (dialect, index) {
        (Dialect::Sqlite, Some(index)) => with_live(&format!("session s INDEXED BY {index}"), asked),
        _ => with_live("session s", asked),
    }
}

fn with_live(from: &str, asked: &Asked) -> String {
    if asked.looks_at_live {
        format!("{from} LEFT JOIN session_live l ON l.session_id = s.id")
    } else {
        from.to_owned()
    }
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<String>>().join(" AND ")
}
