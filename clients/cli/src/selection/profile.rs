//! Which profile a command asks for. Who wins is the daemon's to decide; here only what the arguments and the
//! environment say is gathered.

use std::env::VarError;

use clap::Args;
use compozy_client::ErrorReason;

use crate::failure::Failure;
use crate::reference::not_blank;

/// The variable that names the profile.
const PROFILE_VARIABLE: &str = "COMPOZY_PROFILE";

/// The argument of a command that sees a workspace under a profile.
#[derive(Debug, Args)]
pub(crate) struct ProfileSelector {
    /// The profile, by name or id. Default: COMPOZY_PROFILE, else the one that is selected
    #[arg(long, value_name = "PROFILE", value_parser = not_blank())]
    profile: Option<String>,
}

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AskedProfile {
    /// `--profile`.
    pub(crate) flag: Option<String>,
    /// `COMPOZY_PROFILE`, if it is not blank.
    pub(crate) environment: Option<String>,
}

impl ProfileSelector {
    /// Looks at arguments and environment only.
    pub(crate) fn asked(&self) -> Result<AskedProfile, Failure> {
        Ok(AskedProfile {
            flag: self.profile.clone(),
            environment: named_by_environment()?,
        })
    }
}

/// What `COMPOZY_PROFILE` says; a blank one says nothing.
pub(crate) fn named_by_environment() -> Result<Option<String>, Failure> {
    match std::env::var(PROFILE_VARIABLE) {
        Ok(text) => Ok(Some(text).filter(|text| !super::is_blank(text))),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => Err(Failure::usage(
            format!("{PROFILE_VARIABLE} is not text"),
            "set it to a profile's name or id",
        )),
    }
}

impl AskedProfile {
    /// The one that counts, for a request that takes one only.
    pub(crate) fn first(&self) -> Option<String> {
        self.flag.clone().or_else(|| self.environment.clone())
    }

    /// Says where the profile came from when it is the one that failed and stands nowhere in the command.
    pub(crate) fn blamed(&self, failure: Failure) -> Failure {
        let is_about_it =
            failure.is_about(ErrorReason::ProfileNotFound) || failure.is_about(ErrorReason::ProfileArchived);
        if is_about_it && self.flag.is_none() && self.environment.is_some() {
            return failure.saying("(the profile comes from COMPOZY_PROFILE)");
        }
        failure
    }
}
