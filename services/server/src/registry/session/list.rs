//! Pages and totals of sessions.

use std::time::Duration;

use compozy_domain::session::filter::{Place, SessionFilter, SessionSort};
use compozy_domain::{CatalogError, PageLimit, WorkspaceId};
use compozy_store::{CountSessions, ListSessions, SessionPage, SessionTotals};

use crate::cursor::session::SessionCursor;
use crate::registry::{Caller, Reference, Registry, within};

/// A page to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListWanted {
    /// Which rows, whatever the workspace.
    pub filter: SessionFilter,
    /// Only those of this workspace.
    pub workspace: Option<Reference>,
    /// In which order.
    pub sort: SessionSort,
    /// Where the page before ended.
    pub after: Option<SessionCursor>,
    /// How many rows.
    pub limit: PageLimit,
}

/// A page, and what is needed to show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedSessions {
    /// Rows, total and revision from one snapshot.
    pub page: SessionPage,
    /// The workspace of the filter.
    pub workspace: Option<WorkspaceId>,
    /// Silence of a runtime that counts as too long.
    pub stale_after: Duration,
}

/// Totals to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountWanted {
    /// Which rows, whatever the workspace.
    pub filter: SessionFilter,
    /// Only those of this workspace.
    pub workspace: Option<Reference>,
}

impl Registry {
    /// Silence of a runtime that counts as too long.
    #[must_use]
    pub fn stale_after(&self) -> Duration {
        self.settings.sessions.stale_after
    }

    /// A counted page.
    ///
    /// # Errors
    /// [`CatalogError::Cursor`] for one of a walk over another workspace, what may be wrong with a reference, and what
    /// the store answers.
    pub async fn list_sessions(
        &self,
        caller: &Caller,
        wanted: ListWanted,
    ) -> Result<ListedSessions, CatalogError> {
        let ListWanted {
            mut filter,
            workspace,
            sort,
            after,
            limit,
        } = wanted;
        let workspace = self.narrow(caller, &mut filter, workspace.as_ref()).await?;
        if let Some(cursor) = &after {
            cursor.check_workspace(workspace.as_ref())?;
        }
        let (after, counted, at) = match after {
            None => (None, None, None),
            Some(cursor) => (Some(cursor.place), cursor.counted, Some(cursor.at)),
        };
        let list = ListSessions {
            filter,
            sort,
            after,
            limit,
            visibility: caller.principal.visibility.clone(),
            counted,
            at,
            now: self.now(),
            stale_after: self.stale_after(),
        };
        let page = within(caller.deadline, self.store.list_sessions(&list)).await?;
        Ok(ListedSessions {
            page,
            workspace,
            stale_after: list.stale_after,
        })
    }

    /// Exact totals.
    ///
    /// # Errors
    /// What may be wrong with a reference, and what the store answers.
    pub async fn count_sessions(
        &self,
        caller: &Caller,
        wanted: CountWanted,
    ) -> Result<SessionTotals, CatalogError> {
        let CountWanted {
            mut filter,
            workspace,
        } = wanted;
        self.narrow(caller, &mut filter, workspace.as_ref()).await?;
        let count = CountSessions {
            filter,
            visibility: caller.principal.visibility.clone(),
            now: self.now(),
            stale_after: self.stale_after(),
        };
        within(caller.deadline, self.store.count_sessions(&count)).await
    }

    /// Narrows a filter to the workspace that a request names. Only a path is looked up on the disk: a list works also
    /// where the root is gone.
    async fn narrow(
        &self,
        caller: &Caller,
        filter: &mut SessionFilter,
        workspace: Option<&Reference>,
    ) -> Result<Option<WorkspaceId>, CatalogError> {
        let Some(reference) = workspace else {
            return Ok(None);
        };
        let id = self.find(caller, reference).await?.id;
        filter.place = Place::Workspace(id.clone());
        Ok(Some(id))
    }
}
