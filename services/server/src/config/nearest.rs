//! The known key that somebody probably meant.

use super::keys::{KEYS, OPEN_TABLES};

/// The nearest known key, if one is near enough to be meant.
pub(super) fn nearest(path: &str) -> Option<&'static str> {
    let known = KEYS
        .iter()
        .map(|(key, _)| *key)
        .chain(OPEN_TABLES.iter().copied());
    let (distance, key) = known.map(|key| (distance(path, key), key)).min()?;
    (distance <= 2.max(key.len() / 3)).then_some(key)
}

/// How many letters have to be put in, taken out or changed.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    // A key of a hostile file may be long; what is longer than any known key is near none.
    for (at, letter) in from.chars().take(128).enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (column, other) in to.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_key_and_nonsense_none() {
        assert_eq!(nearest("grpc.lisen"), Some("grpc.listen"));
        assert_eq!(nearest("provider"), Some("providers"));
        assert_eq!(nearest("daemon.drain_time"), Some("daemon.drain_timeout"));
        assert_eq!(nearest("xyzzy"), None);
        assert_eq!(nearest(&"é".repeat(100_000)), None);
    }
}
