-- Profiles, and which one is selected. The permanent profile `default` is no row; a selection of it is one.

CREATE TABLE profile (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    color TEXT NOT NULL,
    icon TEXT NOT NULL,
    state TEXT NOT NULL,
    version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX profile_name ON profile (name);

-- One row for each workspace that ever had a selection, and one with an empty workspace for everything else. A
-- forgotten selection keeps its row, with an empty profile, so that the version of the next one is a higher one.
CREATE TABLE profile_selection (
    workspace_id TEXT PRIMARY KEY,
    profile_id TEXT NOT NULL,
    version INTEGER NOT NULL
) STRICT;

CREATE INDEX profile_selection_profile ON profile_selection (profile_id, workspace_id);
