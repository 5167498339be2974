//! Instants as the file spells them: RFC 3339.

use compozy_domain::Timestamp;

/// Reads an RFC 3339 time with seconds and zone; with a fraction or without. What is finer than a nanosecond
/// is cut.
///
/// # Errors
/// Which rule the text breaks.
pub(super) fn parse(text: &str) -> Result<Timestamp, &'static str> {
    const FORM: &str = "must be an RFC 3339 time with seconds and zone, such as 2026-05-04T14:30:00Z";
    let (date_time, rest) = text.split_at_checked(19).ok_or(FORM)?;
    if !has_form(date_time, "dddd-dd-dd?dd:dd:dd") || !matches!(date_time.as_bytes()[10], b'T' | b't' | b' ')
    {
        return Err(FORM);
    }
    let (fraction, zone) = split_fraction(rest).ok_or(FORM)?;
    if !is_zone(zone) {
        return Err(FORM);
    }
    let spelled = format!(
        "{}T{}.{:0<9.9}{zone}",
        &date_time[..10],
        &date_time[11..],
        fraction
    );
    let instant: jiff::Timestamp = spelled.parse().map_err(|_| "is no time of the calendar")?;
    i64::try_from(instant.as_nanosecond())
        .map(Timestamp::from_nanos)
        .map_err(|_| "lies outside the years 1678 to 2261")
}

/// Spells an instant in UTC, with a fraction only if it has one.
pub(super) fn format(at: Timestamp) -> String {
    jiff::Timestamp::from_nanosecond(i128::from(at.nanos()))
        .expect("a calendar of 9999 years holds every instant of 64 bits of nanoseconds")
        .to_string()
}

/// Whether a text has a form: `d` is a digit, `?` is anything, the rest is itself.
fn has_form(text: &str, form: &str) -> bool {
    text.len() == form.len()
        && text.bytes().zip(form.bytes()).all(|(byte, wanted)| match wanted {
            b'd' => byte.is_ascii_digit(),
            b'?' => true,
            wanted => byte == wanted,
        })
}

/// The digits of a fraction, perhaps none, and what follows it.
fn split_fraction(rest: &str) -> Option<(&str, &str)> {
    let Some(digits) = rest.strip_prefix('.') else {
        return Some(("", rest));
    };
    let end = digits.find(|c: char| !c.is_ascii_digit())?;
    (end > 0).then(|| digits.split_at(end))
}

fn is_zone(zone: &str) -> bool {
    if matches!(zone, "Z" | "z") {
        return true;
    }
    let offset = zone.strip_prefix(['+', '-']).unwrap_or_default();
    has_form(offset, "dd:dd") && offset[..2] <= *"23" && offset[3..] <= *"59"
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn w007_fraction_and_zone_become_utc() {
        let at = parse("2026-05-04T16:30:00.25+02:00").unwrap();
        assert_eq!(format(at), "2026-05-04T14:30:00.25Z");
        assert_eq!(at, parse("2026-05-04t14:30:00.2500000000009z").unwrap());
        assert_eq!(at, parse("2026-05-04 14:30:00.25-00:00").unwrap());
    }

    #[test]
    fn w008_seconds_and_zone_are_required() {
        for bad in [
            "",
            "2026-05-04 14:30",
            "2026-05-04T14:30Z",
            "2026-05-04T14:30:00",
            "2026-05-04T14:30:00.Z",
            "2026-05-04T14:30:00.5",
            "2026-05-04T14:30:00+2",
            "2026-05-04T14:30:00+24:00",
            "2026-05-04T14:30:00+02:60",
            "2026-05-04T14:30:00Z[UTC]",
            "2026-05-04T14:30:00Z ",
            "+002026-05-04T14:30:00Z",
            "2026-13-04T14:30:00Z",
            "2026-02-30T14:30:00Z",
            "2026-05-04T24:30:00Z",
            "2026-05-04T14:30:é0Z",
            "1600-01-01T00:00:00Z",
            "9999-12-31T23:59:59Z",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_ends_of_time_read_back() {
        for nanos in [i64::MIN, -1, 0, 1, i64::MAX] {
            let at = Timestamp::from_nanos(nanos);
            assert_eq!(parse(&format(at)), Ok(at));
        }
    }
}
