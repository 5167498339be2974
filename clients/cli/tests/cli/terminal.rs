//! What a person sees on a terminal: the tests own one.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use unicode_width::UnicodeWidthStr;

use crate::fake::Fake;
use crate::run::until;

/// A terminal: this side, and the one that a process gets.
fn terminal(columns: u16) -> (File, OwnedFd) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let theirs = File::options()
        .read(true)
        .write(true)
        .open(name.to_str().unwrap())
        .unwrap();
    let size = Winsize {
        ws_row: 40,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&theirs, size).unwrap();
    (File::from(ours), theirs.into())
}

/// What a command writes to a terminal as its stdout.
fn shown(mut command: Command, columns: u16) -> String {
    let (mut ours, theirs) = terminal(columns);
    let mut child = command.stdout(theirs).stderr(Stdio::null()).spawn().unwrap();
    // The command keeps a copy of the other side, and a terminal ends when all are closed.
    drop(command);
    let mut bytes = Vec::new();
    let mut part = [0; 4096];
    while let Ok(count @ 1..) = ours.read(&mut part) {
        bytes.extend_from_slice(&part[..count]);
    }
    assert!(child.wait().unwrap().success());
    String::from_utf8(bytes).unwrap()
}

#[test]
fn c044_tables_are_cut_to_the_terminal() {
    let fake = Fake::with_two();
    fake.change("a", |workspace| workspace.title = Some("t".repeat(200)));
    fake.change("b", |workspace| workspace.title = Some("漢".repeat(200)));
    for arguments in [
        &["workspace", "list"][..],
        &["workspace", "info", "a"],
        &["workspace", "info", "b"],
    ] {
        let run = fake.run_form("human", "", arguments).env("NO_COLOR", "1");
        let text = shown(run.command(), 60);
        for line in text.lines() {
            assert!(line.width() <= 60, "{} columns: {line}", line.width());
        }
        assert!(text.contains("tttt") || text.contains("漢漢"), "{text}");
    }
    // Aligned: the second column begins at the same place in every line.
    let list = shown(
        fake.run_form("human", "", &["workspace", "list"])
            .env("NO_COLOR", "1")
            .command(),
        60,
    );
    let lines: Vec<&str> = list.lines().collect();
    let starts = [lines[0].find("TITLE"), lines[1].find("tt"), lines[2].find('漢')];
    assert!(
        starts[0].is_some() && starts.iter().all(|start| *start == starts[0]),
        "{list}"
    );
}

#[test]
fn c044_a_snapshot_is_cut_to_the_terminal() {
    let fake = Fake::with_two();
    fake.snapshots(|snapshot| {
        snapshot.agents[1].description = "Reads\nevery change. ".repeat(30);
        snapshot.diagnostics[1].message = "漢".repeat(200);
    });
    for arguments in [
        &["resolve", "a"][..],
        &["resolve", "a", "--basic"],
        &["workspace", "info", "a"],
        &["agent", "list", "a"],
        &["agent", "show", "reviewer", "--workspace", "a"],
        &["skill", "list", "a"],
        &["skill", "show", "notes", "--workspace", "a"],
        &["config", "show", "a"],
        &["config", "explain", "--workspace", "a"],
        &["config", "explain", "defaults.agent", "--workspace", "a"],
        &["profile", "list"],
    ] {
        let run = fake.run_form("human", "", arguments).env("NO_COLOR", "1");
        let text = shown(run.command(), 60);
        assert!(!text.is_empty(), "{arguments:?}");
        for line in text.lines() {
            assert!(
                line.width() <= 60,
                "{arguments:?}, {} columns: {line}",
                line.width()
            );
        }
    }
    // Before a path is cut, the part of it that is known anyway is left out.
    let run = fake.run_form(
        "human",
        "",
        &["config", "explain", "defaults.agent", "--workspace", "a"],
    );
    let text = shown(run.env("NO_COLOR", "1").command(), 60);
    assert!(text.contains("  workspace  .compozy/config.toml:2"), "{text}");
}

