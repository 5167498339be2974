//! Reading records: one, or a counted page.

use compozy_domain::workspace::{WorkspaceFilter, WorkspaceOrder, WorkspacePlace};
use compozy_domain::{CatalogError, PageLimit, Revision, Workspace, WorkspaceRef, WorkspaceStatus};
use compozy_store::ListWorkspaces;

use super::call::not_found;
use super::{Caller, Reference, Registry, within};
use crate::cursor::WorkspaceCursor;

/// A record, and what a look at its root shows if the caller asked for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The record.
    pub workspace: Workspace,
    /// What its root shows now.
    pub status: Option<WorkspaceStatus>,
}

/// A page to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListQuery {
    /// Which rows.
    pub filter: WorkspaceFilter,
    /// In which order.
    pub order: WorkspaceOrder,
    /// Where the page before ended.
    pub after: Option<WorkspaceCursor>,
    /// How many rows.
    pub limit: PageLimit,
    /// Whether to look at the roots of the rows now.
    pub include_status: bool,
}

/// A page. Rows, total and revision come from one snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenPage {
    /// The rows.
    pub rows: Vec<Seen>,
    /// Exact number of matches over all pages.
    pub total: u64,
    /// Whether rows follow.
    pub has_more: bool,
    /// Head of the change log.
    pub revision: Revision,
}

impl Registry {
    /// One workspace, and the head of the change log in its snapshot.
    ///
    /// # Errors
    /// [`CatalogError::WorkspaceNotFound`], [`CatalogError::AmbiguousReference`], and what may be wrong with a path.
    pub async fn get(
        &self,
        caller: &Caller,
        reference: &Reference,
        include_status: bool,
    ) -> Result<(Seen, Revision), CatalogError> {
        let id = match &reference.form {
            WorkspaceRef::Id(id) => id.clone(),
            _ => self.find(caller, reference).await?.id,
        };
        // Read by id whatever the reference was: record and revision have to come from one snapshot.
        let visibility = &caller.principal.visibility;
        let (row, revision) = within(caller.deadline, self.store.find(&id, visibility)).await?;
        let workspace = row.ok_or_else(|| not_found(&reference.text))?;
        let status = if include_status {
            self.status_of(caller, &workspace).await
        } else {
            None
        };
        Ok((Seen { workspace, status }, revision))
    }

    /// A counted page.
    ///
    /// # Errors
    /// What the store answers.
    pub async fn list(&self, caller: &Caller, query: ListQuery) -> Result<SeenPage, CatalogError> {
        let ListQuery {
            filter,
            order,
            after,
            limit,
            include_status,
        } = query;
        let (after, counted) = match after {
            None => (None, None),
            Some(cursor) => {
                let counted = cursor.counted.clone();
                (Some(self.place_of(caller, cursor, order).await?), counted)
            }
        };
        let list = ListWorkspaces {
            filter,
            host: self.host.clone(),
            order,
            after,
            limit,
            visibility: caller.principal.visibility.clone(),
            counted,
        };
        let page = within(caller.deadline, self.store.list(&list)).await?;
        let statuses = if include_status {
            self.statuses(&page.rows, status_bound(caller)).await
        } else {
            vec![None; page.rows.len()]
        };
        let rows = page.rows.into_iter().zip(statuses);
        Ok(SeenPage {
            rows: rows
                .map(|(workspace, status)| Seen { workspace, status })
                .collect(),
            total: page.total,
            has_more: page.has_more,
            revision: page.revision,
        })
    }

    /// The place of a cursor. One whose root had to be cut takes the root of its row while the row is still there.
    async fn place_of(
        &self,
        caller: &Caller,
        cursor: WorkspaceCursor,
        order: WorkspaceOrder,
    ) -> Result<WorkspacePlace, CatalogError> {
        if !cursor.root_cut {
            return Ok(cursor.place);
        }
        let visibility = &caller.principal.visibility;
        let (row, _) = within(caller.deadline, self.store.find(&cursor.place.id, visibility)).await?;
        let place = row
            .map(|row| row.place(order))
            .filter(|place| place.key == cursor.place.key);
        Ok(place.unwrap_or(cursor.place))
    }
}

/// How long a call looks at roots, all of them together.
fn status_bound(caller: &Caller) -> std::time::Instant {
    caller
        .deadline
        .min(std::time::Instant::now() + super::status::BOUND)
}
