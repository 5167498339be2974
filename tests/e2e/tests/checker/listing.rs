//! What a server says that there is: the lists, and which profile is active where.

use compozy_client::Client;
use compozy_e2e::{by_id, list_all};
use compozy_proto::profile::v1::{GetActiveProfileRequest, ListProfilesRequest};
use compozy_proto::session::v1::{ArchiveFilter, ListSessionsRequest, SessionFilter};
use compozy_proto::workspace::v1::ProfileSource;
use futures::{StreamExt as _, TryStreamExt as _, stream};

use crate::call::row_of_session;
use crate::catalog::{Catalog, Row, State};
use crate::entry::Record;

/// Questions about workspaces that are open at once.
const AT_ONCE: usize = 8;

/// Everything, while nothing is written.
pub(crate) async fn listed(client: &Client) -> Catalog {
    let mut rows = Vec::new();
    // The selection for everything else is that of no workspace.
    let mut places = vec![String::new()];
    for workspace in list_all(client).await {
        places.push(workspace.id.clone());
        rows.push(Row {
            record: Record::Workspace(workspace.id),
            state: State::Version(workspace.version),
        });
    }
    let request = ListProfilesRequest {
        limit: 100,
        ..Default::default()
    };
    let mut profiles = client.profile_rows(request);
    while let Some(profile) = profiles.try_next().await.unwrap() {
        if !profile.is_permanent {
            rows.push(Row {
                record: Record::Profile(profile.id),
                state: State::Version(profile.version),
            });
        }
    }
    let mut sessions = client.session_rows(every_session());
    while let Some(session) = sessions.try_next().await.unwrap() {
        rows.push(row_of_session(session));
    }
    let selected = stream::iter(places).map(|place| selected(client, place));
    let selected: Vec<Option<Row>> = selected.buffer_unordered(AT_ONCE).collect().await;
    Catalog::of(rows.into_iter().chain(selected.into_iter().flatten()))
}

/// All sessions but internal ones, which nobody makes here.
pub(crate) fn every_session() -> ListSessionsRequest {
    ListSessionsRequest {
        filter: Some(SessionFilter {
            archive: ArchiveFilter::Include.into(),
            ..Default::default()
        }),
        ..Default::default()
    }
}

/// The profile that is active in a place because it was selected there.
async fn selected(client: &Client, place: String) -> Option<Row> {
    let request = GetActiveProfileRequest {
        workspace: Some(&place).filter(|id| !id.is_empty()).map(by_id),
        ..Default::default()
    };
    let answer = client.get_active_profile(request).await.unwrap();
    let own = if place.is_empty() {
        ProfileSource::Global
    } else {
        ProfileSource::Workspace
    };
    (answer.profile_source() == own).then(|| Row {
        record: Record::Selection(place),
        state: State::Selected(answer.profile.unwrap().id),
    })
}
