-- Sessions: their records, what is known of live ones, accounts, kept counts, search. Times are nanoseconds since
-- 1970 in UTC. The Postgres twin of this file has the same name and the same columns.

-- The folded name, for queries of sessions; a release fills it when it opens the catalog to serve.
ALTER TABLE workspace ADD COLUMN name_search TEXT NOT NULL DEFAULT '';
CREATE INDEX workspace_name_search ON workspace (name_search, id);

CREATE TABLE session (
    -- Names the row in the index of texts; means nothing outside of this file.
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    host_id TEXT NOT NULL,
    -- Empty when ungrouped.
    workspace_id TEXT NOT NULL,
    cwd TEXT NOT NULL,
    -- The canonical directory: relative to the root of the workspace, or absolute when ungrouped.
    place TEXT NOT NULL,
    -- Empty when ungrouped.
    rank BLOB NOT NULL,
    name TEXT NOT NULL,
    agent TEXT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    type TEXT NOT NULL,
    -- 0 in the lists, 1 archived, 2 internal, 3 both.
    hidden INTEGER NOT NULL,
    state TEXT NOT NULL,
    state_at INTEGER NOT NULL,
    runtime TEXT NOT NULL,
    runtime_holder TEXT NOT NULL,
    generation INTEGER NOT NULL,
    stop TEXT,
    -- Kind of the failure in `stop`, or empty.
    failure TEXT NOT NULL,
    parent_id TEXT,
    root_id TEXT NOT NULL,
    depth INTEGER NOT NULL,
    spawn_role TEXT NOT NULL,
    permission_mode TEXT NOT NULL,
    profile_id TEXT NOT NULL,
    archived_at INTEGER,
    activity TEXT,
    active_at INTEGER NOT NULL,
    finished_lease BLOB,
    start_cause TEXT NOT NULL,
    start_by TEXT NOT NULL,
    snapshot_fingerprint TEXT NOT NULL,
    labels TEXT NOT NULL,
    origin TEXT NOT NULL,
    origin_id TEXT NOT NULL,
    has_files INTEGER NOT NULL,
    event_count INTEGER NOT NULL,
    last_sequence INTEGER NOT NULL,
    ledger TEXT,
    attention INTEGER NOT NULL,
    attention_at INTEGER NOT NULL,
    -- Folded id, name, agent and provider.
    search TEXT NOT NULL,
    version INTEGER NOT NULL,
    state_number INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

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

-- What is known of a session only while it is live. No index on what a heartbeat changes.
CREATE TABLE session_live (
    session_id TEXT PRIMARY KEY,
    lease_hash BLOB,
    lease_ttl INTEGER,
    lease_expires_at INTEGER,
    lease_bound_at INTEGER,
    heartbeat_at INTEGER,
    prompting INTEGER NOT NULL,
    stalled INTEGER NOT NULL,
    waiting_for_auth INTEGER NOT NULL,
    waiting_for_input INTEGER NOT NULL,
    settled_at INTEGER,
    attach_holder TEXT,
    attach_expires_at INTEGER,
    announced_badge TEXT,
    announced_health TEXT,
    activity TEXT
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX session_lease ON session_live (lease_hash) WHERE lease_hash IS NOT NULL;

CREATE TABLE session_label (
    session_id TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (session_id, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX session_label_pair ON session_label (key, value, session_id);

CREATE TABLE session_transition (
    session_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    state TEXT NOT NULL,
    at INTEGER NOT NULL,
    cause TEXT NOT NULL,
    by_whom TEXT NOT NULL,
    PRIMARY KEY (session_id, number)
) STRICT, WITHOUT ROWID;

-- Ids are never used again.
CREATE TABLE deleted_session (
    id TEXT PRIMARY KEY,
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The last front place that was given away.
CREATE TABLE session_front (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    number INTEGER NOT NULL
) STRICT;

INSERT INTO session_front (one, number) VALUES (1, 0);

-- Exact numbers, kept in the transaction of each change. The scope is a workspace, empty for ungrouped ones, or `*`
-- for all.
CREATE TABLE session_count (
    scope TEXT NOT NULL,
    hidden INTEGER NOT NULL,
    state TEXT NOT NULL,
    type TEXT NOT NULL,
    agent TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (scope, hidden, state, type, agent)
) STRICT, WITHOUT ROWID;

-- When the sweep last ran.
CREATE TABLE session_sweep (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    ran_at INTEGER NOT NULL
) STRICT;

-- Trigrams of `session.search`, by `session.number`.
CREATE VIRTUAL TABLE session_search USING fts5(
    search, content = '', contentless_delete = 1, detail = full, tokenize = 'trigram case_sensitive 1'
);
