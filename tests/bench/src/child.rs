//! Processes of this binary that stand for a floor: an echo server, a loop of bare statements. Each prints a line
//! when it is ready, works until it is killed, and has the measured core for itself.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::measured::Measured;
use crate::stream::bare;
use crate::{cpu, echo, files, statements};

/// A running floor. It ends with this value.
#[derive(Debug)]
pub(crate) struct Floor {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Floor {
    fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .arg("--child")
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        let mut child = cpu::on(cpu::Core::Measured, || command.spawn().unwrap());
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        assert!(!line.is_empty(), "a floor ended without a word");
        line.trim().to_owned()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Floor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An echo server whose answers have this length, and its address.
pub(crate) fn start_echo(answer_length: usize) -> (Floor, SocketAddr) {
    let mut floor = Floor::start(&["echo", &answer_length.to_string()]);
    let address = floor.line().parse().unwrap();
    (floor, address)
}

/// A server of bare streams, and its address.
pub(crate) fn start_streams() -> (Floor, SocketAddr) {
    let mut floor = Floor::start(&["streams"]);
    let address = floor.line().parse().unwrap();
    (floor, address)
}

/// What bare statements cost and yield: carried out in a process of their own, for a while.
pub(crate) fn measure_statements(kind: &str, place: &str, workers: usize, span: Duration) -> Measured {
    let (workers, millis) = (workers.to_string(), span.as_millis().to_string());
    report_of(Floor::start(&["statements", kind, place, &workers, &millis]))
}

/// What passes over the files below a root cost, in a process of their own, for a while.
pub(crate) fn measure_files(kind: &str, root: &str, span: Duration) -> Measured {
    report_of(Floor::start(&[
        "files",
        kind,
        root,
        &span.as_millis().to_string(),
    ]))
}

fn report_of(mut floor: Floor) -> Measured {
    let report: Value = serde_json::from_str(&floor.line()).unwrap();
    let nanos = |name: &str| Duration::from_nanos(report[name].as_u64().unwrap());
    Measured {
        calls: report["calls"].as_u64().unwrap(),
        elapsed: nanos("elapsed"),
        median: nanos("median"),
        p99: nanos("p99"),
        cpu_per_call: nanos("cpu_per_call"),
    }
}

fn print_report(measured: &Measured) {
    let nanos = |duration: Duration| u64::try_from(duration.as_nanos()).unwrap();
    let report = json!({
        "calls": measured.calls,
        "elapsed": nanos(measured.elapsed),
        "median": nanos(measured.median),
        "p99": nanos(measured.p99),
        "cpu_per_call": nanos(measured.cpu_per_call),
    });
    println!("{report}");
}

/// What such a process does.
pub(crate) fn run(words: &[&str]) {
    match words {
        ["echo", length] => {
            let length = length.parse().unwrap();
            run_server(|address| echo::serve(address, length));
        }
        ["streams"] => run_server(bare::serve),
        ["statements", kind, place, workers, millis] => {
            let span = Duration::from_millis(millis.parse().unwrap());
            print_report(&statements::measure(kind, place, workers.parse().unwrap(), span));
        }
        ["files", kind, root, millis] => {
            let span = Duration::from_millis(millis.parse().unwrap());
            print_report(&files::measure(kind, root, span));
        }
        _ => panic!("no such floor: {words:?}"),
    }
}

/// With the same kind of runtime as the daemon.
fn run_server<F: Future<Output = ()>>(serve: impl FnOnce(SocketAddr) -> F) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    println!("{address}");
    std::io::stdout().flush().unwrap();
    runtime.block_on(serve(address));
}
