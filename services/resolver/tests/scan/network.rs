//! What is read for callers over the network: nothing outside the allowed roots, and no word about what is there.

use compozy_domain::Layer;
use compozy_resolver::AllowedRoots;

use crate::world::{World, agent_names, only, skill_names};

fn restricted() -> World {
    let mut world = World::new();
    world.places.allowed = AllowedRoots::Only(vec![world.place.at("r"), world.place.at("ok")]);
    world
}

#[test]
fn additional_roots_outside_are_not_read_whether_they_are_there_or_not() {
    let mut told = Vec::new();
    for is_there in [true, false] {
        let mut world = restricted();
        world.add_roots(&["ok"]);
        world.agent("ok/.compozy/agents/a", "a");
        world.places.additional.push(world.place.at("x"));
        if is_there {
            world.agent("x/.compozy/agents/secret", "secret");
        }
        let (scanned, watched) = world.scan_watched();
        assert_eq!(agent_names(&scanned), ["a"]);
        assert!(
            !watched
                .paths()
                .any(|path| path.starts_with(&world.place.at("x/")))
        );
        let found = only(&scanned, "path_not_allowed");
        assert_eq!(found.layer, Some(Layer::Additional));
        assert_eq!(world.below(&found.path), "x");
        told.push((
            found.message.clone(),
            found.remedy.clone(),
            scanned.diagnostics.len(),
        ));
    }
    assert_eq!(told[0], told[1]);
}

#[test]
fn custom_sources_outside_are_not_read_whether_they_are_there_or_not() {
    let mut told = Vec::new();
    for is_there in [true, false] {
        let mut world = restricted();
        world.add_custom("ok/kit");
        world.skill("ok/kit/a", "a");
        world.add_custom("x");
        if is_there {
            world.skill("x/secret", "secret");
        }
        let scanned = world.scan();
        assert_eq!(skill_names(&scanned), ["a"]);
        assert_eq!(world.below(&only(&scanned, "path_not_allowed").path), "x");
        let sources: Vec<(String, bool, usize)> = scanned
            .sources
            .iter()
            .map(|source| (source.name.clone(), source.readable, source.skill_count))
            .collect();
        assert_eq!(sources, [("kit".to_owned(), true, 1), ("x".to_owned(), false, 0)]);
        told.push(scanned.diagnostics[0].message.clone());
    }
    assert_eq!(told[0], told[1]);
}

#[test]
fn links_out_are_not_followed_and_say_nothing_about_where_they_lead() {
    let mut told = Vec::new();
    for (base, target) in [("x", "x"), ("x", "x/none"), ("x", "x/file"), ("none", "none")] {
        let world = restricted();
        world.skill(&format!("{base}/secret"), "secret");
        world.place.write("x/file", "");
        world.skill("r/.compozy/skills/a", "a");
        world.place.link(&world.place.at(target), "r/.compozy/skills/l");
        let (scanned, watched) = world.scan_watched();
        assert_eq!(skill_names(&scanned), ["a"]);
        let outside: Vec<&str> = watched
            .paths()
            .filter(|path| path.starts_with(&world.place.at("x/")))
            .collect();
        assert_eq!(outside, [""; 0]);
        let found = only(&scanned, "path_not_allowed");
        assert_eq!(world.below(&found.path), "r/.compozy/skills/l");
        told.push(found.message.clone());
    }
    told.dedup();
    assert_eq!(told.len(), 1, "{told:?}");
}

#[test]
fn a_base_of_the_workspace_that_is_a_link_out_is_not_read() {
    let world = restricted();
    world.skill("x/secret", "secret");
    world.agent("y/secret", "secret");
    world.place.make("r/.compozy");
    world.place.link(&world.place.at("x"), "r/.compozy/skills");
    world.place.link(&world.place.at("y"), "r/.compozy/agents");
    let scanned = world.scan();
    assert_eq!((scanned.skills.len(), scanned.agents.len()), (0, 0));
    assert_eq!(
        world.told(&scanned),
        [
            ("path_not_allowed", "r/.compozy/agents".to_owned()),
            ("path_not_allowed", "r/.compozy/skills".to_owned()),
        ]
    );
}

#[test]
fn the_home_is_the_operators_own_and_is_read_for_everybody() {
    let world = restricted();
    world.agent("h/agents/a", "a");
    world.skill("h/skills/b", "b");
    world.skill("o/.agents/skills/c", "c");
    world.skill("h/agents/a/skills/own", "own");
    world.place.link("b", "h/skills/a-link");
    let scanned = world.scan();
    assert_eq!(scanned.agent_skills[0].1[0].name, "own");
    assert_eq!(agent_names(&scanned), ["a"]);
    assert_eq!(skill_names(&scanned), ["b", "c"]);
    assert_eq!(world.told(&scanned), []);
}

#[test]
fn what_is_absent_inside_is_no_finding() {
    let mut world = restricted();
    world.add_roots(&["ok"]);
    assert_eq!(world.told(&world.scan()), []);
    world.remove("ok");
    assert_eq!(
        world.told(&world.scan()),
        [("additional_root_missing", "ok".to_owned())],
        "one of the allowed roots itself"
    );
}
