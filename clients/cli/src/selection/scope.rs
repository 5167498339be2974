//! The workspace of a list that is for all of them unless one is named.

use clap::Args;

use super::{Choice, choose, named_by_environment};
use crate::failure::Failure;

/// The arguments of such a command.
#[derive(Debug, Args)]
pub(crate) struct ScopeSelector {
    /// Only this workspace: its name, id, durable id or a path in it. Default: COMPOZY_WORKSPACE, else all
    #[arg(long, value_name = "REF")]
    workspace: Option<String>,
    /// Unless one is named: only that of your own session, else the one that owns the current directory
    #[arg(long)]
    here: bool,
}

impl ScopeSelector {
    /// The choice; `None` is all workspaces. Looks at arguments and environment only.
    pub(crate) fn choose(&self) -> Result<Option<Choice>, Failure> {
        self.choose_with(named_by_environment()?.as_deref())
    }

    fn choose_with(&self, environment: Option<&str>) -> Result<Option<Choice>, Failure> {
        Ok(match choose(None, self.workspace.as_deref(), environment)? {
            Choice::Unnamed if !self.here => None,
            choice => Some(choice),
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn all_are_meant_unless_one_is_named_or_asked_for() {
        let of = |workspace: Option<&str>, here| ScopeSelector {
            workspace: workspace.map(str::to_owned),
            here,
        };
        assert_eq!(of(None, false).choose_with(None).unwrap(), None);
        assert_eq!(of(None, true).choose_with(None).unwrap(), Some(Choice::Unnamed));
        let text = |scope: ScopeSelector, variable| {
            let choice = scope.choose_with(variable).unwrap().unwrap();
            choice.text().map(str::to_owned)
        };
        assert_eq!(text(of(None, true), Some("c")).as_deref(), Some("c"));
        assert_eq!(text(of(Some("a"), true), Some("c")).as_deref(), Some("a"));
        assert!(of(Some(" "), false).choose_with(Some("c")).is_err());
    }
}
