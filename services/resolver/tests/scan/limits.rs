//! How much of a base is read.

use compozy_domain::{Layer, Severity};
use compozy_resolver::scan::{DEPTH_MAX, ENTRIES_MAX, SKILLS_MAX};

use crate::world::{World, only, skill_names};

const BASE: &str = "h/skills";

#[test]
fn r166_r195_two_thousand_skills_are_read_and_one_more_is_told() {
    let world = World::new();
    for number in 0..SKILLS_MAX {
        world.skill(&format!("{BASE}/s{number:05}"), &format!("s{number:05}"));
    }
    let scanned = world.scan();
    assert_eq!(scanned.skills.len(), SKILLS_MAX);
    assert!(!scanned.truncated && !scanned.sources[0].truncated);
    assert_eq!(scanned.diagnostics, []);

    world.skill(&format!("{BASE}/s00000-a"), "one-more");
    let scanned = world.scan();
    assert_eq!(scanned.skills.len(), SKILLS_MAX);
    assert!(
        !skill_names(&scanned).contains(&"s01999"),
        "the last in byte order"
    );
    assert!(skill_names(&scanned).contains(&"one-more"));
    assert!(scanned.truncated && scanned.sources[0].truncated);
    let told = only(&scanned, "truncated");
    assert_eq!(
        (told.severity, told.layer),
        (Severity::Warning, Some(Layer::User))
    );
    assert_eq!(world.below(&told.path), BASE);
    assert!(told.message.contains("2000"), "{}", told.message);
}

#[test]
fn r167_twenty_thousand_entries_may_lie_before_a_skill() {
    let world = World::new();
    world.place.make(&format!("{BASE}/many"));
    // The directory counts as well.
    for number in 1..ENTRIES_MAX {
        world.place.write(&format!("{BASE}/many/f{number}"), "");
    }
    world.skill(&format!("{BASE}/z"), "z");
    let scanned = world.scan();
    assert_eq!(skill_names(&scanned), ["z"]);
    assert!(!scanned.truncated);

    world.place.write(&format!("{BASE}/many/one-more"), "");
    let scanned = world.scan();
    assert_eq!(skill_names(&scanned), [""; 0]);
    assert!(scanned.truncated && scanned.sources[0].truncated);
    let told = only(&scanned, "truncated");
    assert_eq!(world.below(&told.path), BASE);
    assert!(told.message.contains("20000"), "{}", told.message);
}

#[test]
fn a_limit_is_one_bases_own() {
    let world = World::new();
    for number in 0..=SKILLS_MAX {
        world.skill(&format!("r/.compozy/skills/s{number}"), &format!("s{number}"));
    }
    world.skill(&format!("{BASE}/zz"), "zz");
    let scanned = world.scan();
    assert_eq!(scanned.skills.len(), SKILLS_MAX + 1);
    let truncated: Vec<bool> = scanned.sources.iter().map(|source| source.truncated).collect();
    assert_eq!(truncated, [true, false]);
}

#[test]
fn agents_are_bounded_as_well() {
    let world = World::new();
    for number in 0..=SKILLS_MAX {
        world.agent(&format!("h/agents/a{number:05}"), &format!("a{number:05}"));
    }
    let scanned = world.scan();
    assert_eq!(scanned.agents.len(), SKILLS_MAX);
    assert!(scanned.truncated);
    assert_eq!(world.below(&only(&scanned, "truncated").path), "h/agents");
}

#[test]
fn directories_that_lie_too_deep_in_one_another_are_told() {
    let world = World::new();
    let deep = vec!["d"; DEPTH_MAX].join("/");
    world.skill(&format!("{BASE}/{deep}"), "too-deep");
    let enough = vec!["d"; DEPTH_MAX - 1].join("/");
    world.skill(&format!("{BASE}/{enough}"), "deep");
    world.skill(&format!("{BASE}/z"), "z");
    let scanned = world.scan();
    assert_eq!(skill_names(&scanned), ["deep", "z"]);
    assert!(scanned.truncated);
    assert!(only(&scanned, "truncated").message.contains("deep"));
}

#[test]
fn findings_beyond_what_anybody_reads_are_counted() {
    let world = World::new();
    world.place.make(BASE);
    for number in 0..250 {
        world.place.link("gone", &format!("{BASE}/l{number:03}"));
    }
    let scanned = world.scan();
    assert_eq!(scanned.diagnostics.len(), 201);
    let told = only(&scanned, "more_findings");
    assert!(told.message.starts_with("50 more"), "{}", told.message);
}
