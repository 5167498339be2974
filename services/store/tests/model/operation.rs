//! One random operation, and how a store carries it out.

use std::time::{Duration, Instant};

use compozy_domain::workspace::{DirsUpdate, NewName, NewWorkspace, WorkspaceUpdate};
use compozy_domain::{
    DurableId, FileIdentity, HostId, Reason, Timestamp, Visibility, WorkspaceId, WorkspaceName,
    WorkspaceStatus,
};
use compozy_store::conformance::{Catalog, Seeded, fresh};
use compozy_store::{
    Answer, Call, Error, MoveBefore, Observation, ObservationStore as _, Prune, Register, Registered, Relink,
    Remove, Result, SetDurableId, Update, WorkspaceStore as _,
};

use crate::plain::Plain;

const STATUSES: [WorkspaceStatus; 4] = [
    WorkspaceStatus::Ok,
    WorkspaceStatus::RootMissing,
    WorkspaceStatus::RootMissing,
    WorkspaceStatus::IdentityChanged,
];
const BASE_NAMES: [&str; 7] = ["api", "API", "web", "default", "a b", "é", "x_y"];

/// What is done, and when.
#[derive(Debug, Clone)]
pub(crate) struct Operation {
    pub(crate) now: Timestamp,
    pub(crate) work: Work,
}

#[derive(Debug, Clone)]
pub(crate) enum Work {
    Register(Box<NewWorkspace>),
    Update(WorkspaceId, WorkspaceUpdate),
    Move(WorkspaceId, Option<WorkspaceId>),
    Relink(WorkspaceId, String, String),
    Identify(WorkspaceId, DurableId),
    Remove(WorkspaceId),
    Prune { missing_since: Timestamp, limit: u32 },
    Observe(WorkspaceId, String, WorkspaceStatus),
}

/// What came of it, as far as it is the same everywhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    Refused(Reason),
    Registered {
        id: WorkspaceId,
        name: String,
        created: bool,
    },
    Record {
        version: i64,
        name: String,
        title: String,
    },
    Neighbours(Option<WorkspaceId>, Option<WorkspaceId>, bool),
    Removed(Vec<WorkspaceId>, bool),
    Done,
}

impl Operation {
    /// Draws an operation that often meets what is there.
    pub(crate) fn draw(numbers: &mut Seeded, step: usize, plain: &Plain) -> Self {
        let now = Timestamp::from_nanos(1_800_000_000_000_000_000).plus(Duration::from_secs(step as u64));
        let some = |numbers: &mut Seeded| pick(numbers, plain);
        let work = match numbers.below(20) {
            0..=5 => Work::Register(Box::new(new_workspace(numbers, step, now))),
            6..=8 => Work::Update(some(numbers), new_values(numbers)),
            9..=12 => {
                let id = some(numbers);
                let before = (numbers.below(4) > 0).then(|| some(numbers));
                Work::Move(id, before)
            }
            13 => {
                let id = some(numbers);
                let from = plain.root_of(&id).unwrap_or_else(|| "/nowhere".to_owned());
                Work::Relink(id, from, root(numbers))
            }
            14 => Work::Identify(some(numbers), durable_id(numbers)),
            15 => Work::Remove(some(numbers)),
            16 => Work::Prune {
                missing_since: now.minus(Duration::from_secs(numbers.below(40) as u64)),
                limit: 1 + numbers.below(3) as u32,
            },
            _ => {
                let id = some(numbers);
                let root = plain.root_of(&id).unwrap_or_else(|| "/nowhere".to_owned());
                Work::Observe(id, root, STATUSES[numbers.below(STATUSES.len())])
            }
        };
        Self { now, work }
    }

    /// Carries it out on a store.
    pub(crate) async fn carry_out<E>(&self, catalog: &Catalog<E>) -> Outcome {
        match self.outcome(catalog).await {
            Ok(outcome) => outcome,
            Err(Error::Rejected(error)) => Outcome::Refused(error.reason()),
            Err(error) => panic!("{self:?} failed: {error:?}"),
        }
    }

