//! Several files in one, so that a file of the corpus holds a whole configuration: a line `#%% workspace` begins the
//! `config.toml` of that layer, `#%% workspace mcp` its `mcp.json`. What stands above the first is the user's.

use std::collections::BTreeMap;

use compozy_domain::Layer;
use compozy_resolver::config::{LayerFiles, SourceFile};

const MARK: &[u8] = b"#%% ";

/// The files by layer and name.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layers {
    files: BTreeMap<(Layer, &'static str), Vec<u8>>,
}

impl Layers {
    /// Takes a file apart. A layer that comes twice is that of the second one.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut files = BTreeMap::new();
        let mut at = (Layer::User, "config.toml");
        files.insert(at, Vec::new());
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let name = line.strip_prefix(MARK).and_then(|rest| named(rest.trim_ascii()));
            if let Some(name) = name {
                at = name;
                files.insert(at, Vec::new());
            } else {
                files.entry(at).or_default().extend(line);
            }
        }
        Self { files }
    }

    /// The same with something done to every file.
    pub(super) fn map(&self, toml: fn(&[u8]) -> Vec<u8>, json: fn(&[u8]) -> Vec<u8>) -> Self {
        let files = self.files.iter().map(|(at, bytes)| match at.1 {
            "mcp.json" => (*at, json(bytes)),
            _ => (*at, toml(bytes)),
        });
        Self {
            files: files.collect(),
        }
    }

    /// Each file with its layer and path.
    pub(super) fn each(&self) -> impl Iterator<Item = (Layer, String, &[u8])> {
        let files = self.files.iter();
        files.map(|((layer, name), bytes)| (*layer, path(*layer, name), bytes.as_slice()))
    }

    /// The file at a path.
    pub(super) fn at(&self, path: &str) -> Option<&[u8]> {
        self.each()
            .find_map(|(_, own, bytes)| (own == path).then_some(bytes))
    }

    /// As they are merged.
    pub(super) fn sources(&self) -> Vec<LayerFiles> {
        let mut layers: Vec<Layer> = self.files.keys().map(|(layer, _)| *layer).collect();
        layers.dedup();
        let source = |layer, name| {
            let bytes = self.files.get(&(layer, name))?.clone();
            Some(SourceFile {
                path: path(layer, name),
                bytes,
            })
        };
        let sources = layers.into_iter().map(|layer| LayerFiles {
            layer,
            config: source(layer, "config.toml"),
            mcp: source(layer, "mcp.json"),
        });
        sources.collect()
    }
}

fn path(layer: Layer, name: &str) -> String {
    format!("/{}/{name}", layer.as_str())
}

fn named(words: &[u8]) -> Option<(Layer, &'static str)> {
    let words = std::str::from_utf8(words).ok()?;
    let (layer, name) = match words.strip_suffix(" mcp") {
        Some(layer) => (layer, "mcp.json"),
        None => (words, "config.toml"),
    };
    let layers = [
        Layer::User,
        Layer::Profile,
        Layer::Workspace,
        Layer::WorkspaceProfile,
    ];
    let layer = layers.into_iter().find(|own| own.as_str() == layer)?;
    Some((layer, name))
}
