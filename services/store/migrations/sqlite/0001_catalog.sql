-- The catalog's first schema. Times are nanoseconds since 1970 in UTC. The Postgres twin of this file has
-- the same name and the same columns.

CREATE TABLE catalog (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    id TEXT NOT NULL,
    first_start_claimed INTEGER NOT NULL,
    -- A copy that was written by a backup and not opened since: it has to begin a new epoch.
    is_backup INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE catalog_key (
    number INTEGER PRIMARY KEY,
    key BLOB NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE change_head (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    epoch TEXT NOT NULL,
    head INTEGER NOT NULL,
    floor INTEGER NOT NULL
) STRICT;

CREATE TABLE change (
    position INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    op TEXT NOT NULL,
    reason TEXT NOT NULL,
    host_id TEXT NOT NULL,
    workspace_id TEXT,
    from_workspace_id TEXT,
    session_id TEXT,
    profile_id TEXT,
    internal INTEGER NOT NULL DEFAULT 0,
    version INTEGER NOT NULL,
    session_count INTEGER NOT NULL DEFAULT 0,
    at INTEGER NOT NULL
) STRICT;

CREATE TABLE workspace (
    id TEXT PRIMARY KEY,
    durable_id TEXT NOT NULL,
    host_id TEXT NOT NULL,
    root_dir TEXT NOT NULL,
    root_device INTEGER NOT NULL,
    root_inode INTEGER NOT NULL,
    additional_dirs TEXT NOT NULL,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    title TEXT NOT NULL,
    default_agent TEXT NOT NULL,
    is_default INTEGER NOT NULL,
    rank BLOB NOT NULL,
    search TEXT NOT NULL,
    version INTEGER NOT NULL,
    state_number INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX workspace_root ON workspace (host_id, root_dir);
CREATE UNIQUE INDEX workspace_name ON workspace (name_key);
CREATE INDEX workspace_file ON workspace (host_id, root_device, root_inode);
CREATE INDEX workspace_durable ON workspace (durable_id, id);
CREATE INDEX workspace_order ON workspace (rank, root_dir, id);
CREATE INDEX workspace_created ON workspace (created_at DESC, root_dir, id);
CREATE INDEX workspace_updated ON workspace (updated_at DESC, root_dir, id);

-- The last front place that was given away; new registrations go on from here.
CREATE TABLE workspace_front (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    number INTEGER NOT NULL
) STRICT;

INSERT INTO workspace_front (one, number) VALUES (1, 0);

CREATE TABLE workspace_observation (
    workspace_id TEXT PRIMARY KEY,
    status TEXT NOT NULL,
    missing_since INTEGER,
    observed_at INTEGER NOT NULL
) STRICT;

CREATE INDEX workspace_observation_status ON workspace_observation (status, missing_since);

CREATE TABLE observer_round (
    host_id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    begun_at INTEGER NOT NULL
) STRICT;

CREATE TABLE intent (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    host_id TEXT NOT NULL,
    owner TEXT NOT NULL,
    lease_until INTEGER NOT NULL,
    root_dir TEXT NOT NULL,
    content BLOB NOT NULL,
    makes_directory INTEGER NOT NULL,
    previous BLOB,
    created_at INTEGER NOT NULL
) STRICT;

-- Answers that a repeated request gets again.
CREATE TABLE request (
    principal TEXT NOT NULL,
    method TEXT NOT NULL,
    request_id TEXT NOT NULL,
    hash BLOB NOT NULL,
    answer BLOB,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (principal, method, request_id)
) STRICT;

CREATE INDEX request_created ON request (created_at);
