//! Snapshots as callers get them: with the record, the profile and the agent that they are for.

use std::borrow::Cow;
use std::sync::Arc;

use compozy_domain::{CatalogError, Diagnostic, Profile, ProfileSource, Workspace};
use compozy_resolver::Files;
use compozy_resolver::definition::Skill;
use compozy_resolver::snapshot::{Snapshot, Text, TextFault, TextKind, definition_text};
use sha2::{Digest as _, Sha256};

use crate::registry::profile::active::ActiveProfile;

/// What became of a wish for a snapshot.
#[derive(Debug)]
pub enum ResolveOutcome {
    /// The caller has it already.
    NotModified,
    /// A snapshot.
    Resolved(Box<Resolved>),
}

/// A snapshot with everything about it that lies in no file.
#[derive(Debug)]
pub struct Resolved {
    /// The record.
    pub workspace: Workspace,
    /// The active profile.
    pub profile: Profile,
    /// Who chose it.
    pub profile_source: ProfileSource,
    /// The agent that was asked for. The snapshot has one of this name.
    pub agent: Option<String>,
    /// What the files say.
    pub snapshot: Arc<Snapshot>,
    /// What is worth knowing besides what the files show.
    pub beside: Vec<Diagnostic>,
    /// Names all of this.
    pub fingerprint: String,
}

impl Resolved {
    /// Puts a snapshot together with what lies in no file. `beside` is what is worth knowing about that.
    ///
    /// # Errors
    /// [`CatalogError::AgentNotFound`].
    pub fn new(
        workspace: Workspace,
        active: ActiveProfile,
        agent: Option<String>,
        snapshot: Arc<Snapshot>,
        beside: Vec<Diagnostic>,
    ) -> Result<Self, CatalogError> {
        let ActiveProfile {
            profile,
            source,
            diagnostics: _,
            revision: _,
        } = active;
        let content = match &agent {
            None => snapshot.fingerprint.clone(),
            Some(name) => match snapshot.for_agent(name) {
                Some(overlay) => overlay.fingerprint,
                None => return Err(CatalogError::AgentNotFound { name: name.clone() }),
            },
        };
        let fingerprint = fingerprint(
            &content,
            &workspace,
            (&profile, source),
            agent.as_deref(),
            &beside,
        );
        Ok(Self {
            workspace,
            profile,
            profile_source: source,
            agent,
            snapshot,
            beside,
            fingerprint,
        })
    }

    /// Everything worth knowing, sorted.
    #[must_use]
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let mut all = self.snapshot.diagnostics.clone();
        all.extend(self.beside.iter().cloned());
        Diagnostic::sort(&mut all);
        all
    }

    /// The skills as the agent that was asked for sees them, or as no agent in particular does.
    #[must_use]
    pub fn skills(&self) -> Vec<Cow<'_, Skill>> {
        let overlay = self
            .agent
            .as_ref()
            .and_then(|agent| self.snapshot.for_agent(agent));
        match overlay {
            Some(overlay) => overlay.skills,
            None => self.snapshot.skills.iter().map(Cow::Borrowed).collect(),
        }
    }

    /// The text of one of its agents or skills, if its file still holds it.
    ///
    /// # Errors
    /// [`CatalogError::DefinitionNotFound`], [`CatalogError::FingerprintStale`].
    pub fn text(&self, files: &dyn Files, kind: TextKind, name: &str) -> Result<Text, CatalogError> {
        let found = definition_text(files, &self.snapshot, self.agent.as_deref(), kind, name);
        found.map_err(|fault| match fault {
            TextFault::AgentNotFound => CatalogError::AgentNotFound {
                name: self.agent.clone().unwrap_or_default(),
            },
            TextFault::NotFound => CatalogError::DefinitionNotFound {
                kind: match kind {
                    TextKind::Agent => "agent",
                    TextKind::Skill => "skill",
                },
                name: name.to_owned(),
            },
            TextFault::Stale => CatalogError::FingerprintStale,
        })
    }
}

/// Names everything that decides about an answer: the content of the files, the state of the record, the profile and
/// who chose it, the agent. Equal for equal answers, however much of one is asked for.
fn fingerprint(
    content: &str,
    workspace: &Workspace,
    (profile, source): (&Profile, ProfileSource),
    agent: Option<&str>,
    beside: &[Diagnostic],
) -> String {
    let source = format!("{source:?}");
    let (etag, profile_etag) = (workspace.etag(), profile.etag());
    let mut parts = vec![
        content,
        workspace.id.as_str(),
        etag.as_str(),
        profile.id.as_str(),
        profile_etag.as_str(),
        &source,
        if agent.is_some() { "agent" } else { "" },
        agent.unwrap_or_default(),
    ];
    for other in &workspace.shares_identity_with {
        parts.push(other.as_str());
    }
    for diagnostic in beside {
        parts.push(diagnostic.code);
        parts.push(&diagnostic.message);
    }
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        hash.update(part);
    }
    let digest: [u8; 32] = hash.finalize().into();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
