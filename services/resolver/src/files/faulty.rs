//! Files for tests: counts calls, fails on demand, holds a path back, lets something happen in between.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::{
    Content, ContentHash, CreateFault, Directory, DirectoryFault, Files, Kind, Listing, Made, Names,
    OpenDirectory, ReadFault, RelativePath, RootPresence, Stamp, WriteFault,
};

/// One operation of [`Files`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// [`Files::directory`]
    Directory,
    /// [`Files::open`]
    Open,
    /// [`Files::stamp`]
    Stamp,
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
    /// [`OpenDirectory::names`]
    Names,
    /// [`OpenDirectory::enter`]
    Enter,
    /// [`OpenDirectory::look`]
    Look,
    /// [`OpenDirectory::read`]
    ReadFile,
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
type Repeated = Arc<dyn Fn() + Send + Sync>;

#[derive(Default)]
struct State {
    /// The paths of the calls, in their order.
    calls: BTreeMap<Operation, Vec<String>>,
    failures: BTreeMap<Operation, Failure>,
    /// Failures of an operation on one path.
    path_failures: BTreeMap<(Operation, String), Failure>,
    actions: BTreeMap<Operation, Vec<Action>>,
    path_actions: BTreeMap<(Operation, String), Vec<Action>>,
    repeated: BTreeMap<Operation, Repeated>,
    held: Vec<String>,
    /// Nanoseconds by which the clock is ahead.
    ahead: i64,
    /// What each path is said to be from now on, as it was when it was first looked at.
    kept_stamps: Option<BTreeMap<String, Option<Stamp>>>,
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
        count(self.state().calls.get(&operation).map_or(0, Vec::len))
    }

    /// How often any operation was called.
    #[must_use]
    pub fn all_calls(&self) -> u64 {
        count(self.state().calls.values().map(Vec::len).sum())
    }

    /// The paths on which an operation was called, in the order of the calls.
    #[must_use]
    pub fn paths(&self, operation: Operation) -> Vec<String> {
        self.state().calls.get(&operation).cloned().unwrap_or_default()
    }

    /// Counts from nothing again.
    pub fn forget_calls(&self) {
        self.state().calls.clear();
    }

    /// Lets an operation fail from now on, before it does anything.
    pub fn fail(&self, operation: Operation, failure: Failure) {
        self.state().failures.insert(operation, failure);
    }

    /// Lets an operation fail from now on, but only on this path.
    pub fn fail_on(&self, operation: Operation, path: impl Into<String>, failure: Failure) {
        self.state()
            .path_failures
            .insert((operation, path.into()), failure);
    }

    /// Lets an operation work again, on every path.
    pub fn heal(&self, operation: Operation) {
        let mut state = self.state();
        state.failures.remove(&operation);
        state
            .path_failures
            .retain(|(failing, _), _| *failing != operation);
    }

    /// Does something once, just before the next call of an operation; several in the order they were given.
    pub fn before(&self, operation: Operation, action: impl FnOnce() + Send + 'static) {
        self.state()
            .actions
            .entry(operation)
            .or_default()
            .push(Box::new(action));
    }

    /// As [`Faulty::before`], before the next call on this path.
    pub fn before_on(
        &self,
        operation: Operation,
        path: impl Into<String>,
        action: impl FnOnce() + Send + 'static,
    ) {
        self.state()
            .path_actions
            .entry((operation, path.into()))
            .or_default()
            .push(Box::new(action));
    }

    /// Does something just before every call of an operation from now on.
    pub fn before_each(&self, operation: Operation, action: impl Fn() + Send + Sync + 'static) {
        self.state().repeated.insert(operation, Arc::new(action));
    }

    /// Lets everything look as if it had not changed for so long: the clock of these files goes ahead, those on the
    /// disk keep their times.
    pub fn age(&self, span: Duration) {
        let nanos = i64::try_from(span.as_nanos()).unwrap_or(i64::MAX);
        let mut state = self.state();
        state.ahead = state.ahead.saturating_add(nanos);
    }

    /// Lets every path keep the state that its next [`Files::stamp`] finds, whatever happens to it: what a change
    /// within one tick of the clock looks like.
    pub fn keep_stamps(&self) {
        self.state().kept_stamps = Some(BTreeMap::new());
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
        let (actions, repeated) = {
            let mut state = self.state();
            state.calls.entry(operation).or_default().push(path.to_owned());
            let mut actions = state.actions.remove(&operation).unwrap_or_default();
            let on_path = state.path_actions.remove(&(operation, path.to_owned()));
            actions.extend(on_path.unwrap_or_default());
            (actions, state.repeated.get(&operation).cloned())
        };
        // Without the lock: an action may use these files itself.
        for action in actions {
            action();
        }
        if let Some(action) = repeated {
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
        let on_path = state.path_failures.get(&(operation, path.to_owned()));
        on_path.or_else(|| state.failures.get(&operation)).copied()
    }

    fn stamp_of(&self, path: &str) -> Result<Option<Stamp>, ReadFault> {
        if let Some(kept) = &self.state().kept_stamps
            && let Some(stamp) = kept.get(path)
        {
            return Ok(*stamp);
        }
        let stamp = self.inner.stamp(path)?;
        if let Some(kept) = &mut self.state().kept_stamps {
            kept.insert(path.to_owned(), stamp);
        }
        Ok(stamp)
    }

    fn opened(&self, inner: Box<dyn OpenDirectory>) -> Box<dyn OpenDirectory> {
        let files = self.clone();
        Box::new(FaultyDirectory { inner, files })
    }
}

