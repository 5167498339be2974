//! The workspace of a command whose first argument names something else.

use clap::Args;

use super::{Choice, choose, named_by_environment};
use crate::failure::Failure;

/// The arguments of such a command.
#[derive(Debug, Args)]
pub(crate) struct FlagSelector {
    /// The workspace: its name, id, durable id or a path in it. Default: COMPOZY_WORKSPACE, else
    /// that of your own session, else the one that owns the current directory
    #[arg(long, value_name = "REF")]
    workspace: Option<String>,
}

impl FlagSelector {
    /// Looks at arguments and environment only, so that a refusal comes before any request.
    pub(crate) fn choose(&self) -> Result<Choice, Failure> {
        choose(
            None,
            self.workspace.as_deref(),
            named_by_environment()?.as_deref(),
        )
    }

    /// Whether the arguments themselves name one.
    pub(crate) fn is_given(&self) -> bool {
        self.workspace.is_some()
    }
}
