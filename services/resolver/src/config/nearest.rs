//! The known key that somebody probably meant.

use super::key;
use super::keys::{KEYS, TABLES, next_parts};

/// Letters of a key that are compared.
const LETTERS_MAX: usize = 128;

/// The nearest known key, if one is near enough to be meant: first among those of the same table, then the same word
/// in another table, then whole keys.
pub(super) fn nearest(path: &[&str]) -> Option<String> {
    let (last, parent) = path.split_last()?;
    let known = next_parts(parent).filter(|part| *part != "*");
    let tables = TABLES.iter().map(|table| table.path);
    let tables = tables.filter(|path| parent.is_empty() && !path.contains('.'));
    if let Some(part) = nearest_of(last, known.chain(tables)) {
        return Some(key::join(parent.iter().copied().chain([part])));
    }
    let whole: Vec<&str> = KEYS
        .iter()
        .map(|rule| rule.key)
        .filter(|key| !key.contains('*'))
        .collect();
    let same_word = whole
        .iter()
        .find(|key| key.rsplit_once('.').is_some_and(|(_, word)| word == *last));
    match same_word {
        Some(key) => Some((*key).to_owned()),
        None => {
            // The same table says nothing about the word in it.
            let near = whole.into_iter().filter(|key| {
                let word = key.rsplit_once('.').map_or(*key, |(_, word)| word);
                is_near(distance(last, word), word)
            });
            nearest_of(&path.join("."), near).map(str::to_owned)
        }
    }
}

/// The nearest of some words, if one is near enough.
pub(super) fn nearest_of<'w>(word: &str, words: impl Iterator<Item = &'w str>) -> Option<&'w str> {
    let near = words.map(|known| (distance(word, known), known)).min()?;
    let (distance, known) = near;
    is_near(distance, known).then_some(known)
}

fn is_near(distance: usize, known: &str) -> bool {
    distance <= (known.chars().count() / 3).max(1)
}

/// How many letters have to be put in, taken out, changed or swapped with their neighbour.
fn distance(from: &str, to: &str) -> usize {
    // A key of a hostile file may be long; what is longer than any known key is near none.
    let from: String = from.chars().take(LETTERS_MAX).collect();
    // Every known word is in small letters.
    let from = from.to_lowercase();
    strsim::osa_distance(&from, to)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str) -> Option<String> {
        nearest(&path.split('.').collect::<Vec<_>>())
    }

    #[test]
    fn a_slip_finds_its_key_and_nonsense_none() {
        for (path, key) in [
            ("permisions", "permissions"),
            ("grpc.lisen", "grpc.listen"),
            ("provider", "providers"),
            ("daemon.drain_time", "daemon.drain_timeout"),
            ("session.start_timout", "session.start_timeout"),
            ("deamon", "daemon"),
            ("start_timeout", "session.start_timeout"),
            ("windowmanager", "window_manager"),
            ("DAEMON", "daemon"),
            ("session.startTimeout", "session.start_timeout"),
            (
                "providers.Claude Code.comand",
                "providers.\"Claude Code\".command",
            ),
            ("memory.sesion.ledger_root", "memory.session.ledger_root"),
        ] {
            assert_eq!(found(path).as_deref(), Some(key), "{path}");
        }
        assert_eq!(found("xyzzy"), None);
        assert_eq!(found("foo"), None);
        assert_eq!(found("defaults.ide"), None, "the table alone is not enough");
        assert_eq!(found(&"é".repeat(100_000)), None);
    }

    #[test]
    fn swapped_letters_are_one_slip() {
        assert_eq!(distance("agnets", "agents"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", "abc"), 0);
    }
}
