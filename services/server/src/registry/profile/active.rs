//! Which profile is active: the first that says anything, of the request, the caller's environment, the workspace and
//! everything else.

use compozy_domain::profile::ProfileChoices;
use compozy_domain::{
    CatalogError, Diagnostic, Layer, Profile, ProfileSource, ProfileState, Revision, Severity, WorkspaceId,
};

use crate::registry::{Caller, Registry, within};

/// What a caller says about the profile.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProfileAsked {
    /// Name or id, by the request itself.
    pub request: Option<String>,
    /// Name or id, by `COMPOZY_PROFILE`; blank is unset.
    pub environment: Option<String>,
}

/// The active profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveProfile {
    /// The profile.
    pub profile: Profile,
    /// Who chose it.
    pub source: ProfileSource,
    /// Remembered choices that had to be passed over.
    pub diagnostics: Vec<Diagnostic>,
    /// Head of the change log when the selections were read.
    pub revision: Revision,
}

impl Registry {
    /// The active profile of a workspace, or outside every one. A choice that the caller names has to be one; a
    /// remembered one that was archived since is passed over, and told.
    ///
    /// # Errors
    /// [`CatalogError::ProfileNotFound`], [`CatalogError::ProfileArchived`].
    pub async fn active_profile(
        &self,
        caller: &Caller,
        workspace: Option<&WorkspaceId>,
        asked: &ProfileAsked,
    ) -> Result<ActiveProfile, CatalogError> {
        let selections = within(caller.deadline, self.store.selections(workspace)).await?;
        let mut diagnostics = Vec::new();
        let named = ProfileChoices {
            session: None,
            request: asked.request.as_deref(),
            environment: asked
                .environment
                .as_deref()
                .filter(|name| !name.trim().is_empty()),
            workspace: None,
            global: None,
        };
        let chosen = match named.first() {
            Some((reference, source)) => {
                let (profile, _) = self.get_profile(caller, reference).await?;
                if profile.state == ProfileState::Archived {
                    return Err(CatalogError::ProfileArchived {
                        name: profile.name.to_string(),
                    });
                }
                Some((profile, source))
            }
            None => remembered(selections.workspace, selections.global, &mut diagnostics),
        };
        let (profile, source) = chosen.unwrap_or_else(|| (Profile::permanent(), ProfileSource::Default));
        Ok(ActiveProfile {
            profile,
            source,
            diagnostics,
            revision: selections.revision,
        })
    }
}

/// The first remembered choice that can be followed. Those behind it are not looked at.
fn remembered(
    workspace: Option<Profile>,
    global: Option<Profile>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<(Profile, ProfileSource)> {
    let choices = [
        (workspace, ProfileSource::Workspace),
        (global, ProfileSource::Global),
    ];
    choices
        .into_iter()
        .find_map(|(profile, source)| Some((usable(profile?, diagnostics)?, source)))
}

fn usable(profile: Profile, diagnostics: &mut Vec<Diagnostic>) -> Option<Profile> {
    if profile.state == ProfileState::Active {
        return Some(profile);
    }
    let name = profile.name.to_string();
    let mut passed_over = Diagnostic::new(
        "profile_selection_archived",
        Severity::Warning,
        Layer::Profile,
        "",
        format!("the selected profile '{name}' is archived and is passed over"),
        format!("run `compozy profile unarchive {name}`, or select another one with `compozy profile use`"),
    );
    passed_over.profile = Some(name);
    diagnostics.push(passed_over);
    None
}
