//! The rows that a snapshot begins with: workspaces with their selections, then sessions, then profiles, then the
//! selection for everything else. About a message's worth of them lies in memory at a time.

use std::collections::VecDeque;

use compozy_domain::{
    CatalogError, ChangeKind, ProfileId, Session, SessionAt, SessionId, Visibility, Workspace, WorkspaceId,
};
use compozy_proto::change::v1 as pb;

use super::super::rows::Record;
use super::records::MESSAGE_BYTES;
use super::{Phase, Watcher};
use crate::convert::change as convert;

/// Rows of a piece of a snapshot.
const SNAPSHOT_ROWS: u32 = 32;

/// How far a snapshot has got.
#[derive(Debug)]
pub(in crate::watch) enum Part {
    /// Workspaces above this one, and their selections.
    Workspaces(Option<WorkspaceId>),
    /// Sessions above this one.
    Sessions(Option<SessionId>),
    /// Profiles above this one.
    Profiles(Option<ProfileId>),
    /// The selection for everything else.
    Global,
    /// All of it.
    Done,
}

impl Watcher {
    /// The next row of the snapshot; `None` when it is complete.
    pub(super) async fn snapshot_row(&mut self) -> Result<Option<pb::WatchCatalogResponse>, CatalogError> {
        loop {
            let Phase::Snapshot { part, rows } = &mut self.phase else {
                return Ok(None);
            };
            if let Some(row) = rows.pop_front() {
                let stale_after = self.parts.registry.stale_after();
                // Who asks is looked at again and again: a row that was read may be hidden by now.
                match convert::row(&row, &self.principal.visibility, stale_after) {
                    Some(row) => return Ok(Some(convert::snapshot_row(row))),
                    None => continue,
                }
            }
            let (read, next) = match part {
                Part::Workspaces(after) => {
                    let after = after.take();
                    Box::pin(self.workspaces(after)).await?
                }
                Part::Sessions(after) => {
                    let after = after.take();
                    Box::pin(self.sessions(after)).await?
                }
                Part::Profiles(after) => {
                    let after = after.take();
                    Box::pin(self.profiles(after)).await?
                }
                Part::Global => Box::pin(self.global_selection()).await?,
                Part::Done => {
                    self.phase = Phase::CatchUp {
                        until: self.parts.log.known().head,
                    };
                    return Ok(None);
                }
            };
            self.phase = Phase::Snapshot {
                part: next,
                rows: read,
            };
        }
    }

    async fn workspaces(
        &mut self,
        after: Option<WorkspaceId>,
    ) -> Result<(VecDeque<Record>, Part), CatalogError> {
        let (with_records, with_selections) = (
            self.filter.wants(ChangeKind::Workspace),
            self.filter.wants(ChangeKind::Selection),
        );
        let is_about_sessions_only = self.filter.ungrouped() && self.filter.workspaces().is_empty();
        if is_about_sessions_only || !(with_records || with_selections) {
            return Ok((VecDeque::new(), Part::Sessions(None)));
        }
        let (only, visibility) = (self.filter.workspaces(), &self.principal.visibility);
        let page = self
            .parts
            .rows
            .page(after.as_ref(), only, SNAPSHOT_ROWS, visibility);
        let mut page = page.await?;
        let kept = fitting(page.iter().map(workspace_bytes));
        let is_last = page.len() < SNAPSHOT_ROWS as usize && kept == page.len();
        // Long rows are read again when it is their turn.
        page.truncate(kept);
        let ids: Vec<WorkspaceId> = page.iter().map(|row| row.id.clone()).collect();
        let mut rows = VecDeque::new();
        if with_records {
            rows.extend(page.into_iter().map(|row| Record::Workspace(Box::new(row))));
        }
        if with_selections && !ids.is_empty() {
            let mut selections = self.parts.rows.selections(&ids, false).await?;
            selections.sort_by(|one, other| one.workspace_id.cmp(&other.workspace_id));
            rows.extend(selections.into_iter().map(Record::Selection));
        }
        let next = if is_last {
            Part::Sessions(None)
        } else {
            Part::Workspaces(ids.into_iter().next_back())
        };
        Ok((rows, next))
    }

