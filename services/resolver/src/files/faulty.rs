//! Files for tests: counts calls, fails on demand, holds a path back, lets something happen in between.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::{
    ContentHash, CreateFault, Directory, DirectoryFault, Files, Kind, Listing, Made, ReadFault, RelativePath,
    RootPresence, WriteFault,
};

/// One operation of [`Files`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// [`Files::directory`]
    Directory,
    /// [`Files::root_presence`]
    RootPresence,
    /// [`Files::ancestors`]
    Ancestors,
    /// [`Files::kind_below`]
    Kind,
    /// [`Files::read_below`]
    Read,
    /// [`Files::create_below`]
    Create,
    /// [`Files::replace_below`]
    Replace,
    /// [`Files::sweep_below`]
    Sweep,
    /// [`Files::remove_below_if`]
    Remove,
    /// [`Files::list_directories`]
    List,
    /// [`Files::create_directory`]
    CreateDirectory,
}

/// In which way an operation fails. One that can't fail in this way fails in the nearest one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// No space is left.
    DiskFull,
    /// No permission, an error of the device.
    Refused,
}

type Action = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct State {
    calls: BTreeMap<Operation, u64>,
    failures: BTreeMap<Operation, Failure>,
    actions: BTreeMap<Operation, Vec<Action>>,
    held: Vec<String>,
}

/// A wrapper over any [`Files`]. Clones share what they were told.
#[derive(Clone)]
pub struct Faulty {
    inner: Arc<dyn Files>,
    shared: Arc<(Mutex<State>, Condvar)>,
}

/// A path that is held back: every operation on it, or below it, waits until this is dropped.
#[must_use]
pub struct Held {
    path: String,
    shared: Arc<(Mutex<State>, Condvar)>,
}

impl std::fmt::Debug for Faulty {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Faulty").field(&self.inner).finish()
    }
}

impl std::fmt::Debug for Held {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Held").field(&self.path).finish()
    }
}

impl Faulty {
    /// Files that do as the inner ones do, until told otherwise.
    pub fn over(inner: impl Files + 'static) -> Self {
        Self {
            inner: Arc::new(inner),
            shared: Arc::default(),
        }
    }

    /// How often an operation was called.
    #[must_use]
    pub fn calls(&self, operation: Operation) -> u64 {
        self.state().calls.get(&operation).copied().unwrap_or(0)
    }

    /// How often any operation was called.
    #[must_use]
    pub fn all_calls(&self) -> u64 {
        self.state().calls.values().sum()
    }

    /// Lets an operation fail from now on, before it does anything.
    pub fn fail(&self, operation: Operation, failure: Failure) {
        self.state().failures.insert(operation, failure);
    }

    /// Lets an operation work again.
    pub fn heal(&self, operation: Operation) {
        self.state().failures.remove(&operation);
    }

    /// Does something once, just before the next call of an operation; several in the order they were given.
    pub fn before(&self, operation: Operation, action: impl FnOnce() + Send + 'static) {
        self.state()
            .actions
            .entry(operation)
            .or_default()
            .push(Box::new(action));
    }

    /// Holds back every operation on a path, or below it, until the answer is dropped.
    pub fn hold(&self, path: impl Into<String>) -> Held {
        let path = path.into();
        self.state().held.push(path.clone());
        Held {
            path,
            shared: Arc::clone(&self.shared),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.shared.0)
    }

    fn enter(&self, operation: Operation, path: &str) -> Option<Failure> {
        let actions = {
            let mut state = self.state();
            *state.calls.entry(operation).or_default() += 1;
            state.actions.remove(&operation).unwrap_or_default()
        };
        // Without the lock: an action may use these files itself.
        for action in actions {
            action();
        }
        let mut state = self.state();
        while state
            .held
            .iter()
            .any(|held| compozy_domain::path::contains(held, path))
        {
            state = self.shared.1.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.failures.get(&operation).copied()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut state = lock(&self.shared.0);
        if let Some(at) = state.held.iter().position(|held| *held == self.path) {
            state.held.remove(at);
        }
        self.shared.1.notify_all();
    }
}

impl Files for Faulty {
    fn directory(&self, path: &str) -> Result<Directory, DirectoryFault> {
        match self.enter(Operation::Directory, path) {
            Some(_) => Err(DirectoryFault::Unreadable),
            None => self.inner.directory(path),
        }
    }

