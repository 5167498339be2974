//! The steps of a task: each under a heading, timed, and listed again at the end.

use std::time::{Duration, Instant};

use crate::{Result, commands};

/// What has been done so far.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    done: Vec<Step>,
}

#[derive(Debug)]
struct Step {
    name: &'static str,
    took: Duration,
    failed: bool,
}

impl Steps {
    /// Carries out one step. A failure is told at once and remembered, so that the other steps are
    /// still tried: a person wants to know everything that is wrong, not the first of it. After an
    /// interrupt nothing more is tried.
    pub(crate) fn step<T>(&mut self, name: &'static str, work: impl FnOnce() -> Result<T>) -> Option<T> {
        if commands::interrupted() {
            return None;
        }
        println!("\n== {name}");
        let started = Instant::now();
        let outcome = work();
        let took = started.elapsed();
        self.done.push(Step {
            name,
            took,
            failed: outcome.is_err(),
        });
        match outcome {
            Ok(value) => {
                println!("== {name}: done in {}", shown(took));
                Some(value)
            }
            Err(error) => {
                println!("error: {error}\n== {name}: FAILED after {}", shown(took));
                None
            }
        }
    }

    /// Prints every step with its duration and outcome; answers whether all succeeded.
    pub(crate) fn summary(&self) -> bool {
        println!("\n== summary");
        for step in &self.done {
            let outcome = if step.failed { "FAILED" } else { "ok" };
            println!("{:<28} {:>8}  {outcome}", step.name, shown(step.took));
        }
        if commands::interrupted() {
            println!("interrupted: the steps that follow were not tried");
        }
        !commands::interrupted() && self.done.iter().all(|step| !step.failed)
    }
}

fn shown(took: Duration) -> String {
    let seconds = took.as_secs_f64();
    if seconds < 60.0 {
        format!("{seconds:.1} s")
    } else {
        format!("{:.1} min", seconds / 60.0)
    }
}
