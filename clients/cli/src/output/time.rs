//! Points in time: RFC 3339 in UTC for programs, local with their age for people.

use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Serialize, Serializer};

use crate::duration::{rough, spelled};

/// A time of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Time {
    at: Timestamp,
}

impl Time {
    /// Takes over the parts of a protobuf timestamp; `None` for one that no clock can show.
    pub(crate) fn new(seconds: i64, nanos: i32) -> Option<Self> {
        Timestamp::new(seconds, nanos).ok().map(|at| Self { at })
    }

    /// A time as logs and JSON have it; `None` if it is none.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        text.parse().ok().map(|at| Self { at })
    }

    pub(crate) fn age(self) -> Duration {
        Duration::try_from(now().duration_since(self.at)).unwrap_or_default()
    }

    pub(super) fn local(self, zone: &TimeZone, now: Timestamp) -> String {
        let age = age(now.as_second() - self.at.as_second(), spelled);
        format!("{} ({age})", self.clock(zone))
    }

    /// The age alone and roughly, for a list.
    pub(super) fn ago(self, now: Timestamp) -> String {
        age(now.as_second() - self.at.as_second(), rough)
    }

    /// Without the age, which says nothing about what happens just now.
    pub(super) fn clock(self, zone: &TimeZone) -> String {
        let shown = self.at.to_zoned_datetime(zone.clone());
        shown.strftime("%Y-%m-%d %H:%M:%S").to_string()
    }
}

impl Serialize for Time {
    /// With 0, 3, 6 or 9 digits of a second, as protobuf's JSON has it.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let nanos = self.at.subsec_nanosecond().unsigned_abs();
        let seconds = self.at.strftime("%Y-%m-%dT%H:%M:%S");
        let text = match nanos {
            0 => format!("{seconds}Z"),
            nanos if nanos % 1_000_000 == 0 => format!("{seconds}.{:03}Z", nanos / 1_000_000),
            nanos if nanos % 1_000 == 0 => format!("{seconds}.{:06}Z", nanos / 1_000),
            nanos => format!("{seconds}.{nanos:09}Z"),
        };
        serializer.serialize_str(&text)
    }
}

/// The wall clock of the person who looks.
#[expect(
    clippy::disallowed_methods,
    reason = "the only place of the command line that reads the wall clock"
)]
pub(crate) fn now() -> Timestamp {
    Timestamp::now()
}

/// How long ago a file's time was; `None` if it lies ahead.
pub(crate) fn since(time: SystemTime) -> Option<Duration> {
    let since_epoch = Duration::try_from(now().as_duration()).ok()?;
    (SystemTime::UNIX_EPOCH + since_epoch).duration_since(time).ok()
}

fn age(seconds: i64, words: fn(Duration) -> String) -> String {
    let span = words(Duration::from_secs(seconds.unsigned_abs()));
    match seconds {
        -4..=4 => "now".to_owned(),
        5.. => format!("{span} ago"),
        _ => format!("in {span}"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn programs_get_as_many_digits_as_there_are() {
        let written = |nanos| serde_json::to_value(Time::new(1_777_905_000, nanos).unwrap()).unwrap();
        assert_eq!(written(0), "2026-05-04T14:30:00Z");
        assert_eq!(written(120_000_000), "2026-05-04T14:30:00.120Z");
        assert_eq!(written(1_000), "2026-05-04T14:30:00.000001Z");
        assert_eq!(written(7), "2026-05-04T14:30:00.000000007Z");
        let before = Time::new(-1, 500_000_000).unwrap();
        assert_eq!(serde_json::to_value(before).unwrap(), "1969-12-31T23:59:59.500Z");
    }

    #[test]
    fn a_time_that_no_clock_shows_is_none() {
        assert_eq!(Time::new(i64::MAX, 0), None);
        assert_eq!(Time::new(0, -5_000_000), Time::new(-1, 995_000_000));
    }

    #[test]
    fn people_get_local_time_with_age() {
        let zone = TimeZone::fixed(jiff::tz::offset(9));
        let now = Timestamp::from_second(1_777_905_000 + 7_200).unwrap();
        let shown = Time::new(1_777_905_000, 0).unwrap().local(&zone, now);
        assert_eq!(shown, "2026-05-04 23:30:00 (2 h ago)");
    }

    #[test]
    fn ages_are_told_in_both_directions() {
        assert_eq!(
            (age(0, spelled), age(65, spelled), age(-600, rough)),
            ("now".into(), "1 min 5 s ago".into(), "in 10 min".into())
        );
    }
}
