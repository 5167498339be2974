-- What the epoch of the change log was made on: while it is served with durability = normal, the running system,
-- which may take the last commits along when it ends. Otherwise empty.

ALTER TABLE change_head ADD COLUMN made_on TEXT NOT NULL DEFAULT '';
