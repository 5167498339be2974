//! A caller with two workspaces and a few sessions of its own: it knows what has to be there. The directory of its
//! sessions is in the second workspace, and in none for those that began without one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use compozy_e2e::{Draw, by_id, request_id, utf8};
use compozy_proto::session::v1::{
    ArchiveSessionRequest, BindRuntimeRequest, CreateSessionRequest, DeleteSessionRequest,
    FinishSessionRequest, RenameSessionRequest, ResumeSessionRequest, RuntimeBinding, SessionState,
    StopCause, StopSessionRequest, UnarchiveSessionRequest,
};
use compozy_proto::workspace::v1::{AttachSessionRequest, DetachSessionRequest, MoveSessionRequest};

use crate::session_held::{SessionRow, SessionsHeld};
use crate::session_operation::{SessionAnswer, SessionOperation, What};

/// Sessions of one worker, at most.
const ROWS_MAX: usize = 8;
/// No lease lapses during the rounds.
const TTL: prost_types::Duration = prost_types::Duration {
    seconds: 3_600,
    nanos: 0,
};
const HOLDER: &str = "runtime";

#[derive(Debug)]
pub(crate) struct SessionWorker {
    draw: Draw,
    /// Each with its root.
    pub(crate) workspaces: Vec<(String, PathBuf)>,
    pub(crate) held: SessionsHeld,
    /// Where each session could be attached: the workspace of its directory.
    homes: BTreeMap<String, String>,
    /// Tokens of leases, as far as they are known.
    leases: BTreeMap<String, String>,
    /// Ids that are never used again.
    pub(crate) deleted: BTreeSet<String>,
    /// Asked and not answered.
    pub(crate) pending: Option<SessionOperation>,
    pub(crate) answered_count: u64,
    /// The last one that was answered.
    pub(crate) answered: Option<(SessionOperation, SessionAnswer)>,
}

impl SessionWorker {
    pub(crate) fn new(draw: Draw, workspaces: Vec<(String, PathBuf)>) -> Self {
        Self {
            draw,
            workspaces,
            held: SessionsHeld::default(),
            homes: BTreeMap::new(),
            leases: BTreeMap::new(),
            deleted: BTreeSet::new(),
            pending: None,
            answered_count: 0,
            answered: None,
        }
    }

    /// Decides what to do next.
    pub(crate) fn begin(&mut self) -> SessionOperation {
        let what = self.choose();
        let operation = SessionOperation { what };
        self.pending = Some(operation.clone());
        operation
    }

    /// Takes an answer into the model.
    pub(crate) fn settle(&mut self, operation: SessionOperation, answer: SessionAnswer) {
        self.held = self.held.after(&operation);
        if let Some(row) = &answer.row {
            assert_eq!(Some(row), self.held.rows.get(&row.id), "{operation:?}");
        }
        match &operation.what {
            What::Create { id, .. } | What::Bind { id, .. } => {
                // The token of a lease whose answer was lost is nobody's: the holder binds again.
                self.leases.remove(id);
                self.leases
                    .extend(answer.lease.clone().map(|lease| (id.clone(), lease)));
            }
            What::Finish { id, .. } | What::Stop { id, .. }
                if self.held.rows[id].state == SessionState::Stopped =>
            {
                self.leases.remove(id);
            }
            What::Delete { id, .. } => {
                self.leases.remove(id);
                self.deleted.insert(id.clone());
            }
            _ => {}
        }
        self.pending = None;
        self.answered_count += 1;
        self.answered = Some((operation, answer));
    }

    fn choose(&mut self) -> What {
        let rows: Vec<&SessionRow> = self.held.rows.values().collect();
        let row = self.draw.choose(&rows).map(|row| (*row).clone());
        let choice = self.draw.below(20);
        let few = self.held.rows.len() < ROWS_MAX;
        let Some(row) = row.filter(|_| choice > 3 || !few) else {
            return self.create();
        };
        match choice {
            0..=3 => self.delete(row),
            4..=8 => self.go_on(row),
            9 | 10 => self.rename(row),
            11..=13 => self.attach_or_detach(row),
            14..=17 if !row.workspace.is_empty() => self.shift(row),
            _ => self.put_away(row),
        }
    }

