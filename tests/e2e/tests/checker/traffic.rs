//! Writers: each does one write at a time, on directories of its own or on anybody's workspaces, through whichever
//! server it likes, and writes down what it was told.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use compozy_client::{Client, Code, Error, ErrorKind};
use compozy_e2e::{Draw, by_id, utf8};
use compozy_proto::workspace::v1::{
    MoveWorkspaceRequest, RegisterWorkspaceRequest, RelinkWorkspaceRequest, RemoveWorkspaceRequest,
    UpdateWorkspaceRequest, Workspace,
};
use tokio::sync::watch;

use crate::board::{Answer, Board, Known, Phase};
use crate::history::{Action, Outcome, Write};

/// Of a call with its repetitions.
const DEADLINE: Duration = Duration::from_secs(8);
/// Until a server that did not answer is asked again.
const AFTER_A_FAILURE: Duration = Duration::from_millis(30);

/// One writer.
#[derive(Debug)]
pub(crate) struct Writer {
    number: usize,
    draw: Draw,
    /// One for each server.
    clients: Vec<Client>,
    board: Arc<Board>,
    /// Where its directories are.
    folder: PathBuf,
    /// Registrations of its own: id and root. Nobody else moves their directories.
    own: Vec<(String, PathBuf)>,
    manners: Manners,
    made_count: usize,
    writes: Vec<Write>,
}

/// How the writers of a lap write.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manners {
    /// Workspaces that there are, about.
    pub(crate) workspaces: usize,
    /// Longest pause between two writes.
    pub(crate) pause: Duration,
}

/// What came back from a call: id and version of the record, 0 where the answer has none, whether anything was
/// written, and a revision.
type Answered = (String, i64, bool, String);

impl Writer {
    pub(crate) fn new(
        number: usize,
        draw: Draw,
        clients: Vec<Client>,
        board: Arc<Board>,
        folder: PathBuf,
        manners: Manners,
    ) -> Self {
        let clients = clients
            .into_iter()
            .map(|client| client.with_deadline(DEADLINE))
            .collect();
        Self {
            number,
            draw,
            clients,
            board,
            folder,
            own: Vec::new(),
            manners,
            made_count: 0,
            writes: Vec::new(),
        }
    }

    /// Writes until it is to be quiet.
    pub(crate) async fn run(mut self, phase: watch::Receiver<Phase>) -> Vec<Write> {
        while *phase.borrow() == Phase::Traffic {
            self.write().await;
            let share = self.draw.below(1_000) as f64 / 1_000.0;
            tokio::time::sleep(self.manners.pause.mul_f64(share)).await;
        }
        self.writes
    }

    async fn write(&mut self) {
        let few = self.board.count() < self.manners.workspaces;
        let known = self.board.choose(&mut self.draw);
        let (Some(known), false) = (known, few && self.draw.one_in(2)) else {
            return self.register().await;
        };
        match self.draw.below(20) {
            0 | 1 => self.register().await,
            2 if !few => self.remove(known).await,
            3 | 4 => self.rename(known).await,
            5 => self.relink().await,
            6..=9 => self.shift(known).await,
            _ => self.retitle(known).await,
        }
    }

    fn client(&mut self) -> Client {
        let server = self.draw.below(self.clients.len());
        self.clients[server].clone()
    }

    /// A text that nobody wrote before.
    fn fresh(&mut self, what: &str) -> String {
        self.made_count += 1;
        format!("{what} {} {}", self.number, self.made_count)
    }

    async fn register(&mut self) {
        let name = self.fresh("w");
        let root = self.folder.join(&name);
        fs::create_dir_all(&root).unwrap();
        let request = RegisterWorkspaceRequest {
            path: utf8(&root),
            name: Some(name.clone()),
            ..Default::default()
        };
        let client = self.client();
        let begun = Instant::now();
        let answer = client.register_workspace(request).await;
        let answer = answer.map(|answer| {
            let workspace = answer.workspace.unwrap();
            (workspace.id, workspace.version, answer.created, answer.revision)
        });
        if let Some(id) = self.settle(Action::Register, String::new(), begun, answer).await {
            self.own.push((id.clone(), root));
            self.board.add(Known { id, name });
        }
    }

    async fn retitle(&mut self, known: Known) {
        let title = Some(self.fresh("title"));
        let workspace = Workspace {
            title,
            ..Default::default()
        };
        self.update(Action::Retitle, known.id, workspace).await;
    }

