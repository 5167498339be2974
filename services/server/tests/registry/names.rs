//! Names (cases section 4).

use compozy_proto::workspace::v1 as pb;
use tonic::Code;

use crate::requests::{ID1, named, register, remove, update};
use crate::tree::exists;
use crate::world::World;

cases! {
    w115_w116_w117_w119_w123_w125_names_that_are_taken_as_given,
    w127_w128_w129_w131_a_name_is_unique_without_regard_to_case,
    w130_simple_folding_does_not_expand,
    w132_two_at_once_want_one_name,
    w133_w134_the_first_free_number,
    w135_w136_a_gap_is_used_and_case_does_not_count,
    w137_w138_w139_derived_names_keep_the_rules,
    many_derived_names_at_once_are_all_different,
    w140_a_name_is_free_after_its_removal,
    w141_a_rename_may_change_the_case_only,
    w142_a_rename_to_a_name_that_is_taken,
}

async fn w115_w116_w117_w119_w123_w125_names_that_are_taken_as_given(world: World) {
    let (longest, decomposed) = ("l".repeat(64), "e\u{301}".repeat(64));
    let accepted = [
        ("  api  ", "api"),
        (longest.as_str(), longest.as_str()),
        (decomposed.as_str(), &"é".repeat(64)),
        ("Проект 1", "Проект 1"),
        ("日本語", "日本語"),
        ("a.b_c-d", "a.b_c-d"),
        ("7", "7"),
        ("abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnopqrstuvwxyz"),
        ("my-ws_x", "my-ws_x"),
        ("defaults", "defaults"),
        ("x.", "x."),
    ];
    for (at, (given, stored)) in accepted.into_iter().enumerate() {
        let request = named(world.mkdir(&format!("d{at}")), given);
        let row = world
            .daemon
            .api
            .register(request)
            .await
            .unwrap()
            .workspace
            .unwrap();
        assert_eq!(row.name.as_deref(), Some(stored));
    }
}

async fn w127_w128_w129_w131_a_name_is_unique_without_regard_to_case(world: World) {
    let pairs = [
        ("Repo", "repo"),
        ("caf\u{e9}", "cafe\u{301}"),
        ("ΣΑΣ", "σας"),
        ("Straße", "straße"),
    ];
    for (at, (taken, given)) in pairs.into_iter().enumerate() {
        let request = named(world.mkdir(&format!("t{at}")), taken);
        let holder = world
            .daemon
            .api
            .register(request)
            .await
            .unwrap()
            .workspace
            .unwrap();
        let root = world.mkdir(&format!("g{at}"));
        let failure = world
            .reg_refused(
                Code::AlreadyExists,
                "WORKSPACE_NAME_CONFLICT",
                named(&root, given),
            )
            .await;
        assert_eq!(failure.metadata["holder"], holder.id);
        assert!(!exists(&format!("{root}/.compozy")));
    }
}

async fn w130_simple_folding_does_not_expand(world: World) {
    world
        .daemon
        .api
        .register(named(world.mkdir("a"), "Straße"))
        .await
        .unwrap();
    world
        .daemon
        .api
        .register(named(world.mkdir("b"), "STRASSE"))
        .await
        .unwrap();
    assert_eq!(world.order().await, ["STRASSE", "Straße"]);
}

async fn w132_two_at_once_want_one_name(world: World) {
    let (a, b) = (world.mkdir("a"), world.mkdir("b"));
    let api = &world.daemon.api;
    let (one, two) = tokio::join!(api.register(named(&a, "same")), api.register(named(&b, "same")));
    let lost = if one.is_ok() { &b } else { &a };
    let failure = one.err().or(two.err()).unwrap();
    assert_eq!(failure.reason, "WORKSPACE_NAME_CONFLICT");
    assert!(!exists(&format!("{lost}/.compozy")));
    assert_eq!(world.order().await, ["same"]);
}

async fn w133_w134_the_first_free_number(world: World) {
    for (parent, expected) in [("1", "project"), ("2", "project-2"), ("3", "project-3")] {
        assert_eq!(name_of(&world, &format!("{parent}/project")).await, expected);
    }
}

