//! Files that change while they are read.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};

use compozy_resolver::files::faulty::Operation;
use compozy_resolver::snapshot::{ResolveFault, resolve, resolve_sealed};

use crate::support::NOW;
use crate::world::{LONG, World};

const CONFIG: &str = "r/.compozy/config.toml";

fn config(provider: &str) -> String {
    format!("[defaults]\nprovider = \"{provider}\"\n")
}

fn agent(model: &str) -> String {
    format!("---\nname: a\ndescription: an agent\nmodel: {model}\n---\nprompt\n")
}

#[test]
fn r213_the_answer_is_of_one_moment() {
    let at_each_step = [
        (Operation::Open, "r"),
        (Operation::Enter, "r/.compozy"),
        (Operation::ReadFile, CONFIG),
        (Operation::Open, "r/.compozy/agents"),
        (Operation::ReadFile, "r/.compozy/agents/a/AGENT.md"),
        (Operation::Open, "h/skills"),
        (Operation::Stamp, CONFIG),
        (Operation::Stamp, "r/.compozy/agents/a/AGENT.md"),
    ];
    for (operation, path) in at_each_step {
        for is_settled in [false, true] {
            let world = World::new();
            world.write(CONFIG, &config("old"));
            world.write("r/.compozy/agents/a/AGENT.md", &agent("old"));
            if is_settled {
                world.files.age(LONG);
            }
            let (one, other) = (world.at(CONFIG), world.at("r/.compozy/agents/a/AGENT.md"));
            world.files.before_on(operation, world.at(path), move || {
                std::fs::write(one, config("new")).unwrap();
                std::fs::write(other, agent("new")).unwrap();
            });
            let snapshot = world.resolve();
            assert_eq!(
                snapshot.config.text("defaults.provider"),
                Some("new"),
                "{operation:?} {path}"
            );
            assert_eq!(snapshot.agents[0].model, "new", "{operation:?} {path}");
        }
    }
}

#[test]
fn r214_a_file_that_never_rests_ends_in_a_fault_after_three_restarts() {
    let world = World::new();
    world.write(CONFIG, &config("x"));
    world.files.age(LONG);
    let (path, written) = (world.at(CONFIG), AtomicU32::new(0));
    world.files.before_each(Operation::ReadFile, move || {
        let number = written.fetch_add(1, Ordering::Relaxed);
        std::fs::write(&path, config(&format!("x{number}"))).unwrap();
    });
    assert_eq!(world.try_resolve(), Err(ResolveFault::Changing));
    let reads = world.files.paths(Operation::ReadFile);
    let of_config = reads.iter().filter(|path| **path == world.at(CONFIG));
    assert_eq!(of_config.count(), 4);
}

#[test]
fn profiles_that_come_and_go_all_the_time_keep_nobody_from_an_answer() {
    let world = World::new();
    world.write(CONFIG, &config("x"));
    world.write("h/profiles/default/config.toml", "");
    world.files.age(LONG);
    let (home, made) = (world.at("h/profiles"), AtomicU32::new(0));
    world.files.before_each(Operation::ReadFile, move || {
        let number = made.fetch_add(1, Ordering::Relaxed);
        std::fs::create_dir(format!("{home}/other{number}")).unwrap();
    });
    let (snapshot, mut watched) = resolve(&world.files, &world.request, NOW).unwrap();
    assert_eq!(snapshot.config.text("defaults.provider"), Some("x"));
    // The next one looks again at what was moving.
    assert!(!watched.is_unchanged(&world.files));
}

#[test]
fn half_of_a_file_is_no_reason_to_fail() {
    let world = World::new();
    world.write(CONFIG, "[defaults]\nprovi");
    let path = world.at(CONFIG);
    world
        .files
        .before_on(Operation::Stamp, world.at(CONFIG), move || {
            std::fs::write(path, config("whole")).unwrap();
        });
    let snapshot = world.resolve();
    assert_eq!(snapshot.config.text("defaults.provider"), Some("whole"));
}

#[test]
fn what_changed_before_the_seal_is_in_the_answer() {
    let world = World::new();
    world.write(CONFIG, &config("old"));
    world.files.age(LONG);
    let seals = Cell::new(0);
    let seal = || {
        if seals.get() == 0 {
            world.write(CONFIG, &config("new"));
        }
        seals.set(seals.get() + 1);
    };
    let (snapshot, _) = resolve_sealed(&world.files, &world.request, NOW, &seal).unwrap();
    assert_eq!(snapshot.config.text("defaults.provider"), Some("new"));
    assert_eq!(seals.get(), 2);
}
