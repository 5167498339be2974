-- What the epoch of the change log was made on: the server's identity and its timeline. After a failover, or on
-- another server, the log may lack what a reader has seen, and begins a new epoch. Empty: not known yet.

ALTER TABLE change_head ADD COLUMN made_on TEXT COLLATE "C" NOT NULL DEFAULT '';
