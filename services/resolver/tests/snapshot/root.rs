//! The root: where it is, whether it may be read, what its identity file says.

use compozy_domain::error::RootFault;
use compozy_domain::{Reason, Severity};
use compozy_resolver::snapshot::ResolveFault;
use compozy_resolver::testing::drop_file_privileges;
use compozy_resolver::{AllowedRoots, Disk, Files, identity};

use crate::support::{FILE, ID1, ID2, file};
use crate::world::{World, codes};

fn identity_file() -> String {
    format!("r/{FILE}")
}

#[test]
fn w183_r006_a_root_that_is_no_directory_is_a_fault() {
    let world = World::new();
    world.remove("r");
    assert_eq!(world.try_resolve(), Err(ResolveFault::Root(RootFault::Missing)));
    world.place.link("nowhere", "r");
    assert_eq!(world.try_resolve(), Err(ResolveFault::Root(RootFault::Missing)));
    world.remove("r");
    world.write("r", "a file");
    assert_eq!(
        world.try_resolve(),
        Err(ResolveFault::Root(RootFault::NotDirectory))
    );
    world.remove("r");
    world.place.link("r", "r");
    assert_eq!(
        world.try_resolve(),
        Err(ResolveFault::Root(RootFault::Unreadable))
    );
}

#[test]
fn a_closed_root_is_unreadable() {
    drop_file_privileges();
    let world = World::new();
    let _mode = world.place.set_mode("r", 0o000);
    assert_eq!(
        world.try_resolve(),
        Err(ResolveFault::Root(RootFault::Unreadable))
    );
}

#[test]
fn a_root_is_allowed_by_where_it_really_is() {
    let mut world = World::new();
    world.place.link("../r", "o/inside");
    world.request.allowed = AllowedRoots::Only(vec![world.at("o")]);
    for path in ["r", "o/inside", "missing"] {
        world.request.root_dir = world.at(path);
        assert_eq!(world.try_resolve(), Err(ResolveFault::NotAllowed), "{path}");
    }
    world.request.root_dir = world.at("o/missing");
    assert_eq!(world.try_resolve(), Err(ResolveFault::Root(RootFault::Missing)));
    world.request.allowed = AllowedRoots::Only(vec![world.at("r")]);
    world.request.root_dir = world.at("o/inside");
    assert!(world.try_resolve().is_ok());
}

#[test]
fn w180_w182_a_retargeted_root_is_read_where_it_leads_to() {
    let mut world = World::new();
    world.place.make_with("v/a", file(ID1));
    world.agent("v/a/.compozy", "x", "prompt");
    world.request.root_dir = world.at("v/a");
    assert_eq!(world.resolve().diagnostics, []);
    std::fs::create_dir(world.at("private")).unwrap();
    std::fs::rename(world.at("v"), world.at("private/v")).unwrap();
    world.place.link("private/v", "v");
    let snapshot = world.resolve();
    assert_eq!(snapshot.root, world.at("private/v/a"));
    assert_eq!(codes(&snapshot.diagnostics), ["root_retargeted"]);
    assert_eq!(snapshot.diagnostics[0].severity, Severity::Warning);
    assert_eq!(
        snapshot.agents[0].path,
        world.at("private/v/a/.compozy/agents/x/AGENT.md")
    );
}

#[test]
fn r194_an_identity_that_is_gone_or_changed_is_told() {
    let mut world = World::new();
    world.write(&identity_file(), &file(ID2));
    let snapshot = world.resolve();
    assert_eq!(codes(&snapshot.diagnostics), ["identity_changed"]);
    let text = format!("{:?}", snapshot.diagnostics);
    assert!(!text.contains(ID1) && !text.contains(ID2));
    world.remove(&identity_file());
    let snapshot = world.resolve();
    assert_eq!(codes(&snapshot.diagnostics), ["identity_missing"]);
    assert_eq!(snapshot.diagnostics[0].path, world.at(&identity_file()));
    let remedy = &snapshot.diagnostics[0].remedy;
    assert!(
        remedy.contains(&format!("identity repair {}", world.at("r"))),
        "{remedy}"
    );
    assert!(!world.place.exists(&identity_file()), "nothing is created");
    world.remove("r/.compozy");
    assert_eq!(codes(&world.resolve().diagnostics), ["identity_missing"]);
    world.request.durable_id = None;
    assert_eq!(world.resolve().diagnostics, [], "nobody expects one");
}

#[test]
fn w038_an_invalid_identity_fails_with_the_same_words_everywhere() {
    let world = World::new();
    let bad = [
        "workspace_id = \"lower\"\n".to_owned(),
        format!("{}\nworkspace_id = 3", file(ID1)),
        "x".repeat(64 * 1024 + 1),
    ];
    for content in bad {
        world.write(&identity_file(), &content);
        assert_same_refusal(&world, Reason::IdentityInvalid);
        assert_eq!(world.place.read(&identity_file()), content.as_bytes());
    }
    world.remove(&identity_file());
    world.place.link("elsewhere", &identity_file());
    assert_same_refusal(&world, Reason::IdentityInvalid);
}

#[test]
fn an_unreadable_identity_fails_with_the_same_words_everywhere() {
    drop_file_privileges();
    for path in [&*identity_file(), "r/.compozy"] {
        let world = World::new();
        let _mode = world.place.set_mode(path, 0o000);
        assert_same_refusal(&world, Reason::IdentityUnreadable);
    }
}

fn assert_same_refusal(world: &World, reason: Reason) {
    let directory = Disk::new().directory(&world.at("r")).unwrap();
    let expected = identity::read(&Disk::new(), &directory).unwrap_err();
    let Err(ResolveFault::Identity(error)) = world.try_resolve() else {
        panic!("an identity fault");
    };
    assert_eq!(error.reason(), reason);
    assert_eq!(*error, expected);
}

#[test]
fn an_identity_fault_comes_before_a_broken_configuration() {
    let world = World::new();
    world.write(&identity_file(), "broken");
    world.write("r/.compozy/config.toml", "[broken");
    assert!(matches!(world.try_resolve(), Err(ResolveFault::Identity(_))));
}
