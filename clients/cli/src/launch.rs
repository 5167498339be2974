//! The daemon as a process: finding its program, starting it in the background, waiting for it.

use std::fs::{DirBuilder, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use compozy_client::{Client, Endpoint, Home, ServingStatus};
use tokio::net::UnixStream;

use crate::failure::Failure;
use crate::output::time;
use crate::quote;

/// How long a start may take until the daemon serves.
const START_TIMEOUT: Duration = Duration::from_secs(10);
/// The exit code of a daemon that found another one on its home, which may still be coming up.
const OTHER_RUNS: i32 = 69;
/// Pause between two looks.
const POLL_INTERVAL: Duration = Duration::from_millis(25);
/// How long a socket that takes connections and answers none may belong to a process that is ending.
const SILENCE: Duration = Duration::from_secs(3);
/// How long one look may take.
const LOOK_DEADLINE: Duration = Duration::from_secs(1);

/// The daemon's program: beside this one, else on the search path.
pub(crate) fn program() -> Result<PathBuf, Failure> {
    let beside = std::env::current_exe()
        .ok()
        .and_then(|own| own.parent().map(|folder| folder.join("compozyd")));
    let search = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&search).map(|folder| folder.join("compozyd"));
    if let Some(found) = beside.into_iter().chain(on_path).find(|path| path.is_file()) {
        return Ok(found);
    }
    Err(Failure::no_daemon(
        "the daemon's program compozyd is neither beside compozy nor on the PATH",
        "install it, or name a running server with --server",
    ))
}

/// Whether somebody listens on a socket. Only a clear no counts as one: a full queue or a missing
/// permission is for the call itself to report.
pub(crate) async fn listens(socket: &Path) -> bool {
    match tokio::time::timeout(LOOK_DEADLINE, UnixStream::connect(socket)).await {
        Ok(Err(error)) => {
            use std::io::ErrorKind::{ConnectionRefused, NotADirectory, NotFound};
            !matches!(error.kind(), NotFound | NotADirectory | ConnectionRefused)
        }
        Ok(Ok(_)) | Err(_) => true,
    }
}

/// Whether a daemon answers on the home's socket, be it that it serves or not. A daemon that was just killed
/// can still have a socket that takes a connection and then lets it go.
pub(crate) async fn answers(home: &Home) -> bool {
    let (socket, begun) = (home.socket_path(), Instant::now());
    while listens(&socket).await {
        // One that says nothing for so long is there and in trouble: the call itself will tell.
        if look(&socket).await.is_some() || begun.elapsed() >= SILENCE {
            return true;
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    false
}

/// Whether the socket is so new that its daemon may still be starting.
pub(crate) fn has_just_started(home: &Home) -> bool {
    let Ok(made) = home
        .socket_path()
        .metadata()
        .and_then(|metadata| metadata.modified())
    else {
        return false;
    };
    time::since(made).is_none_or(|age| age < START_TIMEOUT)
}

/// Waits until a daemon that somebody started serves; gives up silently, the call will say more. Answers whether
/// somebody still listens: one that was killed while it started does not.
pub(crate) async fn wait_for_start(home: &Home) -> bool {
    let started = Instant::now();
    while !serves(home).await && started.elapsed() < START_TIMEOUT {
        if !listens(&home.socket_path()).await {
            return false;
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    true
}

/// Starts a daemon in the background and waits until one serves. When several start one at once,
/// the daemon's own lock lets one through, and all wait for that one.
pub(crate) async fn start(home: &Home) -> Result<(), Failure> {
    let output_path = prepare_home(home)?;
    // What another start has written before tells nothing about this one.
    let written_before = std::fs::metadata(&output_path).map_or(0, |file| file.len());
    let mut child = spawn(home, &output_path)?;
    let started = Instant::now();
    loop {
        // Before the look, so that a look follows whatever the process has left behind.
        let ended = child.try_wait().ok().flatten();
        if serves(home).await {
            return Ok(());
        }
        let failed = ended.is_some_and(|status| status.code() != Some(OTHER_RUNS));
        if failed || started.elapsed() >= START_TIMEOUT {
            return Err(did_not_start(home, &output_path, written_before, ended.is_some()));
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// The id of this machine's disk as the home knows it.
pub(crate) fn host_id(home: &Home) -> Option<String> {
    let text = std::fs::read_to_string(home.path().join("host.toml")).ok()?;
    let table: toml::Table = text.parse().ok()?;
    Some(table.get("host_id")?.as_str()?.to_owned())
}

async fn serves(home: &Home) -> bool {
    let socket = home.socket_path();
    listens(&socket).await && look(&socket).await == Some(ServingStatus::Serving)
}

/// What the daemon on a socket says of its health; `None` if nothing answers as a daemon does.
async fn look(socket: &Path) -> Option<ServingStatus> {
    let client = Client::builder()
        .endpoint(Endpoint::socket(socket.to_owned()))
        .deadline(LOOK_DEADLINE)
        .build()
        .ok()?;
    client.check_health("").await.ok()
}

/// Makes the folder for the output of the process; the daemon makes everything else.
fn prepare_home(home: &Home) -> Result<PathBuf, Failure> {
    let logs = home.path().join("logs");
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&logs)
        .map_err(|error| {
            let message = format!("the home {} cannot be used: {error}", home.path().display());
            Failure::no_daemon(message, "set COMPOZY_HOME to a directory that can be written")
        })?;
    Ok(logs.join("daemon-output.log"))
}

/// Starts this program once more: it becomes the leader of a session of its own, which takes it off
/// the terminal, and then the daemon.
fn spawn(home: &Home, output_path: &Path) -> Result<Child, Failure> {
    program()?;
    let failed = |error: std::io::Error| {
        let message = format!("the daemon cannot be started: {error}");
        Failure::no_daemon(message, "try `compozy daemon run` to see more")
    };
    let output = OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(output_path)
        .map_err(failed)?;
    Command::new(std::env::current_exe().map_err(failed)?)
        .args(["daemon", "run", "--detached"])
        .env("COMPOZY_HOME", home.path())
        .current_dir(home.path())
        .stdin(Stdio::null())
        .stdout(output.try_clone().map_err(failed)?)
        .stderr(output)
        .spawn()
        .map_err(failed)
}

fn did_not_start(home: &Home, output_path: &Path, written_before: u64, ended: bool) -> Failure {
    let log = home.log_path();
    let mut message = if ended {
        "the daemon ended while it started".to_owned()
    } else {
        format!("the daemon did not serve within {} s", START_TIMEOUT.as_secs())
    };
    let mut hint = format!("see the logs {} and {}", log.display(), output_path.display());
    if let Some(line) = last_line(output_path, written_before) {
        if line.contains("/config.toml can't be used") {
            let home = quote::shell(&home.path().to_string_lossy());
            hint = format!(
                "correct the file; `compozy config validate {home}` tells everything that is wrong with it"
            );
        }
        message = format!("{message}: {line}");
    }
    Failure::no_daemon(message, hint).with("log", log.display().to_string())
}

/// The last line that the process wrote, cut to what a message can hold.
fn last_line(path: &Path, written_before: u64) -> Option<String> {
    let bytes = std::fs::read(path).ok()?;
    let own = bytes.get(usize::try_from(written_before).ok()?..)?;
    let text = String::from_utf8_lossy(own);
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
    let line = line.strip_prefix("error: ").unwrap_or(line);
    Some(
        line.chars()
            .filter(|letter| !letter.is_control())
            .take(300)
            .collect(),
    )
}
