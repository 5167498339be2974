//! What a writer was told: whether a write was carried out, refused or left open, and whether it changed anything.

use std::time::{Duration, Instant};

use compozy_client::{Code, Error, ErrorKind};

use crate::board::Answer;
use crate::catalog::State;
use crate::entry::Record;
use crate::history::{Action, Outcome, Write};
use crate::traffic::Writer;

/// Until a server that did not answer is asked again.
const AFTER_A_FAILURE: Duration = Duration::from_millis(30);

/// What a writer asks for.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) action: Action,
    pub(crate) record: Record,
    /// The profile that is selected; empty for the others.
    pub(crate) selects: String,
    begun: Instant,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Told {
    /// The record with its id.
    pub(crate) record: Record,
    /// Its version; 0 where the answer has none.
    pub(crate) version: i64,
    /// Whether anything was written, if that is known.
    pub(crate) wrote: Option<bool>,
    pub(crate) revision: String,
}

impl Asked {
    /// From now on.
    pub(crate) fn now(action: Action, record: Record) -> Self {
        Self {
            action,
            record,
            selects: String::new(),
            begun: Instant::now(),
        }
    }
}

impl Told {
    /// About a record that was written.
    pub(crate) fn written(record: Record, version: i64, revision: String) -> Self {
        Self {
            record,
            version,
            wrote: Some(true),
            revision,
        }
    }
}

impl Writer {
    /// Writes down how a write ended, and answers its record if it was carried out.
    pub(crate) async fn settle(&mut self, asked: Asked, answer: Result<Told, Error>) -> Option<Record> {
        let ended = Instant::now();
        let Asked {
            action,
            record,
            selects,
            begun,
        } = asked;
        let (record, outcome, done) = match answer {
            Ok(told) => {
                self.remember(&told, &selects);
                let outcome = match told.wrote {
                    None => Outcome::Unsaid,
                    Some(wrote) => Outcome::Answered {
                        ended,
                        version: told.version,
                        wrote,
                    },
                };
                (told.record.clone(), outcome, Some(told.record))
            }
            Err(error) if is_refusal(&error) => {
                assert!(is_expected(action, &error), "{action:?}: {error:?}");
                (record, Outcome::Refused, None)
            }
            Err(_) => {
                tokio::time::sleep(AFTER_A_FAILURE).await;
                (record, Outcome::Unknown, None)
            }
        };
        self.writes.push(Write {
            action,
            record,
            selects,
            begun,
            outcome,
        });
        done
    }

    /// A watch may begin at an answer whose own entry is known.
    fn remember(&self, told: &Told, selects: &str) {
        let state = match (told.version, selects) {
            (0, "") => return,
            (0, profile) => State::Selected(profile.to_owned()),
            (version, _) => State::Version(version),
        };
        if told.wrote == Some(true) {
            self.board.remember(Answer {
                record: told.record.clone(),
                state,
                revision: told.revision.clone(),
            });
        }
    }
}

/// Whether nothing can have been written. An answer that may come of an earlier attempt leaves that open.
fn is_refusal(error: &Error) -> bool {
    error.kind() == ErrorKind::Answer
        && !matches!(
            error.code(),
            Code::Unavailable
                | Code::DeadlineExceeded
                | Code::ResourceExhausted
                | Code::Cancelled
                | Code::Aborted
        )
}

/// Somebody else may have removed what a write is about; nothing else may go wrong.
fn is_expected(action: Action, error: &Error) -> bool {
    let expected: &[&str] = match action {
        Action::Register | Action::CreateProfile => &[],
        Action::Retitle | Action::Rename | Action::Relink | Action::Move => &["WORKSPACE_NOT_FOUND"],
        Action::Remove => &["WORKSPACE_NOT_FOUND", "WORKSPACE_HAS_LIVE_SESSIONS"],
        // Its workspace may go, or its root, or its profile, while it is made.
        Action::CreateSession => &[
            "PROFILE_NOT_FOUND",
            "PROFILE_ARCHIVED",
            "WORKSPACE_NOT_FOUND",
            "WORKSPACE_ROOT_MISSING",
            "PATH_NOT_FOUND",
            "SESSION_CWD_MISMATCH",
        ],
        Action::RenameSession
        | Action::LabelSession
        | Action::ArchiveSession
        | Action::UnarchiveSession
        | Action::Enter
        | Action::DeleteSession
        | Action::Detach => &["SESSION_NOT_FOUND"],
        // An earlier attempt whose answer was lost may have carried it out; a lease goes with its session.
        Action::ChangeState | Action::Beat => &["SESSION_NOT_FOUND", "LEASE_LOST"],
        Action::Attach => &[
            "SESSION_NOT_FOUND",
            "WORKSPACE_NOT_FOUND",
            "WORKSPACE_ROOT_MISSING",
            "SESSION_CWD_NOT_FOUND",
            "SESSION_CWD_MISMATCH",
        ],
        Action::MoveSession => &["SESSION_NOT_FOUND", "WORKSPACE_MOVE_INVALID"],
        Action::UpdateProfile | Action::ArchiveProfile | Action::UnarchiveProfile => &["PROFILE_NOT_FOUND"],
        Action::DeleteProfile => &["PROFILE_NOT_FOUND", "PROFILE_IN_USE"],
        // An earlier attempt that a kill or the store has cut off lies under the new name until a recovery settles it.
        Action::RenameProfile => &["PROFILE_NOT_FOUND", "PROFILE_DIRECTORY_EXISTS"],
        Action::Select | Action::SelectAgain | Action::Forget => {
            &["PROFILE_NOT_FOUND", "PROFILE_ARCHIVED", "WORKSPACE_NOT_FOUND"]
        }
    };
    expected.contains(&error.reason_name())
}
