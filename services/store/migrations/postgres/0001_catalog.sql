-- The catalog's first schema. Times are nanoseconds since 1970 in UTC. The SQLite twin of this file has
-- the same name and the same columns. Text compares by bytes, so that both engines agree.

CREATE TABLE catalog (
    one INT PRIMARY KEY CHECK (one = 1),
    id TEXT COLLATE "C" NOT NULL,
    first_start_claimed BOOLEAN NOT NULL,
    -- A copy that was written by a backup and not opened since: it has to begin a new epoch.
    is_backup BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE catalog_key (
    number BIGINT PRIMARY KEY,
    key BYTEA NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE change_head (
    one INT PRIMARY KEY CHECK (one = 1),
    epoch TEXT COLLATE "C" NOT NULL,
    head BIGINT NOT NULL,
    floor BIGINT NOT NULL
);

CREATE TABLE change (
    position BIGINT PRIMARY KEY,
    kind TEXT COLLATE "C" NOT NULL,
    op TEXT COLLATE "C" NOT NULL,
    reason TEXT COLLATE "C" NOT NULL,
    host_id TEXT COLLATE "C" NOT NULL,
    workspace_id TEXT COLLATE "C",
    from_workspace_id TEXT COLLATE "C",
    session_id TEXT COLLATE "C",
    profile_id TEXT COLLATE "C",
    internal BOOLEAN NOT NULL DEFAULT FALSE,
    version BIGINT NOT NULL,
    session_count BIGINT NOT NULL DEFAULT 0,
    at BIGINT NOT NULL
);

-- Entries that are committed and have no position yet. The number is drawn after the writer's row locks, so
-- that two transactions on one row are in the order of their commits.
CREATE SEQUENCE change_sequence CACHE 1;

CREATE TABLE change_pending (
    seq BIGINT PRIMARY KEY DEFAULT nextval('change_sequence'),
    kind TEXT COLLATE "C" NOT NULL,
    op TEXT COLLATE "C" NOT NULL,
    reason TEXT COLLATE "C" NOT NULL,
    host_id TEXT COLLATE "C" NOT NULL,
    workspace_id TEXT COLLATE "C",
    from_workspace_id TEXT COLLATE "C",
    session_id TEXT COLLATE "C",
    profile_id TEXT COLLATE "C",
    internal BOOLEAN NOT NULL DEFAULT FALSE,
    version BIGINT NOT NULL,
    session_count BIGINT NOT NULL DEFAULT 0,
    at BIGINT NOT NULL
);

CREATE TABLE workspace (
    id TEXT COLLATE "C" PRIMARY KEY,
    durable_id TEXT COLLATE "C" NOT NULL,
    host_id TEXT COLLATE "C" NOT NULL,
    root_dir TEXT COLLATE "C" NOT NULL,
    root_device BIGINT NOT NULL,
    root_inode BIGINT NOT NULL,
    additional_dirs TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    name_key TEXT COLLATE "C" NOT NULL,
    title TEXT COLLATE "C" NOT NULL,
    default_agent TEXT COLLATE "C" NOT NULL,
    is_default BOOLEAN NOT NULL,
    rank BYTEA NOT NULL,
    search TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    state_number BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

CREATE UNIQUE INDEX workspace_root ON workspace (host_id, root_dir);
CREATE UNIQUE INDEX workspace_name ON workspace (name_key);
CREATE INDEX workspace_file ON workspace (host_id, root_device, root_inode);
CREATE INDEX workspace_durable ON workspace (durable_id, id);
CREATE INDEX workspace_order ON workspace (rank, root_dir, id);
CREATE INDEX workspace_created ON workspace (created_at DESC, root_dir, id);
CREATE INDEX workspace_updated ON workspace (updated_at DESC, root_dir, id);

-- The front places given away; new registrations go on from here. No transaction waits for another one.
CREATE SEQUENCE workspace_front CACHE 1;

CREATE TABLE workspace_observation (
    workspace_id TEXT COLLATE "C" PRIMARY KEY,
    status TEXT COLLATE "C" NOT NULL,
    missing_since BIGINT,
    observed_at BIGINT NOT NULL
);

CREATE INDEX workspace_observation_status ON workspace_observation (status, missing_since);

CREATE TABLE observer_round (
    host_id TEXT COLLATE "C" PRIMARY KEY,
    owner TEXT COLLATE "C" NOT NULL,
    begun_at BIGINT NOT NULL
);

CREATE TABLE intent (
    id TEXT COLLATE "C" PRIMARY KEY,
    kind TEXT COLLATE "C" NOT NULL,
    host_id TEXT COLLATE "C" NOT NULL,
    owner TEXT COLLATE "C" NOT NULL,
    lease_until BIGINT NOT NULL,
    root_dir TEXT COLLATE "C" NOT NULL,
    content BYTEA NOT NULL,
    makes_directory BOOLEAN NOT NULL,
    previous BYTEA,
    created_at BIGINT NOT NULL
);

-- Answers that a repeated request gets again.
CREATE TABLE request (
    principal TEXT COLLATE "C" NOT NULL,
    method TEXT COLLATE "C" NOT NULL,
    request_id TEXT COLLATE "C" NOT NULL,
    hash BYTEA NOT NULL,
    answer BYTEA,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (principal, method, request_id)
);

CREATE INDEX request_created ON request (created_at);
