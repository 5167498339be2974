//! Spreading an order anew, when it was wedged into one spot so often that two neighbours touch.

use compozy_domain::Rank;

use crate::error::Result;
use crate::sql::db::Tx;
use crate::sql::select::Conditions;

/// Rows that one statement gives new ranks.
const SPREAD_AT_ONCE: usize = 500;

/// Gives the rows of a table with these ids new ranks, in this order.
pub(crate) async fn spread_ranks(tx: &mut Tx, table: &'static str, order: &[String]) -> Result<()> {
    let mut ranks = Rank::spread(order.len());
    for part in order.chunks(SPREAD_AT_ONCE) {
        let mut conditions = Conditions::default();
        let mut pairs: Vec<String> = Vec::with_capacity(part.len());
        for (id, rank) in part.iter().zip(&mut ranks) {
            let id = conditions.bind(id.as_str());
            let rank = conditions.bind(rank.as_bytes());
            pairs.push(format!("({id}, {rank})"));
        }
        // Both engines call the columns of VALUES so.
        let sql = format!(
            "UPDATE {table} SET rank = v.column2 FROM (VALUES {}) AS v WHERE {table}.id = v.column1",
            pairs.join(", ")
        );
        tx.execute(&sql, conditions.binds()).await?;
    }
    Ok(())
}

/// An order of ids with one of them put in front of another one, or at the end.
pub(crate) fn reordered(mut order: Vec<String>, moving: &str, before: Option<&str>) -> Vec<String> {
    order.retain(|id| id != moving);
    let at = before
        .and_then(|before| order.iter().position(|id| id == before))
        .unwrap_or(order.len());
    order.insert(at, moving.to_owned());
    order
}
