//! The conformance suite on every engine.

mod sqlite_file {
    compozy_store::conformance!(compozy_store::conformance::SqliteFile);
    compozy_store::conformance_of_reopened!(compozy_store::conformance::SqliteFile);
}

mod sqlite_memory {
    compozy_store::conformance!(compozy_store::conformance::SqliteMemory);
}

mod postgres {
    compozy_store::conformance!(compozy_store::conformance::Postgres);
    compozy_store::conformance_of_reopened!(compozy_store::conformance::Postgres);
    compozy_store::conformance_of_shared!(compozy_store::conformance::Postgres);
}

mod postgres_pooled {
    compozy_store::conformance!(compozy_store::conformance::PooledPostgres);
    compozy_store::conformance_of_reopened!(compozy_store::conformance::PooledPostgres);
    compozy_store::conformance_of_shared!(compozy_store::conformance::PooledPostgres);
}

mod stamped;
