//! What is in the log: workspaces that are really registered, changed and removed, and entries put in by hand.

use std::fmt::Write as _;

use compozy_domain::{
    ChangeKind, ChangeOp, ChangeReason, HostId, NewChange, SessionId, Timestamp, WorkspaceId,
};
use compozy_proto::page::v1::PageInfo;
use compozy_proto::workspace::v1 as pb;
use compozy_proto::workspace::v1::workspace_ref::Form;
use compozy_store::conformance::execute;

use crate::client::by;
use crate::server::Server;
use crate::world::World;

/// Entries of one statement.
const AT_ONCE: usize = 1_000;

impl Server {
    /// Registers a directory of its own.
    pub(crate) async fn register(&self, world: &World, name: &str) -> pb::Workspace {
        let request = pb::RegisterWorkspaceRequest {
            path: world.root(name),
            ..Default::default()
        };
        let answer = self.workspaces().register_workspace(request).await.unwrap();
        answer.into_inner().workspace.unwrap()
    }

    /// Gives a workspace another title; answers the whole answer.
    pub(crate) async fn retitle(&self, id: &str, title: &str) -> pb::UpdateWorkspaceResponse {
        let changed = pb::Workspace {
            title: Some(title.to_owned()),
            ..Default::default()
        };
        self.update(id, changed).await
    }

    /// Gives a workspace another name; answers the whole answer.
    pub(crate) async fn rename(&self, id: &str, name: &str) -> pb::UpdateWorkspaceResponse {
        let changed = pb::Workspace {
            name: Some(name.to_owned()),
            ..Default::default()
        };
        self.update(id, changed).await
    }

    /// Updates the fields that are set.
    async fn update(&self, id: &str, changed: pb::Workspace) -> pb::UpdateWorkspaceResponse {
        let request = pb::UpdateWorkspaceRequest {
            r#ref: Some(by(Form::Id(id.to_owned()))),
            workspace: Some(changed),
            ..Default::default()
        };
        self.workspaces()
            .update_workspace(request)
            .await
            .unwrap()
            .into_inner()
    }

    pub(crate) async fn remove(&self, id: &str) {
        let request = pb::RemoveWorkspaceRequest {
            r#ref: Some(by(Form::Id(id.to_owned()))),
            ..Default::default()
        };
        self.workspaces().remove_workspace(request).await.unwrap();
    }

    /// Moves a workspace to where it is not: new ones stand in front.
    pub(crate) async fn move_before(&self, id: &str, before: Option<&str>) {
        let request = pb::MoveWorkspaceRequest {
            r#ref: Some(by(Form::Id(id.to_owned()))),
            before: before.map(|id| by(Form::Id(id.to_owned()))),
            ..Default::default()
        };
        self.workspaces().move_workspace(request).await.unwrap();
    }

    /// All records by id, from a list.
    pub(crate) async fn listed(&self) -> Vec<pb::Workspace> {
        let (mut rows, mut cursor) = (Vec::new(), String::new());
        loop {
            let request = pb::ListWorkspacesRequest {
                limit: 100,
                cursor,
                ..Default::default()
            };
            let page = self
                .workspaces()
                .list_workspaces(request)
                .await
                .unwrap()
                .into_inner();
            rows.extend(page.workspaces);
            match page.page.unwrap().next_cursor {
                Some(next) => cursor = next,
                None => break,
            }
        }
        rows.sort_by(|one, other| one.id.cmp(&other.id));
        rows
    }

    /// One page and its revision.
    pub(crate) async fn page(&self) -> (Vec<pb::Workspace>, PageInfo) {
        let request = pb::ListWorkspacesRequest {
            limit: 1,
            ..Default::default()
        };
        let page = self
            .workspaces()
            .list_workspaces(request)
            .await
            .unwrap()
            .into_inner();
        (page.workspaces, page.page.unwrap())
    }

