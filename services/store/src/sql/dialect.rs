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

    /// Serialises moves in the order of workspaces, whose rows they do not share. SQLite has one writer.
    pub(crate) const fn lock_order(self) -> Option<&'static str> {
        match self {
            Self::Sqlite => None,
            Self::Postgres => Some("SELECT pg_advisory_xact_lock(7022364301936337) IS NULL"),
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

    /// Number of committed entries without a position. SQLite numbers inside the write.
    pub(crate) const fn pending_count(self) -> &'static str {
        match self {
            Self::Sqlite => "0",
            Self::Postgres => "(SELECT COUNT(*) FROM change_pending)",
        }
    }
}
