//! Tags in values. A description with examples in markup that goes on over several lines looks like other keys where a
//! line of it holds a colon: `<example>` in one value and `</example>` in a later one are no two values.

use std::collections::HashSet;

/// Characters between `<` and `>` at most.
const TAG_MAX: usize = 64;
/// Tags of one value that are looked at.
const TAGS_MAX: usize = 200;

/// Whether a tag that one value opens is closed in a later one.
pub(super) fn goes_on_below<'v>(values: impl Iterator<Item = &'v str>) -> bool {
    let mut open: HashSet<&str> = HashSet::new();
    for value in values {
        let mut here: Vec<&str> = Vec::new();
        for (name, closes) in tags(value).take(TAGS_MAX) {
            if !closes {
                here.push(name);
            } else if let Some(at) = here.iter().rposition(|opened| *opened == name) {
                here.truncate(at);
            } else if open.contains(name) {
                return true;
            }
        }
        open.extend(here);
    }
    false
}

/// The names of the tags, and whether each is a closing one.
fn tags(value: &str) -> impl Iterator<Item = (&str, bool)> {
    value.match_indices('<').filter_map(|(at, _)| {
        let behind = &value[at + 1..];
        let end = behind.bytes().take(TAG_MAX).position(|byte| byte == b'>')?;
        let inside = &behind[..end];
        let (name, closes) = match inside.strip_prefix('/') {
            Some(name) => (name, true),
            None => (inside.split(' ').next().unwrap_or_default(), false),
        };
        name.starts_with(|letter: char| letter.is_ascii_alphabetic())
            .then_some((name, closes))
    })
}

#[cfg(test)]
mod tests {
    use super::goes_on_below;

    #[test]
    fn only_what_ends_in_another_value_goes_on() {
        assert!(goes_on_below(["x <example>", "y", "z</example>"].into_iter()));
        assert!(goes_on_below(
            ["x <example kind=\"a\"> <b>", "</example>"].into_iter()
        ));
        assert!(!goes_on_below(
            ["x <example>y</example>", "z </example>"].into_iter()
        ));
        assert!(!goes_on_below(["run <name>", "a < b > c", "Vec<T>"].into_iter()));
    }
}
