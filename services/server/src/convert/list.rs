//! Lists of workspaces.

use compozy_domain::text::{fold_for_search, refuse_control_characters};
use compozy_domain::workspace::{WorkspaceFilter, WorkspaceOrder};
use compozy_domain::{CatalogError, PageLimit, Visibility, WorkspaceName, limits, name};
use compozy_proto::page::v1::PageInfo;
use compozy_proto::workspace::v1 as pb;

use super::count;
use super::page::fitting;
use super::workspace::{record, status_from_wire};
use crate::cursor::{self, QueryHash};
use crate::registry::{ListQuery, Seen, SeenPage};
use crate::resume_token;
use crate::seal::Seal;

const METHOD: &str = "compozy.workspace.v1.WorkspaceService/ListWorkspaces";

/// What an answer has to know of its request.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    hash: QueryHash,
    order: WorkspaceOrder,
    limit: PageLimit,
}

/// Reads a request.
///
/// # Errors
/// [`CatalogError`] naming the field; [`CatalogError::Cursor`].
pub async fn query(
    seal: &Seal,
    visibility: &Visibility,
    request: pb::ListWorkspacesRequest,
) -> Result<(ListQuery, Asked), CatalogError> {
    let pb::ListWorkspacesRequest {
        limit,
        cursor,
        order_by,
        name_prefix,
        query,
        mut statuses,
        not_observed,
        include_status,
    } = request;
    let limit = PageLimit::parse(limit)?;
    let order = order_from_wire(order_by);
    let filter = filter(&name_prefix, &query, &statuses, not_observed)?;
    statuses.sort_unstable();
    statuses.dedup();
    // What the cursor is bound to: the request in its normal form. Limit, cursor and include_status are not.
    let bound = pb::ListWorkspacesRequest {
        order_by: order_to_wire(order).into(),
        name_prefix,
        query,
        statuses,
        not_observed,
        ..pb::ListWorkspacesRequest::default()
    };
    let hash = QueryHash::of(METHOD, &bound);
    let after = match cursor.as_str() {
        "" => None,
        token => Some(cursor::decode(seal, hash, visibility, token).await?),
    };
    let query = ListQuery {
        filter,
        order,
        after,
        limit,
        include_status,
    };
    Ok((query, Asked { hash, order, limit }))
}

/// Makes the response: as many of the rows as fit, and a cursor when others follow.
#[must_use]
pub fn answer(
    seal: &Seal,
    visibility: &Visibility,
    asked: Asked,
    page: SeenPage,
) -> pb::ListWorkspacesResponse {
    let SeenPage {
        rows,
        total,
        has_more,
        revision,
    } = page;
    let mut workspaces: Vec<_> = rows
        .iter()
        .map(|Seen { workspace, status }| record(workspace, *status))
        .collect();
    let fitting = fitting(&workspaces);
    let has_more = has_more || fitting < workspaces.len();
    workspaces.truncate(fitting);
    let last = fitting
        .checked_sub(1)
        .and_then(|at| rows.get(at))
        .filter(|_| has_more);
    let next_cursor = last.map(|last| {
        let place = last.workspace.place(asked.order);
        cursor::encode(seal, asked.hash, visibility, &place, (&revision, total))
    });
    pb::ListWorkspacesResponse {
        workspaces,
        page: Some(PageInfo {
            total: count(total),
            limit: i32::try_from(asked.limit.get()).unwrap_or_default(),
            has_more: next_cursor.is_some(),
            next_cursor,
            revision: resume_token::encode(seal, &revision),
        }),
    }
}

fn filter(
    name_prefix: &str,
    query: &str,
    statuses: &[i32],
    not_observed: bool,
) -> Result<WorkspaceFilter, CatalogError> {
    refuse_control_characters(name_prefix, "name_prefix")?;
    refuse_control_characters(query, "query")?;
    if name_prefix.chars().count() > name::NAME_CHARS_MAX {
        return Err(CatalogError::invalid_field(
            "name_prefix",
            "must have at most 64 characters",
        ));
    }
    if query.chars().count() > limits::QUERY_CHARS_MAX {
        return Err(CatalogError::invalid_field(
            "query",
            "must have at most 256 characters",
        ));
    }
    if statuses.len() > limits::FILTER_VALUES_MAX {
        return Err(CatalogError::invalid_field(
            "statuses",
            "must hold at most 100 values",
        ));
    }
    let mut wanted = Vec::with_capacity(statuses.len());
    for (at, value) in statuses.iter().enumerate() {
        let status = status_from_wire(*value).ok_or_else(|| {
            let problem = "must be a known status; for workspaces nobody has looked at use not_observed";
            CatalogError::invalid_field(format!("statuses[{at}]"), problem)
        })?;
        if !wanted.contains(&status) {
            wanted.push(status);
        }
    }
    Ok(WorkspaceFilter {
        name_prefix: Some(prefix_key(name_prefix)).filter(|key| !key.is_empty()),
        query: Some(fold_for_search(query)).filter(|text| !text.is_empty()),
        statuses: wanted,
        not_observed,
    })
}

/// The key of a prefix. Blanks at its end count: they stand inside the names that are looked for.
fn prefix_key(prefix: &str) -> String {
    let blanks = prefix.len() - prefix.trim_end_matches(' ').len();
    let mut key = WorkspaceName::lookup_key(prefix);
    if !key.is_empty() {
        key.extend(std::iter::repeat_n(' ', blanks));
    }
    key
}

fn order_from_wire(value: i32) -> WorkspaceOrder {
    match pb::WorkspaceOrder::try_from(value).unwrap_or_default() {
        pb::WorkspaceOrder::Unspecified | pb::WorkspaceOrder::Manual => WorkspaceOrder::Manual,
        pb::WorkspaceOrder::Name => WorkspaceOrder::Name,
        pb::WorkspaceOrder::Created => WorkspaceOrder::Created,
        pb::WorkspaceOrder::Updated => WorkspaceOrder::Updated,
    }
}

const fn order_to_wire(order: WorkspaceOrder) -> pb::WorkspaceOrder {
    match order {
        WorkspaceOrder::Manual => pb::WorkspaceOrder::Manual,
        WorkspaceOrder::Name => pb::WorkspaceOrder::Name,
        WorkspaceOrder::Created => pb::WorkspaceOrder::Created,
        WorkspaceOrder::Updated => pb::WorkspaceOrder::Updated,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use compozy_domain::WorkspaceStatus;

    use super::*;

    #[test]
    fn filters_are_read_in_the_form_that_is_stored() {
        let filter = filter("  Re ", "ＡＰＩ", &[1, 1, 9], true).unwrap();
        assert_eq!(filter.name_prefix.as_deref(), Some("re "));
        assert_eq!(filter.query.as_deref(), Some("api"));
        assert_eq!(filter.statuses, [WorkspaceStatus::Ok, WorkspaceStatus::OtherHost]);
        assert!(filter.not_observed);
        let nothing = super::filter(" ", "", &[], false).unwrap();
        assert_eq!(nothing, WorkspaceFilter::default());
    }

    #[test]
    fn orders_are_read_and_written_alike() {
        for order in [
            WorkspaceOrder::Manual,
            WorkspaceOrder::Name,
            WorkspaceOrder::Created,
            WorkspaceOrder::Updated,
        ] {
            assert_eq!(order_from_wire(order_to_wire(order).into()), order);
        }
        assert_eq!(order_from_wire(99), WorkspaceOrder::Manual);
    }
}
