//! Lists and counts of sessions.

use compozy_domain::session::filter::SessionSort;
use compozy_domain::{CatalogError, PageLimit, SessionAt, Visibility, WorkspaceId};
use compozy_proto::page::v1::PageInfo;
use compozy_proto::session::v1 as pb;
use compozy_store::{SessionPage, SessionTotals};

use super::super::count;
use super::super::page::fitting;
use super::filter::{FilterWanted, filter};
use super::record::session;
use super::words;
use crate::cursor::QueryHash;
use crate::cursor::session::{self as cursor, SessionCursor};
use crate::registry::session::list::{CountWanted, ListWanted, ListedSessions};
use crate::resume_token;
use crate::seal::Seal;

const METHOD: &str = "compozy.session.v1.SessionCatalogService/ListSessions";

/// Workspaces that a count tells at most.
const WORKSPACES_MAX: usize = 1_000;

/// What an answer has to know of its request.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    hash: QueryHash,
    limit: PageLimit,
    include_health: bool,
}

/// Reads a request for a page. Nothing of it needs storage.
///
/// # Errors
/// [`CatalogError`] naming the field; [`CatalogError::Cursor`].
pub async fn query(
    seal: &Seal,
    visibility: &Visibility,
    request: pb::ListSessionsRequest,
) -> Result<(ListWanted, Asked), CatalogError> {
    let pb::ListSessionsRequest {
        filter: conditions,
        sort,
        limit,
        cursor,
        include_health,
    } = request;
    let limit = PageLimit::parse(limit)?;
    let sort = sort_from_wire(sort);
    let FilterWanted {
        filter,
        workspace,
        normal,
    } = filter(conditions)?;
    if sort == SessionSort::Manual && workspace.is_none() {
        let problem =
            "can be MANUAL only within one workspace: name it in the filter, or choose another order";
        return Err(CatalogError::invalid_field("sort", problem));
    }
    // What the cursor is bound to. Limit, cursor and include_health are not.
    let bound = pb::ListSessionsRequest {
        filter: Some(normal),
        sort: sort_to_wire(sort).into(),
        ..pb::ListSessionsRequest::default()
    };
    let hash = QueryHash::of(METHOD, &bound);
    let after = match cursor.as_str() {
        "" => None,
        token => Some(cursor::decode(seal, hash, sort, visibility, token).await?),
    };
    let wanted = ListWanted {
        filter,
        workspace,
        sort,
        after,
        limit,
    };
    let asked = Asked {
        hash,
        limit,
        include_health,
    };
    Ok((wanted, asked))
}

/// Makes the response: as many of the rows as fit, and a cursor when others follow.
#[must_use]
pub fn answer(
    seal: &Seal,
    visibility: &Visibility,
    asked: Asked,
    listed: ListedSessions,
) -> pb::ListSessionsResponse {
    let ListedSessions {
        page: SessionPage { page, places, at },
        workspace,
        stale_after,
    } = listed;
    let mut sessions = Vec::with_capacity(page.rows.len());
    for row in page.rows {
        // Shown as of the walk's first instant: what a filter says of a row and what the row says are one.
        let row = SessionAt { session: row, at };
        sessions.push(session(&row, stale_after, asked.include_health));
    }
    let fitting = fitting(&sessions);
    let has_more = page.has_more || fitting < sessions.len();
    sessions.truncate(fitting);
    let last = places.into_iter().take(fitting).next_back();
    let next_cursor = last.filter(|_| has_more).map(|place| {
        let next = SessionCursor {
            place,
            workspace,
            at,
            counted: Some((page.revision.clone(), page.total)),
        };
        cursor::encode(seal, asked.hash, visibility, &next)
    });
    pb::ListSessionsResponse {
        sessions,
        page: Some(PageInfo {
            total: count(page.total),
            limit: i32::try_from(asked.limit.get()).unwrap_or_default(),
            has_more: next_cursor.is_some(),
            next_cursor,
            revision: resume_token::encode(seal, &page.revision),
        }),
    }
}

/// Reads a request for totals.
///
/// # Errors
/// As [`filter`].
pub fn count_wanted(request: pb::CountSessionsRequest) -> Result<CountWanted, CatalogError> {
    let pb::CountSessionsRequest { filter: conditions } = request;
    let FilterWanted {
        filter,
        workspace,
        normal: _,
    } = filter(conditions)?;
    Ok(CountWanted { filter, workspace })
}

/// Makes the response.
#[must_use]
pub fn counted(seal: &Seal, totals: SessionTotals) -> pb::CountSessionsResponse {
    let SessionTotals {
        by_state,
        by_workspace,
        revision,
    } = totals;
    let total = by_state.iter().map(|(_, count)| count).sum();
    let (by_workspace, workspaces_truncated) = largest(by_workspace);
    pb::CountSessionsResponse {
        total,
        by_state: by_state
            .into_iter()
            .map(|(state, count)| pb::StateCount {
                state: words::state(state).into(),
                count,
            })
            .collect(),
        by_workspace: by_workspace
            .into_iter()
            .map(|(id, count)| pb::WorkspaceCount {
                workspace_id: id.map(|id| id.to_string()).unwrap_or_default(),
                count,
            })
            .collect(),
        workspaces_truncated,
        revision: resume_token::encode(seal, &revision),
    }
}

/// Counts of workspaces by id.
type ByWorkspace = Vec<(Option<WorkspaceId>, i64)>;

/// The largest counts, as many as are told, and whether others are left out.
fn largest(mut counts: ByWorkspace) -> (ByWorkspace, bool) {
    let is_truncated = counts.len() > WORKSPACES_MAX;
    if is_truncated {
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        counts.truncate(WORKSPACES_MAX);
        counts.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    }
    (counts, is_truncated)
}

fn sort_from_wire(number: i32) -> SessionSort {
    match pb::SessionSort::try_from(number).unwrap_or_default() {
        pb::SessionSort::Unspecified | pb::SessionSort::Recent => SessionSort::Recent,
        pb::SessionSort::LastActivity => SessionSort::LastActivity,
        pb::SessionSort::Manual => SessionSort::Manual,
        pb::SessionSort::Attention => SessionSort::Attention,
    }
}

const fn sort_to_wire(sort: SessionSort) -> pb::SessionSort {
    match sort {
        SessionSort::Recent => pb::SessionSort::Recent,
        SessionSort::LastActivity => pb::SessionSort::LastActivity,
        SessionSort::Manual => pb::SessionSort::Manual,
        SessionSort::Attention => pb::SessionSort::Attention,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s292_orders_are_read_and_written_alike() {
        for sort in [
            SessionSort::Recent,
            SessionSort::LastActivity,
            SessionSort::Manual,
            SessionSort::Attention,
        ] {
            assert_eq!(sort_from_wire(sort_to_wire(sort).into()), sort);
        }
        assert_eq!(sort_from_wire(99), SessionSort::Recent);
    }

    #[test]
    fn of_too_many_workspaces_the_largest_counts_are_told_by_id() {
        let id = |number: usize| Some(WorkspaceId::from_stored(format!("ws_{number:016x}")));
        let counts = |count: usize| {
            let all = (0..count).map(|number| (id(number), i64::from(number > 4) + 1));
            all.collect::<Vec<_>>()
        };
        assert_eq!(largest(counts(1_000)), (counts(1_000), false));
        let (told, is_truncated) = largest(counts(1_005));
        assert!(is_truncated);
        assert_eq!(told, counts(1_005)[5..]);
    }
}
