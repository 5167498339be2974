//! Words of a command that a person can paste into a shell.

/// A word as a shell takes it.
pub(crate) fn shell(word: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "/._-+,@%".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_a_quote_is_quoted() {
        assert_eq!(shell("/plain-1/x"), "/plain-1/x");
        assert_eq!(shell("/it's"), r"'/it'\''s'");
        assert_eq!(shell(""), "''");
    }
}
