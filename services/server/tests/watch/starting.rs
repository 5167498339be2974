//! How a watch begins (cases section 2).

use compozy_proto::change::v1 as pb;
use compozy_proto::change::v1::watch_catalog_response::Message;
use compozy_proto::workspace::v1::workspace_ref::Form;
use futures::future::join_all;
use tonic::Code;

use crate::client::{Watching, beating, by, entry, field, from, of, of_kinds, reason, resumed, told};
use crate::world::World;

cases! {
    n024_a_fresh_catalog_is_synced_at_once_and_then_silent,
    n025_what_was_before_is_not_told,
    n026_whatever_commits_after_synced_is_told,
    n033_the_earliest_change_comes_first,
    what_was_missed_comes_in_few_messages,
    n034_n195_what_a_request_must_not_say,
    n038_a_workspace_that_is_not_there,
    n039_every_form_of_a_reference_is_the_same_filter,
}

async fn n024_a_fresh_catalog_is_synced_at_once_and_then_silent(world: World) {
    let server = world.start().await;
    // Answered with its headers, before there is any message to come with them.
    let mut w = server.watch(beating(pb::WatchCatalogRequest::default())).await;
    assert!(!w.synced().await.is_empty());
    assert!(!w.heartbeat().await.token.is_empty());
    assert!(!w.heartbeat().await.token.is_empty());
}

async fn n025_what_was_before_is_not_told(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await;
    for number in 0..9 {
        server.retitle(&a.id, &number.to_string()).await;
    }
    let mut w = server.w().await;
    let last = server.retitle(&a.id, "last").await.workspace.unwrap();
    assert_eq!(w.change().await.version, last.version);
}

async fn n026_whatever_commits_after_synced_is_told(world: World) {
    const TRIES: usize = 1_000;
    const AT_ONCE: usize = 8;
    let server = world.start().await;
    let channel = server.connect(None).await;
    let tries = (0..AT_ONCE).map(|number| {
        let (server, world, channel) = (&server, &world, channel.clone());
        async move {
            let own = server.register(world, &format!("w{number}")).await;
            for try_number in 0..TRIES / AT_ONCE {
                let mut w = Watching::begin(channel.clone(), of(&[&own.id]), None)
                    .await
                    .unwrap();
                w.synced().await;
                let written = server
                    .retitle(&own.id, &format!("t{try_number}"))
                    .await
                    .workspace
                    .unwrap();
                assert_eq!(w.change().await.version, written.version);
            }
        }
    });
    join_all(tries).await;
}

async fn n033_the_earliest_change_comes_first(world: World) {
    let server = world.start().await;
    let mut w = server.w().await;
    let a = server.register(&world, "a").await;
    server.retitle(&a.id, "t").await;
    let b = server.register(&world, "b").await;
    server.move_before(&b.id, None).await;
    server.remove(&a.id).await;
    let live = w.changes(5).await;
    let mut earliest = server.watch(from(pb::WatchStart::Earliest)).await;
    let (retained, _) = earliest.caught_up().await;
    let [live, retained] = [live, retained].map(|changes| changes.iter().map(told).collect::<Vec<_>>());
    assert_eq!(live, retained);
    let words: Vec<_> = retained.iter().map(entry).collect();
    let expected = [
        "workspace upserted created",
        "workspace upserted updated",
        "workspace upserted created",
        "workspace_order upserted moved",
        "workspace deleted removed",
    ];
    assert_eq!(words, expected);
}

async fn n034_n195_what_a_request_must_not_say(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await;
    let unknown_kind = pb::WatchCatalogRequest {
        kinds: vec![pb::ChangeKind::Workspace.into(), 99],
        ..Default::default()
    };
    assert_eq!(field(&server.refused(unknown_kind).await), "kinds[1]");
    let no_kind = of_kinds(&[pb::ChangeKind::Unspecified]);
    assert_eq!(field(&server.refused(no_kind).await), "kinds[0]");
    let nothing = pb::WatchCatalogRequest {
        workspaces: vec![
            by(Form::Id(a.id.clone())),
            compozy_proto::workspace::v1::WorkspaceRef { form: None },
        ],
        ..Default::default()
    };
    assert_eq!(field(&server.refused(nothing).await), "workspaces[1]");
    let many = pb::WatchCatalogRequest {
        workspaces: vec![by(Form::Id(a.id.clone())); 101],
        ..Default::default()
    };
    assert_eq!(field(&server.refused(many).await), "workspaces");

    // Values of a newer release read as unset: from now on, and failing.
    let newer = pb::WatchCatalogRequest {
        start: 99,
        on_expired: 99,
        ..Default::default()
    };
    let mut w = server.watch(newer).await;
    let token = w.synced().await;
    let both = pb::WatchCatalogRequest {
        start: pb::WatchStart::Now.into(),
        ..resumed(&token)
    };
    assert_eq!(field(&server.refused(both).await), "start");
}

async fn n038_a_workspace_that_is_not_there(world: World) {
    let server = world.start().await;
    let named = |form: Form| pb::WatchCatalogRequest {
        workspaces: vec![by(form)],
        ..Default::default()
    };
    for form in [
        Form::Name("nope".into()),
        Form::Id("ws_0123456789abcdef".into()),
        Form::Any("nope".into()),
    ] {
        let status = server.refused(named(form)).await;
        assert_eq!(
            reason(&status),
            (Code::NotFound, "WORKSPACE_NOT_FOUND".to_owned())
        );
    }
}

async fn n039_every_form_of_a_reference_is_the_same_filter(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await;
    let b = server.register(&world, "b").await;
    let forms = [
        Form::Id(a.id.clone()),
        Form::Name(a.name().to_owned()),
        Form::Path(a.root_dir.clone()),
        Form::DurableId(a.durable_id.clone()),
        Form::Any(a.name().to_owned()),
    ];
    let mut watches = Vec::new();
    for form in forms {
        let named = pb::WatchCatalogRequest {
            workspaces: vec![by(form)],
            ..Default::default()
        };
        let mut watching = server.watch(named).await;
        let token = watching.synced().await;
        watches.push((watching, token));
    }
    server.retitle(&b.id, "hidden").await;
    let written = server.retitle(&a.id, "told").await.workspace.unwrap();
    let token = watches[0].1.clone();
    for (watching, own) in &mut watches {
        let change = watching.change().await;
        assert_eq!(
            (change.workspace_id.as_str(), change.version),
            (a.id.as_str(), written.version)
        );
        // The tokens, too, are the same ones' whoever resumes.
        for token in [&token, own] {
            let mut again = server
                .watch(pb::WatchCatalogRequest {
                    resume_token: token.clone(),
                    ..of(&[&a.id])
                })
                .await;
            let Message::Changes(batch) = again.message().await else {
                panic!("a change was missed")
            };
            assert_eq!(batch.changes[0].version, written.version);
        }
    }
}

async fn what_was_missed_comes_in_few_messages(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await;
    for number in 0..300 {
        server.retitle(&a.id, &number.to_string()).await;
    }
    let mut w = server.watch(from(pb::WatchStart::Earliest)).await;
    let (mut messages, mut changes) = (0, 0);
    while let Message::Changes(batch) = w.news().await {
        messages += 1;
        changes += batch.changes.len();
    }
    assert!(changes >= 301 && messages <= 5, "{changes} in {messages}");
}
