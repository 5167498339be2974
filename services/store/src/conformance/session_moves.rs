//! Promises about the order of an account.

use compozy_domain::{CatalogError, ChangeKind, ChangeOp, ChangeReason, SessionId, Visibility};

use super::engine::Engine;
use super::fixture::{Catalog, fresh, rejection};
use super::hooks;
use super::session_accounts::{detaching, ungrouped_at};
use super::session_fixture::session_id;
use crate::call::Written;
use crate::error::Result;
use crate::open::StoreAddress;
use crate::sessions::{MoveSession, MovedSession, SessionAnchor, SessionStore as _};

/// A move in front of another session, or to the end.
pub(crate) fn moving(id: &SessionId, before: Option<&SessionId>) -> MoveSession {
    MoveSession {
        id: Some(id.clone()),
        reference: id.to_string(),
        before: before.map(|id| SessionAnchor {
            id: Some(id.clone()),
            reference: id.to_string(),
        }),
    }
}

impl<E> Catalog<E> {
    /// Moves a session.
    pub(crate) async fn move_session(&self, moving: MoveSession) -> Result<Written<MovedSession>> {
        let answer = self.store.move_session(moving, self.session_call()).await;
        Ok(fresh(answer?))
    }
}

/// Ids of the session rows that differ between two looks at the table.
fn written_rows(before: &[Vec<String>], after: &[Vec<String>]) -> Vec<String> {
    assert_eq!(before.len(), after.len());
    let pairs = before.iter().zip(after);
    pairs
        .filter(|(old, new)| old != new)
        .map(|(old, _)| old[0].clone())
        .collect()
}

const RANKS: &str =
    "SELECT id, workspace_id, rank, place, version, state_number, updated_at FROM session ORDER BY id";

pub async fn w250_a_move_writes_one_row<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let order = catalog.sessions_in_order(&a, 3).await;
    let [s3, s2, s1] = [&order[0], &order[1], &order[2]];
    for (moved, before, expected, previous, next) in [
        (s1, Some(s2), [s3, s1, s2], Some(s3), Some(s2)),
        (s3, None, [s1, s2, s3], Some(s2), None),
        (s2, Some(s1), [s2, s1, s3], None, Some(s1)),
    ] {
        let record = catalog.get_session(moved).await;
        let rows = hooks::rows(&catalog.store, RANKS).await.unwrap();
        catalog.number_all().await;
        let written = catalog.move_session(moving(moved, before)).await.unwrap();
        let answer = MovedSession {
            previous: previous.cloned(),
            next: next.cloned(),
            moved: true,
        };
        assert_eq!(written.value, answer);
        assert!(catalog.account(&a.id).await.iter().eq(expected));
        let now = hooks::rows(&catalog.store, RANKS).await.unwrap();
        assert_eq!(written_rows(&rows, &now), [moved.to_string()]);
        let after = catalog.get_session(moved).await;
        assert_eq!(after.rank.is_some(), record.rank.is_some());
        assert_eq!(
            (after.version, after.etag(), after.updated_at),
            (record.version, record.etag(), record.updated_at)
        );
        let entries = catalog.log_after(written.revision.position).await;
        assert_eq!(entries.len(), 1);
        let change = &entries[0].change;
        assert_eq!(
            (change.kind, change.op, change.reason),
            (ChangeKind::AccountOrder, ChangeOp::Upserted, ChangeReason::Moved)
        );
        assert_eq!(
            (
                change.workspace_id.as_ref(),
                change.session_id.as_ref(),
                change.version
            ),
            (Some(&a.id), Some(moved), record.version)
        );
        assert_eq!(change.from_workspace_id, None);
    }
    catalog.assert_counts_are_true().await;
}

pub async fn w251_a_move_to_where_it_is_writes_nothing<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let order = catalog.sessions_in_order(&a, 3).await;
    let [s3, s2, s1] = [&order[0], &order[1], &order[2]];
    let before = catalog.everything().await;
    for (moved, anchor, previous, next) in [
        (s2, Some(s2), Some(s3), Some(s1)),
        (s2, Some(s1), Some(s3), Some(s1)),
        (s1, None, Some(s2), None),
        (s3, Some(s2), None, Some(s2)),
    ] {
        let expected = MovedSession {
            previous: previous.cloned(),
            next: next.cloned(),
            moved: false,
        };
        assert_eq!(
            catalog.move_session(moving(moved, anchor)).await.unwrap().value,
            expected
        );
    }
    assert_eq!(catalog.everything().await, before);
}

pub async fn w252_the_session_is_looked_at_before_its_anchor<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let good = catalog.session_in(&a).await.id;
    let (unknown, nowhere) = (session_id(), session_id());
    let before = catalog.everything().await;
    let unreadable = MoveSession {
        id: None,
        reference: "Sess-1".into(),
        ..moving(&good, Some(&good))
    };
    let mut unreadable_anchor = moving(&good, Some(&good));
    unreadable_anchor.before = Some(SessionAnchor {
        id: None,
        reference: "first".into(),
    });
    for (moving, named) in [
        (moving(&unknown, Some(&good)), unknown.as_str()),
        (moving(&good, Some(&nowhere)), nowhere.as_str()),
        (moving(&unknown, Some(&nowhere)), unknown.as_str()),
        (moving(&unknown, Some(&unknown)), unknown.as_str()),
        (unreadable, "Sess-1"),
        (unreadable_anchor, "first"),
    ] {
        let error = rejection(catalog.move_session(moving).await);
        assert_eq!(error, CatalogError::SessionNotFound { id: named.to_owned() });
    }
    assert_eq!(catalog.everything().await, before);
}

