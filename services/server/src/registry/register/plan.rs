//! What a directory's identity means for its registration: a new one, a moved one, or a copy.

use std::time::Instant;

use compozy_domain::error::PathConflict;
use compozy_domain::workspace::IdentityPolicy;
use compozy_domain::{CatalogError, DurableId, Visibility, Workspace};
use compozy_resolver::identity::{self, Found};
use compozy_resolver::{Directory, Files, Identity, RootPresence};

use super::Checked;
use crate::registry::{Caller, Registry, status, within};

/// How to register a directory.
#[derive(Debug)]
pub(super) enum Plan {
    /// It was moved: this is its registration.
    Relink(Box<Workspace>),
    /// It gets a registration of its own, with this identity.
    New(IdentityPlan),
}

/// Where the identity of a new registration comes from.
#[derive(Debug)]
pub(super) enum IdentityPlan {
    /// It has no identity file: make this one.
    Create(Identity),
    /// It has an identity: take it. With the registration that it was copied from, if it is a copy.
    Adopt {
        durable_id: DurableId,
        original: Option<Box<Workspace>>,
    },
    /// It is a copy that gets an id of its own.
    Fork { old: Found, durable_id: DurableId },
}

/// What a look at the root of another registration of the same identity shows.
#[derive(Debug, Clone, Copy)]
struct Sight {
    presence: RootPresence,
    /// Whether it still carries the identity; `None` when that can't be told.
    carries: Option<bool>,
}

impl Registry {
    /// Decides by what the disk shows now. Writes nothing.
    pub(super) async fn plan(&self, caller: &Caller, checked: &Checked) -> Result<Plan, CatalogError> {
        let root = checked.root.clone();
        let read = self
            .look(caller.deadline, move |files| identity::read(files, &root))
            .await?;
        let Some(found) = read? else {
            return self.plan_new(&checked.root);
        };
        let durable_id = found.identity.durable_id.clone();
        let all = within(
            caller.deadline,
            self.store.find_by_durable(&durable_id, &Visibility::All),
        )
        .await?;
        // The same identity on another host's disk is a colleague's checkout, neither copy nor move.
        let holders: Vec<Workspace> = all.into_iter().filter(|row| row.host_id == self.host).collect();
        if holders.is_empty() {
            return Ok(Plan::New(IdentityPlan::Adopt {
                durable_id,
                original: None,
            }));
        }
        let sights = self.sights(caller, &holders).await;
        if let Some(moved) = moved_one(&checked.root, &holders, &sights) {
            return Ok(Plan::Relink(Box::new(moved.clone())));
        }
        let carries = |sight: &Sight| sight.carries == Some(true);
        let original = sights.iter().position(carries).unwrap_or(0);
        match checked.wanted.policy {
            IdentityPolicy::Share => Ok(Plan::New(IdentityPlan::Adopt {
                durable_id,
                original: Some(Box::new(holders[original].clone())),
            })),
            IdentityPolicy::Fork => {
                let durable_id = DurableId::generate(self.now(), self.random.as_ref())?;
                Ok(Plan::New(IdentityPlan::Fork {
                    old: found,
                    durable_id,
                }))
            }
            IdentityPolicy::Reject => Err(CatalogError::PathConflict {
                path: checked.root.path.clone(),
                holder: Some(holders[original].id.clone()),
                conflict: PathConflict::Copy {
                    original: holders[original].root_dir.clone(),
                },
            }),
        }
    }

    fn plan_new(&self, root: &Directory) -> Result<Plan, CatalogError> {
        let identity = Identity::generate(&root.path, self.now(), self.random.as_ref())?;
        Ok(Plan::New(IdentityPlan::Create(identity)))
    }

    async fn sights(&self, caller: &Caller, holders: &[Workspace]) -> Vec<Sight> {
        let until = caller.deadline.min(Instant::now() + status::BOUND);
        let look = |row: &Workspace| {
            let (root, durable_id) = (row.root_dir.clone(), row.durable_id.clone());
            move |files: &dyn Files| sight(files, &root, &durable_id)
        };
        let looks = holders
            .iter()
            .map(|row| Some((row.root_dir.clone(), look(row))))
            .collect();
        let seen = self.look_at_each(looks, until).await;
        // A root that does not answer is not known to be anything.
        let unknown = Sight {
            presence: RootPresence::Unreadable,
            carries: None,
        };
        seen.into_iter().map(|sight| sight.unwrap_or(unknown)).collect()
    }
}

/// The registration that a directory was moved away from: the only one whose root is known to be absent, while
/// every other holder's root is known to carry another identity, or none.
fn moved_one<'a>(root: &Directory, holders: &'a [Workspace], sights: &[Sight]) -> Option<&'a Workspace> {
    let mut moved = None;
    for (row, sight) in holders.iter().zip(sights) {
        if row.defect.is_none() && sight.presence.is_absent(row.root_file, root.file) {
            if moved.replace(row).is_some() {
                return None;
            }
        } else if sight.carries != Some(false) {
            return None;
        }
    }
    moved
}

fn sight(files: &dyn Files, root: &str, durable_id: &DurableId) -> Sight {
    let presence = files.root_presence(root);
    let carries = match presence {
        RootPresence::Present(_) => carries(files, root, durable_id),
        RootPresence::NotDirectory => Some(false),
        RootPresence::Missing { .. } | RootPresence::Unreadable => None,
    };
    Sight { presence, carries }
}

fn carries(files: &dyn Files, root: &str, durable_id: &DurableId) -> Option<bool> {
    let directory = files.directory(root).ok()?;
    let found = identity::read(files, &directory).ok()?;
    Some(found.is_some_and(|found| found.identity.durable_id == *durable_id))
}
