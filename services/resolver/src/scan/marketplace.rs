//! Skills that were installed from a marketplace: the `.compozy-meta.json` beside one says the SHA-256 of the
//! `SKILL.md` that was installed.

use compozy_domain::Diagnostic;

use super::findings;
use crate::definition::Found;
use crate::files::{ContentHash, ReadFault};

/// What the hash may be called. Installers in the wild write `hash`.
const HASH_KEYS: [&str; 2] = ["sha256", "hash"];

/// What is wrong with an installed skill, if anything is. That its `SKILL.md` can't be read is told by its reader.
pub(super) fn check(found: &Found, meta_path: &str, meta: Result<Vec<u8>, ReadFault>) -> Option<Diagnostic> {
    let meta = match meta {
        Ok(meta) => meta,
        Err(fault) => return Some(findings::bad_meta(meta_path, &fault.to_string())),
    };
    let installed = match installed_hash(&meta) {
        Ok(hash) => hash,
        Err(problem) => return Some(findings::bad_meta(meta_path, problem)),
    };
    let content = found.content.as_ref().ok()?;
    (ContentHash::of(content).as_bytes() != &installed).then(|| findings::tampered(&found.path))
}

fn installed_hash(meta: &[u8]) -> Result<[u8; 32], &'static str> {
    let meta: serde_json::Value =
        serde_json::from_slice(meta).map_err(|_| "it is no JSON, or nests too deeply")?;
    let meta = meta.as_object().ok_or("it holds no object")?;
    let written = HASH_KEYS.iter().find_map(|key| meta.get(*key));
    let written = written.ok_or("it has no `sha256`")?;
    let hash = written.as_str().and_then(from_hex);
    hash.ok_or("its `sha256` is not the 64 digits of one")
}

fn from_hex(text: &str) -> Option<[u8; 32]> {
    let text = text.strip_prefix("sha256:").unwrap_or(text).as_bytes();
    let mut hash = [0; 32];
    if text.len() != 2 * hash.len() {
        return None;
    }
    for (byte, digits) in hash.iter_mut().zip(text.chunks_exact(2)) {
        let high = char::from(digits[0]).to_digit(16)?;
        let low = char::from(digits[1]).to_digit(16)?;
        *byte = u8::try_from(high * 16 + low).ok()?;
    }
    Some(hash)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_hash_is_read_in_either_spelling() {
        let digits = "00ff".repeat(16);
        for text in [
            format!(r#"{{"sha256": "{digits}", "hash": "nonsense"}}"#),
            format!(r#"{{"hash": "{}", "slug": "@a/b"}}"#, digits.to_uppercase()),
            format!(r#"{{"sha256": "sha256:{digits}"}}"#),
        ] {
            let hash = installed_hash(text.as_bytes()).unwrap();
            assert_eq!(hash[..2], [0x00, 0xff], "{text}");
        }
    }

    #[test]
    fn what_is_no_hash_is_said_without_quoting_it() {
        for bad in [
            "",
            "[]",
            "{}",
            r#"{"sha256": 7}"#,
            r#"{"sha256": "s3cr3t"}"#,
            "{\"sha256\": \"\u{e9}\"}",
        ] {
            let problem = installed_hash(bad.as_bytes()).unwrap_err();
            assert!(!problem.contains("s3cr3t"), "{problem}");
        }
        let long = format!(r#"{{"sha256": "{}"}}"#, "+0".repeat(32));
        assert!(installed_hash(long.as_bytes()).is_err());
    }
}
