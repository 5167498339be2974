//! The names of contents. Made of what is shown, so that no secret is in them; of nothing that depends on the time
//! or the process, so that they survive a restart.

use std::borrow::Borrow;
use std::fmt::Write as _;

use compozy_domain::{Diagnostic, Layer};
use sha2::{Digest, Sha256};

use super::Snapshot;
use crate::config::{Leaf, Origin, secrets};
use crate::definition::{Agent, Permissions, Shadowed, Skill};
use crate::files::ContentHash;
use crate::mcp::{McpServer, Transport};
use crate::scan::SkillSource;
use crate::value::{Table, Value};

/// Rises whenever the same content would get another name.
const FORMAT: &str = "compozy snapshot 1";
/// Bytes that are gathered before they are hashed.
const GATHERED: usize = 32 * 1024;

/// The hash of everything in a snapshot but the skills that it offers: these depend on the agent.
pub(super) fn of_content(snapshot: &Snapshot) -> ContentHash {
    let Snapshot {
        root,
        root_stamp: _,
        config,
        agents,
        skills: _,
        agent_skills: _,
        sources,
        diagnostics,
        truncated,
        resolved_at: _,
        content_hash: _,
        fingerprint: _,
    } = snapshot;
    let mut fields = Fields::new();
    fields.text(root);
    fields.table(&config.shown());
    fields.list(config.leaves(), Fields::leaf);
    fields.list(config.servers(), Fields::server);
    fields.list(agents, Fields::agent);
    fields.list(sources, Fields::source);
    fields.list(diagnostics, Fields::diagnostic);
    fields.flag(*truncated);
    fields.hash()
}

