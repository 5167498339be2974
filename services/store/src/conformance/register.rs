//! Promises about registering.

use compozy_domain::error::Reason;
use compozy_domain::{CatalogError, ChangeKind, ChangeOp, ChangeReason, NewChange, limits};

use super::engine::Engine;
use super::fixture::{Catalog, fresh, host, rejection};
use super::requests::Request;
use crate::catalog::CatalogStore as _;
use crate::intents::{Intent, IntentStore as _, IntentWork};
use crate::workspaces::{Registered, WorkspaceStore as _};

pub async fn a_new_row_holds_what_was_given<E: Engine>(catalog: Catalog<E>) {
    let mut register = catalog.new_named("/w/a", "Näme");
    register.workspace.additional_dirs = vec!["/w/\"x\"".into(), "/w/y\\".into()];
    register.workspace.default_agent = "coder".into();
    register.workspace.is_default = true;
    register.workspace.root_file.device = u64::MAX;
    let new = register.workspace.clone();
    let created = catalog.created(register).await;
    assert_eq!(catalog.get(&created.id).await, created);
    assert_eq!(
        (&created.id, &created.durable_id, &created.host_id),
        (&new.id, &new.durable_id, &new.host_id)
    );
    assert_eq!(
        (&created.root_dir, created.root_file),
        (&new.root_dir, new.root_file)
    );
    assert_eq!(created.additional_dirs, new.additional_dirs);
    assert_eq!((created.name.as_str(), created.name.key()), ("Näme", "näme"));
    assert_eq!(
        (created.title, created.default_agent),
        (new.title, new.default_agent)
    );
    assert!(created.is_default);
    assert_eq!((created.created_at, created.updated_at), (new.at, new.at));
    assert_eq!((created.version, created.defect), (1, None));
}

pub async fn a_registration_appends_one_entry_behind_its_revision<E: Engine>(catalog: Catalog<E>) {
    catalog.register("/w/a").await;
    catalog.number_all().await;
    let register = catalog.new_at("/w/b");
    let call = catalog.call();
    let at = call.now;
    let written = fresh(catalog.store.register(register, call).await.unwrap());
    let Registered::Created(created) = written.value else {
        panic!("it is new")
    };
    let entries = catalog.log_after(written.revision.position).await;
    let changes: Vec<NewChange> = entries.into_iter().map(|entry| entry.change).collect();
    let told_at = catalog.instant_of_entry(at, changes[0].at);
    let expected = NewChange::of_workspace(
        ChangeKind::Workspace,
        (ChangeOp::Upserted, ChangeReason::Created),
        &created.host_id,
        &created.id,
        1,
        told_at,
    );
    assert_eq!(changes, [expected]);
}

pub async fn a_new_one_comes_first_also_after_moves_to_the_front<E: Engine>(catalog: Catalog<E>) {
    let rows = catalog.register_in_order(&["/w/c", "/w/b", "/w/a"]).await;
    assert_eq!(catalog.names().await, ["c", "b", "a"]);
    for row in [&rows[2], &rows[1], &rows[2]] {
        let first = catalog.names().await[0].clone();
        let first = rows.iter().find(|row| row.name.as_str() == first).unwrap();
        catalog.move_before(&row.id, Some(&first.id)).await.unwrap();
    }
    catalog.register("/w/d").await;
    assert_eq!(catalog.names().await, ["d", "a", "b", "c"]);
}

pub async fn a_registered_root_is_answered_as_it_is<E: Engine>(catalog: Catalog<E>) {
    let first = catalog.register("/w/a").await;
    let before = catalog.everything().await;
    let mut again = catalog.new_named("/w/a", "other");
    again.workspace.title = "other".into();
    let answer = fresh(catalog.store.register(again, catalog.call()).await.unwrap());
    assert_eq!(answer.value, Registered::Existing(first));
    assert_eq!(catalog.everything().await, before);
}

pub async fn the_same_root_on_another_host_is_another_workspace<E: Engine>(catalog: Catalog<E>) {
    let here = catalog.register("/w/a").await;
    let mut register = catalog.new_at("/w/a");
    register.workspace.host_id = host("h2");
    let there = catalog.created(register).await;
    assert_ne!(here.id, there.id);
    let paths = ["/w/a".to_owned()];
    let found = catalog
        .store
        .find_by_roots(&host("h2"), &paths, &[])
        .await
        .unwrap();
    assert_eq!(found, [there]);
}

