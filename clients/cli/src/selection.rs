//! Which workspace a command is about: one chain for every command that takes one. The first of
//! positional reference, `--workspace` and `COMPOZY_WORKSPACE` that is not blank is final; else the
//! session of the caller, else the current directory.

mod directory;
mod flag;
mod profile;
mod several;

use std::env::VarError;

use clap::Args;
use compozy_client::proto::workspace::v1::WorkspaceRef;
use compozy_client::{Client, Error, ErrorReason};

use crate::app::App;
use crate::failure::Failure;
use crate::reference;

pub(crate) use flag::FlagSelector;
pub(crate) use profile::{AskedProfile, ProfileSelector, named_by_environment as profile_of_environment};
pub(crate) use several::SeveralSelector;

/// The variable that names the workspace.
const WORKSPACE_VARIABLE: &str = "COMPOZY_WORKSPACE";
/// The variables that name the caller's own session; they count only together.
const SESSION_VARIABLES: [&str; 2] = ["COMPOZY_SESSION_ID", "COMPOZY_AGENT"];

/// The arguments of a command that is about one workspace.
#[derive(Debug, Args)]
pub(crate) struct Selector {
    /// The workspace: its name, id, durable id or a path in it. Default: COMPOZY_WORKSPACE, else
    /// the one that owns the current directory
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
    Directory,
}

/// What the arguments and the environment say, before anybody was asked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// This text, which is final.
    Named { text: String, source: Source },
    /// Nothing: the current directory decides.
    Unnamed,
}

/// The workspace to ask for.
#[derive(Debug)]
pub(crate) struct Selected {
    pub(crate) reference: WorkspaceRef,
    pub(crate) source: Source,
}

impl Source {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Positional => "positional",
            Self::Flag => "flag",
            Self::Environment => "env",
            Self::Directory => "cwd",
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

    /// Turns the choice into a reference; asks the daemon only when the directory decides.
    pub(crate) async fn select(&self, app: &App, client: &Client) -> Result<Selected, Failure> {
        match self {
            Self::Named { text, source } => {
                let reference = reference::workspace(app, client, text)
                    .await
                    .map_err(|failure| failure.with("resolution_source", source.name()))?;
                Ok(Selected {
                    reference,
                    source: *source,
                })
            }
            Self::Unnamed => {
                note_session_variables(app);
                directory::select(app, client).await
            }
        }
    }
}

impl Selected {
    /// Says where the reference came from when it failed and stands nowhere in the command.
    pub(crate) fn failure(&self, error: Error) -> Failure {
        let is_about_it = is_about_reference(error.reason());
        let failure = Failure::from(error).with("resolution_source", self.source.name());
        match self.source {
            _ if !is_about_it => failure,
            Source::Environment => failure.saying("(the reference comes from COMPOZY_WORKSPACE)"),
            Source::Flag => failure.saying("(the reference comes from --workspace)"),
            Source::Positional | Source::Directory => failure,
        }
    }
}

/// Whether a reference can be what is wrong; a profile, an agent or a file's content has other causes.
fn is_about_reference(reason: ErrorReason) -> bool {
    !matches!(
        reason,
        ErrorReason::ProfileNotFound
            | ErrorReason::ProfileArchived
            | ErrorReason::AgentNotFound
            | ErrorReason::DefinitionNotFound
            | ErrorReason::FingerprintStale
            | ErrorReason::ConfigInvalid
            | ErrorReason::MessageTooLarge
    )
}

/// Session credentials decide nothing here yet: this release has no sessions to check them against.
fn note_session_variables(app: &App) {
    let [session, agent] =
        SESSION_VARIABLES.map(|name| std::env::var(name).is_ok_and(|value| !is_blank(&value)));
    let what = match (session, agent) {
        (false, false) => return,
        (true, false) => "COMPOZY_SESSION_ID is set without COMPOZY_AGENT",
        (false, true) => "COMPOZY_AGENT is set without COMPOZY_SESSION_ID",
        (true, true) => "the session in COMPOZY_SESSION_ID cannot be checked by this release",
    };
    app.printer
        .note(&format!("{what}; the current directory decides instead"));
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
