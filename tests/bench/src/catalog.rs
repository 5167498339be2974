//! A big catalog in a few seconds: rows written by SQL into a store that the daemon has made.
//!
//! Their roots do not exist. The observer would find that out within a minute; its next round is put off, so that
//! a measurement of less than that is not disturbed.

use compozy_e2e::Environment;
use rusqlite::Connection;

use crate::server::HOST;

/// Columns of `workspace` in the order of the statements below.
macro_rules! columns {
    () => {
        "INSERT INTO workspace (id, durable_id, host_id, root_dir, root_device, root_inode, additional_dirs, name, \
         name_key, title, default_agent, is_default, rank, search, version, state_number, created_at, updated_at) "
    };
}

/// One row with the number `?1`, on SQLite.
pub(crate) const INSERT_ONE: &str = concat!(
    columns!(),
    "VALUES (printf('ws_f%015x', ?1), '01HXJ9YR4Q' || printf('%016d', ?1), 'bench', '/floor/' || ?1, 0, ?1, '[]', \
     'floor-' || ?1, 'floor-' || ?1, 'floor', '', 0, unhex(printf('%016X', 9223372036854775807 - ?1)), \
     'floor-' || ?1, 1, 1, ?1, ?1)"
);

/// One row with the number `$1`, on Postgres.
pub(crate) const INSERT_ONE_POSTGRES: &str = concat!(
    columns!(),
    "SELECT 'ws_f' || lpad(to_hex(n), 15, '0'), '01HXJ9YR4Q' || lpad(n::text, 16, '0'), 'bench', '/floor/' || n, 0, n, \
     '[]', 'floor-' || n, 'floor-' || n, 'floor', '', FALSE, int8send(9223372036854775807 - n), 'floor-' || n, 1, 1, n, n \
     FROM (SELECT $1::bigint AS n) numbers"
);

const MANY: &str = concat!(
    "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?1) ",
    columns!(),
    "SELECT printf('ws_%016x', n), '01HXJ9YR4R' || printf('%016d', n), 'bench', \
     '/srv/projects/team-' || (n % 97) || '/project-' || n, 0, n, '[]', 'project-' || n, 'project-' || n, \
     'Project number ' || n, '', 0, unhex(printf('%016X', 9223372036854775807 - n)), \
     printf('ws_%016x', n) || char(10) || 'project-' || n || char(10) || 'project number ' || n || char(10) \
     || '/srv/projects/team-' || (n % 97) || '/project-' || n, \
     1, 1, 1777905000000000000 + n, 1777905000000000000 + n FROM numbers"
);

const MANY_POSTGRES: &str = concat!(
    columns!(),
    "SELECT 'ws_' || lpad(to_hex(n), 16, '0'), '01HXJ9YR4R' || lpad(n::text, 16, '0'), 'bench', \
     '/srv/projects/team-' || (n % 97) || '/project-' || n, 0, n, '[]', 'project-' || n, 'project-' || n, \
     'Project number ' || n, '', FALSE, int8send(9223372036854775807 - n), \
     'ws_' || lpad(to_hex(n), 16, '0') || chr(10) || 'project-' || n || chr(10) || 'project number ' || n || chr(10) \
     || '/srv/projects/team-' || (n % 97) || '/project-' || n, \
     1, 1, 1777905000000000000 + n, 1777905000000000000 + n FROM generate_series(1, COUNT) AS numbers(n)"
);

/// Entries behind the head of the change log, each of a workspace of its own, written just now.
const LOG: &str = "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < COUNT) \
    INSERT INTO change (position, kind, op, reason, host_id, workspace_id, version, session_count, at) \
    SELECT head + n, 'workspace', 'upserted', 'updated', 'bench', printf('ws_%016x', n + 1), 1, 0, NOW \
    FROM numbers, change_head";

const LOG_POSTGRES: &str = "INSERT INTO change \
    (position, kind, op, reason, host_id, workspace_id, version, session_count, at) \
    SELECT head + n, 'workspace', 'upserted', 'updated', 'bench', 'ws_' || lpad(to_hex(n + 1), 16, '0'), 1, 0, NOW \
    FROM generate_series(1, COUNT) AS numbers(n), change_head";

/// The time of the database as nanoseconds.
const NOW: &str = "CAST(unixepoch('subsec') * 1000 AS INTEGER) * 1000000";
const NOW_POSTGRES: &str = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint * 1000000";

/// Writes `count` rows into the store of an environment whose daemon has made it and does not run.
pub(crate) fn fill(environment: &Environment, on_postgres: bool, count: usize) {
    if on_postgres {
        let database = environment.database();
        database.execute(&MANY_POSTGRES.replace("COUNT", &count.to_string()));
        database.execute(&format!("SELECT setval('workspace_front', {})", count + 1));
        database.execute("VACUUM ANALYZE workspace");
        return;
    }
    let store = open(environment);
    store.execute(MANY, [i64::try_from(count).unwrap()]).unwrap();
    store
        .execute(
            "UPDATE workspace_front SET number = ?1",
            [i64::try_from(count + 1).unwrap()],
        )
        .unwrap();
    store
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .unwrap();
}

/// Writes `count` entries into the change log of a store whose daemon does not run.
pub(crate) fn fill_log(environment: &Environment, on_postgres: bool, count: usize) {
    let sql = |log: &str, now: &str| {
        let log = log.replace("COUNT", &count.to_string()).replace("NOW", now);
        format!("BEGIN; {log}; UPDATE change_head SET head = head + {count}; COMMIT")
    };
    if on_postgres {
        environment.database().execute(&sql(LOG_POSTGRES, NOW_POSTGRES));
    } else {
        open(environment).execute_batch(&sql(LOG, NOW)).unwrap();
    }
}

/// Puts the observer's next round off for most of a minute.
pub(crate) fn put_observer_off(environment: &Environment, on_postgres: bool) {
    let begun = |now: &str| {
        format!(
            "INSERT INTO observer_round (host_id, owner, begun_at) VALUES ('{HOST}', 'bench', {now}) \
             ON CONFLICT (host_id) DO UPDATE SET begun_at = {now}"
        )
    };
    if on_postgres {
        environment.database().execute(&begun(NOW_POSTGRES));
        return;
    }
    open(environment).execute_batch(&begun(NOW)).unwrap();
}

/// The store of an environment on SQLite.
pub(crate) fn open(environment: &Environment) -> Connection {
    Connection::open(environment.home.join("compozy.db")).unwrap()
}