    async fn sessions(&mut self, after: Option<SessionId>) -> Result<(VecDeque<Record>, Part), CatalogError> {
        if !self.filter.wants(ChangeKind::Session) {
            return Ok((VecDeque::new(), Part::Profiles(None)));
        }
        let (filter, visibility) = (&self.filter, &self.principal.visibility);
        let page = self
            .parts
            .rows
            .sessions(after.as_ref(), filter, SNAPSHOT_ROWS, visibility);
        let mut page = page.await?;
        let kept = fitting(page.iter().map(session_bytes));
        let is_last = page.len() < SNAPSHOT_ROWS as usize && kept == page.len();
        page.truncate(kept);
        let next = match page.last() {
            Some(last) if !is_last => Part::Sessions(Some(last.session.id.clone())),
            _ => Part::Profiles(None),
        };
        let rows = page.into_iter().map(|row| Record::Session(Box::new(row)));
        Ok((rows.collect(), next))
    }

    async fn profiles(&mut self, after: Option<ProfileId>) -> Result<(VecDeque<Record>, Part), CatalogError> {
        if !self.is_told_of_everybodys(ChangeKind::Profile) {
            return Ok((VecDeque::new(), Part::Global));
        }
        let page = self.parts.rows.profiles(after.as_ref(), SNAPSHOT_ROWS).await?;
        let next = match page.last() {
            Some(last) if page.len() == SNAPSHOT_ROWS as usize => Part::Profiles(Some(last.id.clone())),
            _ => Part::Global,
        };
        Ok((
            page.into_iter()
                .map(|row| Record::Profile(Box::new(row)))
                .collect(),
            next,
        ))
    }

    async fn global_selection(&mut self) -> Result<(VecDeque<Record>, Part), CatalogError> {
        if !self.is_told_of_everybodys(ChangeKind::Selection) {
            return Ok((VecDeque::new(), Part::Done));
        }
        let selections = self.parts.rows.selections(&[], true).await?;
        Ok((
            selections.into_iter().map(Record::Selection).collect(),
            Part::Done,
        ))
    }

    /// Whether this watch is told of what belongs to no workspace, as [`compozy_domain::WatchFilter::see`] decides it
    /// for changes.
    fn is_told_of_everybodys(&self, kind: ChangeKind) -> bool {
        self.filter.wants(kind)
            && self.filter.workspaces().is_empty()
            && !self.filter.ungrouped()
            && matches!(self.principal.visibility, Visibility::All)
    }
}

/// How many rows of these sizes are kept until they are told: about a message's worth, at least one.
fn fitting(sizes: impl Iterator<Item = usize>) -> usize {
    let (mut bytes, mut count) = (0, 0);
    for size in sizes {
        bytes += size;
        if bytes > MESSAGE_BYTES && count > 0 {
            break;
        }
        count += 1;
    }
    count
}

/// About how much memory a row takes.
fn workspace_bytes(row: &Workspace) -> usize {
    let directories: usize = row.additional_dirs.iter().map(String::len).sum();
    size_of::<Workspace>() + row.root_dir.len() + row.title.len() + directories
}

/// About how much memory a row takes. What is short in every row is left out.
fn session_bytes(row: &SessionAt) -> usize {
    let session = &row.session;
    let labels: usize = session
        .labels
        .iter()
        .map(|(key, value)| key.len() + value.len() + 2 * size_of::<String>())
        .sum();
    let stop = session.stop.as_ref().map_or(0, |stop| {
        let summary = stop.failure.as_ref().map_or(0, |failure| failure.summary.len());
        stop.detail.len() + summary
    });
    let activity = session
        .activity
        .as_ref()
        .map_or(0, |activity| activity.detail.len());
    size_of::<Session>() + session.cwd.len() + session.canonical_cwd.len() + labels + stop + activity
}
