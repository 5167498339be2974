//! What writers do with sessions: each only with those that it made, so that it knows what a write changes, but anybody
//! may remove the workspace of any of them. A session's directory is a link that its writer lets lead elsewhere.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use compozy_e2e::{by_id, utf8};
use compozy_proto::session::v1::{
    AcquireAttachLeaseRequest, ArchiveSessionRequest, CreateSessionRequest, DeleteSessionRequest,
    FinishSessionRequest, HeartbeatRequest, RenameSessionRequest, ResumeSessionRequest, RuntimeBinding,
    Session, StopCause, StopSessionRequest, UnarchiveSessionRequest, UpdateSessionRequest, WaitingFor,
    WaitingReason,
};
use compozy_proto::workspace::v1::{AttachSessionRequest, DetachSessionRequest, MoveSessionRequest};

use crate::entry::Record;
use crate::history::Action;
use crate::settling::{Asked, Told};
use crate::traffic::Writer;

/// Longer than any lap: nothing happens to a lease by itself.
const TTL: prost_types::Duration = prost_types::Duration {
    seconds: 3_600,
    nanos: 0,
};
/// Sessions of one writer, about.
const SESSIONS: usize = 6;

/// A session of a writer's own.
#[derive(Debug, Clone)]
pub(crate) struct OwnSession {
    id: String,
    /// Its directory.
    link: PathBuf,
    lease: Option<String>,
    is_active: bool,
    is_over: bool,
    is_archived: bool,
    is_entered: bool,
    waits: bool,
}

impl Writer {
    pub(crate) async fn write_session(&mut self) {
        let few = self.own_sessions.len() < SESSIONS;
        if self.own_sessions.is_empty() || (few && self.draw.one_in(4)) {
            return self.create_session().await;
        }
        let number = self.draw.below(self.own_sessions.len());
        let own = self.own_sessions.swap_remove(number);
        let kept = match self.draw.below(24) {
            0..=2 => self.rename_session(own).await,
            3..=5 => self.label_session(own).await,
            6..=8 => self.beat(own).await,
            9 | 10 => self.end_or_resume(own).await,
            11 => self.archive_or_unarchive_session(own).await,
            12 => self.enter(own).await,
            13 if !few => self.delete_session(own).await,
            14..=16 => self.attach(own).await,
            17 | 18 => self.detach(own).await,
            _ => self.move_session(own).await,
        };
        self.own_sessions.extend(kept);
    }

    async fn create_session(&mut self) {
        let link = self.fresh("link", ' ');
        let link = self.folder.join(link);
        let workspace = (!self.draw.one_in(4)).then(|| self.own_workspace()).flatten();
        let target = workspace
            .as_ref()
            .map_or_else(|| self.folder.clone(), |(_, root)| root.clone());
        symlink(target, &link).unwrap();
        let bind = self.draw.one_in(2).then(|| RuntimeBinding {
            holder: "runtime".to_owned(),
            ttl: Some(TTL),
        });
        let is_bound = bind.is_some();
        let request = CreateSessionRequest {
            workspace: workspace.map(|(id, _)| by_id(id)),
            cwd: Some(utf8(&link)),
            agent: Some("general".to_owned()),
            bind,
            ..Default::default()
        };
        let client = self.client();
        let asked = Asked::now(Action::CreateSession, Record::Session(String::new()));
        let mut lease = None;
        let answer = client.create_session(request).await.map(|answer| {
            lease = answer.lease.map(|lease| lease.token);
            told_of(answer.session, answer.revision)
        });
        if let Some(Record::Session(id)) = self.settle(asked, answer).await
            // Without its lease nobody knows what becomes of it: the answer was a repeated one.
            && lease.is_some() == is_bound
        {
            self.own_sessions.push(OwnSession {
                id,
                link,
                lease,
                is_active: true,
                is_over: false,
                is_archived: false,
                is_entered: false,
                waits: false,
            });
        }
    }

    async fn rename_session(&mut self, own: OwnSession) -> Option<OwnSession> {
        let request = RenameSessionRequest {
            session_id: own.id.clone(),
            name: self.fresh("s", ' '),
            ..Default::default()
        };
        let client = self.client();
        let asked = asked(Action::RenameSession, &own);
        let answer = client.rename_session(request).await;
        let answer = answer.map(|answer| told_of(answer.session, answer.revision));
        self.settle(asked, answer).await.map(|_| own)
    }

