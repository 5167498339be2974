//! Promises about an order that is wedged into one spot until no place is left between two rows.

use compozy_domain::workspace::WorkspaceOrder;
use compozy_domain::{Rank, WorkspaceId};

use super::engine::Engine;
use super::fixture::{Catalog, removal};
use super::hooks;
use crate::workspaces::WorkspaceStore as _;

/// Moves between two rows that are ever closer, in a model beside it, until the ranks are spread anew.
pub async fn w205_a_wedged_order_is_spread_anew<E: Engine>(catalog: Catalog<E>) {
    let roots: Vec<String> = (0..8).map(|number| format!("/w/{number}")).collect();
    let roots: Vec<&str> = roots.iter().map(String::as_str).collect();
    let rows = catalog.register_in_order(&roots).await;
    let mut model: Vec<WorkspaceId> = rows.into_iter().map(|row| row.id).collect();
    let versions = "SELECT id, version, state_number, updated_at FROM workspace ORDER BY id";
    let before = hooks::rows(&catalog.store, versions).await.unwrap();
    // The gap is between these two, and the other rows take turns to halve it.
    let (mut lower, mut upper) = (model[3].clone(), model[4].clone());
    let mut turn = 0;
    let spread = loop {
        let moving = model
            .iter()
            .filter(|id| **id != lower && **id != upper)
            .nth(turn % 6)
            .cloned()
            .unwrap();
        turn += 1;
        assert!(turn < 3_000, "the order never ran out of places");
        catalog.move_before(&moving, Some(&upper)).await.unwrap();
        model.retain(|id| *id != moving);
        let at = model.iter().position(|id| *id == upper).unwrap();
        model.insert(at, moving.clone());
        let rank = catalog.get(&moving).await.rank;
        if rank.as_bytes().len() == 8 && turn > 100 {
            break rank;
        }
        // A rank lies near its lower neighbour on even depths, near its upper one on odd depths.
        if (rank.as_bytes().len() / 2 - 1) % 2 == 0 {
            upper = moving;
        } else {
            lower = moving;
        }
    };
    assert!(
        spread >= Rank::spread(1).next().unwrap(),
        "the new ranks start in the middle"
    );
    assert_eq!(listed(&catalog).await, model);
    assert_eq!(
        hooks::rows(&catalog.store, versions).await.unwrap(),
        before,
        "a new place is no new state"
    );
    let new = catalog.register("/w/new").await.id;
    model.insert(0, new);
    catalog.move_before(&model[3].clone(), None).await.unwrap();
    let moved = model.remove(3);
    model.push(moved);
    catalog
        .store
        .remove(removal(&model[1]), catalog.call())
        .await
        .unwrap();
    model.remove(1);
    assert_eq!(listed(&catalog).await, model);
}

/// More rows than one statement gives new ranks.
pub async fn a_spread_keeps_the_order_of_many_rows<E: Engine>(catalog: Catalog<E>) {
    let mut values: Vec<String> = Vec::new();
    for number in 0..600_u32 {
        // Neighbours that touch: between two of these there is no place.
        let mut rank = vec![0x80_u8, 0, 0, 0, 0, 0, 0, 0];
        rank.extend(number.to_be_bytes());
        rank.resize(254, 0xff);
        let rank: String = rank.iter().map(|byte| format!("{byte:02x}")).collect();
        values.push(row_values(number, &rank, &catalog.engine.address()));
    }
    let sql = format!("INSERT INTO workspace VALUES {}", values.join(", "));
    hooks::execute(&catalog.store, &sql).await.unwrap();
    let mut model = listed(&catalog).await;
    assert_eq!(model.len(), 600);
    let moving = model.remove(550);
    catalog.move_before(&moving, Some(&model[5])).await.unwrap();
    model.insert(5, moving);
    assert_eq!(listed(&catalog).await, model);
}

async fn listed<E: Engine>(catalog: &Catalog<E>) -> Vec<WorkspaceId> {
    let rows = catalog.walk(catalog.page(WorkspaceOrder::Manual, 100)).await;
    rows.into_iter().map(|row| row.id).collect()
}

fn row_values(number: u32, rank: &str, address: &crate::open::StoreAddress) -> String {
    let (no, bytes) = match address {
        crate::open::StoreAddress::Postgres { .. } => ("FALSE", format!("'\\x{rank}'")),
        _ => ("0", format!("x'{rank}'")),
    };
    format!(
        "('ws_{number:016x}', '01HXJ9YR4QZ0V7M3T5B8N2C6KD', 'h1', '/w/{number}', 1, {number}, '[]', 'n{number}', \
         'n{number}', '', '', {no}, {bytes}, '', 1, 1, 1, 1, '')"
    )
}
