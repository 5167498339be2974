//! Labels as people write them: `key=value`.

use std::collections::BTreeMap;

use crate::failure::Failure;

/// Reads one. What keys and values may be is the daemon's to decide.
pub(crate) fn parse(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(format!("\"{text}\" is no label; use for example team=web")),
    }
}

/// All of them; a key that is given twice is refused before any request.
pub(crate) fn gathered(labels: Vec<(String, String)>) -> Result<BTreeMap<String, String>, Failure> {
    let mut gathered = BTreeMap::new();
    for (key, value) in labels {
        if gathered.contains_key(&key) {
            return Err(Failure::usage(
                format!("the label {key} is given twice"),
                "give each key one value",
            ));
        }
        gathered.insert(key, value);
    }
    Ok(gathered)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_label_is_a_key_and_a_value() {
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(parse("team=web").unwrap(), pair("team", "web"));
        assert_eq!(parse("empty=").unwrap(), pair("empty", ""));
        assert_eq!(parse("q=a=b").unwrap(), pair("q", "a=b"));
        for text in ["", "team", "=web", " =web"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_key_has_one_value() {
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(gathered(vec![pair("a", "1"), pair("b", "2")]).unwrap().len(), 2);
        assert!(gathered(vec![pair("a", "1"), pair("a", "1")]).is_err());
    }
}