/// The fingerprint of a content, as an agent (empty: none in particular) with these skills sees it.
pub(super) fn of_skills<S: Borrow<Skill>>(content: ContentHash, agent: &str, skills: &[S]) -> String {
    let mut fields = Fields::new();
    fields.bytes(content.as_bytes());
    fields.text(agent);
    fields.list(skills, |fields, skill| fields.skill(skill.borrow()));
    let mut text = String::with_capacity(64);
    for byte in fields.hash().as_bytes() {
        // Writing to a String can't fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Fields one after the other, each with its length, so that no two contents are written in the same way.
struct Fields {
    hasher: Sha256,
    gathered: Vec<u8>,
}

impl Fields {
    fn new() -> Self {
        let mut fields = Self {
            hasher: Sha256::new(),
            gathered: Vec::with_capacity(GATHERED),
        };
        fields.text(FORMAT);
        fields
    }

    fn hash(mut self) -> ContentHash {
        self.hasher.update(&self.gathered);
        ContentHash::from_bytes(self.hasher.finalize().into())
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.size(bytes.len());
        if self.gathered.len() + bytes.len() > GATHERED {
            self.hasher.update(&self.gathered);
            self.gathered.clear();
        }
        self.gathered.extend_from_slice(bytes);
    }

    fn size(&mut self, size: usize) {
        self.gathered.extend_from_slice(&(size as u64).to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    fn flag(&mut self, flag: bool) {
        self.gathered.push(u8::from(flag));
    }

    fn number(&mut self, number: Option<u32>) {
        self.size(number.map_or(usize::MAX, |number| number as usize));
    }

    fn list<T>(&mut self, items: &[T], write: impl Fn(&mut Self, &T)) {
        self.size(items.len());
        for item in items {
            write(self, item);
        }
    }

    fn texts(&mut self, texts: &[String]) {
        self.list(texts, |fields, text| fields.text(text));
    }

    fn optional(&mut self, text: Option<&str>) {
        self.flag(text.is_some());
        self.text(text.unwrap_or_default());
    }

    fn table(&mut self, table: &Table) {
        self.size(table.len());
        for (key, value) in table {
            self.text(key);
            self.value(value);
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Text(text) => {
                self.gathered.push(0);
                self.text(text);
            }
            Value::Integer(number) => {
                self.gathered.push(1);
                self.gathered.extend_from_slice(&number.to_le_bytes());
            }
            Value::Float(number) => {
                self.gathered.push(2);
                self.gathered.extend_from_slice(&number.to_bits().to_le_bytes());
            }
            Value::Flag(flag) => {
                self.gathered.push(3);
                self.flag(*flag);
            }
            Value::Time(text) => {
                self.gathered.push(4);
                self.text(text);
            }
            Value::List(items) => {
                self.gathered.push(5);
                self.list(items, Self::value);
            }
            Value::Table(table) => {
                self.gathered.push(6);
                self.table(table);
            }
        }
    }

    fn leaf(&mut self, leaf: &Leaf) {
        self.text(&leaf.key);
        self.value(&leaf.shown());
        self.flag(leaf.is_secret);
        self.origin(&leaf.winner);
        self.list(&leaf.shown_losers(), |fields, (origin, value)| {
            fields.origin(origin);
            fields.value(value);
        });
    }

    fn origin(&mut self, origin: &Origin) {
        let Origin {
            layer,
            path,
            line,
            column,
        } = origin;
        self.text(layer.as_str());
        self.optional(path.as_deref());
        self.number(*line);
        self.number(*column);
    }

    fn server(&mut self, server: &McpServer) {
        let McpServer {
            name,
            transport,
            command,
            args,
            env,
            secret_env,
            cwd,
            url,
            headers,
            auth,
            timeout,
            disabled,
            description,
            other,
            origin,
        } = server.shown();
        self.text(&name);
        self.text(match transport {
            Transport::Stdio => "stdio",
            Transport::Http => "http",
            Transport::Sse => "sse",
            Transport::Url => "url",
        });
        self.text(&command);
        self.texts(&args);
        for map in [&env, &secret_env, &headers] {
            self.size(map.len());
            for (key, value) in map {
                self.text(key);
                self.text(value);
            }
        }
        for text in [&cwd, &url, &timeout, &description] {
            self.text(text);
        }
        self.flag(auth.is_some());
        if let Some(auth) = &auth {
            self.value(auth);
        }
        self.flag(disabled);
        self.table(&other);
        self.origin(&origin);
    }

    fn agent(&mut self, agent: &Agent) {
        let Agent {
            name,
            directory_name,
            layer,
            path,
            usable,
            description,
            provider,
            command,
            model,
            reasoning_effort,
            tools,
            deny_tools,
            toolsets,
            permissions,
            disabled_skills,
            category_path,
            mcp_servers,
            hooks,
            prompt_hash,
            prompt_size,
            shadowed,
            diagnostics,
        } = agent;
        self.text(layer.as_str());
        for text in [
            name,
            directory_name,
            path,
            description,
            provider,
            command,
            model,
            reasoning_effort,
        ] {
            self.text(text);
        }
        self.flag(*usable);
        for texts in [tools, deny_tools, toolsets, disabled_skills, category_path] {
            self.texts(texts);
        }
        self.text(match permissions {
            None => "",
            Some(Permissions::DenyAll) => "deny-all",
            Some(Permissions::ApproveReads) => "approve-reads",
            Some(Permissions::ApproveAll) => "approve-all",
        });
        self.list(mcp_servers, Self::server);
        self.list(hooks, |fields, hook| {
            fields.value(&secrets::shown(&["hook"], hook));
        });
        self.bytes(prompt_hash.as_bytes());
        self.size(*prompt_size);
        self.list(shadowed, Self::shadowed);
        self.list(diagnostics, Self::diagnostic);
    }

    fn skill(&mut self, skill: &Skill) {
        let Skill {
            name,
            layer,
            path,
            source,
            usable,
            description,
            mcp_servers,
            text_hash,
            text_size,
            shadowed,
            diagnostics,
        } = skill;
        self.text(layer.as_str());
        for text in [name, path, source, description] {
            self.text(text);
        }
        self.flag(*usable);
        self.list(mcp_servers, Self::server);
        self.bytes(text_hash.as_bytes());
        self.size(*text_size);
        self.list(shadowed, Self::shadowed);
        self.list(diagnostics, Self::diagnostic);
    }

    fn shadowed(&mut self, shadowed: &Shadowed) {
        let Shadowed { layer, path } = shadowed;
        self.text(layer.as_str());
        self.text(path);
    }

    fn source(&mut self, source: &SkillSource) {
        let SkillSource {
            name,
            layer,
            path,
            readable,
            truncated,
            skill_count,
        } = source;
        self.text(layer.as_str());
        self.text(name);
        self.text(path);
        self.flag(*readable);
        self.flag(*truncated);
        self.size(*skill_count);
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic) {
        let Diagnostic {
            path,
            line,
            column,
            code,
            severity,
            layer,
            key,
            profile,
            message,
            remedy,
        } = diagnostic;
        self.text(path);
        self.number(*line);
        self.number(*column);
        self.text(code);
        self.text(severity.as_str());
        self.optional(layer.map(Layer::as_str));
        self.optional(key.as_deref());
        self.optional(profile.as_deref());
        self.text(message);
        self.text(remedy);
    }
}
