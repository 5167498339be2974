//! Renaming a profile: its row and its personal directory go together, also over a crash. An intent is written before
//! the directory is moved and ends in the transaction that writes the row; if that is not written, the directory goes
//! back to where the row says.

use std::sync::Arc;
use std::time::Instant;

use compozy_domain::{CatalogError, Profile, ProfileId, ProfileName};
use compozy_resolver::RootPresence;
use compozy_store::{Intent, IntentWork, RenameProfile, Written};

use super::directory::Directories;
use super::{ProfileNamed, no_host, require_unlimited};
use crate::registry::{Registry, Reply, WriteCall, within};

impl Registry {
    /// Gives a profile another name.
    ///
    /// # Errors
    /// [`CatalogError::ProfileNotFound`], [`CatalogError::ProfilePermanent`], [`CatalogError::ProfileNameConflict`],
    /// [`CatalogError::ProfileDirectoryExists`], [`CatalogError::EtagMismatch`], and what may be wrong with the
    /// directory.
    pub async fn rename_profile(
        self: Arc<Self>,
        call: WriteCall<Written<Profile>>,
        (named, name): (ProfileNamed, ProfileName),
    ) -> Result<Reply<Written<Profile>>, CatalogError> {
        require_unlimited(&call.caller)?;
        self.carry_out(call, move |registry, call| async move {
            let ProfileNamed { reference, etag } = named;
            let deadline = call.caller.deadline;
            let directories = registry.profile_directories();
            let before = registry.changeable(&call.caller, &reference).await?;
            let paths = [directories.path(&before.name), directories.path(&name)];
            registry.settle_renames_of(&paths).await?;
            let _locks = registry
                .lock_both(deadline, &directories, &before.name, &name)
                .await?;
            // What was read before the locks were held may be another name by now.
            let profile = registry.changeable(&call.caller, before.id.as_str()).await?;
            if profile.name != before.name {
                return Err(CatalogError::EtagMismatch {
                    id: profile.id.to_string(),
                });
            }
            profile.require_etag(etag.as_ref())?;
            let mut rename = RenameProfile {
                id: profile.id.clone(),
                name: name.clone(),
                etag,
                intent: None,
                host_id: no_host(),
            };
            if profile.name == name {
                return registry
                    .write(&call, Written::clone, |call| {
                        registry.store.rename_profile(rename, call)
                    })
                    .await;
            }
            registry.require_free_name(&call.caller, &name).await?;
            let (looked_at, new) = (directories.clone(), name.clone());
            if registry.look(deadline, move |_| looked_at.exists(&new)).await?? {
                return Err(CatalogError::ProfileDirectoryExists {
                    path: directories.path(&name),
                });
            }
            let intent = registry
                .begin(
                    &call.caller,
                    IntentWork::RenameProfile {
                        profile_id: profile.id.clone(),
                        from: directories.path(&profile.name),
                        to: directories.path(&name),
                    },
                )
                .await?;
            rename.intent = Some(intent.id.clone());
            let (moved_in, from, to) = (directories.clone(), profile.name.clone(), name.clone());
            let reply = match registry.touch(move |_| moved_in.rename(&from, &to)).await {
                Ok(Ok(())) => {
                    registry
                        .write(&call, Written::clone, |call| {
                            registry.store.rename_profile(rename, call)
                        })
                        .await
                }
                Ok(Err(error)) | Err(error) => Err(error),
            };
            registry.settle_rename(intent, &reply).await;
            reply
        })
        .await
    }

    /// Both directories are nobody else's meanwhile. Always locked in the same order, so that two renames can't wait
    /// for each other.
    async fn lock_both(
        &self,
        deadline: Instant,
        directories: &Directories,
        one: &ProfileName,
        other: &ProfileName,
    ) -> Result<Vec<compozy_store::PathLock>, CatalogError> {
        let mut paths = vec![directories.path(one), directories.path(other)];
        paths.sort();
        paths.dedup();
        let mut locks = Vec::with_capacity(paths.len());
        for path in paths {
            locks.push(within(deadline, self.store.lock_path(&self.host, &path)).await?);
        }
        Ok(locks)
    }

    /// What becomes of the directory once the store has answered.
    async fn settle_rename<O>(&self, intent: Intent, reply: &Result<Reply<O>, CatalogError>) {
        match reply {
            Ok(Reply::Fresh(_)) => {}
            Err(
                CatalogError::StoreUnavailable {
                    outcome_unknown: true,
                }
                | CatalogError::Defect { .. },
            ) => self.leave_unfinished(intent),
            Ok(Reply::Remembered(_)) | Err(_) => {
                let IntentWork::RenameProfile { from, to, .. } = &intent.work else {
                    return;
                };
                let (from, to) = (name_of(from), name_of(to));
                let directories = self.profile_directories();
                match self.touch(move |_| directories.rename(&to, &from)).await {
                    Ok(Ok(())) => self.end(intent).await,
                    Ok(Err(error)) | Err(error) => {
                        tracing::warn!(%error, intent = intent.id.0, "a profile's directory could not be moved back yet");
                        self.leave_unfinished(intent);
                    }
                }
            }
        }
    }

    /// Puts the directory of a rename that was cut off where the row says that it belongs. The row of a profile that
    /// was deleted since says nothing: the directory stays where it is. Answers whether that settles it: a rename in
    /// another home on this disk is for its own daemon.
    pub(in crate::registry) async fn recover_rename(
        &self,
        deadline: Instant,
        id: &ProfileId,
        from: &str,
        to: &str,
    ) -> Result<bool, CatalogError> {
        let directories = self.profile_directories();
        let (old, new) = (name_of(from), name_of(to));
        if directories.path(&old) != from {
            let place = from.rsplit_once('/').map_or("/", |(place, _)| place).to_owned();
            let presence = self
                .look(deadline, move |files| files.root_presence(&place))
                .await?;
            return Ok(matches!(presence, RootPresence::Missing { .. }));
        }
        let _locks = self.lock_both(deadline, &directories, &old, &new).await?;
        let (profile, _) = within(deadline, self.store.find_profile(id)).await?;
        let (stray, home) = match profile {
            Some(profile) if profile.name == new => (old, new),
            Some(profile) if profile.name == old => (new, old),
            _ => return Ok(true),
        };
        let (owner, _) = within(deadline, self.store.find_profile_by_name(&stray)).await?;
        if owner.is_some() {
            // Somebody else's by now.
            return Ok(true);
        }
        let moved = self.touch(move |_| match directories.exists(&home)? {
            // Somebody has put another one there: both stay, and the stray one is reported as orphaned.
            true => Ok(()),
            false => directories.rename(&stray, &home),
        });
        moved.await??;
        Ok(true)
    }
}

/// The name of a profile from the path of its directory.
fn name_of(path: &str) -> ProfileName {
    ProfileName::from_stored(compozy_domain::path::base_name(path).to_owned())
}
