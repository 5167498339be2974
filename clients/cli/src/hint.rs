//! What to do about a failure. The server's own remedy comes first; these are for when it gave none.

use compozy_client::{Error, ErrorKind, ErrorReason};

/// One hint for a person, in the imperative.
pub(crate) fn of(error: &Error) -> Option<String> {
    if let Some(remedy) = error.metadata().get("remedy").filter(|remedy| !remedy.is_empty()) {
        return Some(remedy.clone());
    }
    if error.reason() == ErrorReason::ResumeTokenExpired {
        return Some(expired_token(error));
    }
    if error.reason() == ErrorReason::CursorInvalid {
        return Some(unfit_cursor(error).to_owned());
    }
    if let Some(hint) = of_session(error) {
        return Some(hint);
    }
    if let Some(delay) = error.retry_after() {
        return Some(format!("try again in {}", crate::duration::spelled(delay)));
    }
    match error.kind() {
        ErrorKind::Transport if error.message().contains("certificate") => Some(
            "name the certificate's authority with --ca, and the server as the certificate does".to_owned(),
        ),
        // What a plain port says looks like no TLS record at all.
        ErrorKind::Transport if error.message().contains("InvalidContentType") => {
            Some("the server there speaks no TLS; name it with http:// instead of https://".to_owned())
        }
        ErrorKind::Transport => {
            Some("check with `compozy daemon status`, or name the server with --server".to_owned())
        }
        ErrorKind::Deadline => {
            Some("try again; `compozy daemon status` tells whether the daemon serves".to_owned())
        }
        ErrorKind::Configuration => {
            Some("correct the option or the variable; `compozy --help` lists them".to_owned())
        }
        ErrorKind::Answer => by_reason(error.reason()).map(str::to_owned),
    }
}

/// What is gone is gone: the choice is to look at everything again, or to skip it knowingly.
fn expired_token(error: &Error) -> String {
    let again = "see everything again with --snapshot, or skip what is gone with --on-expired resync";
    match error
        .metadata()
        .get("oldest_token")
        .filter(|oldest| !oldest.is_empty())
    {
        Some(oldest) => format!("{again} or from the oldest change that is kept with --from-token {oldest}"),
        None => again.to_owned(),
    }
}

/// About sessions the next command can be told with the id that it takes.
fn of_session(error: &Error) -> Option<String> {
    let told = |key: &str| {
        let text = error.metadata().get(key).filter(|text| !text.is_empty());
        text.map(|text| crate::quote::shell(text))
    };
    let id = told("id").unwrap_or_else(|| "<session>".to_owned());
    Some(match error.reason() {
        ErrorReason::SessionStateConflict => match told("state").as_deref() {
            Some("stopped") => format!("`compozy session resume {id}` makes it start again"),
            Some("orphaned") => format!("its files are gone; `compozy session remove {id}` takes it away"),
            Some("stopping") => format!("`compozy session wait {id} --until stopped` waits for its end"),
            _ => format!("`compozy session stop {id} --wait 30s` stops it first"),
        },
        ErrorReason::SessionArchived => format!("`compozy session unarchive {id}` brings it back first"),
        ErrorReason::SessionCwdMismatch => match told("path") {
            Some(path) => {
                format!("`compozy workspace info {path}` tells which workspace owns that directory")
            }
            None => "`compozy workspace info <path>` tells which workspace owns a directory".to_owned(),
        },
        ErrorReason::WorkspaceHasLiveSessions => {
            let first = told("ids").and_then(|ids| ids.split(',').next().map(str::to_owned));
            let first = first.unwrap_or(id);
            format!(
                "stop them first, as with `compozy session stop {first} --wait 30s`; or let them stay without a workspace with --ungroup-live"
            )
        }
        ErrorReason::ProfileInUse => {
            let name = told("name").unwrap_or_else(|| "<name>".to_owned());
            format!(
                "`compozy session list --profile {name} --include-archived` shows the sessions that use it; remove them, or take it out of use with `compozy profile archive {name}`"
            )
        }
        _ => return None,
    })
}

/// To leave a token out is to miss changes, so that comes last.
fn unfit_cursor(error: &Error) -> &'static str {
    match error.metadata().get("cause").map(String::as_str) {
        Some("other_query") => {
            "give the options that it was made with, COMPOZY_WORKSPACE among them; or begin anew: without --cursor, or with --snapshot instead of --from-token"
        }
        Some("other_catalog") => {
            "ask the server that it came from; or begin anew: without --cursor, or with --snapshot instead of --from-token"
        }
        _ => "begin anew: without --cursor, or with --snapshot instead of --from-token",
    }
}

