//! The courses: one daemon on SQLite, two and five on one Postgres, with everything that may happen to them.

use std::collections::BTreeMap;
use std::time::Duration;

use compozy_e2e::Draw;
use compozy_proto::change::v1::{ChangeKind, ChangeReason};

use crate::faults::Fault;
use crate::history::{End, Event, Origin, Outcome};
use crate::lap::{self, Course, Finish};
use crate::servers::Setting;
use crate::traffic::Manners;
use crate::watching::Habits;

/// Of all three courses together, unless the environment says otherwise: about a minute and a half with what
/// belongs to it.
const SECONDS: u64 = 66;
/// A longer course is run in laps, so that what is recorded fits in memory.
const LAP_MAX: u64 = 40;
/// Between two faults, at most.
const CALM: Duration = Duration::from_millis(1_500);
/// Complaints that are shown.
const SHOWN: usize = 5;
/// Entries that a trim leaves: fewer than are written in a few seconds.
const TRIMMED_TO: i64 = 400;

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap())
}

/// The seed of this run.
pub(crate) fn seed() -> u64 {
    number("COMPOZY_CHECKER_SEED").unwrap_or_else(Draw::new_seed)
}

fn course(servers: usize) -> Course {
    let on_postgres = servers > 1;
    let trim = Fault::Trim(TRIMMED_TO);
    let mut faults = vec![
        Fault::Kill,
        Fault::Kill,
        Fault::Kill,
        Fault::Drain,
        Fault::Drain,
        Fault::Stop,
        Fault::Stop,
        trim,
        trim,
    ];
    if on_postgres {
        // A new epoch lets every watcher begin anew, so it is rare.
        faults.extend([
            Fault::Cut,
            Fault::Cut,
            Fault::Database,
            Fault::Database,
            Fault::Epoch,
        ]);
    }
    Course {
        setting: Setting {
            servers,
            on_postgres,
            program: None,
            variables: Vec::new(),
            config: String::new(),
        },
        writers: 16,
        manners: Manners {
            workspaces: 80,
            profiles: 24,
            pause: Duration::from_millis(40),
        },
        watchers: 20,
        habits: Habits {
            stay: Duration::from_secs(4),
            stalls: 5,
            // Longer than a server waits before it takes a watcher for one that has fallen behind.
            stall: Duration::from_millis(2_500),
            filters: 3,
            absence: Duration::from_secs(3),
        },
        faults,
        calm: CALM,
        lasts: Duration::ZERO,
    }
}

/// A course for as long as the environment says. `part` tells the seeds of the courses apart.
pub(crate) async fn run(test: &str, servers: usize, part: u64) {
    let seed = seed();
    let in_all = number("COMPOZY_CHECKER_SECONDS").unwrap_or(SECONDS);
    let seconds = in_all.div_ceil(3);
    let laps = seconds.div_ceil(LAP_MAX);
    for lap in 0..laps {
        let mut course = course(servers);
        course.lasts = Duration::from_secs(seconds.div_ceil(laps));
        println!("{test}: COMPOZY_CHECKER_SEED={seed}, lap {} of {laps}", lap + 1);
        let lap_seed = seed.wrapping_add(part << 32).wrapping_add(lap);
        let Some(finish) = Box::pin(lap::run(test, &course, lap_seed)).await else {
            return;
        };
        println!("{test}: {}", summary(&finish));
        assert!(
            finish.violations.is_empty(),
            "{}\nagain with: cargo xtask checker {in_all} {seed}",
            complaints(&finish)
        );
        assert_something_happened(&finish);
    }
}

/// A check of nothing proves nothing.
fn assert_something_happened(finish: &Finish) {
    let counted = count(finish);
    for what in [
        "entries",
        "changes",
        "changes of profiles",
        "changes of selections",
        "changes of sessions",
        "streams resumed",
    ] {
        assert!(counted.get(what).copied().unwrap_or_default() > 30, "{counted:?}");
    }
    assert!(counted.contains_key("sessions that left"), "{counted:?}");
}

pub(crate) fn summary(finish: &Finish) -> String {
    let mut words: Vec<String> = count(finish)
        .iter()
        .map(|(what, count)| format!("{count} {what}"))
        .collect();
    let mut faults: BTreeMap<Fault, usize> = BTreeMap::new();
    for fault in &finish.faults {
        *faults.entry(*fault).or_default() += 1;
    }
    words.extend(faults.iter().map(|(fault, count)| format!("{count} x {fault:?}")));
    words.join(", ")
}

/// How much of what there was.
fn count(finish: &Finish) -> BTreeMap<&'static str, usize> {
    let history = &finish.history;
    let mut counted = BTreeMap::new();
    counted.insert("entries", history.log.entries.len());
    counted.insert("lies", history.lies.len());
    for write in &history.writes {
        *counted
            .entry(match write.outcome {
                Outcome::Answered { .. } | Outcome::Unsaid => "writes answered",
                Outcome::Refused => "writes refused",
                Outcome::Unknown => "writes left open",
            })
            .or_insert(0) += 1;
    }
    for stream in history.watchers.iter().flat_map(|watcher| &watcher.streams) {
        let mut add = |what| *counted.entry(what).or_insert(0) += 1;
        add(match (&stream.origin, &stream.end) {
            (Origin::Token { .. }, _) => "streams resumed",
            _ => "streams begun",
        });
        match &stream.end {
            End::Refused(_) => add("refused"),
            End::Broken(_) => add("broken off"),
            End::Left | End::Ok | End::Silent => {}
        }
        for received in &stream.received {
            match &received.event {
                Event::Change { entry, .. } => {
                    add("changes");
                    match entry.kind {
                        ChangeKind::Profile => add("changes of profiles"),
                        ChangeKind::Selection => add("changes of selections"),
                        ChangeKind::Session if entry.reason == ChangeReason::Left => {
                            add("sessions that left");
                        }
                        ChangeKind::Session | ChangeKind::AccountOrder => add("changes of sessions"),
                        _ => {}
                    }
                }
                Event::Resync { .. } => add("resyncs"),
                Event::GoingAway => add("partings"),
                Event::Heartbeat => add("heartbeats"),
                Event::SnapshotRow(_) | Event::Synced => {}
            }
        }
    }
    counted
}

/// The first complaints, one of each rule first.
pub(crate) fn complaints(finish: &Finish) -> String {
    let mut violations = finish.violations.clone();
    let mut seen = BTreeMap::new();
    violations.sort_by_key(|violation| {
        let count = seen.entry(violation.rule).or_insert(0_usize);
        *count += 1;
        (*count, violation.rule)
    });
    let shown: Vec<String> = violations.iter().take(SHOWN).map(ToString::to_string).collect();
    format!("{} broken promises\n{}", violations.len(), shown.join("\n"))
}