#[test]
fn c044_sessions_are_cut_to_the_terminal() {
    let fake = Fake::with_two();
    let session = fake.add_session(Some("a"));
    fake.change_session(&session, |session| session.name = "漢字 n".repeat(60));
    for arguments in [
        &["session", "list"][..],
        &["session", "show", &session],
        &["session", "inspect", &session],
        &["workspace", "info", "a"],
    ] {
        let run = fake.run_form("human", "", arguments).env("NO_COLOR", "1");
        let text = shown(run.command(), 60);
        assert!(text.contains("漢字") && text.contains(&session), "{text}");
        for line in text.lines() {
            assert!(
                line.width() <= 60,
                "{arguments:?}, {} columns: {line}",
                line.width()
            );
        }
    }
}

#[test]
fn a_watched_list_is_drawn_in_place() {
    let fake = Fake::with_two();
    let session = fake.add_session(Some("a"));
    let (mut ours, theirs) = terminal(80);
    let mut command = fake
        .run_form("human", "", &["session", "list", "--watch"])
        .env("NO_COLOR", "1")
        .command();
    let mut child = command.stdout(theirs).stderr(Stdio::null()).spawn().unwrap();
    drop(command);
    let (mut seen, mut part) = (String::new(), [0; 4096]);
    let mut read_until = |what: &str| {
        until(what, || {
            let count = ours.read(&mut part).unwrap();
            seen.push_str(&String::from_utf8_lossy(&part[..count]));
            seen.contains(what)
        });
        std::mem::take(&mut seen)
    };
    let first = read_until(&session);
    assert!(first.starts_with("\u{1b}[H!"), "{first:?}");
    until("the watch", || fake.state.watches.open_count() == 1);
    fake.change_session(&session, |session| session.name = "parser".to_owned());
    let change = compozy_client::proto::change::v1::Change {
        session_id: session,
        token: "t1".to_owned(),
        ..Default::default()
    };
    fake.state
        .watches
        .tell(&crate::fake::changes::batch(vec![change]));
    assert!(read_until("parser").contains("\u{1b}[H!"));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_text_does_nothing_to_a_terminal_and_keeps_its_bytes_in_a_pipe() {
    let fake = Fake::with_two();
    let text = "a\u{1b}[31mb\tc\r\n\u{7}d";
    *fake.state.text.lock().unwrap() = text.to_owned();
    let show = ["agent", "show", "reviewer", "--workspace", "a", "--text"];
    let seen = shown(fake.run_form("human", "", &show).command(), 60);
    assert_eq!(seen, "a\u{fffd}[31mb\tc\r\n\u{fffd}d");
    assert_eq!(fake.run_form("human", "", &show).done().stdout, text);
}

#[test]
fn c045_color_only_on_a_terminal_that_wants_it() {
    let fake = Fake::with_two();
    let run = || fake.run_form("human", "", &["workspace", "status", "a"]);
    assert!(shown(run().command(), 80).contains("\u{1b}["));
    assert!(!shown(run().env("NO_COLOR", "1").command(), 80).contains('\u{1b}'));
    assert!(!run().done().stdout.contains('\u{1b}'));
}

#[test]
fn c047_a_spinner_on_stderr_while_it_takes_long() {
    let fake = Fake::with_two();
    let gate = fake.hold();
    let (mut ours, theirs) = terminal(80);
    let mut command = fake
        .run("", &["workspace", "list"])
        .env("TERM", "xterm")
        .command();
    let child = command.stdout(Stdio::piped()).stderr(theirs).spawn().unwrap();
    drop(command);
    let mut seen = String::new();
    let mut part = [0; 4096];
    until("the spinner", || {
        let count = ours.read(&mut part).unwrap();
        seen.push_str(&String::from_utf8_lossy(&part[..count]));
        seen.contains("listing")
    });
    drop(gate);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let data: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(data["page"]["total"], 2);
}