    async fn rename(&mut self, known: Known) {
        let name = self.fresh("n");
        let workspace = Workspace {
            name: Some(name.clone()),
            ..Default::default()
        };
        if let Some(id) = self.update(Action::Rename, known.id, workspace).await {
            self.board.rename(&id, &name);
        }
    }

    async fn update(&mut self, action: Action, id: String, workspace: Workspace) -> Option<String> {
        let request = UpdateWorkspaceRequest {
            r#ref: Some(by_id(&id)),
            workspace: Some(workspace),
            ..Default::default()
        };
        let client = self.client();
        let begun = Instant::now();
        let answer = client.update_workspace(request).await;
        let answer = answer.map(|answer| {
            let workspace = answer.workspace.unwrap();
            (workspace.id, workspace.version, true, answer.revision)
        });
        self.settle(action, id, begun, answer).await
    }

    async fn shift(&mut self, known: Known) {
        let before = self
            .board
            .choose(&mut self.draw)
            .filter(|anchor| anchor.id != known.id);
        let request = MoveWorkspaceRequest {
            r#ref: Some(by_id(&known.id)),
            before: before.map(|anchor| by_id(anchor.id)),
            ..Default::default()
        };
        let client = self.client();
        let begun = Instant::now();
        let answer = client.move_workspace(request).await;
        let answer = answer.map(|answer| (known.id.clone(), 0, answer.moved, answer.revision));
        self.settle(Action::Move, known.id, begun, answer).await;
    }

    async fn remove(&mut self, known: Known) {
        self.board.remove(&known.id);
        let request = RemoveWorkspaceRequest {
            r#ref: Some(by_id(&known.id)),
            ..Default::default()
        };
        let client = self.client();
        let begun = Instant::now();
        let answer = client.remove_workspace(request).await;
        let answer = answer.map(|answer| (answer.id, 0, true, answer.revision));
        self.settle(Action::Remove, known.id, begun, answer).await;
    }

    /// Moves a directory of its own and says so.
    async fn relink(&mut self) {
        let Some(index) = (!self.own.is_empty()).then(|| self.draw.below(self.own.len())) else {
            return;
        };
        let (id, from) = self.own.swap_remove(index);
        let name = self.fresh("moved");
        let to = self.folder.join(name);
        fs::rename(&from, &to).unwrap();
        let request = RelinkWorkspaceRequest {
            r#ref: Some(by_id(&id)),
            path: utf8(&to),
            ..Default::default()
        };
        let client = self.client();
        let begun = Instant::now();
        let answer = client.relink_workspace(request).await;
        let answer = answer.map(|answer| {
            let workspace = answer.workspace.unwrap();
            let wrote = answer.relinked_from.is_some();
            (workspace.id, workspace.version, wrote, answer.revision)
        });
        if self
            .settle(Action::Relink, id.clone(), begun, answer)
            .await
            .is_some()
        {
            self.own.push((id, to));
        }
    }

    /// Writes down how a write ended, and answers the id of the record if it was carried out.
    async fn settle(
        &mut self,
        action: Action,
        workspace: String,
        begun: Instant,
        answer: Result<Answered, Error>,
    ) -> Option<String> {
        let ended = Instant::now();
        let (workspace, outcome, id) = match answer {
            Ok((id, version, wrote, revision)) => {
                if version > 0 && wrote {
                    self.board.remember(Answer {
                        workspace: id.clone(),
                        version,
                        revision,
                    });
                }
                let answered = Outcome::Answered {
                    ended,
                    version,
                    wrote,
                };
                (id.clone(), answered, Some(id))
            }
            Err(error) if is_refusal(&error) => {
                assert!(is_expected(action, &error), "{action:?}: {error:?}");
                (workspace, Outcome::Refused, None)
            }
            Err(_) => {
                tokio::time::sleep(AFTER_A_FAILURE).await;
                (workspace, Outcome::Unknown, None)
            }
        };
        self.writes.push(Write {
            action,
            workspace,
            begun,
            outcome,
        });
        id
    }
}

/// Whether nothing can have been written. An answer that may come of an earlier attempt leaves that open.
fn is_refusal(error: &Error) -> bool {
    error.kind() == ErrorKind::Answer
        && !matches!(
            error.code(),
            Code::Unavailable
                | Code::DeadlineExceeded
                | Code::ResourceExhausted
                | Code::Cancelled
                | Code::Aborted
        )
}

/// Somebody else may have removed what a write is about; nothing else may go wrong.
fn is_expected(action: Action, error: &Error) -> bool {
    action != Action::Register && error.reason_name() == "WORKSPACE_NOT_FOUND"
}
