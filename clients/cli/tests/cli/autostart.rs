//! Finding, starting and stopping a daemon. A script stands in for `compozyd`: it becomes this very
//! test program, which then serves the fake on the home's socket.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use tonic::Code;

use crate::fake::{Fake, failed, serve_at};
use crate::run::{Done, Run, until};

/// A folder with a copy of `compozy` beside a `compozyd` of the test's making, and a home.
pub struct Installation {
    folder: TempDir,
}

impl Installation {
    pub fn new(compozyd: Option<&str>) -> Self {
        let folder = TempDir::new().unwrap();
        // By another process: a file that this one has open for writing while another test starts a program is open
        // in that program, too, for a moment, and cannot be run meanwhile.
        let install =
            "cp \"$1\" compozy && test -z \"$2\" || { printf '%s' \"$2\" > compozyd && chmod 755 compozyd; }";
        let script = compozyd.map_or(String::new(), |script| format!("#!/bin/sh\n{script}\n"));
        let mut installer = std::process::Command::new("sh");
        installer.args(["-c", install, "sh", env!("CARGO_BIN_EXE_compozy"), &script]);
        assert!(installer.current_dir(folder.path()).status().unwrap().success());
        Self { folder }
    }

    /// With a daemon that lets one process a home serve, as the real one does.
    pub fn serving() -> Self {
        let own = std::env::current_exe().unwrap();
        let serve = format!("env STAND_IN=1 {} --exact autostart::stand_in", own.display());
        Self::new(Some(&format!(
            "echo $$ >> \"$COMPOZY_HOME/starts\"\n\
             exec flock --nonblock --conflict-exit-code 69 --no-fork \"$COMPOZY_HOME/daemon.lock\" {serve}"
        )))
    }

    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub fn run(&self, arguments: &[&str]) -> Run {
        self.run_form("json", arguments)
    }

    pub fn run_form(&self, form: &str, arguments: &[&str]) -> Run {
        let all = [&["-o", form], arguments].concat();
        Run::of(
            &self.folder.path().join("compozy"),
            &self.home(),
            self.folder.path(),
            &all,
        )
    }

    fn done(&self, arguments: &[&str]) -> Done {
        self.run(arguments).done()
    }
}

/// No test of its own: what the script becomes.
#[test]
fn stand_in() {
    let home = std::env::var_os("COMPOZY_HOME").filter(|_| std::env::var_os("STAND_IN").is_some());
    if let Some(home) = home {
        serve_at(Path::new(&home));
    }
}

fn pid(status: &Value) -> Pid {
    Pid::from_raw(i32::try_from(status["pid"].as_i64().unwrap()).unwrap()).unwrap()
}

#[test]
fn a_daemon_is_started_found_again_and_stopped() {
    let place = Installation::serving();
    assert_eq!(place.done(&["workspace", "list"]).json()["page"]["total"], 0);
    let status = place.done(&["daemon", "status"]).json();
    assert_eq!(
        (&status["running"], &status["backend"]),
        (&json!(true), &json!("SQLITE"))
    );
    assert_eq!(status["services"][0], json!({"service": "", "status": "SERVING"}));
    let again = place.done(&["daemon", "start"]).json();
    assert_eq!(
        (&again["started"], &again["pid"]),
        (&json!(false), &status["pid"])
    );
    assert_eq!(
        std::fs::read_to_string(place.home().join("starts"))
            .unwrap()
            .lines()
            .count(),
        1
    );

    // It is off the terminal: the leader of a session of its own.
    let daemon = pid(&status);
    assert_eq!(rustix::process::getsid(Some(daemon)).unwrap(), daemon);
    let mode = std::fs::metadata(place.home()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);

    let stopped = place.done(&["daemon", "stop"]).json();
    assert_eq!(
        (&stopped["stopped"], &stopped["pid"]),
        (&json!(true), &status["pid"])
    );
    assert!(!place.home().join("daemon.sock").exists());
    assert_eq!(place.done(&["daemon", "status"]).json()["running"], false);
}

