//! Stamps test cases for the engines, and runs each in a thread of its own.

use std::future::Future;
use std::sync::Once;

use compozy_resolver::testing::drop_file_privileges;
use compozy_store::conformance::Engine;
use rustix::fs::Mode;

use crate::world::{Setup, World};

static UMASK: Once = Once::new();

/// Each case is a function over a fresh world, stamped as a test on SQLite in memory and on Postgres.
macro_rules! cases {
    ($($name:ident,)+) => {
        mod sqlite {
            $(#[test]
            fn $name() {
                crate::cases::run::<compozy_store::conformance::SqliteMemory, _>(stringify!($name), super::$name);
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

/// Cases in which storage plays no part: on SQLite only.
macro_rules! file_cases {
    ($($name:ident,)+) => {
        mod files {
            $(#[test]
            fn $name() {
                crate::cases::run::<compozy_store::conformance::SqliteMemory, _>(stringify!($name), super::$name);
            })+
        }
    };
}

/// Cases that mount something, in a view of the file system that nobody else has. Where the kernel does not
/// allow that they say so and test nothing.
macro_rules! mount_cases {
    ($($name:ident,)+) => {
        mod mounted {
            $(#[test]
            fn $name() {
                crate::cases::run_prepared::<compozy_store::conformance::SqliteMemory, _>(
                    stringify!($name),
                    compozy_resolver::testing::private_mounts,
                    super::$name,
                );
            })+
        }
    };
}

/// Runs a case on a catalog of an engine, as somebody whom the modes of files concern.
pub(crate) fn run<E, F>(name: &'static str, case: fn(World) -> F)
where
    E: Engine,
    F: Future<Output = ()> + 'static,
{
    run_prepared::<E, F>(name, || true, case);
}

/// As [`run`], with something that its thread does first, which may find that the case can't be run here.
pub(crate) fn run_prepared<E, F>(name: &'static str, prepare: fn() -> bool, case: fn(World) -> F)
where
    E: Engine,
    F: Future<Output = ()> + 'static,
{
    // What the daemon makes has to have its modes whatever the umask is.
    UMASK.call_once(|| {
        rustix::process::umask(Mode::RWXG | Mode::RWXO);
    });
    // Removed by this thread, which may enter every directory that a case has closed.
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().canonicalize().unwrap();
    let outcome = std::thread::spawn(move || {
        if !prepare() {
            return eprintln!("skipped {name}: not allowed here");
        }
        drop_file_privileges();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let Some(engine) = E::begin(name).await else {
                return;
            };
            let setup = Setup::new(&path, engine.address()).await;
            let store = std::sync::Arc::clone(&setup.store);
            let outcome = futures::FutureExt::catch_unwind(std::panic::AssertUnwindSafe(async {
                case(World::new(setup).await).await;
            }))
            .await;
            compozy_store::CatalogStore::close(&*store).await;
            engine.end().await;
            if let Err(panic) = outcome {
                std::panic::resume_unwind(panic);
            }
        });
    })
    .join();
    if let Err(panic) = outcome {
        std::panic::resume_unwind(panic);
    }
}
