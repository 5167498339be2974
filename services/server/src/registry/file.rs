//! Identity files under an intent: an intent row is written before a file is made or changed, and ends in the
//! transaction that writes the registration. Whatever fails in between undoes exactly what was made.

use std::sync::PoisonError;

use compozy_domain::id::new_ulid;
use compozy_domain::{CatalogError, DurableId, IdentityFault};
use compozy_resolver::files::Kind;
use compozy_resolver::identity::{self, Found};
use compozy_resolver::{ContentHash, Directory, Files, Identity, RelativePath};
use compozy_store::{Intent, IntentId, IntentWork};

use super::{Caller, Registry, Reply, within};

/// A file that was made or changed, and whose row is not written yet.
#[derive(Debug)]
pub(super) struct Pending {
    intent: Intent,
    root: Directory,
    /// The file as it is now.
    pub(super) found: Found,
}

impl Pending {
    /// The intent that the row's transaction ends.
    pub(super) fn intent_id(&self) -> IntentId {
        self.intent.id.clone()
    }
}

impl Registry {
    /// Makes the identity file of a root. `None` if somebody else made one first.
    pub(super) async fn create_identity(
        &self,
        caller: &Caller,
        root: &Directory,
        identity: Identity,
    ) -> Result<Option<Pending>, CatalogError> {
        let looked_at = root.clone();
        let has_directory = self
            .look(caller.deadline, move |files| {
                identity::has_directory(files, &looked_at)
            })
            .await?;
        let work = IntentWork::CreateIdentity {
            root_dir: root.path.clone(),
            content: *ContentHash::of(&identity::encode(&identity)).as_bytes(),
            makes_directory: !has_directory?,
        };
        let intent = self.begin(caller, work).await?;
        let made_in = root.clone();
        let created = self
            .touch(move |files| identity::create(files, &made_in, &identity))
            .await;
        match created {
            Ok(Ok(created)) if created.made_file => Ok(Some(Pending {
                intent,
                root: root.clone(),
                found: created.found,
            })),
            Ok(Ok(_)) => {
                self.end(intent).await;
                Ok(None)
            }
            // A failed creation has undone itself.
            Ok(Err(error)) => {
                self.end(intent).await;
                Err(error)
            }
            Err(error) => {
                self.leave_unfinished(intent);
                Err(error)
            }
        }
    }

    /// Writes an id of its own into the identity file of a copy.
    pub(super) async fn fork_identity(
        &self,
        caller: &Caller,
        root: &Directory,
        old: &Found,
        durable_id: &DurableId,
    ) -> Result<Pending, CatalogError> {
        let origin = &old.identity.durable_id;
        let new = identity::with_durable_id(&old.bytes, durable_id, Some(origin));
        let new = new.map_err(|problem| CatalogError::Defect {
            detail: format!("a valid identity file could not be forked: {}", problem.problem),
        })?;
        let identity = Identity {
            durable_id: durable_id.clone(),
            forked_from: Some(origin.clone()),
            ..old.identity.clone()
        };
        let work = IntentWork::ReplaceIdentity {
            root_dir: root.path.clone(),
            content: *ContentHash::of(&new).as_bytes(),
            previous: old.bytes.clone(),
        };
        let intent = self.begin(caller, work).await?;
        let (made_in, previous, bytes) = (root.clone(), old.bytes.clone(), new.clone());
        let replaced = self
            .touch(move |files| identity::replace(files, &made_in, &previous, &bytes))
            .await;
        match replaced {
            Ok(Ok(())) => Ok(Pending {
                intent,
                root: root.clone(),
                found: Found { identity, bytes: new },
            }),
            Ok(Err(error)) => {
                self.end(intent).await;
                Err(error)
            }
            Err(error) => {
                self.leave_unfinished(intent);
                Err(error)
            }
        }
    }