    /// Commits entries and waits until this server has them in its log.
    pub(crate) async fn append(&self, world: &World, entries: &[NewChange]) {
        for entries in entries.chunks(AT_ONCE) {
            let values = values(entries, world.is_postgres());
            if world.is_postgres() {
                let sql = format!("INSERT INTO change_pending ({COLUMNS}) VALUES {values}");
                execute(&self.store, &sql).await.unwrap();
                continue;
            }
            // SQLite gives positions in the write itself; the head has to move with it.
            let head = "CREATE TRIGGER IF NOT EXISTS by_hand AFTER INSERT ON change BEGIN \
                        UPDATE change_head SET head = NEW.position WHERE head < NEW.position; END";
            execute(&self.store, head).await.unwrap();
            let sql = format!(
                "INSERT INTO change (position, {COLUMNS}) \
                 SELECT h.head + v.column1, v.column2, v.column3, v.column4, v.column5, v.column6, v.column7, \
                   v.column8, v.column9, v.column10, v.column11, v.column12, v.column13 \
                 FROM (VALUES {values}) v, (SELECT head FROM change_head) h"
            );
            execute(&self.store, &sql).await.unwrap();
        }
        self.watches.log.present().await.unwrap();
    }
}

const COLUMNS: &str = "kind, op, reason, host_id, workspace_id, from_workspace_id, session_id, profile_id, internal, \
                       version, session_count, at";

fn values(entries: &[NewChange], is_postgres: bool) -> String {
    let mut sql = String::new();
    for (at, entry) in entries.iter().enumerate() {
        let text = |text: Option<&str>| text.map_or("NULL".to_owned(), |text| format!("'{text}'"));
        let number = if is_postgres {
            String::new()
        } else {
            format!("{}, ", at + 1)
        };
        let internal = match (is_postgres, entry.internal) {
            (true, internal) => internal.to_string(),
            (false, internal) => i32::from(internal).to_string(),
        };
        let comma = if at == 0 { "" } else { ", " };
        write!(
            sql,
            "{comma}({number}'{}', '{}', '{}', '{}', {}, {}, {}, {}, {internal}, {}, {}, {})",
            entry.kind.as_str(),
            entry.op.as_str(),
            entry.reason.as_str(),
            entry.host_id,
            text(entry.workspace_id.as_ref().map(WorkspaceId::as_str)),
            text(entry.from_workspace_id.as_ref().map(WorkspaceId::as_str)),
            text(entry.session_id.as_ref().map(SessionId::as_str)),
            text(entry.profile_id.as_ref().map(compozy_domain::ProfileId::as_str)),
            entry.version,
            entry.session_count,
            entry.at.nanos(),
        )
        .unwrap();
    }
    sql
}

/// An entry of a kind about a workspace, or about none.
pub(crate) fn entry_of(
    kind: ChangeKind,
    (op, reason): (ChangeOp, ChangeReason),
    workspace_id: Option<&str>,
) -> NewChange {
    NewChange {
        kind,
        op,
        reason,
        host_id: HostId::parse("h1").unwrap(),
        workspace_id: workspace_id.map(|id| WorkspaceId::from_stored(id.to_owned())),
        from_workspace_id: None,
        session_id: None,
        profile_id: None,
        internal: false,
        version: 1,
        session_count: 0,
        at: Timestamp::from_nanos(1_800_000_000_000_000_000),
    }
}

/// An entry about a session that is in this workspace now.
pub(crate) fn session(id: &str, reason: ChangeReason, workspace_id: Option<&str>) -> NewChange {
    NewChange {
        session_id: Some(SessionId::from_stored(id.to_owned())),
        ..entry_of(ChangeKind::Session, (ChangeOp::Upserted, reason), workspace_id)
    }
}

/// A session was deleted.
pub(crate) fn deleted(id: &str, workspace_id: Option<&str>) -> NewChange {
    NewChange {
        op: ChangeOp::Deleted,
        ..session(id, ChangeReason::Removed, workspace_id)
    }
}

/// A session went from one workspace, or none, to another, or none.
pub(crate) fn moved(id: &str, from: Option<&str>, to: Option<&str>) -> NewChange {
    let reason = if to.is_some() {
        ChangeReason::Attached
    } else {
        ChangeReason::Detached
    };
    NewChange {
        from_workspace_id: from.map(|id| WorkspaceId::from_stored(id.to_owned())),
        ..session(id, reason, to)
    }
}

/// A workspace was removed that had so many sessions.
pub(crate) fn removed(workspace_id: &str, reason: ChangeReason, session_count: i64) -> NewChange {
    NewChange {
        session_count,
        ..entry_of(
            ChangeKind::Workspace,
            (ChangeOp::Deleted, reason),
            Some(workspace_id),
        )
    }
}
