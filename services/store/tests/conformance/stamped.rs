//! No promise is left out: what the suite's files hold is what its list stamps.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::Path;

#[test]
fn every_promise_is_stamped() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/conformance");
    let list = std::fs::read_to_string(folder.join("stamp.rs")).unwrap();
    let stamped: BTreeSet<&str> = list
        .lines()
        .filter_map(|line| line.trim().strip_suffix(','))
        .collect();
    let mut missing: Vec<String> = Vec::new();
    let mut found = 0;
    for file in std::fs::read_dir(&folder).unwrap() {
        let path = file.unwrap().path();
        if path.is_dir() {
            continue;
        }
        for line in std::fs::read_to_string(&path).unwrap().lines() {
            let Some(rest) = line.strip_prefix("pub async fn ") else {
                continue;
            };
            let Some((name, _)) = rest.split_once("<E: Engine>") else {
                continue;
            };
            found += 1;
            if !stamped.contains(name) {
                missing.push(name.to_owned());
            }
        }
    }
    assert!(found > 100, "the promises were not found");
    assert_eq!(missing, Vec::<String>::new(), "these are missing in stamp.rs");
}
