//! What somebody may have meant.

/// The name that is most like a word, if one is at all.
pub(crate) fn of<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A third of the letters may be wrong, and at least one.
    let tolerance = (word.chars().count() / 3).max(1);
    names
        .into_iter()
        .map(|name| (strsim::osa_distance(word, name), name))
        // Two words of one letter each have nothing in common.
        .filter(|(distance, name)| *distance <= tolerance && *distance < name.chars().count())
        .min()
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised_and_another_word_is_not() {
        let names = ["defaults.agent", "defaults.provider", "permissions.mode"];
        assert_eq!(of("default.agent", names), Some("defaults.agent"));
        assert_eq!(of("defaults.agnet", names), Some("defaults.agent"));
        assert_eq!(of("store.url", names), None);
        assert_eq!(of("", names), None);
        assert_eq!(of("a", ["b"]), None);
    }
}
