//! `daemon logs`: the log of this home, read from its file, so that it works without a daemon.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Format, LogView};

/// Bytes from the end of the log that are looked at, at most.
const TAIL_MAX: u64 = 16 * 1024 * 1024;
/// Pause between two looks while following.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Print the daemon's log
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  compozy daemon logs\n  compozy daemon logs --lines 500 -o jsonl\n  compozy daemon logs --follow"
)]
pub(crate) struct LogsArguments {
    /// How many of the last lines
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 100)]
    lines: usize,
    /// Go on with what is written from now on (a stream: with -o json it is jsonl)
    #[arg(short, long)]
    pub(super) follow: bool,
}

/// The log while it is followed: a rotation puts another file in its place.
struct Follower {
    path: PathBuf,
    file: File,
    pending: Vec<u8>,
}

pub(crate) async fn run(app: &App, arguments: &LogsArguments) -> Result<Exit, Failure> {
    let path = app.own_home("the log is read from")?.log_path();
    let unreadable = |error: io::Error| {
        let message = format!("the log {} cannot be read: {error}", path.display());
        Failure::file(message, "a daemon of this home writes it once it runs")
    };
    let mut follower = Follower {
        file: File::open(&path).map_err(unreadable)?,
        path: path.clone(),
        pending: Vec::new(),
    };
    let mut lines = follower.tail().map_err(unreadable)?;
    lines.drain(..lines.len().saturating_sub(arguments.lines));
    if !arguments.follow {
        app.printer.answer(&LogView { entries: lines })?;
        return Ok(Exit::Ok);
    }
    loop {
        print(app, lines)?;
        tokio::time::sleep(POLL_INTERVAL).await;
        lines = follower.further().map_err(unreadable)?;
    }
}

fn print(app: &App, lines: Vec<Value>) -> Result<(), Failure> {
    if app.printer.format() == Format::Human {
        return app.printer.answer(&LogView { entries: lines });
    }
    for line in lines {
        app.printer.line(&line)?;
    }
    Ok(())
}

impl Follower {
    /// The lines that are there, from the end of a file that may be long.
    fn tail(&mut self) -> io::Result<Vec<Value>> {
        let length = self.file.metadata()?.len();
        let start = length.saturating_sub(TAIL_MAX);
        self.file.seek(SeekFrom::Start(start))?;
        let mut lines = self.read()?;
        // The first line is cut where the reading began.
        if start > 0 && !lines.is_empty() {
            lines.remove(0);
        }
        Ok(lines)
    }

    /// The lines that came since, first of the old file, then of one that took its place.
    fn further(&mut self) -> io::Result<Vec<Value>> {
        let mut lines = self.read()?;
        if self.is_replaced()? {
            self.file = File::open(&self.path)?;
            self.pending.clear();
            lines.extend(self.read()?);
        }
        Ok(lines)
    }

    fn is_replaced(&self) -> io::Result<bool> {
        match Path::metadata(&self.path) {
            Ok(current) => Ok(current.ino() != self.file.metadata()?.ino()),
            // In the middle of a rotation.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Complete lines up to the end of the file; an unfinished one waits for its rest.
    fn read(&mut self) -> io::Result<Vec<Value>> {
        Read::by_ref(&mut self.file)
            .take(TAIL_MAX)
            .read_to_end(&mut self.pending)?;
        let Some(last) = self.pending.iter().rposition(|byte| *byte == b'\n') else {
            return Ok(Vec::new());
        };
        let complete: Vec<u8> = self.pending.drain(..=last).collect();
        Ok(String::from_utf8_lossy(&complete)
            .lines()
            .filter(|line| !line.is_empty())
            .map(entry)
            .collect())
    }
}

fn entry(line: &str) -> Value {
    match serde_json::from_str(line) {
        Ok(Value::Object(fields)) => Value::Object(fields),
        _ => json!({ "message": line }),
    }
}
