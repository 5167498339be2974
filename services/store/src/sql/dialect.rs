//! Each real difference between the engines, with its reason.

/// The engine that a statement is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}

impl Dialect {
    /// Locks the selected rows. SQLite has one writer, which holds the only lock there is.
    pub(crate) const fn for_update(self) -> &'static str {
        match self {
            Self::Sqlite => "",
            Self::Postgres => " FOR UPDATE",
        }
    }

    /// Keeps the selected rows from being changed or removed by those who lock them with [`Self::for_update`], while
    /// others may do the same. SQLite has one writer.
    pub(crate) const fn for_key_share(self) -> &'static str {
        match self {
            Self::Sqlite => "",
            Self::Postgres => " FOR KEY SHARE",
        }
    }

    /// Whether a text holds a substring, literally. The functions have different names.
    pub(crate) fn contains(self, text: &str, part: &str) -> String {
        match self {
            Self::Sqlite => format!("instr({text}, {part}) > 0"),
            Self::Postgres => format!("strpos({text}, {part}) > 0"),
        }
    }

    /// Texts of a group, joined by commas in no particular order. The functions have different names.
    pub(crate) fn join_texts(self, text: &str) -> String {
        match self {
            Self::Sqlite => format!("group_concat({text}, ',')"),
            Self::Postgres => format!("string_agg({text}, ',')"),
        }
    }

    /// Draws the next front place. Postgres draws from a sequence, so that registrations do not wait for
    /// each other; SQLite has none.
    pub(crate) const fn next_front(self) -> &'static str {
        match self {
            Self::Sqlite => "UPDATE workspace_front SET number = number + 1 WHERE one = 1 RETURNING number",
            Self::Postgres => "SELECT nextval('workspace_front')",
        }
    }

    /// Draws the next front place of an account, as [`Self::next_front`] does for workspaces.
    pub(crate) const fn next_session_front(self) -> &'static str {
        match self {
            Self::Sqlite => "UPDATE session_front SET number = number + 1 WHERE one = 1 RETURNING number",
            Self::Postgres => "SELECT nextval('session_front')",
        }
    }

    /// Serialises moves in the order of workspaces, whose rows they do not share. SQLite has one writer.
    pub(crate) const fn lock_order(self) -> Option<&'static str> {
        match self {
            Self::Sqlite => None,
            Self::Postgres => Some("SELECT pg_advisory_xact_lock(7022364301936337) IS NULL"),
        }
    }

    /// Serialises moves within the account of a workspace, whose rows they do not share. SQLite has one writer.
    pub(crate) const fn lock_account(self) -> Option<&'static str> {
        match self {
            Self::Sqlite => None,
            Self::Postgres => {
                Some("SELECT pg_advisory_xact_lock(hashtextextended($1, 7022364301936341)) IS NULL")
            }
        }
    }

    /// Serialises the search for the first free number behind a name, so that many who derive one name do not
    /// all try the same number. SQLite has one writer.
    pub(crate) const fn lock_derived_name(self) -> Option<&'static str> {
        match self {
            Self::Sqlite => None,
            Self::Postgres => {
                Some("SELECT pg_advisory_xact_lock(hashtextextended($1, 7022364301936339)) IS NULL")
            }
        }
    }

    /// The instant by the catalog's clock: an expression of its own, or the bound one. Processes on one Postgres have
    /// clocks of their own, the server has one; of a file one process has the only clock.
    pub(crate) const fn instant(self, bound: &'static str) -> &'static str {
        match self {
            Self::Sqlite => bound,
            Self::Postgres => "(SELECT catalog_now())",
        }
    }

    /// Number of committed entries without a position, and for how many nanoseconds the oldest has waited, as a table
    /// of one row. One scan of both: while a transaction is open elsewhere the table also holds all entries that have
    /// left it since. SQLite numbers inside the write.
    pub(crate) const fn pending_state(self) -> &'static str {
        match self {
            Self::Sqlite => "(SELECT 0 AS count, 0 AS lag)",
            Self::Postgres => {
                "(SELECT COUNT(*) AS count, \
                 COALESCE((SELECT catalog_now()) - MIN(at), 0) AS lag \
                 FROM change_pending)"
            }
        }
    }

    /// Lets the server end the transaction soon if the process is stopped in the midst of it: it holds what every
    /// other process needs. A file is served by one process.
    pub(crate) const fn give_up_when_stopped(self) -> Option<&'static str> {
        match self {
            Self::Sqlite => None,
            Self::Postgres => Some("SELECT set_config('idle_in_transaction_session_timeout', '2000', TRUE)"),
        }
    }

    /// Number of committed entries without a position. SQLite numbers inside the write.
    pub(crate) const fn pending_count(self) -> &'static str {
        match self {
            Self::Sqlite => "0",
            Self::Postgres => "(SELECT COUNT(*) FROM change_pending)",
        }
    }
}
