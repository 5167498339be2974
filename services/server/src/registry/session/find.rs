//! Looking at one session.

use compozy_domain::{CatalogError, Revision, SessionAt, SessionId};

use crate::registry::{Caller, Registry, within};

impl Registry {
    /// The session with this id, of those that exist for the caller, and the head of the change log in the same
    /// snapshot.
    ///
    /// # Errors
    /// [`CatalogError::SessionNotFound`].
    pub async fn get_session(
        &self,
        caller: &Caller,
        id: &SessionId,
    ) -> Result<(SessionAt, Revision), CatalogError> {
        let look = self
            .store
            .find_session(id, &caller.principal.visibility, self.now());
        let (found, revision) = within(caller.deadline, look).await?;
        let found = found.ok_or_else(|| CatalogError::SessionNotFound { id: id.to_string() })?;
        Ok((found, revision))
    }
}