async fn w135_w136_a_gap_is_used_and_case_does_not_count(world: World) {
    world
        .daemon
        .api
        .register(named(world.mkdir("x"), "Project"))
        .await
        .unwrap();
    world
        .daemon
        .api
        .register(named(world.mkdir("y"), "project-3"))
        .await
        .unwrap();
    assert_eq!(name_of(&world, "1/project").await, "project-2");
    assert_eq!(name_of(&world, "2/project").await, "project-4");
}

async fn w137_w138_w139_derived_names_keep_the_rules(world: World) {
    assert_eq!(name_of(&world, "my:app").await, "my-app");
    let long = "n".repeat(80);
    assert_eq!(name_of(&world, &format!("1/{long}")).await, "n".repeat(64));
    let second = name_of(&world, &format!("2/{long}")).await;
    assert!(second.ends_with("-2") && second.chars().count() <= 64, "{second}");
    for odd in [".dotfiles", "default", ID1, "😀"] {
        let name = name_of(&world, odd).await;
        assert!(compozy_domain::WorkspaceName::parse(&name).is_ok(), "{name}");
    }
}

async fn many_derived_names_at_once_are_all_different(world: World) {
    let mut calls = tokio::task::JoinSet::new();
    for at in 0..12 {
        let (api, root) = (world.daemon.api.clone(), world.mkdir(&format!("{at}/same")));
        calls.spawn(async move { api.register(register(root)).await.unwrap() });
    }
    calls.join_all().await;
    let mut names = world.order().await;
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 12);
}

async fn w140_a_name_is_free_after_its_removal(world: World) {
    let row = world.reg_new("a").await;
    world.daemon.api.remove(remove(&row.id)).await.unwrap();
    world
        .daemon
        .api
        .register(named(world.mkdir("b"), "a"))
        .await
        .unwrap();
    assert_eq!(world.order().await, ["a"]);
}

async fn w141_a_rename_may_change_the_case_only(world: World) {
    let row = world.reg_new("api").await;
    let before = world.changes().await.len();
    let renamed = pb::Workspace {
        name: Some("API".into()),
        ..Default::default()
    };
    let answer = world
        .daemon
        .api
        .update(update(&row.id, &["name"], renamed))
        .await
        .unwrap();
    assert_eq!(answer.workspace.unwrap().name.as_deref(), Some("API"));
    let changes = world.changes().await;
    assert_eq!(changes.len(), before + 1);
    assert_eq!(
        changes.last().unwrap().change.reason,
        compozy_domain::ChangeReason::Renamed
    );
}

async fn w142_a_rename_to_a_name_that_is_taken(world: World) {
    let holder = world.reg_new("a").await;
    let row = world.reg_new("b").await;
    let renamed = pb::Workspace {
        name: Some("A".into()),
        ..Default::default()
    };
    let call = world.daemon.api.update(update(&row.id, &["name"], renamed));
    let failure = world
        .refused(Code::AlreadyExists, "WORKSPACE_NAME_CONFLICT", call)
        .await;
    assert_eq!(failure.metadata["holder"], holder.id);
}

file_cases! {
    w118_w120_w121_w122_w124_w126_names_that_are_refused,
}

async fn w118_w120_w121_w122_w124_w126_names_that_are_refused(world: World) {
    let root = world.mkdir("a");
    let long = "l".repeat(65);
    let refused = [
        "",
        "   ",
        ".x",
        "-x",
        "~x",
        "ws_x",
        "ws-x",
        "a/b",
        "a\\b",
        "a:b",
        ID1,
        "default",
        "all",
        "global",
        "a\tb",
        "a\0b",
        "a\u{a0}b",
        "a\u{202e}b",
        "😀",
        &long,
    ];
    for name in refused {
        world
            .reg_refused(Code::InvalidArgument, "NAME_INVALID", named(&root, name))
            .await;
    }
}

/// The name that a new directory gets.
async fn name_of(world: &World, directory: &str) -> String {
    world.reg_new(directory).await.name.unwrap()
}
