//! The typed keys.

use super::{DefaultValue, KeyRule, Kind, Merge, Secrecy};

use DefaultValue::{Count as Number, Flag as On, Text as Word, Texts as Words, Unset, Words as Depends};
use Kind::{
    Address, AgentName, Any, Choice, Count, Flag, HostId, Named, Path, Paths, ProviderName, SkillPaths,
    SkillSources, Span, SpanBetween, SpanOrSeconds, StoreUrl, Tables, Text, TextMap, Texts,
};

const BIG: i64 = 1 << 53;

/// Every typed key, sorted.
pub const KEYS: &[KeyRule] = &[
    row(
        "agents.heartbeat.session_health_stale_after",
        Span,
        Word("2m"),
        "silence after which a session counts as stale",
    ),
    row(
        "auth.tokens_file",
        Path,
        Unset,
        "tokens and certificates of callers, beside the home's own client.token",
    ),
    row("automation.jobs", Tables, Unset, "scheduled jobs").merge(Merge::Append),
    row("automation.triggers", Tables, Unset, "triggers of jobs").merge(Merge::Append),
    row(
        "changes.retain",
        Span,
        Word("168h"),
        "how long the change log is kept",
    ),
    row(
        "changes.retain_entries",
        Count(1, BIG),
        Number(1_000_000),
        "how many changes are kept, if that is less",
    ),
    row(
        "config.unknown_keys",
        Choice(&["error", "warn"]),
        Word("error"),
        "what unknown keys are, in any file",
    ),
    row(
        "daemon.drain_timeout",
        Span,
        Word("20s"),
        "how long an orderly end may take",
    ),
    row(
        "daemon.host_id",
        HostId,
        Depends("a ULID in host.toml"),
        "whose disk this daemon looks at; replicas that share one mount set the same, none looks at no disk",
    ),
    row(
        "daemon.socket",
        Path,
        Word("$COMPOZY_HOME/daemon.sock"),
        "the Unix socket; beyond 108 bytes it falls back to $XDG_RUNTIME_DIR",
    ),
    row(
        "defaults.agent",
        AgentName,
        Word("general"),
        "agent of a session that names none; the record of a workspace wins",
    ),
    row(
        "defaults.provider",
        ProviderName,
        Word(""),
        "provider of an agent that names none",
    ),
    row(
        "grpc.connection_age",
        Span,
        Word("1h"),
        "age at which a TCP connection is asked to come again",
    ),
    row(
        "grpc.connection_age_grace",
        Span,
        Word("60s"),
        "how long its streams may go on then",
    ),
    row(
        "grpc.handshake_timeout",
        Span,
        Word("10s"),
        "how long a TLS handshake may take",
    ),
    row(
        "grpc.keepalive_interval",
        Span,
        Word("60s"),
        "how often a silent connection is pinged",
    ),
    row(
        "grpc.keepalive_timeout",
        Span,
        Word("20s"),
        "how long the answer to a ping may take",
    ),
    row(
        "grpc.listen",
        Address,
        Unset,
        "answers on TCP too; --listen wins; beyond loopback TLS is required",
    ),
    row(
        "grpc.tls.cert",
        Path,
        Unset,
        "PEM chain, read again when it changes",
    ),
    row(
        "grpc.tls.client_ca",
        Path,
        Unset,
        "PEM authorities; with it every TCP client shows a certificate",
    ),
    row(
        "grpc.tls.key",
        Path,
        Unset,
        "PEM private key, read again when it changes",
    ),
    row(
        "hooks.declarations",
        Named,
        Unset,
        "commands that run on events of sessions",
    )
    .merge(Merge::ByNameReplace),
    row(
        "hooks.declarations.*.args",
        Texts,
        Unset,
        "arguments of the command",
    ),
    row(
        "hooks.declarations.*.async",
        Flag,
        Unset,
        "whether nobody waits for it",
    ),
    row("hooks.declarations.*.command", Text, Unset, "the program"),
    row("hooks.declarations.*.cwd", Text, Unset, "its working directory"),
    row("hooks.declarations.*.description", Text, Unset, "what it is for"),
    row("hooks.declarations.*.enabled", Flag, Unset, "whether it is on"),
    row("hooks.declarations.*.env", TextMap, Unset, "its environment").secrecy(Secrecy::ByName),
    row("hooks.declarations.*.event", Text, Unset, "when it runs"),
    row(
        "hooks.declarations.*.matcher",
        Any,
        Unset,
        "which tools or sessions it is for: a pattern, or a table of patterns",
    ),
    row(
        "hooks.declarations.*.mode",
        Choice(&["sync", "async"]),
        Unset,
        "whether its end is waited for",
    ),
    row(
        "hooks.declarations.*.priority",
        Count(-1_000_000, 1_000_000),
        Unset,
        "order among those of one event",
    ),
    row(
        "hooks.declarations.*.required",
        Flag,
        Unset,
        "whether its failure stops what it hooks into",
    ),
    row(
        "hooks.declarations.*.secret_env",
        TextMap,
        Unset,
        "environment whose values are secrets",
    )
    .secrecy(Secrecy::Always),
    row(
        "hooks.declarations.*.timeout",
        SpanOrSeconds,
        Unset,
        "how long it may take",
    ),
    row(
        "http.allowed_origins",
        Texts,
        Words(&[]),
        "origins of pages that may call",
    ),
    row("http.host", Text, Unset, "host for http.port; localhost if unset"),
    row(
        "http.port",
        Count(0, 65_535),
        Unset,
        "the same as grpc.listen, which wins",
    ),
    row(
        "limits.calls",
        Count(1, 1_000_000),
        Number(1_024),
        "calls at once, TCP and socket each",
    ),
    row(
        "limits.calls_per_second",
        Count(0, 1_000_000),
        Number(0),
        "calls a second of one caller; 0 is no bound",
    ),
    row(
        "limits.connections",
        Count(1, 1_000_000),
        Number(1_024),
        "connections of TCP and of the socket, each",
    ),
    row(
        "limits.handshakes",
        Count(1, 100_000),
        Number(64),
        "TLS handshakes at once",
    ),
    row(
        "limits.streams_per_connection",
        Count(1, 1_000_000),
        Number(256),
        "streams of one connection",
    ),
    row(
        "limits.watchers",
        Count(1, 1_000_000),
        Number(4_096),
        "watches at once, TCP and socket each",
    ),
    row(
        "log.keep",
        Count(1, 1_000),
        Number(8),
        "rotated files of logs/compozy.log that are kept",
    ),
    row(
        "log.level",
        Text,
        Word("info"),
        "error, warn, info, debug or trace, or directives such as info,compozy_store=debug",
    ),
    row(
        "log.max_age",
        Span,
        Word("168h"),
        "age at which the log is rotated",
    ),
    row(
        "log.max_bytes",
        Count(4_096, BIG),
        Number(32 * 1024 * 1024),
        "size at which the log is rotated",
    ),
    row(
        "log.stderr",
        Choice(&["auto", "text", "json", "none"]),
        Word("auto"),
        "what a foreground daemon writes to stderr; auto is text on a terminal only",
    ),
    row("mcp_servers", Named, Unset, "MCP servers").merge(Merge::ByNamePatch),
    row("mcp_servers.*.args", Texts, Unset, "arguments of the program"),
    row("mcp_servers.*.auth", Any, Unset, "how to authenticate").secrecy(Secrecy::Always),
    row(
        "mcp_servers.*.command",
        Text,
        Unset,
        "the program, for stdio; not beside a url",
    ),
    row("mcp_servers.*.cwd", Text, Unset, "its working directory"),
    row("mcp_servers.*.description", Text, Unset, "what it is for"),
    row(
        "mcp_servers.*.disabled",
        Flag,
        Unset,
        "whether it is switched off",
    ),
    row("mcp_servers.*.env", TextMap, Unset, "its environment").secrecy(Secrecy::ByName),
    row("mcp_servers.*.headers", TextMap, Unset, "headers of each request").secrecy(Secrecy::Always),
    row(
        "mcp_servers.*.secret_env",
        TextMap,
        Unset,
        "environment whose values are secrets",
    )
    .secrecy(Secrecy::Always),
    row(
        "mcp_servers.*.timeout",
        SpanOrSeconds,
        Unset,
        "how long it may take",
    ),
    row(
        "mcp_servers.*.transport",
        Choice(TRANSPORTS),
        Unset,
        "how to reach it; without it, by command or url",
    ),
    row(
        "mcp_servers.*.type",
        Choice(TRANSPORTS),
        Unset,
        "another name of transport",
    ),
    row(
        "mcp_servers.*.url",
        Text,
        Unset,
        "where it answers, for http and sse",
    ),
    row(
        "memory.global_dir",
        Path,
        Unset,
        "memory that all workspaces share",
    ),
    row(
        "memory.session.events_purge_grace",
        Span,
        Word("24h"),
        "how long the events of a removed session are kept",
    ),
    row(
        "memory.session.ledger_root",
        Path,
        Word("$COMPOZY_HOME/sessions"),
        "where ledgers lie",
    ),
    row(
        "memory.session.ledger_root_shared",
        Flag,
        On(false),
        "whether other hosts write there, too",
    ),
    row(
        "memory.session.unbound_partition",
        Text,
        Word("_unbound"),
        "directory of sessions without a workspace",
    ),
    row(
        "memory.workspace.auto_create",
        Flag,
        On(true),
        "registering makes the identity file of a directory that has none",
    ),
    row(
        "permissions.mode",
        Choice(&["deny-all", "approve-reads", "approve-all"]),
        Word("approve-all"),
        "what an agent may do without asking",
    ),
    row("providers.*.args", Texts, Unset, "arguments of the command"),
    row(
        "providers.*.auth_mode",
        Text,
        Unset,
        "how the command gets its credentials",
    ),
    row("providers.*.base_url", Text, Unset, "where its API answers"),
    row(
        "providers.*.command",
        Text,
        Unset,
        "the program that speaks for it",
    ),
    row("providers.*.default_model", Text, Unset, "another name of model"),
    row("providers.*.description", Text, Unset, "what it is for"),
    row("providers.*.disabled", Flag, Unset, "whether it is switched off"),
    row("providers.*.display_name", Text, Unset, "what people see"),
    row("providers.*.env", TextMap, Unset, "its environment").secrecy(Secrecy::ByName),
    row(
        "providers.*.env_policy",
        Text,
        Unset,
        "what of the daemon's environment it gets",
    ),
    row(
        "providers.*.home_policy",
        Choice(&["operator", "isolated"]),
        Word("operator"),
        "isolated gives it a home of its own below $COMPOZY_HOME/providers",
    ),
    row(
        "providers.*.model",
        Text,
        Unset,
        "its model, where an agent names none",
    ),
    row("providers.*.models", Texts, Unset, "models that it has"),
    row(
        "providers.*.reasoning_effort",
        Text,
        Unset,
        "reasoning effort, where an agent names none",
    ),
    row(
        "providers.*.secret_env",
        TextMap,
        Unset,
        "environment whose values are secrets",
    )
    .secrecy(Secrecy::Always),
    row(
        "providers.*.timeout",
        SpanOrSeconds,
        Unset,
        "how long an answer may take",
    ),
    row(
        "sandboxes.*.allowed_domains",
        Texts,
        Unset,
        "hosts that it may reach",
    ),
    row("sandboxes.*.args", Texts, Unset, "arguments of the command"),
    row(
        "sandboxes.*.backend",
        Text,
        Unset,
        "what runs it, such as docker or bubblewrap",
    ),
    row("sandboxes.*.command", Text, Unset, "the program that sets it up"),
    row(
        "sandboxes.*.cpus",
        Count(1, 4_096),
        Unset,
        "processors that it may use",
    ),
    row("sandboxes.*.description", Text, Unset, "what it is for"),
    row("sandboxes.*.disabled", Flag, Unset, "whether it is switched off"),
    row("sandboxes.*.env", TextMap, Unset, "its environment").secrecy(Secrecy::ByName),
    row("sandboxes.*.image", Text, Unset, "its image"),
    row(
        "sandboxes.*.memory",
        Text,
        Unset,
        "memory that it may use, such as 2GiB",
    ),
    row("sandboxes.*.mounts", Texts, Unset, "directories that it sees"),
    row(
        "sandboxes.*.network",
        Any,
        Unset,
        "its network, such as none or host",
    ),
    row(
        "sandboxes.*.read_only",
        Flag,
        Unset,
        "whether it may write nothing",
    ),
    row(
        "sandboxes.*.secret_env",
        TextMap,
        Unset,
        "environment whose values are secrets",
    )
    .secrecy(Secrecy::Always),
    row(
        "sandboxes.*.timeout",
        SpanOrSeconds,
        Unset,
        "how long it may live",
    ),
    row("sandboxes.*.workdir", Text, Unset, "its working directory"),
    row(
        "sandboxes.*.writable_paths",
        Texts,
        Unset,
        "directories that it may write to",
    ),
    row(
        "session.runtime_ttl",
        SpanBetween("1s", "1h"),
        Word("30s"),
        "silence after which a runtime has lost its session",
    ),
    row(
        "session.start_timeout",
        Span,
        Word("60s"),
        "how long an agent may take to start",
    ),
    row(
        "skills.custom_sources",
        SkillPaths,
        Words(&[]),
        "more directories of skills: absolute or with ~/, in a workspace's files also relative to its root",
    ),
    row(
        "skills.disabled_skills",
        Texts,
        Words(&[]),
        "names of skills that are hidden",
    ),
    row(
        "skills.sources",
        SkillSources,
        Words(&["agents"]),
        "agents for .agents/skills, claude for .claude/skills; Compozy's own are always read",
    ),
    row(
        "store.durability",
        Choice(&["full", "normal"]),
        Word("full"),
        "SQLite: full survives loss of power, normal a killed process only",
    ),
    row(
        "store.pooler",
        Choice(&["none", "transaction"]),
        Word("none"),
        "transaction behind PgBouncer, whatever its mode",
    ),
    row(
        "store.url",
        StoreUrl,
        Word("sqlite://$COMPOZY_HOME/compozy.db"),
        "where the catalog lies: sqlite:///path or postgres://...; COMPOZY_STORE_URL wins",
    ),
    row(
        "telemetry.listen",
        Address,
        Unset,
        "/metrics for Prometheus, and health without token or TLS for probes",
    ),
    row(
        "workspaces.allowed_roots",
        Paths,
        Words(&[]),
        "directories below which callers may name paths; empty allows all on the socket, nothing over TCP",
    ),
    row(
        "workspaces.register_home",
        Flag,
        Depends("true on SQLite, false on Postgres"),
        "the first start registers the operator's home directory",
    ),
];

/// As they are found in the wild.
const TRANSPORTS: &[&str] = &[
    "stdio",
    "http",
    "sse",
    "streamable-http",
    "streamable_http",
    "streamableHttp",
];

const fn row(key: &'static str, kind: Kind, default: DefaultValue, about: &'static str) -> KeyRule {
    let merge = match kind {
        TextMap | Any => Merge::ByKey,
        _ => Merge::Replace,
    };
    let secrecy = match kind {
        Any | Tables => Secrecy::Content,
        _ => Secrecy::Open,
    };
    KeyRule {
        key,
        kind,
        default,
        merge,
        secrecy,
        about,
    }
}

impl KeyRule {
    const fn merge(self, merge: Merge) -> Self {
        Self { merge, ..self }
    }

    const fn secrecy(self, secrecy: Secrecy) -> Self {
        Self { secrecy, ..self }
    }
}