pub async fn only_tried_nothing_is_left<E: Engine>(catalog: Catalog<E>) {
    let existing = catalog.register("/w/a").await;
    let before = catalog.everything().await;
    for root in ["/w/a", "/w/b"] {
        let mut register = catalog.new_at(root);
        register.validate_only = true;
        let request = Request::new("Register");
        let call = catalog.call_once(&request);
        let now = call.now;
        let answer = fresh(catalog.store.register(register, call).await.unwrap()).value;
        match answer {
            Registered::Existing(found) => assert_eq!(found, existing),
            Registered::Created(tried) => {
                assert_eq!((tried.name.as_str(), tried.root_dir.as_str()), ("b", "/w/b"));
            }
        }
        let remembered = catalog
            .store
            .find_answer(request.principal, request.method, &request.id, &request.hash, now)
            .await;
        assert_eq!(remembered.unwrap(), None);
    }
    assert_eq!(catalog.everything().await, before);
    let mut taken = catalog.new_named("/w/b", "a");
    taken.validate_only = true;
    let error = rejection(catalog.store.register(taken, catalog.call()).await);
    assert_eq!(error.reason(), Reason::WorkspaceNameConflict);
    assert_eq!(catalog.everything().await, before);
    catalog.register("/w/b").await;
    assert_eq!(catalog.names().await, ["b", "a"]);
}

pub async fn a_registration_ends_its_intent<E: Engine>(catalog: Catalog<E>) {
    for root in ["/w/a", "/w/a"] {
        let intent = super::intents::creating("i1", HOST_OF_INTENTS, "owner-1", root);
        catalog.store.begin_intent(&intent, catalog.tick()).await.unwrap();
        let mut register = catalog.new_at(root);
        register.intent = Some(intent.id);
        catalog.store.register(register, catalog.call()).await.unwrap();
        assert_eq!(super::intents::abandoned(&catalog, "owner-2").await, []);
    }
}

const HOST_OF_INTENTS: &str = super::fixture::HOST;

pub async fn a_registration_takes_over_what_a_dead_one_made<E: Engine>(catalog: Catalog<E>) {
    let dead = super::intents::creating("i1", HOST_OF_INTENTS, "owner-1", "/w/a");
    let elsewhere = super::intents::creating("i2", HOST_OF_INTENTS, "owner-1", "/w/b");
    for intent in [&dead, &elsewhere] {
        catalog.store.begin_intent(intent, catalog.tick()).await.unwrap();
    }
    catalog.register("/w/a").await;
    let taken_over = Intent {
        work: IntentWork::TakenOver {
            root_dir: "/w/a".into(),
            content: [7; 32],
        },
        ..dead
    };
    assert_eq!(
        super::intents::abandoned(&catalog, "owner-2").await,
        [taken_over, elsewhere]
    );
}

pub async fn a_refused_registration_keeps_its_intent<E: Engine>(catalog: Catalog<E>) {
    catalog.created(catalog.new_named("/w/a", "api")).await;
    let intent = super::intents::creating("i1", HOST_OF_INTENTS, "owner-1", "/w/b");
    catalog.store.begin_intent(&intent, catalog.tick()).await.unwrap();
    let mut register = catalog.new_named("/w/b", "api");
    register.intent = Some(intent.id.clone());
    rejection(catalog.store.register(register, catalog.call()).await);
    assert_eq!(super::intents::abandoned(&catalog, "owner-2").await, [intent]);
}

pub async fn a_root_longer_than_an_index_takes_is_refused<E: Engine>(catalog: Catalog<E>) {
    let root = |length: usize| {
        let mut root = String::new();
        while root.len() < length {
            root.push('/');
            root.push_str(&random_letters(200.min(length - root.len())));
        }
        root
    };
    let longest = root(limits::ROOT_BYTES_MAX);
    assert_eq!(longest.len(), limits::ROOT_BYTES_MAX);
    catalog.register(&longest).await;
    let too_long = root(limits::ROOT_BYTES_MAX + 1);
    let error = rejection(
        catalog
            .store
            .register(catalog.new_at(&too_long), catalog.call())
            .await,
    );
    assert!(
        matches!(error, CatalogError::InvalidField { ref field, .. } if field == "path"),
        "{error}"
    );
}

/// Letters that do not compress, as an index entry would otherwise.
fn random_letters(count: usize) -> String {
    let mut bytes = vec![0_u8; count];
    compozy_domain::Random::fill(&super::numbers::Numbers, &mut bytes).unwrap();
    bytes.iter().map(|byte| char::from(b'a' + byte % 26)).collect()
}