/// A directory that such files have opened.
#[derive(Debug)]
struct FaultyDirectory {
    inner: Box<dyn OpenDirectory>,
    files: Faulty,
}

impl FaultyDirectory {
    fn before(&self, operation: Operation, name: &str) -> Result<(), ReadFault> {
        let path = format!("{}/{name}", self.path().trim_end_matches('/'));
        match self.files.enter(operation, &path) {
            Some(_) => Err(ReadFault::Unreadable),
            None => Ok(()),
        }
    }
}

impl OpenDirectory for FaultyDirectory {
    fn path(&self) -> &str {
        self.inner.path()
    }

    fn stamp(&self) -> Stamp {
        self.inner.stamp()
    }

    fn names(&self, limit: usize) -> Result<Names, ReadFault> {
        match self.files.enter(Operation::Names, self.path()) {
            Some(_) => Err(ReadFault::Unreadable),
            None => self.inner.names(limit),
        }
    }

    fn enter(&self, name: &str) -> Result<Option<Box<dyn OpenDirectory>>, ReadFault> {
        self.before(Operation::Enter, name)?;
        let entered = self.inner.enter(name)?;
        Ok(entered.map(|inner| self.files.opened(inner)))
    }

    fn look(&self, name: &str) -> Result<Option<Stamp>, ReadFault> {
        self.before(Operation::Look, name)?;
        self.inner.look(name)
    }

    fn read(&self, name: &str, limit: usize) -> Result<Option<Content>, ReadFault> {
        self.before(Operation::ReadFile, name)?;
        self.inner.read(name, limit)
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

    fn open(&self, path: &str) -> Result<Box<dyn OpenDirectory>, DirectoryFault> {
        match self.enter(Operation::Open, path) {
            Some(_) => Err(DirectoryFault::Unreadable),
            None => Ok(self.opened(self.inner.open(path)?)),
        }
    }

    fn stamp(&self, path: &str) -> Result<Option<Stamp>, ReadFault> {
        match self.enter(Operation::Stamp, path) {
            Some(_) => Err(ReadFault::Unreadable),
            None => self.stamp_of(path),
        }
    }

    fn clock(&self) -> i64 {
        self.inner.clock().saturating_add(self.state().ahead)
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

fn count(calls: usize) -> u64 {
    u64::try_from(calls).unwrap_or(u64::MAX)
}

/// A test that panicked while it held the lock has left nothing half done.
fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
