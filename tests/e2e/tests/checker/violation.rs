//! What the checker complains about.

use std::fmt;

/// A promise that was broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rule {
    /// Positions are dense, and nobody finds one below what was seen before.
    LogDense,
    /// An entry stands in the log once.
    LogOnce,
    /// Versions of a record rise by one with each entry, from the creation to the removal.
    LogVersions,
    /// An entry is about what was there before it, and tells of something that changed.
    LogTransitions,
    /// Each answered write has its entry.
    LogHoldsAnswers,
    /// Nothing else has one.
    LogHoldsNothingElse,
    /// What was answered before something else was begun stands before it.
    LogOrder,
    /// The list is what the log leads to, on every server.
    ListIsLog,
    /// A change is an entry of the log.
    ChangeIsLogged,
    /// A watcher gets what its filter takes.
    Filter,
    /// Changes come in the order of the log.
    Order,
    /// Nothing comes twice within a stream, and nothing from before its start.
    Once,
    /// Nothing is left out but what a later change of the same thing stands for, once that is there.
    Lost,
    /// `synced` comes once, behind what was missed.
    Synced,
    /// A row is never older than its change, and is absent only if it has gone.
    Row,
    /// A snapshot holds what was there.
    Snapshot,
    /// Whoever applies everything has the list.
    Model,
    /// A `resync` has a cause.
    ResyncCause,
    /// A token expires only with what comes after it.
    Expired,
    /// A token of another epoch leads to a `resync`.
    Epoch,
    /// A valid token is accepted.
    ValidToken,
    /// Another token is refused.
    Lie,
    /// A stream is never silent for long.
    Silence,
    /// Whoever comes back to a quiet server gets to `synced`.
    Return,
}

/// A broken promise, and where to look.
#[derive(Debug, Clone)]
pub(crate) struct Violation {
    pub(crate) rule: Rule,
    pub(crate) detail: String,
}

impl Violation {
    pub(crate) fn new(rule: Rule, detail: impl Into<String>) -> Self {
        Self {
            rule,
            detail: detail.into(),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}: {}", self.rule, self.detail)
    }
}
