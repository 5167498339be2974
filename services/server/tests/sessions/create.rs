//! Creating: what the record holds, and where it belongs (cases section 1).

use compozy_domain::{ChangeKind, ChangeOp, ChangeReason};
use compozy_proto::session::v1 as pb;
use compozy_proto::workspace::v1::workspace_ref::Form;
use tonic::Code;

use crate::asked::{new, new_at, new_in, ungrouped};
use crate::place::told;
use crate::requests::{ID1, by_id, get};
use crate::tree::{chmod, exists, tree};
use crate::world::{World, file_of};

cases! {
    s001_s002_the_record,
    s003_one_change_and_a_revision_before_it,
    s005_s006_the_state_to_begin_with,
    s007_s008_one_place_and_one_only,
    s009_a_session_of_no_workspace,
    s010_every_form_of_a_reference,
    s011_s012_references_that_lead_nowhere,
    s013_w267_the_workspace_that_encloses_a_path,
    s014_a_path_that_has_to_be_registered,
    s015_nothing_is_registered_for_a_request_that_is_wrong,
    s038_without_randomness_nothing_is_made,
    a_failed_creation_leaves_a_path_as_it_was,
    s023_a_directory_that_goes_away,
}

async fn s001_s002_the_record(world: World) {
    let a = world.only_a().await;
    let session = world.create(new(&a.id)).await;
    let digits = session.id.strip_prefix("sess-").unwrap();
    assert!(digits.len() == 16 && digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')));
    assert_eq!(session.state(), pb::SessionState::Active);
    let runtime = session.runtime.clone().unwrap();
    assert_eq!(runtime.state(), pb::RuntimeState::None);
    assert_eq!((runtime.generation, runtime.holder.as_str()), (0, ""));
    assert_eq!((runtime.expires_at, runtime.last_heartbeat_at), (None, None));
    assert_eq!(session.r#type(), pb::SessionType::User);
    assert_eq!(
        (session.workspace_id.as_str(), session.workspace_name.as_str()),
        (a.id.as_str(), "a")
    );
    assert_eq!(
        (session.cwd.as_str(), session.canonical_cwd.as_str()),
        (a.root_dir.as_str(), a.root_dir.as_str())
    );
    assert_eq!((session.name.as_str(), session.labels.len()), ("", 0));
    assert_eq!(session.agent, "general");
    assert!(session.archived_at.is_none() && session.stop.is_none() && session.attach.is_none());
    assert_eq!(
        (session.event_count, session.last_sequence, session.version),
        (0, 0, 1)
    );
    assert_eq!(session.origin.clone().unwrap().tool, "native");
    assert_eq!(session.created_at, Some(world.now()));
    assert_eq!(session.updated_at, session.created_at);
    assert!(!session.internal && !session.has_files && session.defect.is_none());
    let lineage = session.lineage.clone().unwrap();
    assert_eq!(
        (
            lineage.parent_session_id.as_str(),
            lineage.root_session_id.as_str(),
            lineage.depth
        ),
        ("", session.id.as_str(), 0)
    );
    assert_eq!(world.session(&session.id).await, session);
    // Rows only.
    assert!(!exists(&format!("{}/sessions", world.home)));
}

async fn s003_one_change_and_a_revision_before_it(world: World) {
    let a = world.only_a().await;
    let before = world.changes().await;
    let answer = world.daemon.api.create_session(new(&a.id)).await.unwrap();
    let new = world.changes().await.split_off(before.len());
    assert_eq!(new.len(), 1);
    let change = &new[0].change;
    assert_eq!(
        (change.kind, change.op, change.reason),
        (ChangeKind::Session, ChangeOp::Upserted, ChangeReason::Created)
    );
    assert_eq!(change.workspace_id.as_ref().unwrap().as_str(), a.id);
    assert_eq!(
        change.session_id.as_ref().unwrap().as_str(),
        answer.session.unwrap().id
    );
    let position = world.position(&answer.revision).await;
    assert!(
        position < new[0].position,
        "{position} lies before {}",
        new[0].position
    );
}

async fn s005_s006_the_state_to_begin_with(world: World) {
    let a = world.only_a().await;
    let starting = |state: i32| pb::CreateSessionRequest {
        initial_state: state,
        ..new(&a.id)
    };
    let session = world.create(starting(pb::SessionState::Starting.into())).await;
    assert_eq!(session.state(), pb::SessionState::Starting);
    assert_eq!(session.runtime.unwrap().state(), pb::RuntimeState::None);
    for state in [
        pb::SessionState::Stopping,
        pb::SessionState::Stopped,
        pb::SessionState::Orphaned,
    ] {
        world.field_refused("initial_state", starting(state.into())).await;
    }
    for state in [
        99,
        pb::SessionState::Unspecified.into(),
        pb::SessionState::Active.into(),
    ] {
        assert_eq!(
            world.create(starting(state)).await.state(),
            pb::SessionState::Active
        );
    }
}

async fn s007_s008_one_place_and_one_only(world: World) {
    let a = world.only_a().await;
    let both = pb::CreateSessionRequest {
        workspace: by_id(&a.id),
        ..new_at(&a.root_dir)
    };
    world.field_refused("workspace_path", both).await;
    let neither = pb::CreateSessionRequest {
        workspace: None,
        ..new("")
    };
    world.field_refused("cwd", neither).await;
}

async fn s009_a_session_of_no_workspace(world: World) {
    world.only_a().await;
    let c = world.mkdir("c");
    let (total, before) = (world.total().await, tree(&world.t));
    let session = world.create(ungrouped(&c)).await;
    assert_eq!(
        (session.workspace_id.as_str(), session.workspace_name.as_str()),
        ("", "")
    );
    assert_eq!(
        (session.cwd.as_str(), session.canonical_cwd.as_str()),
        (c.as_str(), c.as_str())
    );
    assert_eq!(session.snapshot_fingerprint, "");
    assert_eq!(
        session.profile_id,
        compozy_domain::Profile::permanent().id.to_string()
    );
    assert_eq!((world.total().await, tree(&world.t)), (total, before));
    let filter = pb::SessionFilter {
        ungrouped: true,
        ..Default::default()
    };
    assert_eq!(world.ids(filter, pb::SessionSort::Recent).await, [session.id]);
}

async fn s010_every_form_of_a_reference(world: World) {
    let (a, _) = world.a_and_b().await;
    for form in [
        Form::Id(a.id.clone()),
        Form::Name("a".into()),
        Form::Name("A".into()),
        Form::Path(a.root_dir.clone()),
        Form::DurableId(a.durable_id.clone()),
        Form::Any(a.root_dir.clone()),
    ] {
        let session = world.create(new_in(form.clone())).await;
        assert_eq!(session.workspace_id, a.id, "{form:?}");
    }
}

async fn s011_s012_references_that_lead_nowhere(world: World) {
    let (a, b) = world.a_and_b().await;
    for form in [Form::Id("ws_ffffffffffffffff".into()), Form::Name("nope".into())] {
        let call = world.daemon.api.create_session(new_in(form));
        let failure = world.refused(Code::NotFound, "WORKSPACE_NOT_FOUND", call).await;
        assert!(failure.names_resource);
    }
    let copy = world.mkdir_with_id("copy", ID1);
    let original = world.mkdir_with_id("original", ID1);
    let (copy, original) = (world.reg(&copy).await, world.reg(&original).await);
    let call = world
        .daemon
        .api
        .create_session(new_in(Form::DurableId(ID1.into())));
    let failure = world
        .refused(Code::FailedPrecondition, "WORKSPACE_REFERENCE_AMBIGUOUS", call)
        .await;
    for row in [&copy, &original] {
        assert!(failure.metadata["ids"].contains(&row.id), "{failure:?}");
    }
    assert!(
        ![&a, &b]
            .iter()
            .any(|row| failure.metadata["ids"].contains(&row.id))
    );
}

async fn s013_w267_the_workspace_that_encloses_a_path(world: World) {
    let a = world.only_a().await;
    let first = world.create(new(&a.id)).await;
    let (total, sub) = (world.total().await, world.mkdir("a/sub"));
    let answer = world.daemon.api.create_session(new_at(&sub)).await.unwrap();
    assert!(!answer.workspace_registered);
    let session = answer.session.unwrap();
    assert_eq!(
        (session.workspace_id.as_str(), session.cwd.as_str()),
        (a.id.as_str(), a.root_dir.as_str())
    );
    assert_eq!(world.total().await, total);
    assert_eq!(world.account(&a.id).await, [session.id, first.id]);
}

async fn s014_a_path_that_has_to_be_registered(world: World) {
    world.only_a().await;
    let before = world.changes().await.len();
    let path = world.mkdir("new");
    let answer = world.daemon.api.create_session(new_at(&path)).await.unwrap();
    assert!(answer.workspace_registered && exists(&file_of(&path)));
    let session = answer.session.unwrap();
    assert_eq!(
        (session.workspace_name.as_str(), session.cwd.as_str()),
        ("new", path.as_str())
    );
    assert_eq!(world.account(&session.workspace_id).await, [session.id.clone()]);
    let changes = world.changes().await.split_off(before);
    let kinds: Vec<_> = changes.iter().map(|entry| entry.change.kind).collect();
    let of_workspace = kinds
        .iter()
        .position(|kind| *kind == ChangeKind::Workspace)
        .unwrap();
    let of_session = kinds
        .iter()
        .position(|kind| *kind == ChangeKind::Session)
        .unwrap();
    assert!(of_workspace < of_session, "{kinds:?}");
    // A watch from the answer's revision sees both.
    assert!(world.position(&answer.revision).await < changes[of_workspace].position);
    // The next one finds it.
    let again = world.daemon.api.create_session(new_at(&path)).await.unwrap();
    assert!(!again.workspace_registered);
    assert_eq!(
        world.account(&session.workspace_id).await,
        [again.session.unwrap().id, session.id]
    );
}

async fn s015_nothing_is_registered_for_a_request_that_is_wrong(world: World) {
    world.only_a().await;
    let path = world.mkdir("new");
    let request = || new_at(&path);
    for (field, wrong) in [
        (
            "agent",
            pb::CreateSessionRequest {
                agent: Some("  ".into()),
                ..request()
            },
        ),
        (
            "name",
            pb::CreateSessionRequest {
                name: "a\u{7}b".into(),
                ..request()
            },
        ),
        (
            "id",
            pb::CreateSessionRequest {
                id: "sess-1".into(),
                ..request()
            },
        ),
        (
            "cwd",
            pb::CreateSessionRequest {
                cwd: Some(String::new()),
                ..request()
            },
        ),
        (
            "origin.tool",
            pb::CreateSessionRequest {
                origin: Some(pb::Origin::default()),
                ..request()
            },
        ),
        (
            "ttl",
            pb::CreateSessionRequest {
                bind: Some(crate::asked::binding("h", 0)),
                ..request()
            },
        ),
    ] {
        world.field_refused(field, wrong).await;
    }
    assert!(!exists(&format!("{path}/.compozy")));
}

async fn a_failed_creation_leaves_a_path_as_it_was(world: World) {
    let a = world.only_a().await;
    let there = world.create(new(&a.id)).await;
    let path = world.mkdir("new");
    let request = || new_at(&path);
    let elsewhere = pb::CreateSessionRequest {
        cwd: Some(a.root_dir.clone()),
        ..request()
    };
    let call = world.daemon.api.create_session(elsewhere);
    world
        .refused(Code::FailedPrecondition, "SESSION_CWD_MISMATCH", call)
        .await;
    let gone = world.create(new(&a.id)).await;
    world.stop(&gone.id).await;
    let deletion = crate::asked::delete(&gone.id);
    world.daemon.api.delete_session(deletion).await.unwrap();
    for taken in [&there.id, &gone.id] {
        let taken = pb::CreateSessionRequest {
            id: taken.clone(),
            ..request()
        };
        let call = world.daemon.api.create_session(taken);
        world
            .refused(Code::AlreadyExists, "SESSION_ID_CONFLICT", call)
            .await;
    }
    let parented = pb::CreateSessionRequest {
        parent_session_id: there.id,
        ..request()
    };
    world.field_refused("parent_session_id", parented).await;
    let own_parent = pb::CreateSessionRequest {
        id: "sess-00000000000000ab".into(),
        parent_session_id: "sess-00000000000000ab".into(),
        ..request()
    };
    world.field_refused("parent_session_id", own_parent).await;
    let profiled = pb::CreateSessionRequest {
        profile: Some("nobody".into()),
        ..request()
    };
    let call = world.daemon.api.create_session(profiled);
    world.refused(Code::NotFound, "PROFILE_NOT_FOUND", call).await;
    assert!(!exists(&format!("{path}/.compozy")));
}

async fn s038_without_randomness_nothing_is_made(world: World) {
    let a = world.only_a().await;
    let path = world.mkdir("new");
    world.random.fail(true);
    for request in [new(&a.id), new_at(&path)] {
        let bound = pb::CreateSessionRequest {
            id: "sess-00000000000000aa".into(),
            bind: Some(crate::asked::binding("h1", 30)),
            ..request.clone()
        };
        for request in [request, bound] {
            let call = world.daemon.api.create_session(request);
            world.unchanged_by(call).await.unwrap_err();
        }
    }
    world.random.fail(false);
    assert!(!exists(&format!("{path}/.compozy")));
    world.create(new_at(&path)).await;
}

file_cases! {
    s016_paths_that_are_no_workspace,
    s017_directories_that_can_not_be_registered,
    s018_roots_that_are_away,
    s019_s020_a_directory_in_the_workspace,
    s021_a_directory_that_belongs_elsewhere,
    s022_directories_that_are_none,
    a_root_that_was_retargeted,
}

async fn s016_paths_that_are_no_workspace(world: World) {
    std::fs::write(world.path("file"), "").unwrap();
    let agents = format!("{}/agents", world.home);
    std::fs::create_dir(&agents).unwrap();
    let (missing, file) = (world.path("missing"), world.path("file"));
    for (path, code, reason) in [
        (missing.as_str(), Code::NotFound, "PATH_NOT_FOUND"),
        (&file, Code::InvalidArgument, "PATH_NOT_DIRECTORY"),
        ("a/b", Code::InvalidArgument, "PATH_NOT_ABSOLUTE"),
        ("/", Code::FailedPrecondition, "HOME_FORBIDDEN"),
        (&agents, Code::FailedPrecondition, "HOME_FORBIDDEN"),
    ] {
        let call = world.daemon.api.create_session(new_at(path));
        world.refused(code, reason, call).await;
    }
}

async fn s017_directories_that_can_not_be_registered(world: World) {
    let broken = world.mkdir("broken");
    world.mkdir("broken/.compozy");
    std::fs::write(
        format!("{broken}/.compozy/config.toml"),
        "\n[defaults]\nagent = 3\n",
    )
    .unwrap();
    let invalid = world.mkdir_with_file("invalid", "workspace_id = \"x\"");
    let unreadable = world.mkdir_with_id("unreadable", ID1);
    chmod(&file_of(&unreadable), 0);
    let unwritable = world.mkdir("unwritable");
    chmod(&unwritable, 0o555);
    for (path, code, reason) in [
        (&broken, Code::InvalidArgument, "CONFIG_INVALID"),
        (&invalid, Code::FailedPrecondition, "IDENTITY_INVALID"),
        (&unreadable, Code::PermissionDenied, "IDENTITY_UNREADABLE"),
        (&unwritable, Code::FailedPrecondition, "IDENTITY_UNWRITABLE"),
    ] {
        let call = world.daemon.api.create_session(new_at(path));
        let failure = world.refused(code, reason, call).await;
        if path == &broken {
            assert!(failure.message.contains("config.toml"), "{failure:?}");
            assert!(
                failure.message.contains('3') || failure.metadata.contains_key("line"),
                "{failure:?}"
            );
        }
    }
    assert_eq!(world.total_of(pb::SessionFilter::default()).await, 0);
}

async fn s018_roots_that_are_away(world: World) {
    let a = world.only_a().await;
    std::fs::rename(&a.root_dir, world.path("away")).unwrap();
    let refused = |reason| {
        world.refused(
            Code::FailedPrecondition,
            reason,
            world.daemon.api.create_session(new(&a.id)),
        )
    };
    refused("WORKSPACE_ROOT_MISSING").await;
    assert!(!exists(&a.root_dir));
    std::fs::write(&a.root_dir, "").unwrap();
    refused("WORKSPACE_ROOT_NOT_DIRECTORY").await;
    std::fs::remove_file(&a.root_dir).unwrap();
    std::fs::rename(world.path("away"), &a.root_dir).unwrap();
    chmod(&a.root_dir, 0);
    refused("WORKSPACE_ROOT_UNREADABLE").await;
    chmod(&a.root_dir, 0o755);
    world.create(new(&a.id)).await;
}

async fn s019_s020_a_directory_in_the_workspace(world: World) {
    let a = world.only_a().await;
    let sub = world.mkdir("a/sub");
    let link = world.link(&sub, "l");
    for cwd in [&sub, &link] {
        let request = pb::CreateSessionRequest {
            cwd: Some(cwd.clone()),
            ..new(&a.id)
        };
        let session = world.create(request).await;
        assert_eq!(session.workspace_id, a.id);
        assert_eq!((session.cwd, session.canonical_cwd), (cwd.clone(), sub.clone()));
    }
    let at_path = pb::CreateSessionRequest {
        cwd: Some(link),
        ..new_at(&a.root_dir)
    };
    assert_eq!(world.create(at_path).await.canonical_cwd, sub);
}

async fn s021_a_directory_that_belongs_elsewhere(world: World) {
    let (a, b) = world.a_and_b().await;
    let nested = world.reg_new("a/nested").await;
    let below = world.mkdir("a/nested/below");
    let nowhere = world.mkdir("nowhere");
    for cwd in [b.root_dir, nested.root_dir, below, nowhere] {
        let request = pb::CreateSessionRequest {
            cwd: Some(cwd.clone()),
            ..new(&a.id)
        };
        let call = world.daemon.api.create_session(request);
        let failure = world
            .refused(Code::FailedPrecondition, "SESSION_CWD_MISMATCH", call)
            .await;
        assert_eq!(failure.metadata["path"], cwd);
    }
}

async fn s022_directories_that_are_none(world: World) {
    let a = world.only_a().await;
    std::fs::write(world.path("a/file"), "").unwrap();
    let with = |cwd: String| pb::CreateSessionRequest {
        cwd: Some(cwd),
        ..new(&a.id)
    };
    for (cwd, code, reason) in [
        ("sub".to_owned(), Code::InvalidArgument, "PATH_NOT_ABSOLUTE"),
        (world.path("a/missing"), Code::NotFound, "PATH_NOT_FOUND"),
        (world.path("a/file"), Code::InvalidArgument, "PATH_NOT_DIRECTORY"),
    ] {
        let call = world.daemon.api.create_session(with(cwd));
        world.refused(code, reason, call).await;
    }
    assert!(!exists(&world.path("a/missing")));
    for letter in ['\0', '\n'] {
        world
            .field_refused("cwd", with(format!("{}{letter}x", a.root_dir)))
            .await;
    }
}

async fn a_root_that_was_retargeted(world: World) {
    world.tell_time().await;
    world.mkdir("real");
    let real = world.reg_new("real/root").await;
    std::fs::rename(world.path("real"), world.path("other")).unwrap();
    world.link(&world.path("other"), "real");
    // The record still has the old path; the files are read where it leads now.
    let session = world.create(new(&real.id)).await;
    assert_eq!(
        (session.workspace_id, session.cwd),
        (real.id.clone(), real.root_dir.clone())
    );
    let seen = world.daemon.api.get(get(Form::Id(real.id))).await.unwrap();
    assert_eq!(seen.workspace.unwrap().root_dir, real.root_dir);
}

async fn s023_a_directory_that_goes_away(world: World) {
    let a = world.only_a().await;
    let sub = world.mkdir("a/sub");
    let request = pb::CreateSessionRequest {
        cwd: Some(sub.clone()),
        ..new(&a.id)
    };
    let id = world.create(request).await.id;
    std::fs::remove_dir(&sub).unwrap();
    let api = &world.daemon.api;
    world.stop(&id).await;
    api.rename_session(crate::asked::rename(&id, "x")).await.unwrap();
    api.archive_session(crate::asked::archive(&id)).await.unwrap();
    let session = world.session(&id).await;
    assert_eq!((session.cwd, session.canonical_cwd), (sub.clone(), sub.clone()));
    assert_eq!((session.workspace_id, session.name.as_str()), (a.id.clone(), "x"));
    assert_eq!(world.account(&a.id).await, [id.clone()]);
    let told: Vec<_> = world.session_changes_since(0).await.iter().map(told).collect();
    assert_eq!(
        told,
        [
            "upserted created",
            "upserted state",
            "upserted renamed",
            "upserted archived"
        ]
    );
}