    async fn outcome<E>(&self, catalog: &Catalog<E>) -> Result<Outcome> {
        let store = &catalog.store;
        let outcome = match self.work.clone() {
            Work::Register(workspace) => {
                let register = Register {
                    workspace: *workspace,
                    intent: None,
                    validate_only: false,
                };
                match value(store.register(register, self.call()).await?) {
                    Registered::Created(row) => registered(row.id, row.name.as_str(), true),
                    Registered::Existing(row) => registered(row.id, row.name.as_str(), false),
                }
            }
            Work::Update(id, update) => {
                let update = Update {
                    id,
                    etag: None,
                    update,
                    validate_only: false,
                };
                record(&value(store.update(update, self.call()).await?))
            }
            Work::Move(id, before) => {
                let moved = value(store.move_before(MoveBefore { id, before }, self.call()).await?);
                Outcome::Neighbours(moved.previous, moved.next, moved.moved)
            }
            Work::Relink(id, from_root, root_dir) => {
                let relink = Relink {
                    id,
                    etag: None,
                    from_root,
                    root_dir,
                    root_file: FileIdentity { device: 2, inode: 2 },
                    validate_only: false,
                };
                record(&value(store.relink(relink, self.call()).await?))
            }
            Work::Identify(id, durable_id) => {
                let set = SetDurableId {
                    id,
                    durable_id,
                    intent: None,
                };
                record(&value(store.set_durable_id(set, self.call()).await?))
            }
            Work::Remove(id) => {
                let remove = Remove {
                    reference: id.to_string(),
                    id: Some(id),
                    etag: None,
                    allow_missing: false,
                    delete_sessions: false,
                    ungroup_live: false,
                };
                let removed = value(store.remove(remove, self.call()).await?).workspace;
                Outcome::Removed(removed.into_iter().map(|row| row.id).collect(), false)
            }
            Work::Prune { missing_since, limit } => {
                let prune = Prune {
                    host: host("h1"),
                    missing_since,
                    limit,
                    apply: true,
                };
                let pruned = value(store.prune(prune, self.call()).await?);
                let ids = pruned.workspaces.into_iter().map(|row| row.id).collect();
                Outcome::Removed(ids, pruned.has_more)
            }
            Work::Observe(workspace_id, root_dir, status) => {
                let seen = Observation {
                    workspace_id,
                    root_dir,
                    status,
                };
                store.record(&[seen], self.now).await?;
                Outcome::Done
            }
        };
        Ok(outcome)
    }

    fn call<T>(&self) -> Call<T> {
        Call {
            visibility: Visibility::All,
            now: self.now,
            deadline: Instant::now() + Duration::from_secs(30),
            remember: None,
        }
    }
}

fn value<T: std::fmt::Debug>(answer: Answer<T>) -> T {
    fresh(answer).value
}

pub(crate) fn registered(id: WorkspaceId, name: &str, created: bool) -> Outcome {
    Outcome::Registered {
        id,
        name: name.to_owned(),
        created,
    }
}

pub(crate) fn record(row: &compozy_domain::Workspace) -> Outcome {
    Outcome::Record {
        version: row.version,
        name: row.name.as_str().to_owned(),
        title: row.title.clone(),
    }
}

pub(crate) fn host(text: &str) -> HostId {
    HostId::parse(text).unwrap()
}

/// A workspace that is there; now and then one that is not.
fn pick(numbers: &mut Seeded, plain: &Plain) -> WorkspaceId {
    let ids = plain.order();
    if ids.is_empty() || numbers.below(20) == 0 {
        return WorkspaceId::parse("ws_ffffffffffffffff").unwrap();
    }
    ids[numbers.below(ids.len())].clone()
}

fn root(numbers: &mut Seeded) -> String {
    let base = BASE_NAMES[numbers.below(BASE_NAMES.len())];
    format!("/w/{}/{base}", numbers.below(9))
}

fn name(numbers: &mut Seeded) -> WorkspaceName {
    WorkspaceName::derived_from(&format!(
        "{} {}",
        BASE_NAMES[numbers.below(BASE_NAMES.len())],
        numbers.below(4)
    ))
}

/// Few, so that some are shared.
fn durable_id(numbers: &mut Seeded) -> DurableId {
    DurableId::parse(&format!("01HXJ9YR4QZ0V7M3T5B8N2C6K{}", numbers.below(8))).unwrap()
}

fn new_workspace(numbers: &mut Seeded, step: usize, at: Timestamp) -> NewWorkspace {
    let root_dir = root(numbers);
    let base = compozy_domain::path::base_name(&root_dir).to_owned();
    // Some share an instant, so that paths and ids decide.
    let at = Timestamp::from_nanos(at.nanos() / 3_000_000_000 * 3_000_000_000);
    NewWorkspace {
        // In no order, as real ids are.
        id: WorkspaceId::parse(&format!("ws_{:04x}{step:012x}", numbers.below(65_536))).unwrap(),
        durable_id: durable_id(numbers),
        host_id: host(if numbers.below(5) == 0 { "h2" } else { "h1" }),
        root_dir,
        root_file: FileIdentity {
            device: 1,
            inode: step as u64,
        },
        additional_dirs: Vec::new(),
        name: match numbers.below(3) {
            0 => NewName::Explicit(name(numbers)),
            _ => NewName::Derived(WorkspaceName::derived_from(&base)),
        },
        title: base,
        default_agent: String::new(),
        is_default: numbers.below(10) == 0,
        at,
    }
}

fn new_values(numbers: &mut Seeded) -> WorkspaceUpdate {
    let mut update = WorkspaceUpdate::default();
    if numbers.below(3) == 0 {
        update.name = Some(name(numbers));
    }
    if numbers.below(2) == 0 {
        update.title = Some(format!("Title {}", numbers.below(3)));
    }
    if numbers.below(3) == 0 {
        update.default_agent = Some(["", "coder", "critic"][numbers.below(3)].to_owned());
    }
    if numbers.below(3) == 0 {
        let dirs = (0..numbers.below(4)).map(|_| root(numbers)).collect();
        update.dirs = DirsUpdate::Replace(dirs);
    }
    update
}
