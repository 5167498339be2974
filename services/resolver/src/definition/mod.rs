//! Agents and skills: one file with a front matter each, read by one reader.

mod agent;
mod fields;
mod file;
mod hooks;
mod keys;
mod name;
mod servers;
mod skill;

use compozy_domain::{Diagnostic, Layer};

use crate::files::ContentHash;
use crate::mcp::McpServer;
use crate::value::Value;

pub use crate::front_matter::text_of;
pub use agent::read_agent;
pub use skill::read_skill;

/// Bytes of an `AGENT.md` or `SKILL.md` at most.
pub const DEFINITION_BYTES_MAX: usize = 1024 * 1024;
/// Characters of a description that are kept.
pub const DESCRIPTION_CHARS_MAX: usize = 1_024;

/// The file of an agent or skill, and what lies beside it, as found.
#[derive(Debug, Clone)]
pub struct Found {
    /// Its layer.
    pub layer: Layer,
    /// Absolute path of the file.
    pub path: String,
    /// Name of the directory that holds it.
    pub directory_name: String,
    /// Its content, or why it can't be read.
    pub content: Result<Vec<u8>, crate::files::ReadFault>,
    /// Path and content of the `mcp.json` beside it, if there is one.
    pub mcp: Option<(String, Result<Vec<u8>, crate::files::ReadFault>)>,
}

/// A definition that lost to another one of its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shadowed {
    /// Its layer.
    pub layer: Layer,
    /// Its file.
    pub path: String,
}

/// Permissions that an agent asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permissions {
    /// `deny-all`
    DenyAll,
    /// `approve-reads`
    ApproveReads,
    /// `approve-all`
    ApproveAll,
}

/// One agent. Its prompt is not kept, only what it is known again by.
#[derive(Debug, Clone, PartialEq)]
pub struct Agent {
    /// Name of the front matter, or of the directory if that can't be read.
    pub name: String,
    /// Name of the directory.
    pub directory_name: String,
    /// Its layer.
    pub layer: Layer,
    /// Its file.
    pub path: String,
    /// Whether it can be used: no diagnostic of its own file or sidecar is an error.
    pub usable: bool,
    /// At most [`DESCRIPTION_CHARS_MAX`] characters.
    pub description: String,
    /// Provider; empty if not set.
    pub provider: String,
    /// Command; empty if not set.
    pub command: String,
    /// Model; empty if not set.
    pub model: String,
    /// Reasoning effort; empty if not set.
    pub reasoning_effort: String,
    /// Tools.
    pub tools: Vec<String>,
    /// Tools that are denied.
    pub deny_tools: Vec<String>,
    /// Sets of tools.
    pub toolsets: Vec<String>,
    /// Permissions, if set.
    pub permissions: Option<Permissions>,
    /// `skills.disabled`.
    pub disabled_skills: Vec<String>,
    /// Groups.
    pub category_path: Vec<String>,
    /// Its own servers: inline ones, replaced by those of its `mcp.json` of the same name.
    pub mcp_servers: Vec<McpServer>,
    /// Hooks, as written.
    pub hooks: Vec<Value>,
    /// Hash of the prompt.
    pub prompt_hash: ContentHash,
    /// Bytes of the prompt.
    pub prompt_size: usize,
    /// Losers of its name, in the order in which they would have won.
    pub shadowed: Vec<Shadowed>,
    /// What is wrong with it.
    pub diagnostics: Vec<Diagnostic>,
}

/// One skill. Its text is not kept, only what it is known again by.
#[derive(Debug, Clone, PartialEq)]
pub struct Skill {
    /// Name of the front matter, or of the directory.
    pub name: String,
    /// Its tier.
    pub layer: Layer,
    /// Its file.
    pub path: String,
    /// Name of its source: compozy, agents, claude, or the base name of a custom one.
    pub source: String,
    /// Whether it can be used.
    pub usable: bool,
    /// At most [`DESCRIPTION_CHARS_MAX`] characters.
    pub description: String,
    /// Servers of its `mcp.json`.
    pub mcp_servers: Vec<McpServer>,
    /// Hash of the text.
    pub text_hash: ContentHash,
    /// Bytes of the text.
    pub text_size: usize,
    /// Losers of its name, in the order in which they would have won.
    pub shadowed: Vec<Shadowed>,
    /// What is wrong with it.
    pub diagnostics: Vec<Diagnostic>,
}
