//! Runs other programs: each as a process group of its own, within a time limit, ended with all that
//! it started when this process is asked to end.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::Result;

/// No command of ours takes longer than this unless it hangs. Below CI's own 90 minutes, so that a
/// hanging test still leaves its output and its count.
const LIMIT: Duration = Duration::from_secs(45 * 60);
/// How often a waiting loop looks up.
const TICK: Duration = Duration::from_millis(50);
/// Between asking a process group to end and killing it.
const GRACE: Duration = Duration::from_secs(5);
/// How long we go on reading what a process writes that outlives the command that started it.
const LEFTOVER_GRACE: Duration = Duration::from_secs(1);

static INTERRUPTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Makes ctrl-c, SIGTERM and SIGHUP a flag that every wait in this file looks at, so that whatever
/// was started is stopped in order.
pub(crate) fn watch_signals() -> Result<()> {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        signal_hook::flag::register(signal.as_raw(), Arc::clone(&INTERRUPTED))?;
    }
    Ok(())
}

/// Whether this process was asked to end.
pub(crate) fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// Sleeps one tick of a waiting loop; an error when this process was asked to end.
pub(crate) fn tick() -> Result<()> {
    if interrupted() {
        return Err("interrupted".into());
    }
    thread::sleep(TICK);
    Ok(())
}

/// Runs a command to its end with its output on ours; an error unless it succeeds.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let mut group = Group::start(command)?;
    group.wait()
}

/// Runs a short command and answers what it wrote to its standard output.
pub(crate) fn read(command: &mut Command) -> Result<String> {
    let name = name(command);
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("{name}: {error}"))?;
    succeeded(&name, output.status)?;
    Ok(String::from_utf8(output.stdout)?)
}

/// Like `run`, and shows each line of standard output to `see` as it passes through.
pub(crate) fn stream(command: &mut Command, mut see: impl FnMut(&str)) -> Result<()> {
    let mut group = Group::start(command.stdout(Stdio::piped()))?;
    let lines = read_lines(&mut group.leader);
    let mut ended: Option<Instant> = None;
    loop {
        match lines.recv_timeout(TICK) {
            Ok(line) => {
                let line = String::from_utf8_lossy(&line);
                print!("{line}");
                see(&line);
            }
            Err(RecvTimeoutError::Timeout) => std::io::stdout().flush()?,
            Err(RecvTimeoutError::Disconnected) => break,
        }
        match ended {
            None if group.leader.try_wait()?.is_some() => ended = Some(Instant::now()),
            None => group.check_limits()?,
            Some(at) if at.elapsed() > LEFTOVER_GRACE => {
                println!("{} left a process behind that holds its output", group.name);
                break;
            }
            Some(_) => {}
        }
    }
    group.wait()
}

/// Lines come through a thread, because a pipe stays open as long as any descendant holds it, and a
/// read from it can then outlast the command.
fn read_lines(child: &mut Child) -> Receiver<Vec<u8>> {
    let output = child.stdout.take().expect("the caller asked for a pipe");
    let (sender, receiver) = sync_channel(1024);
    thread::spawn(move || {
        let mut reader = BufReader::new(output);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).is_ok_and(|size| size > 0) {
            if sender.send(std::mem::take(&mut line)).is_err() {
                return;
            }
        }
    });
    receiver
}

/// A running command and whatever it starts.
struct Group {
    leader: Child,
    name: String,
    started: Instant,
}

impl Group {
    fn start(command: &mut Command) -> Result<Self> {
        let name = name(command);
        let leader = command.stdin(Stdio::null()).process_group(0).spawn();
        let leader = leader.map_err(|error| format!("{name}: {error}"))?;
        Ok(Self {
            leader,
            name,
            started: Instant::now(),
        })
    }

    /// Waits for the command's own end; an error unless it succeeds.
    fn wait(&mut self) -> Result<()> {
        loop {
            if let Some(status) = self.leader.try_wait()? {
                return succeeded(&self.name, status);
            }
            self.check_limits()?;
            thread::sleep(TICK);
        }
    }

    /// An error when waiting any longer makes no sense; the group ends as it is dropped.
    fn check_limits(&self) -> Result<()> {
        if interrupted() {
            return Err(format!("{}: interrupted", self.name).into());
        }
        if self.started.elapsed() > LIMIT {
            return Err(format!("{}: not done after {} minutes", self.name, LIMIT.as_secs() / 60).into());
        }
        Ok(())
    }
}

/// Ends what is left of the group, also what a finished command left behind in it.
impl Drop for Group {
    fn drop(&mut self) {
        let Some(group) = i32::try_from(self.leader.id()).ok().and_then(Pid::from_raw) else {
            return;
        };
        if kill_process_group(group, Signal::TERM).is_err() {
            return;
        }
        let asked = Instant::now();
        while asked.elapsed() < GRACE {
            // Reaps the leader: a zombie would count as a member of the group for ever.
            let _ = self.leader.try_wait();
            if rustix::process::test_kill_process_group(group).is_err() {
                return;
            }
            thread::sleep(TICK);
        }
        let _ = kill_process_group(group, Signal::KILL);
        let _ = self.leader.wait();
    }
}

fn succeeded(name: &str, status: ExitStatus) -> Result<()> {
    if status.success() {
        Ok(())
    } else {
        Err(format!("{name}: {status}").into())
    }
}

/// The command as a person would type it.
fn name(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy()];
    words.extend(command.get_args().map(|word| word.to_string_lossy()));
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::{run, stream};

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    /// One that has ended may stay listed, as a zombie, until somebody collects it.
    fn runs(pid: &str) -> bool {
        let zombie =
            std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| stat.contains(") Z "));
        !zombie && run(&mut shell(&format!("kill -0 {pid} 2>/dev/null"))).is_ok()
    }

    #[test]
    fn a_failure_names_the_command_and_its_status() {
        let error = run(&mut shell("exit 3")).unwrap_err().to_string();
        assert_eq!(error, "sh -c exit 3: exit status: 3");
        let error = run(&mut Command::new("/no/such/program"))
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("/no/such/program: "), "{error}");
    }

    #[test]
    fn every_line_is_seen_also_of_a_command_that_fails() {
        let mut lines = Vec::new();
        let outcome = stream(&mut shell("echo one; printf two; exit 1"), |line| {
            lines.push(line.to_owned());
        });
        assert!(outcome.is_err());
        assert_eq!(lines, ["one\n", "two"]);
    }

    #[test]
    fn a_process_left_behind_neither_delays_nor_survives() {
        let mut lines = Vec::new();
        let script = "sleep 1000 & echo $!";
        stream(&mut shell(script), |line| {
            lines.push(line.trim().to_owned());
        })
        .unwrap();
        let [left_behind] = lines.as_slice() else {
            panic!("{lines:?}")
        };
        assert!(!runs(left_behind));
    }
}
