//! Spans of time as people write them: `30d`, `12h`, `1h30m`.

use std::time::Duration;

/// Reads a span. Units are s, m, h, d and w; a bare number has no meaning.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let refused = || format!("\"{text}\" is no span of time; use for example 30s, 12h or 1h30m");
    let mut seconds: u64 = 0;
    let mut number = String::new();
    for letter in text.trim().chars() {
        if letter.is_ascii_digit() {
            number.push(letter);
            continue;
        }
        let unit: u64 = match letter {
            's' => 1,
            'm' => 60,
            'h' => 3_600,
            'd' => 86_400,
            'w' => 604_800,
            _ => return Err(refused()),
        };
        let count: u64 = number.parse().map_err(|_| refused())?;
        seconds = count
            .checked_mul(unit)
            .and_then(|more| seconds.checked_add(more))
            .ok_or_else(refused)?;
        number.clear();
    }
    // The contract's durations end at about 10,000 years.
    if !number.is_empty() || text.trim().is_empty() || seconds > 315_576_000_000 {
        return Err(refused());
    }
    Ok(Duration::from_secs(seconds))
}

/// A span as the API has it.
pub(crate) fn wire(duration: Duration) -> prost_types::Duration {
    // Whatever was read above fits.
    prost_types::Duration::try_from(duration).unwrap_or_default()
}

/// Writes a span with its two largest units.
pub(crate) fn spelled(duration: Duration) -> String {
    let seconds = duration.as_secs();
    if seconds == 0 {
        return format!("{} ms", duration.as_millis());
    }
    let mut parts = Vec::new();
    let mut rest = seconds;
    for (name, size) in [("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)] {
        if rest >= size {
            parts.push(format!("{} {name}", rest / size));
            rest %= size;
        } else if !parts.is_empty() {
            break;
        }
        if parts.len() == 2 {
            break;
        }
    }
    parts.join(" ")
}

/// Writes a span with its largest unit.
pub(crate) fn rough(duration: Duration) -> String {
    let spelled = spelled(duration);
    let words: Vec<&str> = spelled.split(' ').take(2).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn spans_are_read() {
        assert_eq!(parse("30d").unwrap(), Duration::from_secs(30 * 86_400));
        assert_eq!(parse("1h30m").unwrap(), Duration::from_secs(5_400));
        for text in [
            "soon",
            "",
            "30",
            "d",
            "-1d",
            "1h30",
            "99999999999999999999d",
            "9999999999999w",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn spans_are_written() {
        assert_eq!(spelled(Duration::from_millis(250)), "250 ms");
        assert_eq!(spelled(Duration::from_secs(90)), "1 min 30 s");
        assert_eq!(rough(Duration::from_secs(90)), "1 min");
        assert_eq!(rough(Duration::from_secs(5)), "5 s");
        assert_eq!(spelled(Duration::from_secs(86_400 + 5)), "1 d");
        assert_eq!(spelled(Duration::from_secs(3 * 86_400 + 7_200)), "3 d 2 h");
    }
}
