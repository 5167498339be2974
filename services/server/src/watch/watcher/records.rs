//! Rows that ride along, and rows of a snapshot. About a message's worth of them lies in memory at a time, however long
//! they are.

use std::collections::VecDeque;

use compozy_domain::{CatalogError, ChangeKind, Workspace, WorkspaceId};
use compozy_proto::change::v1 as pb;

use super::super::patience::patiently;
use super::{Phase, Watcher};
use crate::convert::change as convert;
use crate::convert::page::framed_len;

/// Bytes of a message with rows, unless one row alone is larger.
const MESSAGE_BYTES: usize = 1024 * 1024;
/// Rows of a piece of a snapshot.
const SNAPSHOT_ROWS: u32 = 32;

impl Watcher {
    /// Gives the changes that are ready their rows, as many as fit into the next message.
    pub(super) async fn attach_rows(&mut self) -> Result<(), CatalogError> {
        let mut ids: Vec<WorkspaceId> = self.ready.iter().filter_map(row_of).collect();
        ids.sort_unstable();
        ids.dedup();
        let rows = Box::pin(patiently(self.parts.rows.now(ids))).await?;
        let mut bytes = 0;
        for change in &mut self.ready {
            let row = row_of(change).and_then(|id| rows.get(&id));
            change.row = row.map(|row| convert::row(row, &self.principal.visibility));
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

    /// The next row of the snapshot; `None` when it is complete.
    pub(super) async fn snapshot_row(&mut self) -> Result<Option<pb::WatchCatalogResponse>, CatalogError> {
        let Phase::Snapshot { after, rows, is_last } = &mut self.phase else {
            return Ok(None);
        };
        let is_wanted = self.filter.wants(ChangeKind::Workspace)
            && !(self.filter.ungrouped() && self.filter.workspaces().is_empty());
        if rows.is_empty() && !*is_last && is_wanted {
            let page = self.parts.rows.page(
                after.as_ref(),
                self.filter.workspaces(),
                SNAPSHOT_ROWS,
                &self.principal.visibility,
            );
            *rows = Box::pin(page).await?.into();
            let kept = fitting(rows);
            *is_last = rows.len() < SNAPSHOT_ROWS as usize && kept == rows.len();
            // Long rows are read again when it is their turn.
            rows.truncate(kept);
            rows.shrink_to_fit();
            *after = rows.back().map(|row| row.id.clone());
        }
        if let Some(row) = rows.pop_front() {
            let row = convert::row(&row, &self.principal.visibility);
            return Ok(Some(convert::snapshot_row(row)));
        }
        if *is_last || !is_wanted {
            self.phase = Phase::CatchUp {
                until: self.parts.log.known().head,
            };
        }
        Ok(None)
    }
}

/// How many rows of a snapshot are kept until they are told: about a message's worth, at least one.
fn fitting(rows: &VecDeque<Workspace>) -> usize {
    let mut bytes = 0;
    for (at, row) in rows.iter().enumerate() {
        let directories: usize = row.additional_dirs.iter().map(String::len).sum();
        bytes += size_of::<Workspace>() + row.root_dir.len() + row.title.len() + directories;
        if bytes > MESSAGE_BYTES && at > 0 {
            return at;
        }
    }
    rows.len()
}

/// The workspace whose row goes with a change, if one does.
fn row_of(change: &pb::Change) -> Option<WorkspaceId> {
    let has_row = change.op() == pb::ChangeOp::Upserted
        && matches!(
            change.kind(),
            pb::ChangeKind::Workspace | pb::ChangeKind::WorkspaceOrder
        );
    has_row.then(|| WorkspaceId::from_stored(change.workspace_id.clone()))
}
