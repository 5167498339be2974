//! The report: a table for people, JSON for programs.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::measured::{Row, micros};

/// A finished run.
#[derive(Debug)]
pub(crate) struct Report {
    command: String,
    date: String,
    machine: String,
    rows: Vec<Row>,
}

impl Report {
    pub(crate) fn new(words: &[&str], rows: Vec<Row>) -> Self {
        Self {
            command: [&["cargo xtask bench"], words].concat().join(" "),
            date: said_by("date", &["-u", "+%Y-%m-%d %H:%M UTC"]),
            machine: machine(),
            rows,
        }
    }

    /// Writes the JSON file beside the binary's folder and answers its path.
    pub(crate) fn write(&self) -> PathBuf {
        let executable = std::env::current_exe().unwrap();
        let path = executable
            .ancestors()
            .nth(2)
            .unwrap_or(Path::new("."))
            .join("bench.json");
        let rows: Vec<Value> = self.rows.iter().map(Row::json).collect();
        let report =
            json!({"command": self.command, "date": self.date, "machine": self.machine, "rows": rows});
        std::fs::write(&path, format!("{report:#}\n")).unwrap();
        path
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "`{}`, {}, {}\n", self.command, self.date, self.machine)?;
        writeln!(
            formatter,
            "| work | engine | figure | median | p99 | server CPU a call | floor | ratio | goal |"
        )?;
        writeln!(
            formatter,
            "| --- | --- | ---: | ---: | ---: | ---: | --- | ---: | --- |"
        )?;
        for row in &self.rows {
            write_row(formatter, row)?;
        }
        Ok(())
    }
}

fn write_row(formatter: &mut fmt::Formatter<'_>, row: &Row) -> fmt::Result {
    let (figure, median, p99, cpu) = match (&row.load, row.figure) {
        (Some(load), _) => (
            format!("{} /s", number(load.rate())),
            format!("{} us", number(micros(load.median))),
            format!("{} us", number(micros(load.p99))),
            format!("{} us", number(micros(load.cpu_per_call))),
        ),
        (None, Some((value, unit))) => (
            format!("{} {unit}", number(value)),
            String::new(),
            String::new(),
            String::new(),
        ),
        (None, None) => Default::default(),
    };
    let (floor, ratio) = match &row.floor {
        Some(floor) => (
            format!("{}: {} {}", floor.name, number(floor.value), floor.unit),
            format!("{:.2}x", floor.ratio),
        ),
        None => Default::default(),
    };
    let goal = match &row.goal {
        Some((goal, true)) => format!("{goal}, met"),
        Some((goal, false)) => format!("{goal}, missed"),
        None => String::new(),
    };
    let Row { name, engine, .. } = row;
    writeln!(
        formatter,
        "| {name} | {engine} | {figure} | {median} | {p99} | {cpu} | {floor} | {ratio} | {goal} |"
    )
}

/// Three digits say enough.
fn number(value: f64) -> String {
    match value {
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

fn machine() -> String {
    let processors = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processors
        .lines()
        .find_map(|line| line.strip_prefix("model name"));
    let model = model.map_or("unknown processor", |rest| {
        rest.trim_start_matches(['\t', ' ', ':'])
    });
    let count = processors
        .lines()
        .filter(|line| line.starts_with("processor"))
        .count();
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default().to_owned();
    let kernel = said_by("uname", &["-r"]);
    format!("{count} cores of {model}, Linux {kernel}, load average {load}")
}

/// The one line that a program prints; empty where it is not there.
fn said_by(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    output.map_or_else(
        |_| String::new(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    )
}
