//! Resolving: what a session in a workspace would see. Nothing is written, and no record is kept in memory: row,
//! profile and selection are read each time, so that replicas agree.

use compozy_domain::{CatalogError, Diagnostic, DurableId, ProfileName, Workspace, WorkspaceId};
use compozy_resolver::AllowedRoots;
use compozy_resolver::snapshot::{Request, Text};

use super::paths::canonical_roots;
use super::profile::active::{ActiveProfile, ProfileAsked};
use super::{Caller, Reference, Registry, within};
use crate::resolution::{DefinitionWanted, ResolveOutcome, ResolveWanted, Resolved, Subject};

/// The part of a record that decides what its snapshot holds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Resolvable<'a> {
    pub(super) root_dir: &'a str,
    pub(super) additional_dirs: &'a [String],
    pub(super) default_agent: &'a str,
    /// What the identity file is compared with; `None` for a directory whose identity is dealt with elsewhere.
    pub(super) durable_id: Option<&'a DurableId>,
}

impl<'a> Resolvable<'a> {
    pub(super) fn of(workspace: &'a Workspace) -> Self {
        Self {
            root_dir: &workspace.root_dir,
            additional_dirs: &workspace.additional_dirs,
            default_agent: &workspace.default_agent,
            durable_id: Some(&workspace.durable_id),
        }
    }
}

impl Registry {
    /// What a session in a workspace would see.
    ///
    /// # Errors
    /// [`CatalogError`] of references, hosts, profiles and roots; [`CatalogError::Config`] with every problem;
    /// [`CatalogError::AgentNotFound`].
    pub async fn resolve(
        &self,
        caller: &Caller,
        wanted: ResolveWanted,
    ) -> Result<ResolveOutcome, CatalogError> {
        let ResolveWanted {
            subject,
            if_fingerprint,
            anew,
        } = wanted;
        let resolved = self.resolved(caller, subject, anew).await?;
        if if_fingerprint.is_some_and(|known| known == resolved.fingerprint) {
            return Ok(ResolveOutcome::NotModified);
        }
        Ok(ResolveOutcome::Resolved(Box::new(resolved)))
    }

    /// The text of an agent or skill of a snapshot.
    ///
    /// # Errors
    /// As [`Registry::resolve`]; [`CatalogError::FingerprintStale`] when the files are no longer those of the snapshot,
    /// [`CatalogError::DefinitionNotFound`].
    pub async fn get_definition(
        &self,
        caller: &Caller,
        wanted: DefinitionWanted,
    ) -> Result<Text, CatalogError> {
        let DefinitionWanted {
            subject,
            fingerprint,
            kind,
            name,
        } = wanted;
        let resolved = self.resolved(caller, subject, false).await?;
        if resolved.fingerprint != fingerprint {
            return Err(CatalogError::FingerprintStale);
        }
        self.look(caller.deadline, move |files| resolved.text(files, kind, &name))
            .await?
    }

    /// The snapshot of a workspace whose files this daemon may look at.
    pub(super) async fn resolved(
        &self,
        caller: &Caller,
        subject: Subject,
        anew: bool,
    ) -> Result<Resolved, CatalogError> {
        let Subject {
            reference,
            profile,
            agent,
        } = subject;
        let workspace = self.find_own(caller, &reference).await?;
        let resolvable = Resolvable::of(&workspace);
        let request = self.request_for(caller, &resolvable, Some(&workspace.id), &profile);
        let (active, request) = request.await?;
        let field = &reference.field;
        let snapshot = self
            .resolution
            .snapshot(&workspace.id, request, anew, (field, caller.deadline))
            .await?;
        if snapshot.root != workspace.root_dir {
            self.wake_observer_for(&workspace.id);
        }
        let passed_over = self.passed_over(&active);
        Resolved::new(workspace, active, agent, snapshot, passed_over)
    }

    /// A workspace whose files this daemon may look at.
    async fn find_own(&self, caller: &Caller, reference: &Reference) -> Result<Workspace, CatalogError> {
        self.require_host()?;
        let workspace = self.find(caller, reference).await?;
        self.require_own(&workspace)?;
        workspace.check_understood()?;
        Ok(workspace)
    }

    /// Everything besides the files that decides what a snapshot holds, and the profile that is part of it.
    pub(super) async fn request_for(
        &self,
        caller: &Caller,
        resolvable: &Resolvable<'_>,
        workspace: Option<&WorkspaceId>,
        asked: &ProfileAsked,
    ) -> Result<(ActiveProfile, Request), CatalogError> {
        let (active, names, allowed) = tokio::try_join!(
            self.active_profile(caller, workspace, asked),
            within(caller.deadline, self.store.profile_names()),
            self.readable_for(caller),
        )?;
        let Resolvable {
            root_dir,
            additional_dirs,
            default_agent,
            durable_id,
        } = *resolvable;
        let profile = &active.profile.name;
        let request = Request {
            home: self.settings.catalog_home.clone(),
            operator_home: self.settings.operator_home.clone(),
            root_dir: root_dir.to_owned(),
            additional_dirs: additional_dirs.to_vec(),
            default_agent: default_agent.to_owned(),
            durable_id: durable_id.map(ToString::to_string),
            profile: (!profile.is_permanent()).then(|| profile.to_string()),
            profile_names: names.iter().map(ProfileName::to_string).collect(),
            allowed,
        };
        Ok((active, request))
    }

    /// What may be read for a caller. The socket's caller is the daemon's own user and may read everything anyway.
    async fn readable_for(&self, caller: &Caller) -> Result<AllowedRoots, CatalogError> {
        if caller.principal.local {
            return Ok(AllowedRoots::Everything);
        }
        let configured = self.settings.allowed_roots.clone();
        self.look(caller.deadline, move |files| canonical_roots(files, &configured))
            .await
    }

    /// What is worth knowing about the choice of the profile, with the personal directory that it is about.
    pub(super) fn passed_over(&self, active: &ActiveProfile) -> Vec<Diagnostic> {
        let mut found = active.diagnostics.clone();
        for diagnostic in &mut found {
            if let (true, Some(name)) = (diagnostic.path.is_empty(), &diagnostic.profile) {
                diagnostic.path = format!("{}/profiles/{name}", self.settings.catalog_home);
            }
        }
        found
    }
}
