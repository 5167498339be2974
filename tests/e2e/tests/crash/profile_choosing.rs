//! What a worker does next with its profiles: mostly renames.

use compozy_e2e::{by_id, request_id};
use compozy_proto::profile::v1::{
    ArchiveProfileRequest, CreateProfileRequest, DeleteProfileRequest, Profile, RenameProfileRequest,
    SelectProfileRequest, UnarchiveProfileRequest, UpdateProfileRequest,
};

use crate::profile_held::ProfileRow;
use crate::profile_operation::{ProfileOperation, What};
use crate::profile_worker::ProfileWorker;

/// Profiles of one worker, at most.
const ROWS_MAX: usize = 4;

impl ProfileWorker {
    /// Decides what to do next.
    pub(crate) fn begin(&mut self) -> ProfileOperation {
        let operation = self.choose();
        self.pending = Some(operation.clone());
        operation
    }

    fn choose(&mut self) -> ProfileOperation {
        let choice = self.draw.below(20);
        let row = self.draw.choose(&self.held.rows).cloned();
        let Some(row) = row.filter(|_| choice > 0) else {
            return self.create();
        };
        match choice {
            1..=3 if self.held.rows.len() < ROWS_MAX => self.create(),
            4 => self.delete(row),
            5 => self.update(row),
            6 => self.archive_or_unarchive(row),
            7 | 8 => self.select(&row),
            _ => self.rename(row),
        }
    }

    fn create(&mut self) -> ProfileOperation {
        let name = self.draw.choose(&self.names()).unwrap().clone();
        ProfileOperation {
            refusal: self.is_taken(&name).then_some("PROFILE_NAME_CONFLICT"),
            what: What::Create {
                request: CreateProfileRequest {
                    name: name.clone(),
                    request_id: request_id(),
                    ..Default::default()
                },
                name,
            },
        }
    }

    fn update(&mut self, row: ProfileRow) -> ProfileOperation {
        let icon = format!("icon {}", self.draw.below(1_000_000));
        let new_values = Profile {
            icon: Some(icon.clone()),
            ..Default::default()
        };
        let request = UpdateProfileRequest {
            profile: self.reference(&row),
            new_values: Some(new_values),
            request_id: request_id(),
            ..Default::default()
        };
        allowed(What::Update {
            id: row.id,
            icon,
            request: Box::new(request),
        })
    }

    fn rename(&mut self, row: ProfileRow) -> ProfileOperation {
        let to = self.draw.choose(&self.names()).unwrap().clone();
        let refusal = if to == row.name {
            None
        } else if self.is_taken(&to) {
            Some("PROFILE_NAME_CONFLICT")
        } else {
            self.orphans.get(&to).map(|_| "PROFILE_DIRECTORY_EXISTS")
        };
        let request = RenameProfileRequest {
            profile: self.reference(&row),
            new_name: to.clone(),
            request_id: request_id(),
            ..Default::default()
        };
        ProfileOperation {
            refusal,
            what: What::Rename {
                id: row.id,
                from: row.name,
                to,
                request,
            },
        }
    }

    fn archive_or_unarchive(&mut self, row: ProfileRow) -> ProfileOperation {
        let profile = self.reference(&row);
        let request_id = request_id();
        allowed(if self.draw.one_in(2) {
            What::Archive {
                id: row.id,
                request: ArchiveProfileRequest {
                    profile,
                    request_id,
                    ..Default::default()
                },
            }
        } else {
            What::Unarchive {
                id: row.id,
                request: UnarchiveProfileRequest {
                    profile,
                    request_id,
                    ..Default::default()
                },
            }
        })
    }

    fn delete(&mut self, row: ProfileRow) -> ProfileOperation {
        let request = DeleteProfileRequest {
            profile: self.reference(&row),
            request_id: request_id(),
            ..Default::default()
        };
        allowed(What::Delete { id: row.id, request })
    }

    fn select(&mut self, row: &ProfileRow) -> ProfileOperation {
        let chosen = Some(row).filter(|_| !self.draw.one_in(4));
        let refusal = chosen.filter(|row| row.is_archived).map(|_| "PROFILE_ARCHIVED");
        let request = SelectProfileRequest {
            workspace: Some(by_id(&self.workspace)),
            profile: chosen.map(|row| row.name.clone()),
            request_id: request_id(),
        };
        ProfileOperation {
            refusal,
            what: What::Select {
                id: chosen.map(|row| row.id.clone()),
                request,
            },
        }
    }

    /// Name or id.
    fn reference(&mut self, row: &ProfileRow) -> String {
        if self.draw.one_in(2) {
            row.id.clone()
        } else {
            row.name.clone()
        }
    }
}

fn allowed(what: What) -> ProfileOperation {
    ProfileOperation { what, refusal: None }
}
