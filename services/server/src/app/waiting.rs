//! Waiting for what the catalog needs. A database that starts beside its servers, or is moved, is there in a
//! moment: health stays NOT_SERVING meanwhile, and everybody is told why. Whatever waiting does not mend, such as a
//! wrong password, ends the start at once.

use std::future::Future;
use std::io::{self, Write as _};
use std::time::Duration;

use tokio::time::Instant;

use crate::failure::{Failure, FailureKind};
use crate::log;

/// How long a start waits. A person who typed a wrong address is told so meanwhile.
const PATIENCE: Duration = Duration::from_secs(60);
/// The pauses between attempts, the first and the longest.
const PAUSE_FIRST: Duration = Duration::from_millis(250);
const PAUSE_LONGEST: Duration = Duration::from_secs(5);

/// Tries until it works, something else is wrong, or the patience has an end.
pub(super) async fn until_there<T, F>(mut attempt: impl FnMut() -> F) -> Result<T, Failure>
where
    F: Future<Output = Result<T, Failure>>,
{
    let begun = Instant::now();
    let mut pause = PAUSE_FIRST;
    loop {
        let failure = match attempt().await {
            Err(failure) if failure.kind() == FailureKind::Away => failure,
            outcome => return outcome,
        };
        if begun.elapsed() + pause >= PATIENCE {
            return Err(failure);
        }
        tell(&failure, pause);
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(PAUSE_LONGEST);
    }
}

/// In the log, and on stderr for whoever started the daemon and waits for it.
fn tell(failure: &Failure, pause: Duration) {
    let pause_s = pause.as_secs_f64();
    tracing::warn!(target: log::LAST_WORDS, %failure, pause_s, "the start waits");
    // If nobody reads it, there is nothing more to say.
    let _ = writeln!(io::stderr(), "waiting: {failure}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn away() -> Failure {
        Failure::new(FailureKind::Away, "away")
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_away_is_tried_again_at_growing_intervals_until_it_is_there() {
        let begun = Instant::now();
        let mut at = Vec::new();
        let done = until_there(|| {
            at.push(begun.elapsed().as_millis());
            std::future::ready(if at.len() < 8 { Err(away()) } else { Ok(()) })
        });
        assert_eq!(done.await, Ok(()));
        assert_eq!(at, [0, 250, 750, 1_750, 3_750, 7_750, 12_750, 17_750]);
    }

    #[tokio::test(start_paused = true)]
    async fn after_a_minute_the_last_reason_ends_the_start() {
        let begun = Instant::now();
        let mut attempts = 0;
        let done: Result<(), _> = until_there(|| {
            attempts += 1;
            std::future::ready(Err(Failure::new(FailureKind::Away, attempts.to_string())))
        })
        .await;
        let failure = done.expect_err("it can't be there");
        assert_eq!(
            (failure.to_string(), failure.exit_code()),
            (attempts.to_string(), 69)
        );
        assert!(begun.elapsed() > PATIENCE - 2 * PAUSE_LONGEST && begun.elapsed() <= PATIENCE);
    }

    #[tokio::test]
    async fn what_waiting_does_not_mend_ends_the_start_at_once() {
        let mut attempts = 0;
        let done: Result<(), _> = until_there(|| {
            attempts += 1;
            std::future::ready(Err(Failure::new(FailureKind::Unavailable, "a wrong password")))
        })
        .await;
        assert!(done.is_err());
        assert_eq!(attempts, 1);
    }
}
