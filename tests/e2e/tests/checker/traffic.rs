//! Writers: each does one write at a time, on directories of its own or on anybody's workspaces, through whichever
//! server it likes, and writes down what it was told.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use compozy_client::Client;
use compozy_e2e::{Draw, by_id, utf8};
use compozy_proto::workspace::v1::{
    LiveSessions, MoveWorkspaceRequest, RegisterWorkspaceRequest, RelinkWorkspaceRequest,
    RemoveWorkspaceRequest, RemovedSessions, UpdateWorkspaceRequest, Workspace,
};
use tokio::sync::watch;

use crate::board::{Board, Known, Phase};
use crate::entry::Record;
use crate::history::{Action, Write};
use crate::profile_traffic::OwnProfile;
use crate::session_traffic::OwnSession;
use crate::settling::{Asked, Told};

/// Of a call with its repetitions.
const DEADLINE: Duration = Duration::from_secs(8);

/// One writer.
#[derive(Debug)]
pub(crate) struct Writer {
    number: usize,
    pub(crate) draw: Draw,
    /// One for each server.
    clients: Vec<Client>,
    pub(crate) board: Arc<Board>,
    /// Where its directories are.
    pub(crate) folder: PathBuf,
    /// Registrations of its own: id and root. Nobody else moves their directories.
    pub(crate) own: Vec<(String, PathBuf)>,
    /// Sessions of its own: nobody else writes to them, but their workspaces may be removed.
    pub(crate) own_sessions: Vec<OwnSession>,
    /// Profiles of its own: nobody else gives them a name or archives them.
    pub(crate) own_profiles: Vec<OwnProfile>,
    pub(crate) manners: Manners,
    made_count: usize,
    pub(crate) writes: Vec<Write>,
}

/// How the writers of a lap write.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manners {
    /// Workspaces that there are, about.
    pub(crate) workspaces: usize,
    /// Profiles that there are, about.
    pub(crate) profiles: usize,
    /// Longest pause between two writes.
    pub(crate) pause: Duration,
}

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
            own_sessions: Vec::new(),
            own_profiles: Vec::new(),
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
        if self.draw.one_in(4) {
            return self.write_profile().await;
        }
        if self.draw.one_in(3) {
            return self.write_session().await;
        }
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

    pub(crate) fn client(&mut self) -> Client {
        let server = self.draw.below(self.clients.len());
        self.clients[server].clone()
    }

    /// A text that nobody wrote before: letters and digits, with a separator.
    pub(crate) fn fresh(&mut self, what: &str, separator: char) -> String {
        self.made_count += 1;
        format!("{what}{separator}{}{separator}{}", self.number, self.made_count)
    }

    async fn register(&mut self) {
        let name = self.fresh("w", ' ');
        let root = self.folder.join(&name);
        fs::create_dir_all(&root).unwrap();
        let request = RegisterWorkspaceRequest {
            path: utf8(&root),
            name: Some(name.clone()),
            ..Default::default()
        };
        let client = self.client();
        let asked = Asked::now(Action::Register, Record::Workspace(String::new()));
        let answer = client.register_workspace(request).await;
        let answer = answer.map(|answer| {
            let told = told_of(answer.workspace, answer.revision);
            Told {
                wrote: Some(answer.created),
                ..told
            }
        });
        if let Some(Record::Workspace(id)) = self.settle(asked, answer).await {
            self.own.push((id.clone(), root));
            self.board.add(Known { id, name });
        }
    }

    async fn retitle(&mut self, known: Known) {
        let title = Some(self.fresh("title", ' '));
        let workspace = Workspace {
            title,
            ..Default::default()
        };
        self.update(Action::Retitle, known.id, workspace).await;
    }

    async fn rename(&mut self, known: Known) {
        let name = self.fresh("n", ' ');
        let workspace = Workspace {
            name: Some(name.clone()),
            ..Default::default()
        };
        let id = known.id.clone();
        if self.update(Action::Rename, known.id, workspace).await.is_some() {
            self.board.rename(&id, &name);
        }
    }

    async fn update(&mut self, action: Action, id: String, workspace: Workspace) -> Option<Record> {
        let request = UpdateWorkspaceRequest {
            r#ref: Some(by_id(&id)),
            workspace: Some(workspace),
            ..Default::default()
        };
        let client = self.client();
        let asked = Asked::now(action, Record::Workspace(id));
        let answer = client.update_workspace(request).await;
        let answer = answer.map(|answer| told_of(answer.workspace, answer.revision));
        self.settle(asked, answer).await
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
        let asked = Asked::now(Action::Move, Record::Workspace(known.id));
        let answer = client.move_workspace(request).await;
        let answer = answer.map(|answer| Told {
            record: asked.record.clone(),
            version: 0,
            wrote: Some(answer.moved),
            revision: answer.revision,
        });
        self.settle(asked, answer).await;
    }

    async fn remove(&mut self, known: Known) {
        self.board.remove(&known.id);
        // Live sessions that stay while others go would leave it open what has become of each.
        let deletes = self.draw.one_in(3);
        let request = RemoveWorkspaceRequest {
            r#ref: Some(by_id(&known.id)),
            sessions: if deletes {
                RemovedSessions::Delete
            } else {
                RemovedSessions::Keep
            }
            .into(),
            live: if deletes || self.draw.one_in(2) {
                LiveSessions::Refuse
            } else {
                LiveSessions::Ungroup
            }
            .into(),
            ..Default::default()
        };
        let client = self.client();
        let asked = Asked::now(Action::Remove, Record::Workspace(known.id));
        let answer = client.remove_workspace(request).await;
        let answer = answer.map(|answer| Told::written(Record::Workspace(answer.id), 0, answer.revision));
        self.settle(asked, answer).await;
    }

    /// Moves a directory of its own and says so.
    async fn relink(&mut self) {
        let Some(index) = (!self.own.is_empty()).then(|| self.draw.below(self.own.len())) else {
            return;
        };
        let (id, from) = self.own.swap_remove(index);
        let name = self.fresh("moved", ' ');
        let to = self.folder.join(name);
        fs::rename(&from, &to).unwrap();
        let request = RelinkWorkspaceRequest {
            r#ref: Some(by_id(&id)),
            path: utf8(&to),
            ..Default::default()
        };
        let client = self.client();
        let asked = Asked::now(Action::Relink, Record::Workspace(id.clone()));
        let answer = client.relink_workspace(request).await;
        let answer = answer.map(|answer| {
            let told = told_of(answer.workspace, answer.revision);
            Told {
                wrote: Some(answer.relinked_from.is_some()),
                ..told
            }
        });
        if self.settle(asked, answer).await.is_some() {
            self.own.push((id, to));
        }
    }
}

fn told_of(workspace: Option<Workspace>, revision: String) -> Told {
    let workspace = workspace.unwrap();
    Told::written(Record::Workspace(workspace.id), workspace.version, revision)
}
