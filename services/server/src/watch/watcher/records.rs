//! Rows that ride along with changes. About a message's worth of them lies in memory at a time, however long they are.

use compozy_domain::{CatalogError, ProfileId, SessionId, WorkspaceId};
use compozy_proto::change::v1 as pb;

use super::super::patience::patiently;
use super::super::rows::RowKey;
use super::Watcher;
use crate::convert::change as convert;
use crate::convert::page::framed_len;

/// Bytes of a message with rows, unless one row alone is larger.
pub(super) const MESSAGE_BYTES: usize = 1024 * 1024;

impl Watcher {
    /// Gives the changes that are ready their rows, as many as fit into the next message.
    pub(super) async fn attach_rows(&mut self) -> Result<(), CatalogError> {
        let mut keys: Vec<RowKey> = self.ready.iter().filter_map(row_of).collect();
        keys.sort_unstable();
        keys.dedup();
        let rows = Box::pin(patiently(self.parts.rows.now(keys))).await?;
        let stale_after = self.parts.registry.stale_after();
        let mut bytes = 0;
        for change in &mut self.ready {
            let row = row_of(change).and_then(|key| rows.get(&key));
            change.row = row.and_then(|row| convert::row(row, &self.principal.visibility, stale_after));
            bytes += framed_len(change);
            if bytes > MESSAGE_BYTES && self.with_rows > 0 {
                // The others get theirs when this message is gone.
                change.row = None;
                break;
            }
            self.with_rows += 1;
        }
        Ok(())
    }
}

/// What the row that goes with a change is of, if one does.
fn row_of(change: &pb::Change) -> Option<RowKey> {
    if change.op() != pb::ChangeOp::Upserted {
        return None;
    }
    let workspace = || WorkspaceId::from_stored(change.workspace_id.clone());
    match change.kind() {
        pb::ChangeKind::Workspace | pb::ChangeKind::WorkspaceOrder => Some(RowKey::Workspace(workspace())),
        pb::ChangeKind::Profile => Some(RowKey::Profile(ProfileId::from_stored(change.profile_id.clone()))),
        pb::ChangeKind::Selection => Some(RowKey::Selection(
            Some(change)
                .filter(|change| !change.workspace_id.is_empty())
                .map(|_| workspace()),
        )),
        pb::ChangeKind::Session | pb::ChangeKind::AccountOrder => {
            Some(RowKey::Session(SessionId::from_stored(change.session_id.clone())))
        }
        pb::ChangeKind::Unspecified => None,
    }
}