#[test]
fn twenty_at_once_start_one_daemon() {
    let place = Installation::serving();
    let children: Vec<_> = (0..20)
        .map(|_| {
            let mut command = place.run(&["workspace", "list"]).command();
            command
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in children {
        assert_eq!(
            Done::from(child.wait_with_output().unwrap()).json()["page"]["total"],
            0
        );
    }
    place.done(&["daemon", "stop"]).json();
}

#[test]
fn a_killed_daemon_is_replaced() {
    let place = Installation::serving();
    let first = place.done(&["daemon", "start"]).json();
    kill_process(pid(&first), Signal::KILL).unwrap();
    until("the end", || {
        UnixStream::connect(place.home().join("daemon.sock")).is_err()
    });
    assert!(place.home().join("daemon.sock").exists(), "nobody cleaned up");
    let second = place.done(&["daemon", "start"]).json();
    assert_eq!(second["started"], true);
    assert_ne!(second["pid"], first["pid"]);
    place.done(&["daemon", "stop"]).json();
}

#[test]
fn a_daemon_that_does_not_come_up_is_told_with_its_log() {
    let place = Installation::new(Some("echo error: the store is corrupt >&2; exit 1"));
    let started = std::time::Instant::now();
    let error = place.done(&["workspace", "list"]).error(69);
    assert!(started.elapsed().as_secs() < 10);
    assert_eq!(
        error["message"],
        "the daemon ended while it started: the store is corrupt"
    );
    assert!(
        error["hint"].as_str().unwrap().contains("logs/compozy.log"),
        "{error}"
    );
}

#[test]
fn a_missing_program_is_told() {
    let place = Installation::new(None);
    let error = place.done(&["workspace", "list"]).error(69);
    assert!(error["message"].as_str().unwrap().contains("compozyd"), "{error}");
}

#[test]
fn c126_without_autostart_nothing_is_started() {
    let place = Installation::serving();
    assert_eq!(
        place.done(&["workspace", "list", "--no-autostart"]).error(69)["reason"],
        "NO_DAEMON"
    );
    assert!(!place.home().exists());
}

#[test]
fn c127_a_named_server_is_never_started() {
    let place = Installation::serving();
    let server = format!("unix://{}/daemon.sock", place.home().display());
    place.done(&["workspace", "list", "--server", &server]).error(69);
    place
        .run(&["workspace", "list"])
        .env("COMPOZY_SERVER", &server)
        .done()
        .error(69);
    assert!(!place.home().exists());
    assert_eq!(
        place.done(&["daemon", "start", "--server", &server]).error(64)["reason"],
        "USAGE"
    );
}

#[test]
fn c139_stopping_what_does_not_run() {
    let place = Installation::serving();
    assert_eq!(place.done(&["daemon", "stop"]).json(), json!({"stopped": false}));
    assert!(!place.home().exists());
}

#[test]
fn stopping_waits_no_longer_than_it_is_told() {
    let fake = Fake::start();
    // The fake is a part of this process, which goes on.
    let error = fake
        .run("", &["daemon", "stop", "--timeout", "0s"])
        .done()
        .error(75);
    assert!(error["hint"].as_str().unwrap().contains("--timeout"), "{error}");
    assert_eq!(fake.calls(), ["GetServerInfo", "Shutdown"]);

    let draining = failed(Code::Unavailable, "DRAINING", "It shuts down.", &[]);
    fake.fail("GetServerInfo", draining);
    fake.run("", &["daemon", "stop", "--timeout", "0s"])
        .done()
        .error(75);
    assert_eq!(
        fake.calls()
            .iter()
            .filter(|method| **method == "Shutdown")
            .count(),
        1
    );
}

#[test]
fn c177_no_daemon_is_started_by_a_look() {
    let place = Installation::serving();
    assert_eq!(place.done(&["daemon", "status"]).json()["running"], false);
    assert_eq!(place.done(&["daemon", "health"]).error(69)["reason"], "NO_DAEMON");
    assert!(!place.home().exists());
}

#[test]
fn c177_health_is_an_exit_code() {
    let fake = Fake::start();
    assert_eq!(
        fake.run("", &["daemon", "health"]).done().json()["status"],
        "SERVING"
    );
    fake.set_serving(false);
    let done = fake.run("", &["daemon", "health"]).done();
    assert_eq!((done.exit, done.stdout.contains("NOT_SERVING")), (69, true));
    let done = fake
        .run("", &["daemon", "health", "--service", "no.such.Service"])
        .done();
    assert_eq!((done.exit, done.stdout.contains("SERVICE_UNKNOWN")), (69, true));
}

#[test]
fn a_broken_note_of_a_daemon_is_passed_over() {
    let fake = Fake::with_two();
    for note in [
        "",
        "no json",
        &" ".repeat(10 * 1024 * 1024),
        "{\"pid\": 1, \"socket\": \"/nowhere.sock\"}",
    ] {
        std::fs::write(fake.home().join("daemon.json"), note).unwrap();
        assert_eq!(
            fake.run("", &["workspace", "list"]).done().json()["page"]["total"],
            2
        );
    }
}

#[test]
fn the_socket_that_a_daemon_noted_is_used() {
    let fake = Fake::with_two();
    let elsewhere = fake.path("elsewhere.sock");
    std::fs::rename(fake.home().join("daemon.sock"), &elsewhere).unwrap();
    let note = json!({"pid": 1, "version": "0.1.0", "socket": elsewhere, "addresses": [], "started_at": ""});
    std::fs::write(fake.home().join("daemon.json"), note.to_string()).unwrap();
    assert_eq!(
        fake.run("", &["workspace", "list"]).done().json()["page"]["total"],
        2
    );
}

#[test]
fn the_log_is_read_from_its_file() {
    let fake = Fake::start();
    let error = fake.run("", &["daemon", "logs"]).done().error(66);
    assert!(error["message"].as_str().unwrap().contains("logs/compozy.log"));
    std::fs::create_dir(fake.home().join("logs")).unwrap();
    let lines: Vec<String> = (0..5)
        .map(|n| json!({"level": "INFO", "fields": {"message": n}}).to_string())
        .collect();
    std::fs::write(
        fake.home().join("logs/compozy.log"),
        format!("{}\nno json\n", lines.join("\n")),
    )
    .unwrap();
    let json = fake.run("", &["daemon", "logs", "--lines", "2"]).done().json();
    assert_eq!(
        json["entries"],
        json!([{"level": "INFO", "fields": {"message": 4}}, {"message": "no json"}])
    );
    let human = fake.run_form("human", "", &["daemon", "logs", "-n", "2"]).done();
    assert_eq!(human.stdout, "INFO 4\nno json\n");
}

#[test]
fn what_works_on_files_of_this_machine_refuses_a_named_server() {
    let fake = Fake::start();
    for command in [&["daemon", "logs"][..], &["daemon", "run"], &["doctor"]] {
        let arguments = [command, &["--server", "http://127.0.0.1:1"]].concat();
        let error = fake.run("", &arguments).done().error(64);
        assert!(
            error["message"].as_str().unwrap().contains("http://127.0.0.1:1"),
            "{error}"
        );
    }
}

#[test]
fn c149_a_home_that_is_a_file_is_named() {
    let place = Installation::serving();
    std::fs::write(place.home(), "").unwrap();
    let error = place.done(&["workspace", "list"]).error(69);
    let message = error["message"].as_str().unwrap();
    assert!(
        message.starts_with(&format!("the home {} ", place.home().display())),
        "{message}"
    );
    assert_eq!(place.done(&["daemon", "status"]).json()["running"], false);
}

#[test]
fn a_followed_log_goes_on_over_a_rotation() {
    let fake = Fake::start();
    let logs = fake.home().join("logs");
    std::fs::create_dir(&logs).unwrap();
    std::fs::write(logs.join("compozy.log"), "one\n").unwrap();
    let mut command = fake.run("", &["daemon", "logs", "--follow"]).command();
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map(|line| line.unwrap());
    assert_eq!(lines.next().unwrap(), r#"{"message":"one"}"#);
    let mut log = std::fs::OpenOptions::new()
        .append(true)
        .open(logs.join("compozy.log"))
        .unwrap();
    writeln!(log, "two").unwrap();
    assert_eq!(lines.next().unwrap(), r#"{"message":"two"}"#);
    std::fs::rename(logs.join("compozy.log"), logs.join("compozy.log.1")).unwrap();
    writeln!(log, "three").unwrap();
    std::fs::write(logs.join("compozy.log"), "four\n").unwrap();
    assert_eq!(lines.next().unwrap(), r#"{"message":"three"}"#);
    assert_eq!(lines.next().unwrap(), r#"{"message":"four"}"#);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

/// A `compozyd` that answers `doctor` with a report, and says what it was asked.
fn doctor(report: &Value) -> Installation {
    Installation::new(Some(&format!(
        "echo \"$@\" > \"$COMPOZY_HOME.asked\"\ncat <<'END'\n{report}\nEND\nexit 1"
    )))
}

#[test]
fn doctor_shows_the_daemons_own_report() {
    let check = |severity: &str| json!({"name": "home", "severity": severity, "message": "m", "remedy": "r"});
    let place = doctor(&json!({"checks": [check("ok"), check("warning")]}));
    let json = place.done(&["doctor", "--fix"]).json();
    assert_eq!(json, json!({"checks": [check("ok"), check("warning")]}));
    let asked = std::fs::read_to_string(place.folder.path().join("home.asked")).unwrap();
    assert_eq!(asked.trim(), "doctor -o json --fix");

    let place = doctor(&json!({"checks": [check("error")]}));
    let done = place.done(&["doctor"]);
    assert_eq!(
        (done.exit, serde_json::from_str::<Value>(&done.stdout).unwrap()),
        (1, json!({"checks": [check("error")]}))
    );
    let binary = place.folder.path().join("compozy");
    let human = Run::of(&binary, &place.home(), place.folder.path(), &["doctor"]).done();
    assert_eq!((human.exit, human.stdout.as_str()), (1, "error: home: m; r\n"));

    let broken = Installation::new(Some("echo it is broken >&2; exit 3"));
    assert!(
        broken.done(&["doctor"]).error(70)["message"]
            .as_str()
            .unwrap()
            .contains("it is broken")
    );
}