    fn create(&mut self) -> What {
        let id = format!("sess-{:016x}", self.draw.number());
        let number = self.draw.below(self.workspaces.len() + 1);
        let is_bound = self.draw.one_in(2);
        let home = self.workspaces.get(number).cloned();
        let workspace = home.as_ref().map_or(String::new(), |(id, _)| id.clone());
        let cwd = match &home {
            Some((_, root)) => root.clone(),
            // In no workspace.
            None => self.workspaces[0].1.parent().unwrap().to_owned(),
        };
        self.homes.insert(id.clone(), workspace.clone());
        let request = CreateSessionRequest {
            id: id.clone(),
            workspace: home.map(|(id, _)| by_id(id)),
            cwd: Some(utf8(&cwd)),
            agent: Some("general".to_owned()),
            bind: is_bound.then(binding),
            request_id: request_id(),
            ..Default::default()
        };
        What::Create {
            id,
            workspace,
            is_bound,
            request: Box::new(request),
        }
    }

    /// From binding to the end and back.
    fn go_on(&mut self, row: SessionRow) -> What {
        let SessionRow { id, .. } = row;
        match (row.state, self.leases.get(&id).cloned()) {
            (SessionState::Stopped, _) if row.is_archived => unarchive(id),
            (SessionState::Stopped, _) => What::Resume {
                request: ResumeSessionRequest {
                    session_id: id.clone(),
                    request_id: request_id(),
                    ..Default::default()
                },
                id,
            },
            (_, Some(lease)) if self.draw.one_in(2) => What::Finish {
                request: FinishSessionRequest {
                    lease,
                    cause: StopCause::Completed.into(),
                    request_id: request_id(),
                    ..Default::default()
                },
                id,
            },
            (SessionState::Stopping, _) => bind(id),
            _ if self.draw.one_in(2) => bind(id),
            _ => What::Stop {
                request: StopSessionRequest {
                    session_id: id.clone(),
                    cause: StopCause::User.into(),
                    request_id: request_id(),
                    ..Default::default()
                },
                id,
            },
        }
    }

    fn rename(&mut self, row: SessionRow) -> What {
        let name = format!("name {}", self.draw.below(1_000_000));
        What::Rename {
            request: RenameSessionRequest {
                session_id: row.id.clone(),
                name: name.clone(),
                request_id: request_id(),
                ..Default::default()
            },
            id: row.id,
            name,
        }
    }

    fn attach_or_detach(&mut self, row: SessionRow) -> What {
        let home = self.homes[&row.id].clone();
        if row.workspace.is_empty() && !home.is_empty() {
            return What::Attach {
                request: AttachSessionRequest {
                    workspace: Some(by_id(&home)),
                    session_id: row.id.clone(),
                    request_id: request_id(),
                },
                id: row.id,
                workspace: home,
            };
        }
        What::Detach {
            request: DetachSessionRequest {
                session_id: row.id.clone(),
                request_id: request_id(),
                ..Default::default()
            },
            id: row.id,
        }
    }

    fn shift(&mut self, row: SessionRow) -> What {
        let account = &self.held.accounts[&row.workspace];
        let before = self.draw.choose(account).cloned();
        let before = before.filter(|_| !self.draw.one_in(3)).unwrap_or_default();
        What::Move {
            request: MoveSessionRequest {
                session_id: row.id.clone(),
                before_session_id: before.clone(),
                request_id: request_id(),
            },
            id: row.id,
            before,
        }
    }

    fn put_away(&mut self, row: SessionRow) -> What {
        if row.state != SessionState::Stopped {
            return self.rename(row);
        }
        if row.is_archived {
            return unarchive(row.id);
        }
        What::Archive {
            request: ArchiveSessionRequest {
                session_id: row.id.clone(),
                request_id: request_id(),
                ..Default::default()
            },
            id: row.id,
        }
    }

    fn delete(&mut self, row: SessionRow) -> What {
        What::Delete {
            request: DeleteSessionRequest {
                session_id: row.id.clone(),
                force: true,
                request_id: request_id(),
                ..Default::default()
            },
            id: row.id,
        }
    }
}

fn binding() -> RuntimeBinding {
    RuntimeBinding {
        holder: HOLDER.to_owned(),
        ttl: Some(TTL),
    }
}

fn bind(id: String) -> What {
    What::Bind {
        request: BindRuntimeRequest {
            session_id: id.clone(),
            binding: Some(binding()),
            request_id: request_id(),
        },
        id,
    }
}

fn unarchive(id: String) -> What {
    What::Unarchive {
        request: UnarchiveSessionRequest {
            session_id: id.clone(),
            request_id: request_id(),
            ..Default::default()
        },
        id,
    }
}
