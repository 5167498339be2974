//! What a failure tells its caller, before it is put on the wire.

use std::time::Duration;

use compozy_domain::error::PathConflict;
use compozy_domain::{CatalogError, Diagnostic, IdentityFault, Reason, WorkspaceId};
use tonic::Code;

use super::{RETRY_AFTER, code, record_defect};

/// Candidates of an ambiguous reference that are named.
const IDS_NAMED: usize = 10;

/// Everything that goes into a status.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) reason: Reason,
    pub(super) message: String,
    pub(super) metadata: Vec<(&'static str, String)>,
    pub(super) violations: Vec<(String, String)>,
    pub(super) resource: Option<(&'static str, String)>,
    pub(super) precondition: Option<String>,
    pub(super) retry_after: Option<Duration>,
}

impl Facts {
    /// Reads an error once, field by field.
    pub(super) fn of(error: CatalogError) -> Self {
        let mut facts = Self::plain(&error);
        match error {
            CatalogError::InvalidField { field, problem } => facts.field(field, problem),
            CatalogError::InvalidName { problem } => facts.field("name".to_owned(), problem),
            CatalogError::Path {
                field,
                path,
                fault: _,
            } => facts.path(field, path),
            CatalogError::Cursor(cause) => {
                facts.tell("cause", cause.as_str());
                facts.field("cursor".to_owned(), format!("can't be used: {}", cause.as_str()));
            }
            CatalogError::ResumeToken(cause) => {
                facts.tell("cause", cause.as_str());
                let problem = format!("can't be used: {}", cause.as_str());
                facts.field("resume_token".to_owned(), problem);
            }
            CatalogError::RequestIdReused => {
                facts.field(
                    "request_id".to_owned(),
                    "was used for a different request".to_owned(),
                );
            }
            CatalogError::Config { problems } => facts.config(problems),
            CatalogError::WorkspaceNotFound { reference } => {
                facts.resource = Some(("workspace", reference.clone()));
                facts.tell("reference", reference);
            }
            CatalogError::ProfileNotFound { reference } => {
                facts.resource = Some(("profile", reference.clone()));
                facts.tell("reference", reference);
            }
            CatalogError::AgentNotFound { name } => {
                facts.resource = Some(("agent", name.clone()));
                facts.tell("name", name);
            }
            CatalogError::DefinitionNotFound { kind, name } => {
                facts.resource = Some((kind, name.clone()));
                facts.tell("name", name);
            }
            CatalogError::FingerprintStale => facts.precondition = Some("fingerprint".to_owned()),
            CatalogError::ProfileNameConflict { name, is_archived: _ } => {
                facts.resource = Some(("profile", name.clone()));
                facts.tell("name", name);
            }
            CatalogError::ProfileDirectoryExists { path } => {
                facts.resource = Some(("directory", path.clone()));
                facts.tell("path", path);
            }
            CatalogError::ProfilePermanent => facts.precondition_on("name", "default".to_owned()),
            CatalogError::ProfileInUse {
                name,
                session_count: _,
            }
            | CatalogError::ProfileArchived { name } => facts.precondition_on("name", name),
            CatalogError::NameConflict { name, holder } => {
                facts.resource = Some(("workspace", name.clone()));
                facts.tell("name", name);
                facts.tell_holder(holder);
            }
            CatalogError::PathConflict {
                path,
                holder,
                conflict,
            } => {
                facts.resource = Some(("workspace", path.clone()));
                facts.tell("path", path);
                facts.tell_holder(holder);
                match conflict {
                    PathConflict::Registered { fields } => facts.tell("fields", fields.join(",")),
                    PathConflict::Copy { original } => facts.tell("original", original),
                    PathConflict::RootTaken => {}
                }
            }
            CatalogError::DirectoryExists { path } => {
                facts.resource = Some(("directory", path.clone()));
                facts.tell("path", path);
            }
            CatalogError::Root { root, fault: _ } => facts.precondition_on("path", root),
            CatalogError::OtherHost { host } => facts.precondition_on("host", host),
            CatalogError::HostNotServed => facts.precondition = Some("daemon.host_id".to_owned()),
            CatalogError::AmbiguousReference { durable_id, ids } => {
                let named: Vec<&str> = ids.iter().take(IDS_NAMED).map(WorkspaceId::as_str).collect();
                facts.tell("ids", named.join(","));
                facts.tell("ids_count", ids.len().to_string());
                facts.precondition_on("durable_id", durable_id);
            }
            CatalogError::Identity { path, fault, remedy } => facts.identity(path, fault, remedy),
            CatalogError::SessionNotFound { id } => {
                facts.message = format!("no session has the id '{}': list the sessions", printable(&id));
                facts.resource = Some(("session", printable(&id)));
                facts.tell("id", printable(&id));
            }
            CatalogError::SessionIdConflict { id } => facts.tell("id", id),
            CatalogError::SessionState { id, state, .. } => {
                facts.tell("state", state.as_str());
                facts.precondition_on("id", id.to_string());
            }
            CatalogError::SessionArchived { id } => {
                facts.tell("state", "archived");
                facts.precondition_on("id", id.to_string());
            }
            CatalogError::SessionCwd { cwd, .. } if cwd.is_empty() => {
                facts.precondition = Some("cwd".to_owned());
            }
            CatalogError::SessionCwd { cwd, .. } => facts.precondition_on("path", cwd),
            CatalogError::LiveSessions {
                workspace,
                named,
                session_count,
            } => {
                let ids: Vec<&str> = named.iter().map(compozy_domain::SessionId::as_str).collect();
                facts.tell("ids", ids.join(","));
                facts.tell("ids_count", session_count.to_string());
                facts.precondition_on("name", workspace);
            }
            CatalogError::MoveInvalid { id, problem } => {
                facts.tell("problem", problem);
                facts.precondition_on("id", id.to_string());
            }
            CatalogError::LeaseHeld { holder } => facts.tell("holder", holder),
            CatalogError::IdentityMismatch {
                path,
                expected,
                found,
                remedy,
            } => {
                facts.tell("remedy", remedy);
                facts.tell("expected", expected);
                if let Some(found) = found {
                    facts.tell("found", found);
                }
                facts.precondition_on("path", path);
            }
            CatalogError::HomeForbidden { path } => facts.precondition_on("path", path),
            CatalogError::RecordNotUnderstood { id, defect } => {
                facts.tell("problem", defect);
                facts.precondition_on("id", id);
            }
            CatalogError::EtagMismatch { id } => facts.precondition_on("id", id),
            CatalogError::MessageTooLarge { limit } => facts.tell("limit", limit.to_string()),
            CatalogError::AnswerTooLarge { limit, remedy } => {
                facts.tell("limit", limit.to_string());
                facts.tell("remedy", remedy);
            }
            CatalogError::ScopeDenied { scope } => facts.tell("scope", scope),
            CatalogError::StoreUnavailable { outcome_unknown } => {
                facts.retry_after = Some(RETRY_AFTER);
                if outcome_unknown {
                    facts.tell("outcome", "unknown");
                }
            }
            CatalogError::ResumeTokenExpired { oldest_token } => facts.tell("oldest_token", oldest_token),
            CatalogError::RateLimited | CatalogError::TooManyWatchers | CatalogError::Draining => {
                facts.retry_after = Some(RETRY_AFTER);
            }
            CatalogError::DiskFull
            | CatalogError::DeadlineExceeded
            | CatalogError::LeaseLost
            | CatalogError::TokenMissing
            | CatalogError::TokenInvalid
            | CatalogError::MethodUnknown
            | CatalogError::StoreCorrupt => {}
            CatalogError::Defect { detail } => {
                let (message, trace_id) = record_defect(&detail);
                facts.message = message;
                facts.tell("trace_id", trace_id);
            }
        }
        facts
    }

    fn plain(error: &CatalogError) -> Self {
        Self {
            reason: error.reason(),
            message: error.to_string(),
            metadata: Vec::new(),
            violations: Vec::new(),
            resource: None,
            precondition: None,
            retry_after: None,
        }
    }

    fn tell(&mut self, key: &'static str, value: impl Into<String>) {
        self.metadata.push((key, value.into()));
    }

    fn tell_line(&mut self, line: Option<u32>) {
        if let Some(line) = line {
            self.tell("line", line.to_string());
        }
    }

    fn tell_holder(&mut self, holder: Option<WorkspaceId>) {
        if let Some(holder) = holder {
            self.tell("holder", holder.to_string());
        }
    }

    fn field(&mut self, field: String, problem: String) {
        self.tell("field", field.clone());
        self.violations.push((field, problem));
    }

    fn precondition_on(&mut self, key: &'static str, subject: String) {
        self.precondition = Some(subject.clone());
        self.tell(key, subject);
    }

    /// A path is a wrong field, a missing thing or a forbidden one, by what is wrong with it.
    fn path(&mut self, field: String, path: String) {
        match code(self.reason) {
            Code::NotFound => self.resource = Some(("path", path.clone())),
            Code::InvalidArgument => self.violations.push((field.clone(), self.message.clone())),
            _ => {}
        }
        self.tell("field", field);
        self.tell("path", path);
    }

    /// Each problem is a violation of its own: where it is, and what is wrong there.
    fn config(&mut self, problems: Vec<Diagnostic>) {
        self.tell("problems_count", problems.len().to_string());
        if let Some(first) = problems.first() {
            self.tell_line(first.line);
            self.tell("problem", first.message.clone());
            self.tell("path", first.path.clone());
            if !first.remedy.is_empty() {
                self.tell("remedy", first.remedy.clone());
            }
        }
        for problem in problems {
            let what = format!("{}: {}", problem.code, problem.message);
            self.violations.push((problem.location(), what));
        }
    }

    fn identity(&mut self, path: String, fault: IdentityFault, remedy: String) {
        match fault {
            IdentityFault::Invalid { line, problem } => {
                self.tell_line(line);
                self.tell("problem", problem);
            }
            IdentityFault::Unwritable { problem } => self.tell("problem", problem),
            IdentityFault::Unreadable => {}
        }
        self.tell("remedy", remedy);
        if code(self.reason) == Code::FailedPrecondition {
            self.precondition = Some(path.clone());
        }
        self.tell("path", path);
    }
}

/// A text of a caller with its control characters escaped: whoever prints an answer prints no more than text.
pub(super) fn printable(text: &str) -> String {
    let mut printed = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_control() {
            printed.extend(letter.escape_default());
        } else {
            printed.push(letter);
        }
    }
    printed
}

/// At most this many bytes of a text, whole characters, with a mark where something is gone.
pub(super) fn shortened(text: &str, bytes: usize) -> String {
    const MARK: &str = "...";
    if text.len() <= bytes {
        return text.to_owned();
    }
    let mut end = bytes.saturating_sub(MARK.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{MARK}", &text[..end])
}
