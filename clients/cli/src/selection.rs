//! Which workspace a command is about: one chain for every command that takes one. The first of
//! positional reference, `--workspace` and `COMPOZY_WORKSPACE` that is not blank is final; else the
//! session of the caller, else the current directory.

mod directory;
mod flag;
mod profile;
mod scope;
mod selected;
mod session;
mod several;

use std::env::VarError;

use clap::Args;
use compozy_client::Client;

use crate::app::App;
use crate::failure::Failure;
use crate::reference;

pub(crate) use flag::FlagSelector;
pub(crate) use profile::{AskedProfile, ProfileSelector, named_by_environment as profile_of_environment};
pub(crate) use scope::ScopeSelector;
pub(crate) use selected::Selected;
pub(crate) use several::SeveralSelector;

/// The variable that names the workspace.
const WORKSPACE_VARIABLE: &str = "COMPOZY_WORKSPACE";

/// The arguments of a command that is about one workspace.
#[derive(Debug, Args)]
pub(crate) struct Selector {
    /// The workspace: its name, id, durable id or a path in it. Default: COMPOZY_WORKSPACE, else
    /// that of your own session, else the one that owns the current directory
    #[arg(value_name = "REF")]
    reference: Option<String>,
    /// The same as REF, which wins over it
    #[arg(long, value_name = "REF")]
    workspace: Option<String>,
}

/// Where the answer came from, as `resolution_source` tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Positional,
    Flag,
    Environment,
    SessionIdentity,
    Directory,
}

/// What the arguments and the environment say, before anybody was asked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// This text, which is final.
    Named { text: String, source: Source },
    /// Nothing: the caller's own session decides, else the current directory.
    Unnamed,
}

/// Where something new is to be.
#[derive(Debug)]
pub(crate) enum Place {
    /// In this workspace.
    Workspace(Selected),
    /// In the one that owns this directory, or that it becomes.
    Directory(String),
}

impl Source {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Positional => "positional",
            Self::Flag => "flag",
            Self::Environment => "env",
            Self::SessionIdentity => "session_identity",
            Self::Directory => Selected::OF_DIRECTORY,
        }
    }
}

impl Selector {
    /// Looks at arguments and environment only, so that a refusal comes before any request.
    pub(crate) fn choose(&self) -> Result<Choice, Failure> {
        choose(
            self.reference.as_deref(),
            self.workspace.as_deref(),
            named_by_environment()?.as_deref(),
        )
    }
}

fn named_by_environment() -> Result<Option<String>, Failure> {
    match std::env::var(WORKSPACE_VARIABLE) {
        Ok(text) => Ok(Some(text)),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => Err(Failure::usage(
            format!("{WORKSPACE_VARIABLE} is not text"),
            "set it to a name, id or path",
        )),
    }
}

fn choose(
    positional: Option<&str>,
    flag: Option<&str>,
    environment: Option<&str>,
) -> Result<Choice, Failure> {
    if flag.is_some_and(is_blank) {
        return Err(Failure::usage(
            "--workspace is blank",
            "give it a workspace, or leave it out",
        ));
    }
    let named = [
        (positional, Source::Positional),
        (flag, Source::Flag),
        (environment, Source::Environment),
    ];
    for (text, source) in named {
        if let Some(text) = text.filter(|text| !is_blank(text)) {
            return Ok(Choice::Named {
                text: text.to_owned(),
                source,
            });
        }
    }
    Ok(Choice::Unnamed)
}

impl Choice {
    /// The text that was given, if one was.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Named { text, .. } => Some(text),
            Self::Unnamed => None,
        }
    }

    /// Turns the choice into a reference. What is named is only compared with the caller's own session, if it runs
    /// in one.
    pub(crate) async fn select(&self, app: &App, client: &Client) -> Result<Selected, Failure> {
        match self.select_named(app, client).await? {
            Some(selected) => Ok(selected),
            None => directory::select(app, client).await,
        }
    }

    /// The same for something new: a directory that no workspace owns is no failure then.
    pub(crate) async fn place(&self, app: &App, client: &Client) -> Result<Place, Failure> {
        match self.select_named(app, client).await? {
            Some(selected) => Ok(Place::Workspace(selected)),
            None => directory::current(app, client).await.map(Place::Directory),
        }
    }

    /// What the first four tiers say.
    async fn select_named(&self, app: &App, client: &Client) -> Result<Option<Selected>, Failure> {
        let (text, source) = match self {
            Self::Named { text, source } => (text, *source),
            Self::Unnamed => return selected::own_workspace(app, client).await,
        };
        let reference = reference::workspace(app, client, text)
            .await
            .map_err(|failure| failure.with("resolution_source", source.name()))?;
        let crosses = selected::crosses(app, client, &reference).await;
        Ok(Some(Selected {
            reference,
            source,
            crosses,
        }))
    }
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn named(text: &str, source: Source) -> Choice {
        Choice::Named {
            text: text.to_owned(),
            source,
        }
    }

    #[test]
    fn the_first_that_is_not_blank_is_final() {
        assert_eq!(
            choose(Some("b"), Some("a"), Some("c")).unwrap(),
            named("b", Source::Positional)
        );
        assert_eq!(
            choose(Some(" "), Some("a"), Some("c")).unwrap(),
            named("a", Source::Flag)
        );
        assert_eq!(
            choose(None, None, Some("c")).unwrap(),
            named("c", Source::Environment)
        );
        assert_eq!(choose(None, None, Some("  ")).unwrap(), Choice::Unnamed);
    }

    #[test]
    fn a_blank_flag_is_refused_even_beside_a_reference() {
        assert!(choose(Some("b"), Some(" "), None).is_err());
    }
}
