-- Sessions: their records, what is known of live ones, accounts, kept counts, search. Times are nanoseconds since
-- 1970 in UTC. The SQLite twin of this file has the same name and the same columns.

CREATE EXTENSION IF NOT EXISTS pg_trgm;

-- The catalog's clock, for every replica the same one. Tests put another one in its place.
CREATE FUNCTION catalog_now() RETURNS BIGINT LANGUAGE SQL VOLATILE
    AS 'SELECT (extract(epoch FROM clock_timestamp()) * 1000000000)::bigint';

-- The folded name, for queries of sessions; a release fills it when it opens the catalog to serve.
ALTER TABLE workspace ADD COLUMN name_search TEXT COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX workspace_name_search ON workspace (name_search, id);

CREATE TABLE session (
    id TEXT COLLATE "C" PRIMARY KEY,
    host_id TEXT COLLATE "C" NOT NULL,
    -- Empty when ungrouped.
    workspace_id TEXT COLLATE "C" NOT NULL,
    cwd TEXT COLLATE "C" NOT NULL,
    -- The canonical directory: relative to the root of the workspace, or absolute when ungrouped.
    place TEXT COLLATE "C" NOT NULL,
    -- Empty when ungrouped.
    rank BYTEA NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    agent TEXT COLLATE "C" NOT NULL,
    provider TEXT COLLATE "C" NOT NULL,
    model TEXT COLLATE "C" NOT NULL,
    type TEXT COLLATE "C" NOT NULL,
    -- 0 in the lists, 1 archived, 2 internal, 3 both.
    hidden BIGINT NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    state_at BIGINT NOT NULL,
    runtime TEXT COLLATE "C" NOT NULL,
    runtime_holder TEXT COLLATE "C" NOT NULL,
    generation BIGINT NOT NULL,
    stop TEXT COLLATE "C",
    -- Kind of the failure in `stop`, or empty.
    failure TEXT COLLATE "C" NOT NULL,
    parent_id TEXT COLLATE "C",
    root_id TEXT COLLATE "C" NOT NULL,
    depth BIGINT NOT NULL,
    spawn_role TEXT COLLATE "C" NOT NULL,
    permission_mode TEXT COLLATE "C" NOT NULL,
    profile_id TEXT COLLATE "C" NOT NULL,
    archived_at BIGINT,
    activity TEXT COLLATE "C",
    active_at BIGINT NOT NULL,
    finished_lease BYTEA,
    start_cause TEXT COLLATE "C" NOT NULL,
    start_by TEXT COLLATE "C" NOT NULL,
    snapshot_fingerprint TEXT COLLATE "C" NOT NULL,
    labels TEXT COLLATE "C" NOT NULL,
    origin TEXT COLLATE "C" NOT NULL,
    origin_id TEXT COLLATE "C" NOT NULL,
    has_files BOOLEAN NOT NULL,
    event_count BIGINT NOT NULL,
    last_sequence BIGINT NOT NULL,
    ledger TEXT COLLATE "C",
    attention BIGINT NOT NULL,
    attention_at BIGINT NOT NULL,
    -- Folded id, name, agent and provider.
    search TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    state_number BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

-- Every index costs every write, on Postgres also a write that does not touch its columns; each is here for a reason.

-- Neighbours on an account.
CREATE INDEX session_account ON session (workspace_id, rank, id);
-- Snapshots of watches of some workspaces, which read by id.
CREATE INDEX session_by_id ON session (workspace_id, id);

-- The lists, a pair for each sort: everywhere, and of one workspace. A page reads, for each way to be hidden and each
-- state that its filter admits, the first rows of one range. So a rare state, or archived ones alone, cost no more than
-- all, nothing is sorted, and no index is needed for each filter.
CREATE INDEX session_recent ON session (hidden, state, updated_at DESC, created_at DESC, id DESC);
CREATE INDEX session_recent_of ON session (workspace_id, hidden, state, updated_at DESC, created_at DESC, id DESC);
CREATE INDEX session_active ON session (hidden, state, active_at DESC, created_at DESC, id DESC);
CREATE INDEX session_active_of ON session (workspace_id, hidden, state, active_at DESC, created_at DESC, id DESC);
CREATE INDEX session_attention ON session (hidden, state, attention, attention_at DESC, id DESC);
CREATE INDEX session_attention_of ON session (workspace_id, hidden, state, attention, attention_at DESC, id DESC);
CREATE INDEX session_manual ON session (workspace_id, hidden, state, rank, id);
-- States of a newer release, which the lists show as stopped. Always empty but while releases are mixed.
CREATE INDEX session_unknown ON session (id)
    WHERE state NOT IN ('starting', 'active', 'stopping', 'stopped', 'orphaned');

-- Filters whose matches may be few among many. What follows each is there to count without reading the rows.
CREATE INDEX session_agent ON session (agent, workspace_id, hidden, state);
CREATE INDEX session_provider ON session (provider, workspace_id, hidden, state);
CREATE INDEX session_profile ON session (profile_id, workspace_id, hidden, state);
CREATE INDEX session_created ON session (created_at, workspace_id, hidden, state);
-- Those that hold few rows cost the others nothing.
CREATE INDEX session_parent ON session (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX session_root ON session (root_id) WHERE root_id <> id;
CREATE INDEX session_type ON session (type) WHERE type <> 'user';
CREATE INDEX session_origin ON session (origin) WHERE origin <> 'native';
CREATE INDEX session_runtime ON session (runtime) WHERE runtime <> 'none';
CREATE INDEX session_failed ON session (failure) WHERE failure <> '';
-- A last word that is said twice.
CREATE INDEX session_finished ON session (finished_lease) WHERE finished_lease IS NOT NULL;
-- For the sweep, which looks for starts that take too long.
CREATE INDEX session_starting ON session (state_at, id) WHERE state = 'starting';

-- Trigrams.
CREATE INDEX session_search ON session USING gin (search gin_trgm_ops);

-- What is known of a session only while it is live. No index on what a heartbeat changes.
CREATE TABLE session_live (
    session_id TEXT COLLATE "C" PRIMARY KEY,
    lease_hash BYTEA,
    lease_ttl BIGINT,
    lease_expires_at BIGINT,
    lease_bound_at BIGINT,
    heartbeat_at BIGINT,
    prompting BOOLEAN NOT NULL,
    stalled BOOLEAN NOT NULL,
    waiting_for_auth BOOLEAN NOT NULL,
    waiting_for_input BOOLEAN NOT NULL,
    settled_at BIGINT,
    attach_holder TEXT COLLATE "C",
    attach_expires_at BIGINT,
    announced_badge TEXT COLLATE "C",
    announced_health TEXT COLLATE "C",
    activity TEXT COLLATE "C"
) WITH (fillfactor = 50);

CREATE UNIQUE INDEX session_lease ON session_live (lease_hash) WHERE lease_hash IS NOT NULL;

CREATE TABLE session_label (
    session_id TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    value TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (session_id, key)
);

CREATE INDEX session_label_pair ON session_label (key, value, session_id);

CREATE TABLE session_transition (
    session_id TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    cause TEXT COLLATE "C" NOT NULL,
    by_whom TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (session_id, number)
);

-- Ids are never used again.
CREATE TABLE deleted_session (
    id TEXT COLLATE "C" PRIMARY KEY,
    at BIGINT NOT NULL
);

-- The last front place that was given away.
CREATE SEQUENCE session_front CACHE 1;

-- Exact numbers. The scope is a workspace, empty for ungrouped ones, or `*` for all. Writers append to
-- `session_count_delta`, so that they do not wait for each other; a fold adds deltas to the counts and deletes them,
-- and a read sums both in one snapshot.
CREATE TABLE session_count (
    scope TEXT COLLATE "C" NOT NULL,
    hidden BIGINT NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    type TEXT COLLATE "C" NOT NULL,
    agent TEXT COLLATE "C" NOT NULL,
    count BIGINT NOT NULL,
    PRIMARY KEY (scope, hidden, state, type, agent)
);

CREATE TABLE session_count_delta (
    number BIGINT GENERATED ALWAYS AS IDENTITY (CACHE 1) PRIMARY KEY,
    scope TEXT COLLATE "C" NOT NULL,
    hidden BIGINT NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    type TEXT COLLATE "C" NOT NULL,
    agent TEXT COLLATE "C" NOT NULL,
    count BIGINT NOT NULL
);

-- Every row of a workspace is read with its numbers, on a page a hundred at once, however many deltas wait.
CREATE INDEX session_count_delta_scope ON session_count_delta (scope);

-- When the sweep last ran.
CREATE TABLE session_sweep (
    one INT PRIMARY KEY CHECK (one = 1),
    ran_at BIGINT NOT NULL
);