    async fn label_session(&mut self, own: OwnSession) -> Option<OwnSession> {
        let labels = BTreeMap::from([("label".to_owned(), self.fresh("l", ' '))]);
        let request = UpdateSessionRequest {
            session_id: own.id.clone(),
            session: Some(Session {
                labels,
                ..Default::default()
            }),
            update_mask: Some(prost_types::FieldMask {
                paths: vec!["labels".to_owned()],
            }),
            ..Default::default()
        };
        let client = self.client();
        let asked = asked(Action::LabelSession, &own);
        let answer = client.update_session(request).await;
        let answer = answer.map(|answer| told_of(answer.session, answer.revision));
        self.settle(asked, answer).await.map(|_| own)
    }

    /// The runtime begins to wait for something, or no longer does.
    async fn beat(&mut self, mut own: OwnSession) -> Option<OwnSession> {
        let Some(lease) = own.lease.clone() else {
            return Some(own);
        };
        own.waits = !own.waits;
        let reasons = own.waits.then_some(WaitingReason::Input.into());
        let request = HeartbeatRequest {
            lease,
            waiting_for: Some(WaitingFor {
                reasons: reasons.into_iter().collect(),
            }),
            ..Default::default()
        };
        let client = self.client();
        let asked = asked(Action::Beat, &own);
        let answer = client.heartbeat(request).await.map(|_| Told {
            record: Record::Session(own.id.clone()),
            version: 0,
            wrote: None,
            revision: String::new(),
        });
        self.settle(asked, answer).await.map(|_| own)
    }

    async fn end_or_resume(&mut self, own: OwnSession) -> Option<OwnSession> {
        if own.is_archived {
            return Some(own);
        }
        if own.is_over {
            return self.resume(own).await;
        }
        match own.lease.clone() {
            None => self.stop(own, true).await,
            Some(lease) => {
                let own = if self.draw.one_in(2) {
                    self.stop(own, false).await?
                } else {
                    own
                };
                self.finish(own, lease).await
            }
        }
    }

    async fn stop(&mut self, mut own: OwnSession, is_over: bool) -> Option<OwnSession> {
        let request = StopSessionRequest {
            session_id: own.id.clone(),
            cause: StopCause::User.into(),
            ..Default::default()
        };
        let client = self.client();
        let asked = asked(Action::ChangeState, &own);
        let answer = client.stop_session(request).await;
        let answer = answer.map(|answer| told_of(answer.session, answer.revision));
        self.settle(asked, answer).await?;
        own.is_active = false;
        own.is_over = is_over;
        Some(own)
    }

    async fn finish(&mut self, mut own: OwnSession, lease: String) -> Option<OwnSession> {
        let request = FinishSessionRequest {
            lease,
            cause: StopCause::Completed.into(),
            ..Default::default()
        };
        let client = self.client();
        let asked = asked(Action::ChangeState, &own);
        let answer = client.finish_session(request).await;
        let answer = answer.map(|answer| told_of(answer.session, answer.revision));
        self.settle(asked, answer).await?;
        own.lease = None;
        own.waits = false;
        own.is_active = false;
        own.is_over = true;
        Some(own)
    }

    async fn resume(&mut self, mut own: OwnSession) -> Option<OwnSession> {
        let request = ResumeSessionRequest {
            session_id: own.id.clone(),
            ..Default::default()
        };
        let client = self.client();
        let asked = asked(Action::ChangeState, &own);
        let answer = client.resume_session(request).await;
        let answer = answer.map(|answer| told_of(answer.session, answer.revision));
        self.settle(asked, answer).await?;
        own.is_over = false;
        own.is_entered = false;
        Some(own)
    }

    async fn archive_or_unarchive_session(&mut self, mut own: OwnSession) -> Option<OwnSession> {
        if !own.is_over {
            return Some(own);
        }
        let client = self.client();
        let session_id = own.id.clone();
        let (asked, answer) = if own.is_archived {
            let asked = asked(Action::UnarchiveSession, &own);
            let request = UnarchiveSessionRequest {
                session_id,
                ..Default::default()
            };
            let answer = client.unarchive_session(request).await;
            (
                asked,
                answer.map(|answer| told_of(answer.session, answer.revision)),
            )
        } else {
            let asked = asked(Action::ArchiveSession, &own);
            let request = ArchiveSessionRequest {
                session_id,
                ..Default::default()
            };
            let answer = client.archive_session(request).await;
            (
                asked,
                answer.map(|answer| told_of(answer.session, answer.revision)),
            )
        };
        self.settle(asked, answer).await?;
        own.is_archived = !own.is_archived;
        Some(own)
    }