    /// What becomes of a file once the store has answered the write of its row: it stays, it is undone, or, when
    /// nobody knows whether the row was written, recovery finds out.
    pub(super) async fn settle<O>(&self, pending: Option<Pending>, reply: &Result<Reply<O>, CatalogError>) {
        let Some(Pending {
            intent,
            root,
            found: _,
        }) = pending
        else {
            return;
        };
        match reply {
            Ok(Reply::Fresh(_)) => {}
            Err(
                CatalogError::StoreUnavailable {
                    outcome_unknown: true,
                }
                | CatalogError::Defect { .. },
            ) => {
                self.leave_unfinished(intent);
            }
            Ok(Reply::Remembered(_)) | Err(_) => self.undo(intent, root).await,
        }
    }

    async fn undo(&self, intent: Intent, root: Directory) {
        let work = intent.work.clone();
        match self.touch(move |files| undo_work(files, &root, &work)).await {
            Ok(Ok(())) => self.end(intent).await,
            Ok(Err(error)) | Err(error) => {
                tracing::warn!(%error, intent = intent.id.0, "an identity file could not be undone yet");
                self.leave_unfinished(intent);
            }
        }
    }

    /// Checks, without writing, what can be checked before an identity file is made.
    pub(super) async fn check_creatable(
        &self,
        caller: &Caller,
        root: &Directory,
    ) -> Result<(), CatalogError> {
        let looked_at = root.clone();
        let directory = RelativePath::parse(".compozy").expect("a plain name");
        let kind = self
            .look(caller.deadline, move |files| {
                files.kind_below(&looked_at, &directory)
            })
            .await?;
        if matches!(kind, Ok(None | Some(Kind::Directory))) {
            return Ok(());
        }
        Err(CatalogError::Identity {
            path: identity::file_path(&root.path),
            fault: IdentityFault::Unwritable {
                problem: "'.compozy' is no directory".to_owned(),
            },
            remedy: "make '.compozy' a directory that the daemon's user can write to".to_owned(),
        })
    }

    pub(super) async fn begin(&self, caller: &Caller, work: IntentWork) -> Result<Intent, CatalogError> {
        let now = self.now();
        let intent = Intent {
            id: IntentId(new_ulid(now, self.random.as_ref())?),
            host_id: self.host.clone(),
            owner: self.owner.clone(),
            work,
        };
        match within(caller.deadline, self.store.begin_intent(&intent, now)).await {
            Ok(()) => Ok(intent),
            Err(error) => {
                // It may have been written all the same; nothing was made under it.
                self.leave_unfinished(intent);
                Err(error)
            }
        }
    }

    /// Deletes an intent. If that fails it stays, and recovery finds nothing left to undo.
    pub(super) async fn end(&self, intent: Intent) {
        if let Err(error) = self.store.end_intent(&intent.id).await {
            tracing::warn!(%error, intent = intent.id.0, "a finished intent could not be deleted yet");
            self.leave_unfinished(intent);
        }
    }

    /// Keeps an intent of this process for recovery, which would take its owner for alive.
    pub(super) fn leave_unfinished(&self, intent: Intent) {
        self.unfinished
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(intent);
    }
}

/// Undoes what an intent made, if the file still is what the intent wrote.
pub(super) fn undo_work(files: &dyn Files, root: &Directory, work: &IntentWork) -> Result<(), CatalogError> {
    match work {
        IntentWork::CreateIdentity {
            content,
            makes_directory,
            ..
        } => {
            let content = ContentHash::from_bytes(*content);
            identity::undo_create(files, root, &content, *makes_directory).map(|_| ())
        }
        IntentWork::TakenOver { content, .. } => {
            identity::sweep(files, root, &ContentHash::from_bytes(*content))
        }
        IntentWork::ReplaceIdentity {
            content, previous, ..
        } => {
            let content = ContentHash::from_bytes(*content);
            identity::undo_replace(files, root, &content, previous).map(|_| ())
        }
        // No work on the files of a root: `Registry::recover_rename`.
        IntentWork::RenameProfile { .. } => Ok(()),
    }
}
