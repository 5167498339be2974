//! What callers change of a record: labels, names, visibility, places.

use std::collections::BTreeMap;

use super::{Moment, Outcome};
use crate::change::ChangeReason;
use crate::clock::Timestamp;
use crate::error::CatalogError;
use crate::rank::Rank;
use crate::session::fields::SessionName;
use crate::session::{Live, PermissionMode, Session, SessionState, SessionType, SessionWorkspace};

impl Session {
    /// Checks that it may be deleted.
    ///
    /// # Errors
    /// [`CatalogError::SessionState`] for a live one without `force`.
    pub fn check_deletable(&self, force: bool) -> Result<(), CatalogError> {
        if self.state.is_live() && !force {
            return Err(self.state_conflict("stop it first, or delete it with force"));
        }
        Ok(())
    }

    /// This record on another account, or on none.
    #[must_use]
    pub fn regrouped(
        mut self,
        workspace: Option<SessionWorkspace>,
        rank: Option<Rank>,
        now: Timestamp,
    ) -> Self {
        self.workspace = workspace;
        self.rank = rank;
        self.moved_on(now)
    }

    pub(super) fn updated(
        &self,
        labels: Option<&BTreeMap<String, String>>,
        permission_mode: Option<PermissionMode>,
        moment: Moment<'_>,
    ) -> Option<Outcome> {
        let mut next = self.clone();
        if let Some(labels) = labels {
            next.labels.clone_from(labels);
        }
        if let Some(mode) = permission_mode {
            next.permission_mode = mode;
        }
        (next != *self).then(|| next.record_changed(ChangeReason::Updated, moment))
    }

    pub(super) fn renamed(
        &self,
        name: &SessionName,
        moment: Moment<'_>,
    ) -> Result<Option<Outcome>, CatalogError> {
        if self.session_type != SessionType::User {
            return Err(CatalogError::invalid_field(
                "name",
                "can't be given: only sessions of type user have one",
            ));
        }
        if self.name == name.as_str() {
            return Ok(None);
        }
        let mut next = self.clone();
        name.as_str().clone_into(&mut next.name);
        Ok(Some(next.record_changed(ChangeReason::Renamed, moment)))
    }

    pub(super) fn archived(&self, moment: Moment<'_>) -> Result<Option<Outcome>, CatalogError> {
        if self.archived_at.is_some() {
            return Ok(None);
        }
        if self.state != SessionState::Stopped {
            return Err(self.state_conflict("stop it before archiving it"));
        }
        let mut next = self.clone();
        next.archived_at = Some(moment.now);
        Ok(Some(next.record_changed(ChangeReason::Archived, moment)))
    }

    pub(super) fn unarchived(&self, moment: Moment<'_>) -> Option<Outcome> {
        self.archived_at?;
        let mut next = self.clone();
        next.archived_at = None;
        Some(next.record_changed(ChangeReason::Unarchived, moment))
    }

    pub(super) fn seen(&self, moment: Moment<'_>) -> Option<Outcome> {
        self.live.as_ref()?.settled_at?;
        let mut next = self.clone();
        next.live.get_or_insert_with(Live::default).settled_at = None;
        Some(next.told(ChangeReason::Seen, moment))
    }
}
