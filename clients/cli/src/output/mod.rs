//! Everything that leaves the process. Data goes to stdout in the form that was asked for, everything
//! else goes to stderr. A reader that has gone away ends the command quietly.

mod account;
mod agent;
mod answer;
mod backup;
mod browse;
mod config;
mod daemon;
mod definition;
mod diagnostic;
mod doctor;
mod failure;
mod human;
mod identity;
mod layer;
mod log;
mod mcp;
mod page;
mod place;
mod profile;
mod prune;
mod registration;
mod report;
mod resolution;
mod script;
mod session;
mod setting;
mod skill;
mod snapshot;
pub(crate) mod spinner;
mod style;
mod table;
pub(crate) mod time;
mod toon;
mod tree;
mod version;
mod watch;
mod words;
mod workspace;

use std::io::{self, Write};

use clap::ValueEnum;
use serde::Serialize;
use serde_json::Value;

use crate::arguments;
use crate::exit::Exit;
use crate::failure::Failure;
use diagnostic::DiagnosticView;
use human::Human;
use style::Style;

pub(crate) use account::{AttachmentView, DetachmentView, SessionMoveView};
pub(crate) use agent::{AgentAnswer, AgentListView};
pub(crate) use answer::{Answer, Sourced};
pub(crate) use backup::BackupView;
pub(crate) use browse::DirectoryView;
pub(crate) use config::{ConfigView, ExplainView};
pub(crate) use daemon::{HealthView, ServiceView, StartedView, StatusView, StoppedView};
pub(crate) use definition::TextView;
pub(crate) use doctor::DoctorView;
pub(crate) use identity::{IdentityUpdateView, IdentityView};
pub(crate) use log::LogView;
pub(crate) use page::PageView;
pub(crate) use profile::{
    ActiveProfileView, ProfileAnswer, ProfileDeletionView, ProfileListView, ProfileView, SelectionView,
};
pub(crate) use prune::PruneView;
pub(crate) use registration::{MoveView, RegistrationView, RelinkView, RemovalView};
pub(crate) use report::{SchemaView, ValidationView};
pub(crate) use resolution::{InfoView, ResolutionView};
pub(crate) use script::ScriptView;
pub(crate) use session::{
    CreationView, HealthAnswer, HistoryView, InspectionView, LiveView, SessionAnswer, SessionDeletionView,
    SessionListView, SessionView,
};
pub(crate) use setting::SettingView;
pub(crate) use skill::{SkillAnswer, SkillListView};
pub(crate) use snapshot::SnapshotView;
pub(crate) use version::VersionView;
pub(crate) use watch::{EventView, NoticeView};
pub(crate) use workspace::{WorkspaceAnswer, WorkspaceListView, WorkspaceView};

/// The four forms of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people: tables, local times, color on a terminal
    Human,
    /// One JSON object
    Json,
    /// One JSON record a line
    Jsonl,
    /// Token-Oriented Object Notation
    Toon,
}

/// Prints answers, notes and failures.
#[derive(Debug, Clone)]
pub(crate) struct Printer {
    format: Format,
    data: Style,
    notes: Style,
}

impl Printer {
    pub(crate) fn new(format: Format) -> Self {
        Self {
            format,
            data: Style::of(&io::stdout()),
            notes: Style::of(&io::stderr()),
        }
    }

    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// Prints one answer.
    pub(crate) fn answer<A: Answer>(&self, answer: &A) -> Result<(), Failure> {
        match self.format {
            Format::Human => {
                let mut human = Human::new(self.data);
                answer.human(&mut human);
                self.write(&human.finish())?;
                self.findings(&answer.findings());
                for note in answer.notes() {
                    self.note(&note);
                }
                Ok(())
            }
            Format::Json => self.write(&format!("{:#}\n", value(answer)?)),
            Format::Jsonl => self.write(&answer::lines(&value(answer)?, A::ROWS)),
            Format::Toon => self.write(&format!("{}\n", toon::encode(value(answer)?)?)),
        }
    }

    /// Prints an answer, and first how the workspace was told where the chain told one.
    pub(crate) fn answer_from<A: Answer>(
        &self,
        source: Option<&'static str>,
        answer: A,
    ) -> Result<(), Failure> {
        match source {
            Some(resolution_source) => self.answer(&Sourced {
                resolution_source,
                answer,
            }),
            None => self.answer(&answer),
        }
    }

    /// Whether a person looks at the data as it comes.
    pub(crate) fn is_watched(&self) -> bool {
        self.format == Format::Human && self.data.width.is_some()
    }

