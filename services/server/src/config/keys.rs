//! Every key that the daemon knows, in one table: it drives validation, and the nearest known key of an
//! unknown one.

/// What a value has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Any text.
    Text,
    /// true or false.
    Flag,
    /// A whole number in this range.
    Count(i64, i64),
    /// A span such as "20s", "168h" or "1h 30m".
    Span,
    /// A list of texts.
    Texts,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// `host:port`.
    Address,
    /// An absolute path; `~` and `$COMPOZY_HOME` in front expand.
    Path,
    /// A list of such paths.
    Paths,
}

const BIG: i64 = 1 << 53;

/// Typed keys.
pub(super) const KEYS: &[(&str, Kind)] = &[
    ("agents.heartbeat.session_health_stale_after", Kind::Span),
    ("auth.tokens_file", Kind::Path),
    ("changes.retain", Kind::Span),
    ("changes.retain_entries", Kind::Count(1, BIG)),
    ("config.unknown_keys", Kind::Choice(&["error", "warn"])),
    ("daemon.drain_timeout", Kind::Span),
    ("daemon.host_id", Kind::Text),
    ("daemon.socket", Kind::Path),
    ("defaults.agent", Kind::Text),
    ("defaults.provider", Kind::Text),
    ("grpc.connection_age", Kind::Span),
    ("grpc.connection_age_grace", Kind::Span),
    ("grpc.handshake_timeout", Kind::Span),
    ("grpc.keepalive_interval", Kind::Span),
    ("grpc.keepalive_timeout", Kind::Span),
    ("grpc.listen", Kind::Address),
    ("grpc.tls.cert", Kind::Path),
    ("grpc.tls.client_ca", Kind::Path),
    ("grpc.tls.key", Kind::Path),
    ("http.allowed_origins", Kind::Texts),
    ("http.host", Kind::Text),
    ("http.port", Kind::Count(0, 65_535)),
    ("limits.calls", Kind::Count(1, 1_000_000)),
    ("limits.calls_per_second", Kind::Count(0, 1_000_000)),
    ("limits.connections", Kind::Count(1, 1_000_000)),
    ("limits.handshakes", Kind::Count(1, 100_000)),
    ("limits.streams_per_connection", Kind::Count(1, 1_000_000)),
    ("limits.watchers", Kind::Count(1, 1_000_000)),
    ("log.keep", Kind::Count(1, 1_000)),
    ("log.level", Kind::Text),
    ("log.max_age", Kind::Span),
    ("log.max_bytes", Kind::Count(4_096, BIG)),
    ("log.stderr", Kind::Choice(&["auto", "text", "json", "none"])),
    ("memory.global_dir", Kind::Path),
    ("memory.session.events_purge_grace", Kind::Span),
    ("memory.session.ledger_root", Kind::Path),
    ("memory.session.ledger_root_shared", Kind::Flag),
    ("memory.session.unbound_partition", Kind::Text),
    ("memory.workspace.auto_create", Kind::Flag),
    ("permissions.mode", Kind::Text),
    ("session.runtime_ttl", Kind::Span),
    ("session.start_timeout", Kind::Span),
    ("store.durability", Kind::Choice(&["full", "normal"])),
    ("store.pooler", Kind::Choice(&["none", "transaction"])),
    ("store.url", Kind::Text),
    ("telemetry.listen", Kind::Address),
    ("workspaces.allowed_roots", Kind::Paths),
    ("workspaces.register_home", Kind::Flag),
];

/// Tables whose unknown keys belong to somebody else: other parts of an installation, or the layers that the
/// resolver reads and checks by itself.
pub(super) const OPEN_TABLES: &[&str] = &[
    "agents",
    "attention",
    "automation",
    "cmd_palette",
    "extensions",
    "gateway",
    "goals",
    "hooks",
    "loops",
    "marketplace",
    "mcp",
    "mcp_servers",
    "memory",
    "network",
    "observability",
    "providers",
    "redact",
    "roles",
    "sandboxes",
    "shell",
    "skills",
    "task",
    "tools",
    "window_manager",
    "worktrees",
];

/// Whether keys below this path are typed.
pub(super) fn is_typed_table(path: &str) -> bool {
    KEYS.iter()
        .any(|(key, _)| key.strip_prefix(path).is_some_and(|rest| rest.starts_with('.')))
}

/// The typed key of this path, with its table's own spelling.
pub(super) fn find(path: &str) -> Option<(&'static str, Kind)> {
    KEYS.iter().find(|(key, _)| *key == path).copied()
}

/// Whether an unknown key at this path is somebody else's: an open table itself, or a key right below one.
pub(super) fn is_open(path: &str) -> bool {
    let top = path.split('.').next().unwrap_or_default();
    let below_typed = path
        .rsplit_once('.')
        .is_some_and(|(parent, _)| parent != top && is_typed_table(parent));
    OPEN_TABLES.contains(&top) && !below_typed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_about_the_configuration_names_every_key() {
        let page = include_str!("../../../../docs/configuration.md");
        for (key, _) in KEYS {
            assert!(
                page.contains(&format!("`{key}")),
                "docs/configuration.md lacks {key}"
            );
        }
    }
}
