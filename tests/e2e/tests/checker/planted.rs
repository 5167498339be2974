//! Daemons with a bug on purpose: the check has to find each, and has nothing to say about the same daemon without.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use compozy_e2e::Draw;
use tokio::task::block_in_place;

use crate::faults::Fault;
use crate::lap::{self, Course};
use crate::rounds::{complaints, seed, summary};
use crate::servers::Setting;
use crate::traffic::Manners;
use crate::violation::Rule;
use crate::watching::Habits;

/// One lap, and one with faults, which take their time.
const LASTS: Duration = Duration::from_secs(5);
const LASTS_WITH_FAULTS: Duration = Duration::from_secs(9);
/// Between two faults, at most: most of the time everything is well.
const CALM: Duration = Duration::from_secs(4);
/// A bug that does not show within so many laps is not found.
const LAPS: u64 = 6;
/// Entries that are retained: so few that slow watchers fall below the floor.
const FEW: u32 = 60;
/// So many that a token of before another epoch never expires, which would hide that it is of another epoch.
const MANY: u32 = 100_000;

/// A bug, and what may be said about it.
#[derive(Debug)]
pub(crate) struct Bug {
    name: &'static str,
    servers: usize,
    faults: &'static [Fault],
    retained: u32,
    /// One of these has to be among the complaints.
    rules: &'static [Rule],
}

/// Everything that the issue names.
pub(crate) const BUGS: [Bug; 7] = [
    on_sqlite("skip_one", &[Rule::Lost]),
    on_sqlite("repeat_one", &[Rule::Once]),
    on_sqlite("reorder_two", &[Rule::Order]),
    on_sqlite("drop_on_overflow", &[Rule::Lost]),
    // What a daemon has read itself it still has in memory: only after a start the floor matters.
    Bug {
        name: "floor_apart",
        servers: 1,
        faults: &[Fault::Kill],
        retained: FEW,
        rules: &[Rule::Lost],
    },
    Bug {
        name: "number_before_commit",
        servers: 2,
        faults: &[],
        retained: FEW,
        rules: &[Rule::Lost, Rule::LogDense],
    },
    Bug {
        name: "foreign_epoch",
        servers: 2,
        faults: &[Fault::Epoch],
        retained: MANY,
        rules: &[Rule::Epoch],
    },
];

const fn on_sqlite(name: &'static str, rules: &'static [Rule]) -> Bug {
    Bug {
        name,
        servers: 1,
        faults: &[],
        retained: FEW,
        rules,
    }
}

/// The daemon with the bugs, built once into a folder of its own beside the shipped one's.
pub(crate) fn build() -> PathBuf {
    let executable = std::env::current_exe().unwrap();
    let profile = executable.ancestors().nth(2).unwrap();
    let target = profile.parent().unwrap().join("planted");
    let is_release = profile.file_name().unwrap() == "release";
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .current_dir(root)
        .args(["build", "--quiet", "--package", "compozy-server"])
        .args(["--features", "planted-bugs", "--target-dir"])
        .arg(&target);
    if is_release {
        command.arg("--release");
    }
    let output = block_in_place(|| command.output().unwrap());
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    target.join(profile.file_name().unwrap()).join("compozyd")
}

fn course(program: &Path, servers: usize, faults: &[Fault], retained: u32, bug: &str) -> Course {
    let variables = [
        ("COMPOZY_TEST_UPKEEP_PERIOD_MS", "200"),
        ("COMPOZY_TEST_WATCH_BEHIND_BYTES", "6000"),
        ("COMPOZY_TEST_WATCH_BEHIND_AFTER_MS", "200"),
        ("COMPOZY_PLANTED_BUG", bug),
    ];
    Course {
        setting: Setting {
            servers,
            on_postgres: servers > 1,
            program: Some(program.to_owned()),
            variables: variables.map(|(name, value)| (name, value.to_owned())).to_vec(),
            config: format!("[changes]\nretain_entries = {retained}\n"),
        },
        writers: 12,
        manners: Manners {
            workspaces: 60,
            profiles: 16,
            pause: Duration::from_millis(20),
        },
        watchers: 12,
        habits: Habits {
            stay: Duration::from_secs(1),
            stalls: 3,
            stall: Duration::from_millis(600),
            filters: 4,
            absence: Duration::from_secs(2),
        },
        faults: faults.to_vec(),
        calm: CALM,
        lasts: if faults.is_empty() {
            LASTS
        } else {
            LASTS_WITH_FAULTS
        },
    }
}

/// Laps with a bug until the check complains.
pub(crate) async fn is_found(test: &str, program: &Path, bug: &Bug) {
    let Bug {
        name,
        servers,
        faults,
        retained,
        rules,
    } = bug;
    let mut draw = Draw::seeded(seed());
    for lap in 1..=LAPS {
        let course = course(program, *servers, faults, *retained, name);
        let Some(finish) = Box::pin(lap::run(test, &course, draw.number())).await else {
            return;
        };
        println!("{name}, lap {lap}: {}", summary(&finish));
        let fitting = finish
            .violations
            .iter()
            .find(|violation| rules.contains(&violation.rule));
        if let Some(violation) = fitting {
            println!("{name}: found by {violation}");
            return;
        }
        assert!(
            finish.violations.is_empty(),
            "{name}: something else: {}",
            complaints(&finish)
        );
    }
    panic!("{name} was not found in {LAPS} laps");
}

/// The same laps without a bug.
pub(crate) async fn nothing_is_found(test: &str, program: &Path) {
    let mut draw = Draw::seeded(seed());
    for (servers, faults) in [(1, &[Fault::Kill][..]), (2, &[Fault::Epoch, Fault::Stop][..])] {
        let course = course(program, servers, faults, FEW, "");
        let Some(finish) = Box::pin(lap::run(test, &course, draw.number())).await else {
            return;
        };
        println!("no bug, {servers} servers: {}", summary(&finish));
        assert!(finish.violations.is_empty(), "{}", complaints(&finish));
    }
}
