//! One caller among several. It works on directories of its own, one write at a time, and knows what has to be there.
//!
//! Others move their rows between its own, so the place of a row is known relative to the worker's other rows only.
//! That is exact: a move puts a row right before its anchor, and a new row comes before all others.

use std::fs;
use std::path::{Path, PathBuf};

use compozy_e2e::{Draw, by_id, identity_path, request_id, utf8};
use compozy_proto::workspace::v1::{
    MoveWorkspaceRequest, RegisterWorkspaceRequest, RemoveWorkspaceRequest, UpdateWorkspaceRequest, Workspace,
};

use crate::operation::{Answer, Operation};

/// Base names are few, so that derived names are contested.
const BASE_NAMES: [&str; 4] = ["api", "web", "Service", "service"];
/// Explicit names that all workers want.
const CONTESTED_NAMES: [&str; 3] = ["shared one", "shared two", "SHARED ONE"];
/// Registrations of one worker, at most.
const ROWS_MAX: usize = 12;

/// A registration as the worker knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) root: PathBuf,
    pub(crate) name: String,
}

impl Row {
    pub(crate) fn of(workspace: &Workspace) -> Self {
        Self {
            id: workspace.id.clone(),
            root: workspace.root_dir.clone().into(),
            name: workspace.name().to_owned(),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Worker {
    number: usize,
    draw: Draw,
    /// Where its directories are.
    pub(crate) folder: PathBuf,
    /// Its registrations in their order.
    pub(crate) rows: Vec<Row>,
    /// Directories that were registered once and carry an identity.
    pub(crate) spare: Vec<PathBuf>,
    made_count: usize,
    /// Asked and not answered.
    pub(crate) pending: Option<Operation>,
    pub(crate) answered_count: u64,
    /// The last one that was answered.
    pub(crate) answered: Option<(Operation, Answer)>,
}

impl Worker {
    pub(crate) fn new(number: usize, draw: Draw, folder: PathBuf) -> Self {
        Self {
            number,
            draw,
            folder,
            rows: Vec::new(),
            spare: Vec::new(),
            made_count: 0,
            pending: None,
            answered_count: 0,
            answered: None,
        }
    }

    /// Decides what to do next, and does the part of it that is done on disk.
    pub(crate) fn begin(&mut self) -> Operation {
        let operation = self.choose();
        self.pending = Some(operation.clone());
        if let Operation::AddMoved { from, to, .. } = &operation {
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::rename(from, to).unwrap();
        }
        operation
    }

    fn choose(&mut self) -> Operation {
        let choice = self.draw.below(10);
        let Some(row) = self.draw.choose(&self.rows).cloned() else {
            return self.register();
        };
        match choice {
            0..=3 if self.rows.len() < ROWS_MAX => self.register(),
            0..=4 => Operation::Remove {
                request: RemoveWorkspaceRequest {
                    r#ref: Some(by_id(&row.id)),
                    request_id: request_id(),
                    ..Default::default()
                },
                id: row.id,
            },
            5 | 6 => self.add_moved(row),
            7 => self.rename(row),
            _ => self.shift(row),
        }
    }

    fn register(&mut self) -> Operation {
        let root = match self.draw.below(4) {
            0 if !self.spare.is_empty() => self.spare.swap_remove(0),
            1 => self.directory_with_identity(),
            _ => self.directory(),
        };
        Operation::Register {
            identity: fs::read(identity_path(&root)).ok(),
            request: register_request(&root),
            root,
        }
    }

    fn directory(&mut self) -> PathBuf {
        let root = self.new_path();
        fs::create_dir_all(&root).unwrap();
        root
    }

    /// As a fresh clone of a repository that carries its identity.
    fn directory_with_identity(&mut self) -> PathBuf {
        let root = self.directory();
        let file = identity_path(&root);
        fs::create_dir(file.parent().unwrap()).unwrap();
        let text = format!(
            "# committed\nworkspace_id = \"{}\"\ncreated_at = \"2026-05-04T14:30:00Z\"\nrealpath_at_creation = \"/x\"\n",
            self.ulid()
        );
        fs::write(file, text).unwrap();
        root
    }

    fn ulid(&mut self) -> String {
        const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
        let rest: String = (0..23).map(|_| char::from(DIGITS[self.draw.below(32)])).collect();
        format!("01J{rest}")
    }

    fn new_path(&mut self) -> PathBuf {
        self.made_count += 1;
        let base_name = BASE_NAMES[self.draw.below(BASE_NAMES.len())];
        self.folder.join(format!("n{}", self.made_count)).join(base_name)
    }

    fn add_moved(&mut self, row: Row) -> Operation {
        let to = self.new_path();
        Operation::AddMoved {
            request: register_request(&to),
            id: row.id,
            from: row.root,
            to,
        }
    }

    fn rename(&mut self, row: Row) -> Operation {
        let contested = self.draw.one_in(2);
        let name = if contested {
            CONTESTED_NAMES[self.draw.below(CONTESTED_NAMES.len())].to_owned()
        } else {
            format!("worker {} {}", self.number, self.draw.below(1_000_000))
        };
        let workspace = Workspace {
            name: Some(name.clone()),
            ..Default::default()
        };
        Operation::Rename {
            request: Box::new(UpdateWorkspaceRequest {
                r#ref: Some(by_id(&row.id)),
                workspace: Some(workspace),
                request_id: request_id(),
                ..Default::default()
            }),
            id: row.id,
            name,
            contested,
        }
    }

    fn shift(&mut self, row: Row) -> Operation {
        let to_the_end = self.draw.one_in(3);
        let before = self
            .draw
            .choose(&self.rows)
            .filter(|_| !to_the_end)
            .map(|anchor| anchor.id.clone());
        Operation::Move {
            request: MoveWorkspaceRequest {
                r#ref: Some(by_id(&row.id)),
                before: before.clone().map(by_id),
                request_id: request_id(),
            },
            id: row.id,
            before,
        }
    }

    /// Takes an answer into the model.
    pub(crate) fn settle(&mut self, operation: Operation, answer: Answer) {
        match (&operation, &answer) {
            (Operation::Register { root, .. }, Answer::Registered(answer)) => {
                let row = Row::of(answer.workspace.as_ref().unwrap());
                assert!(answer.created && row.root == *root, "{operation:?}: {answer:?}");
                self.rows.insert(0, row);
            }
            (Operation::AddMoved { id, from, .. }, Answer::Registered(answer)) => {
                let row = Row::of(answer.workspace.as_ref().unwrap());
                assert_eq!(
                    (&row.id, answer.created),
                    (id, false),
                    "{operation:?}: {answer:?}"
                );
                assert_eq!(answer.relinked_from, Some(utf8(from)));
                self.rows = self.rows_after(&operation, Some(row));
            }
            (Operation::Remove { id, .. }, Answer::Removed(answer)) => {
                assert_eq!(answer.id, *id);
                let row = self.rows.iter().find(|row| row.id == *id).unwrap();
                self.spare.push(row.root.clone());
                self.rows = self.rows_after(&operation, None);
            }
            (Operation::Rename { .. }, Answer::Updated(_)) | (Operation::Move { .. }, Answer::Moved(_)) => {
                self.rows = self.rows_after(&operation, None);
            }
            _ => panic!("{operation:?} was answered with {answer:?}"),
        }
        self.pending = None;
        self.answered_count += 1;
        self.answered = Some((operation, answer));
    }

    /// A refusal that is part of the game changes nothing.
    pub(crate) fn settle_refused(&mut self) {
        self.pending = None;
    }

    /// The rows as they are once the operation is done. `new` is the row that a registration made.
    pub(crate) fn rows_after(&self, operation: &Operation, new: Option<Row>) -> Vec<Row> {
        let mut rows = self.rows.clone();
        match operation {
            Operation::Register { .. } => rows.insert(0, new.unwrap()),
            Operation::AddMoved { id, to, .. } => place(&mut rows, id).root.clone_from(to),
            Operation::Rename { id, name, .. } => place(&mut rows, id).name.clone_from(name),
            Operation::Remove { id, .. } => rows.retain(|row| row.id != *id),
            Operation::Move { id, before, .. } => {
                if before.as_ref() != Some(id) {
                    let moved = rows.iter().position(|row| row.id == *id).unwrap();
                    let moved = rows.remove(moved);
                    let anchor = before
                        .as_ref()
                        .map(|before| rows.iter().position(|row| row.id == *before).unwrap());
                    rows.insert(anchor.unwrap_or(rows.len()), moved);
                }
            }
        }
        rows
    }

    pub(crate) fn owns(&self, root: &str) -> bool {
        Path::new(root).starts_with(&self.folder)
    }
}

fn place<'r>(rows: &'r mut [Row], id: &str) -> &'r mut Row {
    rows.iter_mut().find(|row| row.id == id).unwrap()
}

fn register_request(root: &Path) -> RegisterWorkspaceRequest {
    RegisterWorkspaceRequest {
        path: utf8(root),
        request_id: request_id(),
        ..Default::default()
    }
}
