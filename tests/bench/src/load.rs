//! Closed loops: each caller asks again as soon as it has its answer.

use std::cell::Cell;
use std::future::Future;
use std::time::{Duration, Instant};

use futures::future::{join, join_all};

use crate::cpu::Busy;
use crate::measured::Measured;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    WarmUp,
    Measure,
    Over,
}

/// Runs all callers at once for a while, after a quarter of that time as a warm-up. `pid` is the measured process.
pub(crate) async fn for_a_while<C, F>(pid: u32, span: Duration, callers: Vec<C>) -> Measured
where
    C: FnMut() -> F,
    F: Future<Output = ()>,
{
    let phase = Cell::new(Phase::WarmUp);
    let window = async {
        tokio::time::sleep(span / 4).await;
        let (begun, before) = (Instant::now(), Busy::of(pid));
        phase.set(Phase::Measure);
        tokio::time::sleep(span).await;
        phase.set(Phase::Over);
        (begun.elapsed(), Busy::of(pid).since(&before))
    };
    let phase = &phase;
    let loops = callers.into_iter().map(|mut call| async move {
        let mut calls = Vec::new();
        while phase.get() != Phase::Over {
            let begun = Instant::now();
            call().await;
            if phase.get() == Phase::Measure {
                calls.push(begun.elapsed());
            }
        }
        calls
    });
    let ((elapsed, busy), calls) = join(window, join_all(loops)).await;
    Measured::of(calls.concat(), elapsed, busy)
}

/// Runs all callers at once until each has carried out its calls. `pid` is the measured process.
pub(crate) async fn to_the_end<F: Future<Output = ()>>(pid: u32, callers: Vec<Vec<F>>) -> Measured {
    let (begun, before) = (Instant::now(), Busy::of(pid));
    let loops = callers.into_iter().map(|jobs| async move {
        let mut calls = Vec::with_capacity(jobs.len());
        for job in jobs {
            let begun = Instant::now();
            job.await;
            calls.push(begun.elapsed());
        }
        calls
    });
    let calls = join_all(loops).await.concat();
    Measured::of(calls, begun.elapsed(), Busy::of(pid).since(&before))
}
