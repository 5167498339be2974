//! Commands that need a daemon start one in the background.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use compozy_e2e::{Environment, Run, program, until, utf8};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;

fn list(environment: &Environment) -> Run {
    Run::compozy(environment, &["workspace", "list"])
}

fn status(environment: &Environment) -> Value {
    Run::compozy(environment, &["daemon", "status"]).done().json()
}

fn pid_of(number: u32) -> Pid {
    Pid::from_raw(i32::try_from(number).unwrap()).unwrap()
}

/// A Unix process that has no terminal shows 0 in the seventh field of its `stat`.
fn terminal_of(pid: u32) -> String {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    fields.split(' ').nth(4).unwrap().to_owned()
}

#[test]
fn c125_the_first_command_starts_a_daemon_and_the_second_finds_it() {
    let environment = Environment::new();
    let listed = list(&environment).done();
    assert_eq!(listed.json()["page"]["total"], 0);
    let first = status(&environment);
    assert_eq!(first["running"], true);
    list(&environment).done().json();
    assert_eq!(status(&environment)["pid"], first["pid"]);
    assert_eq!(environment.running_daemons().len(), 1);
}

#[test]
fn c126_without_autostart_nothing_is_started_and_nothing_made() {
    let environment = Environment::new();
    let done = Run::compozy(&environment, &["workspace", "list", "--no-autostart"]).done();
    done.error(69);
    assert!(environment.running_daemons().is_empty());
    assert!(!environment.home.join("compozy.db").exists());
}

#[test]
fn c127_a_named_server_is_not_started() {
    let environment = Environment::new();
    let server = format!("unix://{}", utf8(environment.home.join("daemon.sock")));
    Run::compozy(&environment, &["workspace", "list", "--server", &server])
        .done()
        .error(69);
    list(&environment).env("COMPOZY_SERVER", &server).done().error(69);
    assert!(environment.running_daemons().is_empty());
}

#[test]
fn c128_twenty_commands_at_once_start_one_daemon() {
    let environment = Environment::new();
    let running: Vec<_> = (0..20).map(|_| list(&environment).spawn()).collect();
    for child in running {
        let output = child.wait_with_output().unwrap();
        let (stdout, stderr) = (
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        assert!(output.status.success(), "{stdout}{stderr}");
    }
    // Those that lost the race for the lock end by themselves.
    until("one daemon to be left", || {
        environment.running_daemons().len() == 1
    });
    let pid = status(&environment)["pid"].as_u64().unwrap();
    assert_eq!(environment.running_daemons(), [u32::try_from(pid).unwrap()]);
}

/// Those that validate configuration come with the issue that brings them.
#[test]
fn commands_that_need_no_daemon_start_none() {
    let environment = Environment::new();
    for arguments in [
        &["version"] as &[&str],
        &["completion", "bash"],
        &["--help"],
        &["workspace", "list", "--help"],
    ] {
        Run::of(&environment, "compozy", arguments).done().exits(0);
    }
    assert!(environment.running_daemons().is_empty());
}

#[test]
fn c130_a_started_daemon_outlives_its_terminal_and_an_interrupt() {
    let environment = Environment::new();
    // `script` gives the command a terminal of its own and hangs it up at the end.
    let mut in_terminal = Command::new("script");
    environment.apply(&mut in_terminal);
    let command = format!("{} workspace list", utf8(program("compozy")));
    in_terminal
        .args(["-qec", &command, "/dev/null"])
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    assert!(in_terminal.status().unwrap().success());
    let [daemon] = environment.running_daemons()[..] else {
        panic!("one daemon")
    };
    assert_eq!(terminal_of(daemon), "0");
    Run::compozy(&environment, &["daemon", "health"]).done().json();
    assert!(
        environment
            .home
            .join("logs/compozy.log")
            .metadata()
            .unwrap()
            .len()
            > 0
    );
    // Ctrl-c reaches every process of the terminal's foreground group.
    kill_process(pid_of(daemon), Signal::KILL).unwrap();
    until("the daemon to be gone", || {
        environment.running_daemons().is_empty()
    });
    let mut command = list(&environment).command();
    command
        .process_group(0)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    until("a daemon to be started", || {
        !environment.running_daemons().is_empty()
    });
    let _ = kill_process_group(pid_of(child.id()), Signal::INT);
    child.wait().unwrap();
    until("the daemon to serve", || {
        Run::compozy(&environment, &["daemon", "health"]).done().exit == 0
    });
}

#[test]
fn c131_a_daemon_that_can_not_come_up_is_an_error_that_names_the_log() {
    let environment = Environment::new();
    let store = environment.home.join("compozy.db");
    let garbage: Vec<u8> = (0..32_768_u32).map(|number| (number % 251) as u8).collect();
    fs::write(&store, &garbage).unwrap();
    let begun = std::time::Instant::now();
    let error = list(&environment).done().error(69);
    assert!(begun.elapsed().as_secs() < 15);
    let log = utf8(environment.home.join("logs/compozy.log"));
    assert!(error["hint"].as_str().unwrap().contains(&log), "{error}");
    assert!(environment.running_daemons().is_empty());
    assert!(
        fs::read(&store).unwrap() == garbage,
        "the store is left as it was"
    );
}

#[test]
fn c132_the_note_of_a_killed_daemon_is_recognised_as_stale() {
    let environment = Environment::new();
    list(&environment).done().json();
    let [killed] = environment.running_daemons()[..] else {
        panic!("one daemon")
    };
    kill_process(pid_of(killed), Signal::KILL).unwrap();
    until("the daemon to be gone", || {
        environment.running_daemons().is_empty()
    });
    assert!(environment.home.join("daemon.json").exists());
    assert_eq!(status(&environment)["running"], false);
    list(&environment).done().json();
    assert_ne!(status(&environment)["pid"], killed);
}

#[test]
fn c133_a_note_that_is_huge_empty_or_no_json_is_stale() {
    let environment = Environment::new();
    for note in [" ".repeat(10 * 1024 * 1024), String::new(), "no json".to_owned()] {
        fs::write(environment.home.join("daemon.json"), note).unwrap();
        assert_eq!(list(&environment).done().json()["page"]["total"], 0);
        Run::compozy(&environment, &["daemon", "stop"]).done().json();
        until("the daemon to be gone", || {
            environment.running_daemons().is_empty()
        });
    }
}
