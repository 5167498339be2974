//! The tables that are known as a whole.

use super::{Layers, TableRule};

use Layers::{Every, NoProfile, UserOnly};

/// Every table that is known as a whole, sorted.
pub const TABLES: &[TableRule] = &[
    typed("agents", Every, "how agents are watched over"),
    opaque("attention", Every),
    typed("auth", UserOnly, "who may call"),
    opaque("automation", Every),
    typed("changes", UserOnly, "the change log"),
    opaque("cmd_palette", Every),
    typed("config", UserOnly, "how configuration is read"),
    typed("daemon", UserOnly, "the daemon's process"),
    typed("defaults", Every, "what sessions use when they name nothing"),
    opaque("extensions", Every),
    opaque("gateway", UserOnly),
    opaque("goals", Every),
    typed("grpc", UserOnly, "the gRPC interface"),
    typed("hooks", Every, "what runs on events"),
    typed("http", UserOnly, "the HTTP interface"),
    typed(
        "limits",
        Every,
        "bounds; the daemon takes those of the user's file",
    ),
    typed("log", UserOnly, "the daemon's log"),
    opaque("loops", Every),
    opaque("marketplace", UserOnly),
    opaque("mcp", Every),
    typed("mcp_servers", Every, "MCP servers"),
    opaque("memory", Every),
    typed("memory.global_dir", UserOnly, "memory that all workspaces share"),
    typed("memory.session", UserOnly, "what is kept of sessions"),
    typed("memory.workspace", Every, "what is kept of workspaces"),
    opaque("network", NoProfile),
    opaque("observability", NoProfile),
    typed("permissions", Every, "what agents may do"),
    typed("providers", Every, "providers of models, by name"),
    opaque("redact", Every),
    opaque("roles", Every),
    typed("sandboxes", NoProfile, "sandboxes, by name"),
    typed("session", Every, "how sessions run"),
    opaque("shell", UserOnly),
    typed("skills", Every, "where skills come from"),
    typed("store", UserOnly, "the catalog's store"),
    opaque("task", Every),
    typed("telemetry", UserOnly, "metrics"),
    opaque("tools", Every),
    opaque("window_manager", Every),
    typed("workspaces", UserOnly, "which directories may be workspaces"),
    opaque("worktrees", Every),
];

const fn typed(path: &'static str, layers: Layers, about: &'static str) -> TableRule {
    TableRule {
        path,
        layers,
        is_opaque: false,
        about,
    }
}

const fn opaque(path: &'static str, layers: Layers) -> TableRule {
    TableRule {
        path,
        layers,
        is_opaque: true,
        about: "belongs to another part of an installation: accepted and merged as it is",
    }
}
