//! Random operations on profiles and selections, on each engine and on a plain model: the same operations give the same
//! outcomes, pages, selections and changes. A run names its seed; `COMPOZY_TEST_SEED` repeats one.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod compare;
mod operation;
mod plain;

use compozy_store::conformance::{Catalog, Engine, Postgres, Seeded, SqliteFile, SqliteMemory, run};

use self::operation::Operation;
use self::plain::Plain;

const OPERATIONS: usize = 400;
/// Operations between two comparisons of everything.
const STRETCH: usize = 20;
/// Always the same, so that engines are compared with each other as well.
const SEEDS: [u64; 2] = [1, 20_261_130];

#[tokio::test(flavor = "multi_thread")]
async fn profiles_on_an_sqlite_file_agree_with_the_model() {
    let test = concat!(
        module_path!(),
        "::profiles_on_an_sqlite_file_agree_with_the_model"
    );
    agrees::<SqliteFile>(test).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn profiles_in_sqlite_memory_agree_with_the_model() {
    let test = concat!(module_path!(), "::profiles_in_sqlite_memory_agree_with_the_model");
    agrees::<SqliteMemory>(test).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn profiles_on_postgres_agree_with_the_model() {
    let test = concat!(module_path!(), "::profiles_on_postgres_agree_with_the_model");
    agrees::<Postgres>(test).await;
}

/// The seeds of all runs and one of this process.
fn seeds() -> Vec<u64> {
    if let Ok(given) = std::env::var("COMPOZY_TEST_SEED") {
        return vec![given.parse().expect("COMPOZY_TEST_SEED is a number")];
    }
    let own = u64::from(std::process::id()) * 1_000_000;
    SEEDS.into_iter().chain([own]).collect()
}

async fn agrees<E: Engine>(test: &str) {
    for seed in seeds() {
        // Shown when the test fails.
        println!("COMPOZY_TEST_SEED={seed}");
        run::<E, _>(test, async |catalog: Catalog<E>| {
            let mut numbers = Seeded::new(seed);
            let mut plain = Plain::default();
            for number in 0..4 {
                let row = catalog.register(&format!("/w/{number}")).await;
                plain.register(row.id);
            }
            for step in 1..=OPERATIONS {
                let operation = Operation::draw(&mut numbers, step, &plain);
                let expected = plain.apply(&operation);
                let outcome = operation.carry_out(&catalog, &mut plain).await;
                assert_eq!(outcome, expected, "step {step} of seed {seed}: {operation:?}");
                if step % STRETCH == 0 {
                    compare::everything(&catalog, &plain, &mut numbers).await;
                }
            }
        })
        .await;
    }
}
