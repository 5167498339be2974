//! Layers made of texts.

use compozy_domain::{Diagnostic, Layer};
use compozy_resolver::config::{EffectiveConfig, LayerFiles, Leaf, Origin, SourceFile, resolve};
use compozy_resolver::value::{Table, Value};

/// The layers that have files, in their order.
pub(crate) const LAYERS: [Layer; 4] = [
    Layer::User,
    Layer::Profile,
    Layer::Workspace,
    Layer::WorkspaceProfile,
];

/// Texts of the files of layers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Files {
    files: Vec<(Layer, Option<String>, Option<String>)>,
    agent: String,
}

pub(crate) fn user(text: &str) -> Files {
    Files::default().config(Layer::User, text)
}

pub(crate) fn workspace(text: &str) -> Files {
    Files::default().config(Layer::Workspace, text)
}

impl Files {
    pub(crate) fn config(mut self, layer: Layer, text: &str) -> Self {
        self.entry(layer).1 = Some(text.to_owned());
        self
    }

    pub(crate) fn mcp(mut self, layer: Layer, text: &str) -> Self {
        self.entry(layer).2 = Some(text.to_owned());
        self
    }

    pub(crate) fn workspace(self, text: &str) -> Self {
        self.config(Layer::Workspace, text)
    }

    pub(crate) fn agent(mut self, agent: &str) -> Self {
        agent.clone_into(&mut self.agent);
        self
    }

    pub(crate) fn resolve(&self) -> Result<EffectiveConfig, Vec<Diagnostic>> {
        let mut files = self.files.clone();
        files.sort_by_key(|(layer, _, _)| *layer);
        let source = |path: String, text: Option<String>| {
            text.map(|text| SourceFile {
                path,
                bytes: text.into_bytes(),
            })
        };
        let layers: Vec<LayerFiles> = files
            .into_iter()
            .map(|(layer, config, mcp)| LayerFiles {
                layer,
                config: source(config_path(layer), config),
                mcp: source(mcp_path(layer), mcp),
            })
            .collect();
        resolve(&layers, &self.agent)
    }

    pub(crate) fn resolved(&self) -> EffectiveConfig {
        self.resolve().unwrap()
    }

    pub(crate) fn problems(&self) -> Vec<Diagnostic> {
        self.resolve().unwrap_err()
    }

    fn entry(&mut self, layer: Layer) -> &mut (Layer, Option<String>, Option<String>) {
        let at = self.files.iter().position(|(own, _, _)| *own == layer);
        let at = at.unwrap_or_else(|| {
            self.files.push((layer, None, None));
            self.files.len() - 1
        });
        &mut self.files[at]
    }
}

pub(crate) fn config_path(layer: Layer) -> String {
    format!("/{}/config.toml", layer.as_str())
}

pub(crate) fn mcp_path(layer: Layer) -> String {
    format!("/{}/mcp.json", layer.as_str())
}

/// `layer:file:line:column` of an origin, as far as it has them.
pub(crate) fn place(origin: &Origin) -> String {
    let mut text = origin.layer.as_str().to_owned();
    if let Some(path) = &origin.path {
        text.push_str(&format!(" {}", path.rsplit('/').next().unwrap()));
    }
    if let (Some(line), Some(column)) = (origin.line, origin.column) {
        text.push_str(&format!(" {line}:{column}"));
    }
    text
}

pub(crate) fn leaf(config: &EffectiveConfig, key: &str) -> Leaf {
    config
        .leaf(key)
        .unwrap_or_else(|| panic!("no leaf {key}"))
        .clone()
}

pub(crate) fn winner(config: &EffectiveConfig, key: &str) -> String {
    place(&leaf(config, key).winner)
}

pub(crate) fn losers(config: &EffectiveConfig, key: &str) -> Vec<String> {
    leaf(config, key)
        .losers
        .iter()
        .map(|(origin, _)| place(origin))
        .collect()
}

/// The value at a path of the tree; entries of lists by their place.
pub(crate) fn at(tree: &Table, path: &str) -> Option<Value> {
    let mut parts = path.split('.');
    let mut value = tree.get(parts.next()?)?.clone();
    for part in parts {
        value = match value {
            Value::Table(table) => table.get(part)?.clone(),
            Value::List(items) => items.get(part.parse::<usize>().ok()?)?.clone(),
            _ => return None,
        };
    }
    Some(value)
}

pub(crate) fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

pub(crate) fn texts(texts: &[&str]) -> Value {
    Value::List(texts.iter().map(|word| text(word)).collect())
}

/// `code line:column key` of each problem.
pub(crate) fn told(problems: &[Diagnostic]) -> Vec<String> {
    let told = problems.iter().map(|problem| {
        let (line, column) = (problem.line.unwrap_or(0), problem.column.unwrap_or(0));
        format!(
            "{} {line}:{column} {}",
            problem.code,
            problem.key.as_deref().unwrap_or("-")
        )
    });
    told.collect()
}
