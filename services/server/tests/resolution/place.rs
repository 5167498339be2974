//! What cases put into directories, and what they look for in a snapshot.

use std::fs;
use std::path::Path;

use compozy_proto::workspace::v1 as pb;
use prost_types::value::Kind;
use prost_types::{Struct, Value};

use crate::client::Outcome;
use crate::requests::resolve;
use crate::world::World;

/// Writes a file, with the directories that it lies in.
pub(crate) fn write(path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
    let path = path.as_ref();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// Writes `.compozy/config.toml` of a root.
pub(crate) fn config(root: &str, text: &str) -> String {
    let path = format!("{root}/.compozy/config.toml");
    write(&path, text);
    path
}

/// Writes an agent below a base, such as the `.compozy` of a root, and answers its file.
pub(crate) fn agent(base: &str, name: &str, prompt: &str) -> String {
    let path = format!("{base}/agents/{name}/AGENT.md");
    write(
        &path,
        format!("---\nname: {name}\ndescription: about {name}\n---\n{prompt}"),
    );
    path
}

/// Writes a skill below a base, and answers its file.
pub(crate) fn skill(base: &str, name: &str, text: &str) -> String {
    let path = format!("{base}/skills/{name}/SKILL.md");
    write(
        &path,
        format!("---\nname: {name}\ndescription: about {name}\n---\n{text}"),
    );
    path
}

/// A value of a tree by its dotted key.
pub(crate) fn at(tree: &Struct, key: &str) -> Option<Kind> {
    let mut parts = key.split('.');
    let mut value: &Value = tree.fields.get(parts.next()?)?;
    for part in parts {
        let Some(Kind::StructValue(below)) = &value.kind else {
            return None;
        };
        value = below.fields.get(part)?;
    }
    value.kind.clone()
}

/// A text of the configuration of a snapshot.
pub(crate) fn text(snapshot: &pb::Snapshot, key: &str) -> String {
    match at(snapshot.config.as_ref().unwrap(), key) {
        Some(Kind::StringValue(text)) => text,
        other => panic!("{key} is no text: {other:?}"),
    }
}

/// The only diagnostic with this code.
pub(crate) fn only<'a>(diagnostics: &'a [pb::Diagnostic], code: &str) -> &'a pb::Diagnostic {
    let mut found = diagnostics.iter().filter(|diagnostic| diagnostic.code == code);
    let only = found
        .next()
        .unwrap_or_else(|| panic!("no {code} in {diagnostics:?}"));
    assert!(found.next().is_none(), "more than one {code} in {diagnostics:?}");
    only
}

/// The diagnostics about a file.
pub(crate) fn about<'a>(diagnostics: &'a [pb::Diagnostic], path: &str) -> Vec<&'a pb::Diagnostic> {
    diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.path == path)
        .collect()
}

impl World {
    /// The whole snapshot of a workspace.
    pub(crate) async fn resolved(&self, id: &str) -> pb::Snapshot {
        self.snapshot_of(resolve(id)).await.unwrap()
    }

    /// The snapshot that a request gets.
    pub(crate) async fn snapshot_of(&self, request: pb::ResolveWorkspaceRequest) -> Outcome<pb::Snapshot> {
        let answer = self.daemon.api.resolve(request).await?;
        assert!(!answer.not_modified);
        Ok(answer.snapshot.expect("a snapshot"))
    }
}