pub async fn w253_s219_a_move_stays_on_one_account<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let b = catalog.register("/w/b").await;
    let on_a = catalog.session_in(&a).await.id;
    let also_on_a = catalog.session_in(&a).await.id;
    let on_b = catalog.session_in(&b).await.id;
    let free = catalog.create_session(ungrouped_at("/w/a")).await.id;
    let before = catalog.everything().await;
    for (id, anchor) in [
        (&free, Some(&on_a)),
        (&free, Some(&free)),
        (&free, None),
        (&on_a, Some(&on_b)),
        (&on_a, Some(&free)),
    ] {
        let error = rejection(catalog.move_session(moving(id, anchor)).await);
        assert!(
            matches!(&error, CatalogError::MoveInvalid { id: named, .. } if named == id),
            "{error}"
        );
    }
    assert_eq!(catalog.everything().await, before);
    assert_eq!(catalog.account(&a.id).await, [also_on_a, on_a]);
}

/// Changing an order needs no more than the place of what is moved.
pub async fn s226_of_a_thousand_sessions_one_row_is_written<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let template = catalog.session_in(&a).await.id;
    catalog.copy_session(&template, 999).await;
    let mut model = catalog.account(&a.id).await;
    assert_eq!(model.len(), 1_000);
    let rows = hooks::rows(&catalog.store, RANKS).await.unwrap();
    let moved = model.remove(700);
    catalog
        .move_session(moving(&moved, Some(&model[5])))
        .await
        .unwrap();
    model.insert(5, moved.clone());
    assert_eq!(catalog.account(&a.id).await, model);
    let now = hooks::rows(&catalog.store, RANKS).await.unwrap();
    assert_eq!(written_rows(&rows, &now), [moved.to_string()]);
}

/// More sessions than one statement gives new ranks, the first of them without a place between.
pub async fn a_wedged_account_is_spread_anew<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let b = catalog.register("/w/b").await;
    let template = catalog.session_in(&a).await.id;
    catalog.copy_session(&template, 599).await;
    let others = catalog.sessions_in_order(&b, 2).await;
    for (number, id) in catalog.account(&a.id).await.iter().take(3).enumerate() {
        let rank = format!("80000000000000{:02x}{}", number + 1, "ff".repeat(254 - 8));
        let bytes = match catalog.engine.address() {
            StoreAddress::Postgres { .. } => format!("'\\x{rank}'"),
            _ => format!("x'{rank}'"),
        };
        let sql = format!("UPDATE session SET rank = {bytes} WHERE id = '{id}'");
        hooks::execute(&catalog.store, &sql).await.unwrap();
    }
    let mut model = catalog.account(&a.id).await;
    let records = "SELECT id, version, state_number, updated_at FROM session ORDER BY id";
    let before = hooks::rows(&catalog.store, records).await.unwrap();
    for at in [2, 1, 1] {
        let moved = model.remove(550);
        catalog
            .move_session(moving(&moved, Some(&model[at])))
            .await
            .unwrap();
        model.insert(at, moved);
        assert_eq!(catalog.account(&a.id).await, model);
        let first = catalog.get_session(&model[0]).await.rank.unwrap();
        assert_eq!(
            first.as_bytes().len(),
            8,
            "there was no room, so all have new places"
        );
    }
    let after = hooks::rows(&catalog.store, records).await.unwrap();
    assert_eq!(before, after, "a new place is no new state");
    assert_eq!(catalog.account(&b.id).await, others);
    catalog.assert_ranks_are_distinct().await;
    let new = catalog.session_in(&a).await.id;
    model.insert(0, new);
    assert_eq!(catalog.account(&a.id).await, model);
}

pub async fn neighbours_and_anchors_of_others_do_not_exist<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let b = catalog.register("/w/b").await;
    let on_a = catalog.session_in(&a).await.id;
    let on_b = catalog.session_in(&b).await.id;
    let only_a = Visibility::Only(vec![a.id.clone()]);
    for (id, anchor) in [(&on_b, None), (&on_a, Some(&on_b))] {
        let call = catalog.session_call_as(only_a.clone());
        let outcome = catalog.store.move_session(moving(id, anchor), call).await;
        assert_eq!(
            rejection(outcome),
            CatalogError::SessionNotFound { id: on_b.to_string() }
        );
    }
}

/// A row that this release does not understand keeps its place, and others are moved around it.
pub async fn a_row_that_is_not_understood_is_not_moved<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let order = catalog.sessions_in_order(&a, 3).await;
    let sql = format!("UPDATE session SET type = 'dreamy' WHERE id = '{}'", order[1]);
    hooks::execute(&catalog.store, &sql).await.unwrap();
    let error = rejection(catalog.move_session(moving(&order[1], None)).await);
    assert!(
        matches!(error, CatalogError::RecordNotUnderstood { .. }),
        "{error}"
    );
    catalog
        .move_session(moving(&order[2], Some(&order[1])))
        .await
        .unwrap();
    assert_eq!(
        catalog.account(&a.id).await,
        [order[0].clone(), order[2].clone(), order[1].clone()]
    );
}

/// A detached session has no place any more, and one that comes back has a new one.
pub async fn a_place_is_given_up_with_the_account<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let order = catalog.sessions_in_order(&a, 3).await;
    catalog.detach(detaching(&order[1])).await.unwrap();
    let sql = format!("SELECT rank FROM session WHERE id = '{}'", order[1]);
    assert_eq!(hooks::rows(&catalog.store, &sql).await.unwrap(), [[""]]);
    catalog
        .move_session(moving(&order[2], Some(&order[0])))
        .await
        .unwrap();
    catalog.attach(&order[1], &a).await.unwrap();
    assert_eq!(
        catalog.account(&a.id).await,
        [order[1].clone(), order[2].clone(), order[0].clone()]
    );
}
