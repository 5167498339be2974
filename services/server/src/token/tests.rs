#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use super::*;
use crate::clock::SystemClock;
use crate::random::SystemRandom;

#[derive(Debug)]
struct At(i64);

impl Clock for At {
    fn now(&self) -> Timestamp {
        Timestamp::from_nanos(self.0 * 1_000_000_000)
    }
}

fn hex(token: &str) -> String {
    hash(token).iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

fn entry(id: &str, token: &str, rest: &str) -> String {
    format!(
        "[[tokens]]\nid = \"{id}\"\nsha256 = \"{}\"\nscopes = [\"read\"]\n{rest}\n",
        hex(token)
    )
}

fn load(home: &Home, shared: Option<&Path>, clock: Arc<dyn Clock>) -> Result<Tokens, Failure> {
    Tokens::load(home, shared, clock, &SystemRandom)
}

#[test]
fn the_homes_token_is_made_once_and_may_do_everything() {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::at(directory.path());
    let tokens = load(&home, None, Arc::new(SystemClock)).unwrap();
    let written = std::fs::read_to_string(home.token_path()).unwrap();
    assert_eq!(
        std::fs::metadata(home.token_path()).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let principal = tokens.by_token(written.trim()).unwrap();
    assert!(principal.require(Scope::Admin).is_ok() && !principal.local);
    assert_eq!(tokens.by_token("").unwrap_err(), CatalogError::TokenInvalid);
    assert_eq!(tokens.by_token(&written).unwrap_err(), CatalogError::TokenInvalid);
    load(&home, None, Arc::new(SystemClock)).unwrap();
    assert_eq!(std::fs::read_to_string(home.token_path()).unwrap(), written);
}

#[test]
fn a_token_of_the_file_has_its_scopes_its_workspaces_and_its_end() {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::at(directory.path());
    let shared = directory.path().join("tokens.toml");
    let text = entry("a", "token-a", "workspaces = [\"ws_0123456789abcdef\"]")
        + &entry("b", "token-b", "expires_at = 1970-01-01T00:01:40Z")
        + "[[certificates]]\nid = \"c\"\nsan = \"spiffe://c\"\nscopes = [\"admin\"]\n";
    std::fs::write(&shared, text).unwrap();
    let tokens = load(&home, Some(&shared), Arc::new(At(99))).unwrap();
    let principal = tokens.by_token("token-a").unwrap();
    assert!(principal.require(Scope::Read).is_ok() && principal.require(Scope::Write).is_err());
    assert!(matches!(principal.visibility, Visibility::Only(ids) if ids.len() == 1));
    assert!(tokens.by_token("token-b").is_ok());
    let later = load(&home, Some(&shared), Arc::new(At(100))).unwrap();
    assert_eq!(later.by_token("token-b").unwrap_err(), CatalogError::TokenInvalid);
    let names = ["x".to_owned(), "spiffe://c".to_owned()];
    assert_eq!(later.by_certificate(&names).unwrap().id, "c");
    assert_eq!(later.by_certificate(&names[..1]), None);
}

#[test]
fn a_changed_file_counts_and_a_broken_one_does_not() {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::at(directory.path());
    let shared = directory.path().join("tokens.toml");
    std::fs::write(&shared, entry("a", "old", "")).unwrap();
    let tokens = load(&home, Some(&shared), Arc::new(SystemClock)).unwrap();
    let wait_for = |token: &str| {
        let begun = Instant::now();
        while tokens.by_token(token).is_err() {
            assert!(
                begun.elapsed() < Duration::from_secs(20),
                "{token} was never accepted"
            );
            std::thread::yield_now();
        }
    };
    wait_for("old");
    std::fs::write(&shared, entry("a", "new", "")).unwrap();
    wait_for("new");
    assert!(tokens.by_token("old").is_err());
    std::fs::write(&shared, "broken").unwrap();
    let begun = Instant::now();
    while begun.elapsed() < crate::watched::INTERVAL {
        assert!(tokens.by_token("new").is_ok());
    }
    assert!(tokens.by_token("new").is_ok());
}

#[test]
fn a_file_that_breaks_a_rule_is_refused_by_name_and_without_hashes() {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::at(directory.path());
    let shared = directory.path().join("tokens.toml");
    let no_hash = "[[tokens]]\nid = \"a\"\nsha256 = \"5e\"\nscopes = []\n".to_owned();
    for text in [
        no_hash,
        entry("a", "t", "") + &entry("a", "u", ""),
        entry("client", "t", ""),
        entry("local", "t", ""),
        entry("", "t", ""),
        entry("a", "t", "workspaces = [\"x\"]"),
        entry("a", "t", "expires_at = 2027-01-01"),
        entry("a", "t", "typo = 1"),
        entry("a", "t", "").replace("read", "all"),
    ] {
        std::fs::write(&shared, &text).unwrap();
        let failure = load(&home, Some(&shared), Arc::new(SystemClock))
            .unwrap_err()
            .to_string();
        assert!(failure.contains("tokens.toml"), "{failure}");
        assert!(!failure.contains(&hex("t")), "{failure}");
    }
    std::fs::remove_file(&shared).unwrap();
    assert!(load(&home, Some(&shared), Arc::new(SystemClock)).is_err());
}
