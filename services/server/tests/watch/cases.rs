//! Stamps test cases for the engines, and runs each on a fresh catalog.

use std::future::Future;

use compozy_store::conformance::Engine;

use crate::world::World;

/// Each case is a function over a fresh world, stamped as a test on SQLite in a file and on Postgres.
macro_rules! cases {
    ($($name:ident,)+) => {
        mod sqlite {
            $(#[test]
            fn $name() {
                crate::cases::run::<compozy_store::conformance::SqliteFile, _>(stringify!($name), super::$name);
            })+
        }

        mod postgres {
            $(#[test]
            fn $name() {
                crate::cases::run::<compozy_store::conformance::Postgres, _>(stringify!($name), super::$name);
            })+
        }
    };
}

/// Cases that only several servers on one catalog can show.
macro_rules! replica_cases {
    ($($name:ident,)+) => {
        mod replicas {
            $(#[test]
            fn $name() {
                crate::cases::run::<compozy_store::conformance::Postgres, _>(stringify!($name), super::$name);
            })+
        }
    };
}

/// The same behind a real pooler in transaction mode, where every server has its own connections to it.
macro_rules! pooled_cases {
    ($($name:ident,)+) => {
        mod pooled {
            $(#[test]
            fn $name() {
                crate::cases::run::<compozy_store::conformance::PooledPostgres, _>(stringify!($name), super::$name);
            })+
        }
    };
}

/// Cases of a catalog in a file.
macro_rules! file_cases {
    ($($name:ident,)+) => {
        mod file {
            $(#[test]
            fn $name() {
                crate::cases::run::<compozy_store::conformance::SqliteFile, _>(stringify!($name), super::$name);
            })+
        }
    };
}

/// Runs a case on a catalog of an engine.
pub(crate) fn run<E, F>(name: &'static str, case: fn(World) -> F)
where
    E: Engine,
    F: Future<Output = ()>,
{
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let Some(engine) = E::begin(name).await else {
            return;
        };
        let world = World::new(engine.address());
        let stores = world.stores();
        let outcome = futures::FutureExt::catch_unwind(std::panic::AssertUnwindSafe(case(world))).await;
        stores.close().await;
        engine.end().await;
        if let Err(panic) = outcome {
            std::panic::resume_unwind(panic);
        }
    });
    // Servers that the case left running end here, like killed ones.
    runtime.shutdown_background();
}
