//! A big session catalog: rows written by SQL into a store that the daemon has made, with their counts and, on SQLite,
//! their index of texts. Half of the sessions are in the first of a hundred workspaces, one in ten is active without a
//! runtime, the others are stopped.

use compozy_e2e::Environment;

use crate::catalog::{self, fill};

/// Workspaces that the sessions are in.
const WORKSPACES: usize = 100;

/// One session each, with the functions of the engine in the place of HEX16(n), RANK(n), FALSE and END.
const SESSIONS: &str = "INSERT INTO session (id, host_id, workspace_id, cwd, place, rank, name, agent, provider, model, \
    type, hidden, state, state_at, runtime, runtime_holder, generation, stop, failure, root_id, depth, spawn_role, \
    permission_mode, profile_id, active_at, start_cause, start_by, snapshot_fingerprint, labels, origin, origin_id, \
    has_files, event_count, last_sequence, attention, attention_at, search, version, state_number, created_at, \
    updated_at) \
    SELECT 'sess-' || HEX16, 'bench', 'ws_' || HEX16_OF_WORKSPACE, '/srv/projects', '', RANK, 'Session number ' || n, \
    'agent-' || (n % 10), 'provider', 'model', 'user', 0, CASE WHEN n % 10 = 0 THEN 'active' ELSE 'stopped' END, AT, \
    'none', '', 0, CASE WHEN n % 10 = 0 THEN NULL ELSE \
    '{\"cause\":\"completed\",\"reason\":\"completed\",\"detail\":\"\",\"stopped_at\":1777905000000000000}' END, '', \
    'sess-' || HEX16, 0, '', 'approve-all', 'default', AT, '', 'bench', '', '{}', 'native', '', FALSE, 0, 0, 2, AT, \
    'sess-' || HEX16 || END || 'session number ' || n || END || 'agent-' || (n % 10) || END || 'provider', 1, 1, AT, AT \
    FROM NUMBERS";

/// The kept numbers of all of them.
const COUNTS: &str = "INSERT INTO session_count (scope, hidden, state, type, agent, count) \
    SELECT '*', hidden, state, type, agent, COUNT(*) FROM session GROUP BY hidden, state, type, agent \
    UNION ALL SELECT workspace_id, hidden, state, type, agent, COUNT(*) FROM session \
    GROUP BY workspace_id, hidden, state, type, agent";

/// Id of a session.
pub(crate) fn session_id(number: usize) -> String {
    format!("sess-{number:016x}")
}

/// Id of the workspace that has half of the sessions.
pub(crate) fn biggest_workspace() -> String {
    format!("ws_{:016x}", 1)
}

/// Writes `count` sessions into the store of an environment whose daemon has made it and does not run.
pub(crate) fn fill_sessions(environment: &Environment, on_postgres: bool, count: usize) {
    fill(environment, on_postgres, WORKSPACES);
    // Odd ones are in the first workspace, the others spread over the rest.
    let workspace = format!(
        "(CASE WHEN n % 2 = 1 THEN 1 ELSE 2 + (n / 2) % {} END)",
        WORKSPACES - 1
    );
    let sql = SESSIONS
        .replace("AT,", "1777905000000000000 + n,")
        .replace("AT FROM", "1777905000000000000 + n FROM");
    if on_postgres {
        let hex = |number: &str| format!("lpad(to_hex({number}), 16, '0')");
        let sql = sql
            .replace("HEX16_OF_WORKSPACE", &hex(&workspace))
            .replace("HEX16", &hex("n"))
            .replace("RANK", "int8send(9223372036854775807 - n)")
            .replace("END ||", "chr(31) ||")
            .replace("NUMBERS", &format!("generate_series(1, {count}) AS numbers(n)"));
        let database = environment.database();
        database.execute(&sql);
        database.execute(COUNTS);
        database.execute(&format!("SELECT setval('session_front', {})", count + 1));
        database.execute("VACUUM ANALYZE session");
        return;
    }
    let sql = sql
        .replace("HEX16_OF_WORKSPACE", &format!("printf('%016x', {workspace})"))
        .replace("HEX16", "printf('%016x', n)")
        .replace("RANK", "unhex(printf('%016X', 9223372036854775807 - n))")
        .replace("END ||", "char(31) ||")
        .replace("NUMBERS", "numbers");
    let store = catalog::open(environment);
    store
        .execute_batch(&format!(
            "BEGIN; WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {count}) {sql}; \
             {COUNTS}; INSERT INTO session_search (rowid, search) SELECT number, search FROM session; \
             UPDATE session_front SET number = {}; COMMIT; ANALYZE",
            count + 1
        ))
        .unwrap();
    store
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .unwrap();
}
