//! Points in time as people write them: `2026-05-04`, `2026-05-04T14:30:00Z`, or how long ago, as in `2h`.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use prost_types::Timestamp as WireTime;

use crate::duration;
use crate::output::time;

/// Reads one. Without an offset it is a time of this person's clock.
pub(crate) fn parse(text: &str) -> Result<WireTime, String> {
    let at = read(text.trim(), time::now(), &TimeZone::system());
    let at = at.ok_or_else(|| {
        format!(
            "\"{text}\" is no time; use for example 2026-05-04, 2026-05-04T14:30:00Z, or 2h for two hours ago"
        )
    })?;
    Ok(WireTime {
        seconds: at.as_second(),
        nanos: at.subsec_nanosecond(),
    })
}

fn read(text: &str, now: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
    if let Ok(at) = text.parse::<Timestamp>() {
        return Some(at);
    }
    if let Ok(local) = text.parse::<DateTime>() {
        return zone.to_timestamp(local).ok();
    }
    let ago = SignedDuration::try_from(duration::parse(text).ok()?).ok()?;
    now.checked_sub(ago).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_absolute_local_or_so_long_ago() {
        let now: Timestamp = "2026-05-04T14:30:00Z".parse().unwrap_or_default();
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let told = |text| read(text, now, &zone).map(|at| at.to_string());
        assert_eq!(
            told("2026-05-01T00:00:00.5Z").as_deref(),
            Some("2026-05-01T00:00:00.5Z")
        );
        assert_eq!(
            told("2026-05-01T02:00:00+02:00").as_deref(),
            Some("2026-05-01T00:00:00Z")
        );
        assert_eq!(told("2026-05-01").as_deref(), Some("2026-04-30T22:00:00Z"));
        assert_eq!(
            told("2026-05-01T08:00:00").as_deref(),
            Some("2026-05-01T06:00:00Z")
        );
        assert_eq!(told("1h30m").as_deref(), Some("2026-05-04T13:00:00Z"));
        for text in ["", "soon", "2026-13-01", "5"] {
            assert_eq!(told(text), None, "{text}");
        }
    }
}