    fn root_presence(&self, root: &str) -> RootPresence {
        match self.enter(Operation::RootPresence, root) {
            Some(_) => RootPresence::Unreadable,
            None => self.inner.root_presence(root),
        }
    }

    fn ancestors(&self, canonical: &str) -> Vec<Directory> {
        match self.enter(Operation::Ancestors, canonical) {
            Some(_) => Vec::new(),
            None => self.inner.ancestors(canonical),
        }
    }

    fn kind_below(&self, root: &Directory, path: &RelativePath) -> Result<Option<Kind>, ReadFault> {
        match self.enter(Operation::Kind, &root.path) {
            Some(_) => Err(ReadFault::Unreadable),
            None => self.inner.kind_below(root, path),
        }
    }

    fn read_below(
        &self,
        root: &Directory,
        path: &RelativePath,
        limit: usize,
    ) -> Result<Option<Vec<u8>>, ReadFault> {
        match self.enter(Operation::Read, &root.path) {
            Some(_) => Err(ReadFault::Unreadable),
            None => self.inner.read_below(root, path, limit),
        }
    }

    fn create_below(&self, root: &Directory, path: &RelativePath, bytes: &[u8]) -> Result<Made, WriteFault> {
        match self.enter(Operation::Create, &root.path) {
            Some(failure) => Err(failure.of_write()),
            None => self.inner.create_below(root, path, bytes),
        }
    }

    fn replace_below(
        &self,
        root: &Directory,
        path: &RelativePath,
        bytes: &[u8],
        expected: Option<&ContentHash>,
    ) -> Result<(), WriteFault> {
        match self.enter(Operation::Replace, &root.path) {
            Some(failure) => Err(failure.of_write()),
            None => self.inner.replace_below(root, path, bytes, expected),
        }
    }

    fn sweep_below(
        &self,
        root: &Directory,
        path: &RelativePath,
        content: &ContentHash,
    ) -> Result<(), WriteFault> {
        match self.enter(Operation::Sweep, &root.path) {
            Some(failure) => Err(failure.of_write()),
            None => self.inner.sweep_below(root, path, content),
        }
    }

    fn remove_below_if(
        &self,
        root: &Directory,
        path: &RelativePath,
        content: &ContentHash,
        remove_directory: bool,
    ) -> Result<bool, WriteFault> {
        match self.enter(Operation::Remove, &root.path) {
            Some(failure) => Err(failure.of_write()),
            None => self.inner.remove_below_if(root, path, content, remove_directory),
        }
    }

    fn list_directories(&self, directory: &Directory, limit: usize) -> Result<Listing, DirectoryFault> {
        match self.enter(Operation::List, &directory.path) {
            Some(_) => Err(DirectoryFault::Unreadable),
            None => self.inner.list_directories(directory, limit),
        }
    }

    fn create_directory(&self, parent: &Directory, name: &str) -> Result<(), CreateFault> {
        match self.enter(Operation::CreateDirectory, &parent.path) {
            Some(Failure::DiskFull) => Err(CreateFault::DiskFull),
            Some(Failure::Refused) => Err(CreateFault::Unwritable {
                problem: "refused by a test".to_owned(),
            }),
            None => self.inner.create_directory(parent, name),
        }
    }
}

impl Failure {
    fn of_write(self) -> WriteFault {
        match self {
            Self::DiskFull => WriteFault::DiskFull,
            Self::Refused => WriteFault::Unwritable {
                problem: "refused by a test".to_owned(),
            },
        }
    }
}

/// A test that panicked while it held the lock has left nothing half done.
fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
