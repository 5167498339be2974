//! Many sessions at once, for tests that need thousands of them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use compozy_domain::SessionId;

use super::fixture::Catalog;
use crate::error::Result;
use crate::sql::{Dialect, Transaction, Tx, count_stored};

impl<E> Catalog<E> {
    /// Makes sessions like another one, with its labels and changes of state, behind it on its account. Their ids are
    /// `sess-c` and a number.
    pub(crate) async fn copy_session(&self, template: &SessionId, count: u32) {
        let copy = Copy {
            template: template.clone(),
            count,
        };
        let deadline = Instant::now() + Duration::from_secs(60);
        self.store.db().write(deadline, Arc::new(copy)).await.unwrap();
    }
}

struct Copy {
    template: SessionId,
    count: u32,
}

#[async_trait]
impl Transaction for Copy {
    type Output = ();

    async fn run(&self, tx: &mut Tx) -> Result<()> {
        let of = [self.template.as_str().into()];
        let count = self.count;
        let (id, rank) = match tx.dialect() {
            Dialect::Sqlite => ("printf('sess-c%015x', n)", "unhex(printf('90000000%08x', n))"),
            Dialect::Postgres => (
                "'sess-c' || lpad(to_hex(n), 15, '0')",
                "decode('90000000' || lpad(to_hex(n), 8, '0'), 'hex')",
            ),
        };
        let counted = format!(
            "WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < {count})"
        );
        let columns = columns(tx).await?;
        let values: Vec<&str> = columns
            .iter()
            .map(|column| match column.as_str() {
                "id" | "root_id" => id,
                "rank" => rank,
                other => other,
            })
            .collect();
        let sql = format!(
            "{counted} INSERT INTO session ({}) SELECT {} FROM session, counted WHERE id = $1",
            columns.join(", "),
            values.join(", ")
        );
        tx.execute(&sql, &of).await?;
        for (table, columns) in [
            ("session_label", "key, value"),
            ("session_transition", "number, state, at, cause, by_whom"),
        ] {
            let sql = format!(
                "{counted} INSERT INTO {table} (session_id, {columns}) \
                 SELECT {id}, {columns} FROM {table}, counted WHERE session_id = $1"
            );
            tx.execute(&sql, &of).await?;
        }
        if tx.dialect() == Dialect::Sqlite {
            let sql = "INSERT INTO session_search (rowid, search) \
                       SELECT number, search FROM session WHERE id LIKE 'sess-c%'";
            tx.execute(sql, &[]).await?;
        }
        count_stored(tx, &self.template, i64::from(count)).await
    }
}

/// The columns of a session that both engines have.
async fn columns(tx: &mut Tx) -> Result<Vec<String>> {
    let sql = match tx.dialect() {
        Dialect::Sqlite => "SELECT name FROM pragma_table_info('session') WHERE name <> 'number'",
        Dialect::Postgres => {
            "SELECT CAST(column_name AS TEXT) FROM information_schema.columns \
             WHERE table_schema = current_schema() AND table_name = 'session'"
        }
    };
    let mut columns = Vec::new();
    for mut row in tx.rows(sql, &[]).await? {
        columns.push(row.take()?);
    }
    Ok(columns)
}