    /// Shows an answer in place of what the terminal shows, as much of it as there is room for.
    pub(crate) fn redraw<A: Answer>(&self, answer: &A) -> Result<(), Failure> {
        let mut human = Human::new(self.data);
        answer.human(&mut human);
        for note in answer.notes() {
            human.faint(&note);
        }
        self.write(&style::screen(&human.finish(), style::rows(&io::stdout())))
    }

    /// Prints one record of a jsonl stream.
    pub(crate) fn line(&self, record: &impl Serialize) -> Result<(), Failure> {
        self.write(&format!("{}\n", value(record)?))
    }

    /// Prints what describes a page, after its records.
    pub(crate) fn page_line(&self, page: &PageView) -> Result<(), Failure> {
        self.write(&format!("{}\n", answer::page_line(&value(page)?)))
    }

    /// Prints one record of a stream: a line at once.
    pub(crate) fn event<A: Answer>(&self, event: &A) -> Result<(), Failure> {
        match self.format {
            Format::Human => self.answer(event),
            // A stream has no other form for programs.
            Format::Json | Format::Jsonl | Format::Toon => self.line(event),
        }
    }

    /// Tells a person something that is no data.
    pub(crate) fn note(&self, note: &str) {
        let mut human = Human::new(self.notes);
        human.labelled("note:", Style::dim, note);
        complain(&human.finish());
    }

    fn findings(&self, findings: &[&DiagnosticView]) {
        let mut human = Human::new(self.notes);
        diagnostic::write(&mut human, findings);
        complain(&human.finish());
    }

    /// Prints text that another program has written in the form that was asked for.
    pub(crate) fn passed_on(&self, text: &[u8]) -> Result<(), Failure> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(text)?;
        Ok(stdout.flush()?)
    }

    /// Prints what another program has complained about.
    pub(crate) fn complained(&self, text: &[u8]) {
        let _ = io::stderr().lock().write_all(text);
    }

    /// Tells a failure: to people on stderr, to programs as an object on stdout.
    pub(crate) fn failure(&self, failure: &Failure) {
        let Failure::Told(told) = failure else { return };
        let told_to_programs = match self.format {
            Format::Human => return complain(&failure::sentences(told, self.notes)),
            Format::Json => Ok(format!("{:#}\n", failure::object(told))),
            Format::Jsonl => Ok(format!("{}\n", failure::object(told))),
            Format::Toon => toon::encode(failure::object(told)).map(|text| format!("{text}\n")),
        };
        // Nothing is left to tell a failure of telling the failure with.
        let _ = told_to_programs.and_then(|text| self.write(&text));
    }

    /// One write for the whole text, so that an interrupt leaves no half line.
    fn write(&self, text: &str) -> Result<(), Failure> {
        let mut stdout = io::stdout().lock();
        match self.format {
            Format::Json | Format::Jsonl => stdout.write_all(escaped(text).as_bytes())?,
            Format::Human | Format::Toon => stdout.write_all(text.as_bytes())?,
        }
        Ok(stdout.flush()?)
    }
}

/// Prints what the parser of the arguments says: help is data, a refusal is not, and shows the usage
/// of the command also where the parser leaves it out.
pub(crate) fn arguments_refused(error: &clap::Error) -> Exit {
    // A closed pipe is no error here either.
    let _ = error.print();
    if !error.use_stderr() {
        return Exit::Ok;
    }
    let usage = arguments::usage_of(
        std::env::args_os()
            .skip(1)
            .filter_map(|word| word.into_string().ok()),
    );
    let command = usage.split(['[', '<']).next().unwrap_or(&usage);
    if !error.to_string().contains(command) {
        complain(&format!("\n{usage}\n"));
    }
    Exit::Usage
}

fn value(answer: &impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(answer)
        .map_err(|error| Failure::defect(format!("the answer cannot be written: {error}")))
}

/// The same JSON, which a terminal obeys no more than a program does: control characters that JSON allows, and marks
/// that turn the direction of writing, as escapes.
fn escaped(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for letter in json.chars() {
        match letter {
            '\u{7f}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                // None of them stands outside of a string, and all of them are one unit of UTF-16.
                escaped.push_str(&format!("\\u{:04x}", u32::from(letter)));
            }
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// Whoever closed stderr does not want to hear it.
fn complain(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn json_does_nothing_to_a_terminal_and_stays_the_same() {
        let value = serde_json::json!({"a\u{9b}31m": "\u{202e}é\u{7f}\u{1b}\u{2069}\\"});
        let text = escaped(&format!("{value:#}"));
        assert!(
            !text.contains(['\u{9b}', '\u{202e}', '\u{7f}', '\u{1b}', '\u{2069}']),
            "{text}"
        );
        assert!(text.contains('é'), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }
}
