//! The workspaces of a command that is for all of them unless it is told otherwise.

use clap::Args;

use super::{Choice, choose, named_by_environment};
use crate::failure::Failure;

/// The arguments of such a command.
#[derive(Debug, Args)]
pub(crate) struct SeveralSelector {
    /// Only this workspace: its name, id, durable id or a path in it; may be repeated. Default:
    /// COMPOZY_WORKSPACE, else all
    #[arg(long, value_name = "REF")]
    workspace: Vec<String>,
    /// Unless one is named: only that of your own session, else the one that owns the current directory
    #[arg(long)]
    here: bool,
}

impl SeveralSelector {
    /// The choices, which all have the same source; none is all workspaces. Looks at arguments and environment only.
    pub(crate) fn choose(&self) -> Result<Vec<Choice>, Failure> {
        if self.workspace.is_empty() {
            return self.choose_without_flag(named_by_environment()?.as_deref());
        }
        let flags = self.workspace.iter();
        flags.map(|flag| choose(None, Some(flag), None)).collect()
    }

    fn choose_without_flag(&self, environment: Option<&str>) -> Result<Vec<Choice>, Failure> {
        Ok(match choose(None, None, environment)? {
            Choice::Unnamed if !self.here => Vec::new(),
            choice => vec![choice],
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::selection::Source;

    fn of(workspace: &[&str], here: bool) -> SeveralSelector {
        SeveralSelector {
            workspace: workspace.iter().map(|text| (*text).to_owned()).collect(),
            here,
        }
    }

    #[test]
    fn all_are_meant_unless_something_names_some() {
        assert_eq!(of(&[], false).choose_without_flag(None).unwrap(), []);
        assert_eq!(of(&[], false).choose_without_flag(Some(" ")).unwrap(), []);
        assert_eq!(
            of(&[], true).choose_without_flag(None).unwrap(),
            [Choice::Unnamed]
        );
        let named = Choice::Named {
            text: "c".to_owned(),
            source: Source::Environment,
        };
        assert_eq!(of(&[], true).choose_without_flag(Some("c")).unwrap(), [named]);
    }

    #[test]
    fn flags_are_final_and_none_is_blank() {
        let choices = of(&["a", "b"], true).choose().unwrap();
        let texts: Vec<Option<&str>> = choices.iter().map(Choice::text).collect();
        assert_eq!(texts, [Some("a"), Some("b")]);
        assert!(of(&["a", " "], false).choose().is_err());
    }
}