    /// An operator enters it, once in its life.
    async fn enter(&mut self, mut own: OwnSession) -> Option<OwnSession> {
        if !own.is_active || own.is_entered {
            return Some(own);
        }
        let request = AcquireAttachLeaseRequest {
            session_id: own.id.clone(),
            holder: "operator".to_owned(),
            ttl: Some(TTL),
            ..Default::default()
        };
        let client = self.client();
        let asked = asked(Action::Enter, &own);
        let answer = client.acquire_attach_lease(request).await;
        let answer = answer.map(|answer| told_of(answer.session, answer.revision));
        self.settle(asked, answer).await?;
        own.is_entered = true;
        Some(own)
    }

    async fn delete_session(&mut self, own: OwnSession) -> Option<OwnSession> {
        let request = DeleteSessionRequest {
            session_id: own.id.clone(),
            force: true,
            ..Default::default()
        };
        let client = self.client();
        let asked = asked(Action::DeleteSession, &own);
        let answer = client.delete_session(request).await;
        let answer = answer.map(|answer| Told::written(Record::Session(answer.id), 0, answer.revision));
        self.settle(asked, answer).await;
        None
    }

    async fn attach(&mut self, own: OwnSession) -> Option<OwnSession> {
        let Some((workspace, root)) = self.own_workspace() else {
            return Some(own);
        };
        lead(&own.link, &root);
        let request = AttachSessionRequest {
            workspace: Some(by_id(workspace)),
            session_id: own.id.clone(),
            ..Default::default()
        };
        let client = self.client();
        let asked = asked(Action::Attach, &own);
        let answer = client.attach_session(request).await;
        let answer = answer.map(|answer| told_without_version(&own, answer.attached, answer.revision));
        self.settle(asked, answer).await.map(|_| own)
    }

    async fn detach(&mut self, own: OwnSession) -> Option<OwnSession> {
        let request = DetachSessionRequest {
            session_id: own.id.clone(),
            ..Default::default()
        };
        let client = self.client();
        let asked = asked(Action::Detach, &own);
        let answer = client.detach_session(request).await;
        let answer = answer.map(|answer| told_without_version(&own, answer.detached, answer.revision));
        self.settle(asked, answer).await.map(|_| own)
    }

    async fn move_session(&mut self, own: OwnSession) -> Option<OwnSession> {
        let anchor = self
            .draw
            .choose(&self.own_sessions)
            .map(|anchor| anchor.id.clone());
        let request = MoveSessionRequest {
            session_id: own.id.clone(),
            before_session_id: anchor.unwrap_or_default(),
            ..Default::default()
        };
        let client = self.client();
        let asked = asked(Action::MoveSession, &own);
        let answer = client.move_session(request).await;
        let answer = answer.map(|answer| told_without_version(&own, answer.moved, answer.revision));
        self.settle(asked, answer).await.map(|_| own)
    }

    /// A registration of its own: nobody else moves its directory.
    fn own_workspace(&mut self) -> Option<(String, PathBuf)> {
        self.draw.choose(&self.own).cloned()
    }
}

/// Lets a link lead elsewhere, in one step.
fn lead(link: &Path, target: &Path) {
    let beside = link.with_extension("new");
    symlink(target, &beside).unwrap();
    fs::rename(beside, link).unwrap();
}

fn asked(action: Action, own: &OwnSession) -> Asked {
    Asked::now(action, Record::Session(own.id.clone()))
}

fn told_of(session: Option<Session>, revision: String) -> Told {
    let session = session.unwrap();
    Told::written(Record::Session(session.id), session.version, revision)
}

fn told_without_version(own: &OwnSession, wrote: bool, revision: String) -> Told {
    Told {
        record: Record::Session(own.id.clone()),
        version: 0,
        wrote: Some(wrote),
        revision,
    }
}
