-- What the epoch of the change log was made on, as in the Postgres twin of this file. Always empty here: a copy of
-- the file says so itself (catalog.is_backup).

ALTER TABLE change_head ADD COLUMN made_on TEXT NOT NULL DEFAULT '';
