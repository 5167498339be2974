//! Recovery: work on files whose owner is gone, or that could not be undone at once, is undone. Only intents of
//! this host are touched; a process that lives renews its own.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use compozy_domain::{CatalogError, Workspace};
use compozy_resolver::files::DirectoryFault;
use compozy_resolver::{ContentHash, Directory, Files, identity};
use compozy_store::{Intent, IntentWork};
use tokio_util::sync::CancellationToken;

use super::file::undo_work;
use super::{Registry, within};

/// Between two rounds. Also how often leases of 60 s are renewed, three times over.
const ROUND: Duration = Duration::from_secs(20);
/// For one intent.
const PATIENCE: Duration = Duration::from_secs(10);

impl Registry {
    /// Renews and recovers until it is told to stop. [`Registry::recover`] has been called once before.
    pub async fn run_recovery(self: Arc<Self>, stop: CancellationToken) {
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(ROUND) => {}
            }
            if let Err(error) = self.renew_and_recover().await {
                tracing::warn!(%error, "unfinished work could not be looked after");
            }
        }
    }

    /// Renews the leases of this process's own intents, and undoes what others left unfinished.
    ///
    /// # Errors
    /// What the store answers.
    pub async fn renew_and_recover(&self) -> Result<(), CatalogError> {
        self.store.renew_intents(&self.owner, self.now()).await?;
        self.recover().await
    }

    /// Undoes all work that was left unfinished. One that can't be undone now stays for the next time.
    ///
    /// # Errors
    /// What the store answers.
    pub async fn recover(&self) -> Result<(), CatalogError> {
        if self.host.is_none() {
            return Ok(());
        }
        let own = std::mem::take(&mut *self.unfinished.lock().unwrap_or_else(PoisonError::into_inner));
        for intent in own {
            if let Err(error) = self.recover_one(&intent).await {
                tracing::warn!(%error, intent = intent.id.0, "unfinished work of this process stays unfinished");
                self.leave_unfinished(intent);
            }
        }
        let abandoned = self
            .store
            .abandoned_intents(&self.host, &self.owner, self.now())
            .await?;
        for intent in abandoned {
            match self.recover_one(&intent).await {
                Ok(true) => tracing::info!(intent = intent.id.0, "work that was cut off was settled"),
                // Another daemon's, on the same disk.
                Ok(false) => {}
                Err(error) => {
                    tracing::warn!(%error, intent = intent.id.0, "work that was cut off stays unfinished");
                }
            }
        }
        Ok(())
    }

    /// Puts the directories of profiles back in place whose renames were cut off, before anybody is answered. Whoever
    /// holds the lock of this home is its only daemon: others that began one here are dead, and no lease need lapse.
    /// Until the row is written, an intent lies at the name that it has.
    ///
    /// # Errors
    /// What the store answers.
    pub async fn recover_renames(&self) -> Result<(), CatalogError> {
        let directories = self.profile_directories();
        for name in self.store.profile_names().await? {
            let left = self
                .store
                .intents_at(&self.host, &directories.path(&name))
                .await?;
            for intent in left {
                let is_rename = matches!(intent.work, IntentWork::RenameProfile { .. });
                if !is_rename || intent.owner == self.owner {
                    continue;
                }
                if let Err(error) = self.recover_one(&intent).await {
                    tracing::warn!(%error, intent = intent.id.0, "a rename that was cut off stays unfinished");
                }
            }
        }
        Ok(())
    }

    /// Settles renames of this process whose outcome is not known yet, before anybody else uses these directories.
    ///
    /// # Errors
    /// Why it is still not known.
    pub(super) async fn settle_renames_of(&self, paths: &[String]) -> Result<(), CatalogError> {
        let is_about = |work: &IntentWork| match work {
            IntentWork::RenameProfile { from, to, .. } => paths.contains(from) || paths.contains(to),
            _ => false,
        };
        let left: Vec<Intent> = {
            let mut all = self.unfinished.lock().unwrap_or_else(PoisonError::into_inner);
            all.extract_if(.., |intent| is_about(&intent.work)).collect()
        };
        let mut failed = None;
        for intent in left {
            if let Err(error) = self.recover_one(&intent).await {
                self.leave_unfinished(intent);
                failed = Some(error);
            }
        }
        failed.map_or(Ok(()), Err)
    }

    /// Answers whether the intent is settled.
    async fn recover_one(&self, intent: &Intent) -> Result<bool, CatalogError> {
        let deadline = Instant::now() + PATIENCE;
        let root_dir = match &intent.work {
            IntentWork::CreateIdentity { root_dir, .. }
            | IntentWork::ReplaceIdentity { root_dir, .. }
            | IntentWork::TakenOver { root_dir, .. } => root_dir,
            IntentWork::RenameProfile { profile_id, from, to } => {
                let is_settled = self.recover_rename(deadline, profile_id, from, to).await?;
                if is_settled {
                    self.store.end_intent(&intent.id).await?;
                }
                return Ok(is_settled);
            }
        };
        let _lock = within(deadline, self.store.lock_path(&self.host, root_dir)).await?;
        if !self.is_held_by_row(deadline, intent, root_dir).await? {
            self.undo_on_disk(deadline, intent, root_dir).await?;
        }
        self.store.end_intent(&intent.id).await?;
        Ok(true)
    }

    /// Whether a registration relies on the file as it is. An intent that is there tells that its own row was not
    /// written, but another registration may have taken the file since.
    async fn is_held_by_row(
        &self,
        deadline: Instant,
        intent: &Intent,
        root_dir: &str,
    ) -> Result<bool, CatalogError> {
        let paths = [root_dir.to_owned()];
        let rows = within(deadline, self.store.find_by_roots(&self.host, &paths, &[])).await?;
        let Some(row) = rows.into_iter().find(|row| row.root_dir == root_dir) else {
            return Ok(false);
        };
        let (root, work) = (root_dir.to_owned(), intent.work.clone());
        self.look(deadline, move |files| holds(files, &root, &work, &row))
            .await
    }

    /// Removes what registrations of this root left half-written when they died, before the directory can be moved
    /// away from under their intents. The caller holds the lock on the path, so none of them is alive.
    pub(super) async fn sweep_after_the_dead(
        &self,
        deadline: Instant,
        root: &Directory,
    ) -> Result<(), CatalogError> {
        let left = within(deadline, self.store.intents_at(&self.host, &root.path)).await?;
        if left.is_empty() {
            return Ok(());
        }
        let root = root.clone();
        self.look(deadline, move |files| {
            for intent in left {
                let (IntentWork::CreateIdentity { content, .. }
                | IntentWork::ReplaceIdentity { content, .. }
                | IntentWork::TakenOver { content, .. }) = intent.work
                else {
                    continue;
                };
                if let Err(error) = identity::sweep(files, &root, &ContentHash::from_bytes(content)) {
                    // Its recovery tries again; the registration does not depend on it.
                    tracing::warn!(%error, intent = intent.id.0, "half-written files could not be swept yet");
                }
            }
        })
        .await
    }

    async fn undo_on_disk(
        &self,
        deadline: Instant,
        intent: &Intent,
        root_dir: &str,
    ) -> Result<(), CatalogError> {
        let (root, work) = (root_dir.to_owned(), intent.work.clone());
        self.look(deadline, move |files| match files.directory(&root) {
            Ok(directory) => undo_work(files, &directory, &work),
            // What was made went with the directory.
            Err(DirectoryFault::NotFound | DirectoryFault::NotDirectory) => Ok(()),
            Err(fault) => Err(fault.into_error("", &root)),
        })
        .await?
    }
}

/// Whether the file is what the work wrote, and the row of its root has taken it. A file with another content is
/// left alone by an undo anyway, which then only takes away what a crash left half-written.
fn holds(files: &dyn Files, root: &str, work: &IntentWork, row: &Workspace) -> bool {
    let file = files
        .directory(root)
        .ok()
        .map(|root| identity::read(files, &root));
    match (file, work) {
        (Some(Ok(None)), _) | (_, IntentWork::TakenOver { .. } | IntentWork::RenameProfile { .. }) => false,
        (Some(Ok(Some(found))), IntentWork::CreateIdentity { content, .. }) => {
            ContentHash::of(&found.bytes).as_bytes() == content
        }
        (Some(Ok(Some(found))), IntentWork::ReplaceIdentity { content, .. }) => {
            let is_written = ContentHash::of(&found.bytes).as_bytes() == content;
            is_written && found.identity.durable_id == row.durable_id
        }
        // What can't be read is not touched for a row that lives without it.
        (None | Some(Err(_)), work) => matches!(work, IntentWork::CreateIdentity { .. }),
    }
}