fn by_reason(reason: ErrorReason) -> Option<&'static str> {
    Some(match reason {
        ErrorReason::WorkspaceNotFound => {
            "`compozy workspace list` shows the registered ones, `compozy workspace add <path>` registers one"
        }
        ErrorReason::WorkspaceReferenceAmbiguous => "name one of them by its id",
        ErrorReason::WorkspaceNameConflict => "choose another name with --name",
        ErrorReason::WorkspacePathConflict => {
            "`compozy workspace info <path>` shows the registration that is there; `edit` changes it, `remove` takes it away"
        }
        ErrorReason::SessionNotFound => {
            "a session is named by its id, not by its name: `compozy session list --include-archived` shows both"
        }
        ErrorReason::SessionIdConflict => "leave out --id, and a new one is drawn; an id is never used twice",
        ErrorReason::SessionCwdAbsent => "it was imported without a directory and belongs to no workspace",
        ErrorReason::SessionCwdNotFound | ErrorReason::SessionCwdNotDirectory => {
            "put the directory back, then run `compozy workspace attach` again"
        }
        ErrorReason::WorkspaceMoveInvalid => {
            "`compozy session list --workspace <ref> --sort manual` shows an account in its order"
        }
        ErrorReason::LeaseHeld => {
            "`compozy session show <session>` tells who has it and until when; wait, or ask the holder"
        }
        ErrorReason::LeaseLost => "bind the session again if it is still live",
        ErrorReason::WorkspaceRootMissing => {
            "put the directory back, or point to its new place with `compozy workspace relink <ref> <path>`"
        }
        ErrorReason::WorkspaceRootNotDirectory => {
            "put the directory back in the place of what stands there, or point to its new place with `compozy workspace relink <ref> <path>`"
        }
        ErrorReason::WorkspaceRootUnreadable => "give the daemon's user leave to read the directory",
        ErrorReason::WorkspaceOnOtherHost => "ask the daemon on that host",
        ErrorReason::HostNotServed => "this daemon looks at no disk; name the workspace by id or by name",
        ErrorReason::PathNotFound => {
            "give the path of a directory that is there; `compozy workspace browse` lists some"
        }
        ErrorReason::PathNotDirectory => "name a directory",
        ErrorReason::PathNotAbsolute => "give an absolute path",
        ErrorReason::PathLoop => "the links along the path lead in a circle; name the real directory",
        ErrorReason::PathNotAllowed => {
            "the path has to lie below one of the server's workspaces.allowed_roots"
        }
        ErrorReason::PathUnreadable | ErrorReason::IdentityUnreadable => {
            "give the daemon's user leave to read it"
        }
        ErrorReason::IdentityInvalid => {
            "correct the file, or replace it with `compozy workspace identity repair --force <path>`"
        }
        ErrorReason::IdentityUnwritable => "make the directory writable for the daemon's user",
        ErrorReason::IdentityMismatch => {
            "`compozy workspace identity accept` or `restore` settles it; relink takes --force"
        }
        ErrorReason::HomeForbidden => "register a project directory instead",
        ErrorReason::ConfigInvalid => "correct the file at the line that is named",
        ErrorReason::NameInvalid => {
            "a name has 1 to 64 letters, digits, spaces, dots, dashes or underscores and starts with none of . - ~"
        }
        ErrorReason::ProfileNotFound => {
            "`compozy profile list` shows the profiles, `compozy profile create <name>` makes one"
        }
        ErrorReason::ProfileNameConflict => "choose another name; archived profiles keep theirs",
        ErrorReason::ProfileDirectoryExists => {
            "choose another name, or move the directory of that name out of the home's profiles"
        }
        ErrorReason::ProfilePermanent => "`default` is always there as it is; make a profile of your own",
        ErrorReason::ProfileArchived => "take it back into use with `compozy profile unarchive <name>`",
        ErrorReason::AgentNotFound => "`compozy agent list` shows the agents of the workspace",
        ErrorReason::DefinitionNotFound => "`compozy agent list` and `compozy skill list` show what there is",
        ErrorReason::FingerprintStale => "the files have changed meanwhile; run the command again",
        ErrorReason::MessageTooLarge => "ask for less: `compozy resolve --basic` answers names and counts",
        ErrorReason::InvalidField => "see the command's --help for what is allowed",
        ErrorReason::EtagMismatch => "somebody else changed it meanwhile; look again and repeat",
        ErrorReason::TokenMissing => "give a token with --token-file or COMPOZY_TOKEN",
        ErrorReason::TokenInvalid => "get a valid token and give it with --token-file or COMPOZY_TOKEN",
        ErrorReason::ScopeDenied => "use a token that has the scope",
        ErrorReason::StoreUnavailable => "check the store, then try again; `compozy daemon logs` says more",
        ErrorReason::StoreCorrupt => "run `compozy doctor`, and restore a backup if it says so",
        ErrorReason::Draining => "the daemon is shutting down; try again in a moment",
        ErrorReason::RateLimited => "try again later",
        ErrorReason::TooManyWatchers => "end another watch, or try again later",
        ErrorReason::DiskFull => "free some space, then try again",
        ErrorReason::MethodUnknown => "the daemon is older than this command; update it",
        ErrorReason::Defect => "`compozy daemon logs` has the details under that trace id",
        ErrorReason::DirectoryExists => "choose another name",
        ErrorReason::RecordNotUnderstood => "the record was written by a newer release; update the daemon",
        _ => return None,
    })
}
