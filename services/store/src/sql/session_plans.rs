//! How an engine goes about reading the keys of a page, for tests.

use async_trait::async_trait;

use crate::error::Result;
use crate::sessions::ListSessions;
use crate::sql::db::{Transaction, Tx};
use crate::sql::dialect::Dialect;
use crate::sql::select::Conditions;
use crate::sql::session_filter::Wanted;
use crate::sql::session_keys::stages;
use crate::sql::session_list::{branches, count};
use crate::sql::session_sources::are_few;

/// The steps of the engine's plan, as it calls them.
pub(crate) struct ExplainList(pub(crate) ListSessions);

#[async_trait]
impl Transaction for ExplainList {
    type Output = Vec<String>;

    async fn run(&self, tx: &mut Tx) -> Result<Vec<String>> {
        let list = &self.0;
        let wanted = Wanted::new(&list.filter, &list.visibility, list.now, list.stale_after);
        let total = count(tx, &wanted).await?;
        let few = are_few(tx, &wanted, total).await?;
        tx.prepares = false;
        let mut steps = Vec::new();
        for (stage, after) in stages(list.sort, list.after.as_ref())? {
            let mut binds = Conditions::default();
            let branches = branches(tx, &wanted, few, (stage, after.as_ref()), &mut binds).await?;
            let sql = stage.statement(tx.dialect(), &branches, list.limit.get() as usize + 1);
            let explain = match tx.dialect() {
                Dialect::Sqlite => "EXPLAIN QUERY PLAN",
                Dialect::Postgres => "EXPLAIN",
            };
            for mut row in tx.rows(&format!("{explain} {sql}"), binds.binds()).await? {
                if tx.dialect() == Dialect::Sqlite {
                    row.skip(3);
                }
                steps.push(row.take()?);
            }
        }
        Ok(steps)
    }
}
