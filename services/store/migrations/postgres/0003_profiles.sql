-- Profiles, and which one is selected. The permanent profile `default` is no row; a selection of it is one.

CREATE TABLE profile (
    id TEXT COLLATE "C" PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL,
    color TEXT COLLATE "C" NOT NULL,
    icon TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

CREATE UNIQUE INDEX profile_name ON profile (name);

-- One row for each workspace that ever had a selection, and one with an empty workspace for everything else. A
-- forgotten selection keeps its row, with an empty profile, so that the version of the next one is a higher one.
CREATE TABLE profile_selection (
    workspace_id TEXT COLLATE "C" PRIMARY KEY,
    profile_id TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL
);

CREATE INDEX profile_selection_profile ON profile_selection (profile_id, workspace_id);
