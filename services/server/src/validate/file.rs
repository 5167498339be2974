//! One file, by its name.

use std::path::Path;

use compozy_domain::{Diagnostic, Layer, Severity};
use compozy_resolver::config::{self, CONFIG_BYTES_MAX, UnknownKeys};
use compozy_resolver::definition::{self, DEFINITION_BYTES_MAX, Found};
use compozy_resolver::dotenv::{self, DOTENV_BYTES_MAX};
use compozy_resolver::files::ReadFault;
use compozy_resolver::identity;
use compozy_resolver::mcp::{self, MCP_BYTES_MAX};
use compozy_resolver::{Files, OpenDirectory};

use super::{OWN, Validation};
use crate::failure::{Failure, FailureKind};
use crate::small_file::{self, Links};

/// What a file is, as its name says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    Config,
    Mcp,
    Agent,
    Skill,
    Dotenv,
    Identity,
}

impl Validation<'_> {
    pub(super) fn check_file(&self, path: &Path) -> Result<Vec<Diagnostic>, Failure> {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let sort = sort(name).ok_or_else(|| not_ours(path))?;
        let parent = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let parent = std::path::absolute(parent).map_err(|error| Failure::io("look at", path, &error))?;
        let opened = self.files.open(&parent.to_string_lossy());
        let directory = opened.map_err(|fault| {
            let message = format!("{} can't be looked at: {fault}", parent.display());
            Failure::new(FailureKind::NotFound, message)
        })?;
        let layer = match sort {
            // It lies in a root, outside of what says whose it is.
            Sort::Dotenv => Layer::Workspace,
            _ => self.layer(Path::new(directory.path())),
        };
        let place = Place {
            directory: directory.as_ref(),
            layer,
            unknown_keys: self.unknown_keys(layer),
            name,
            path: format!("{}/{name}", directory.path().trim_end_matches('/')),
        };
        Ok(place.check(sort))
    }

    /// What unknown keys are in a file that may not say so itself: what the user's file says.
    fn unknown_keys(&self, layer: Layer) -> Option<UnknownKeys> {
        if layer == Layer::User {
            return None;
        }
        let path = self.home.join("config.toml");
        let bytes = small_file::read_bytes(&path, CONFIG_BYTES_MAX as u64, Links::Refuse);
        let file = config::read_user_file(&path.to_string_lossy(), &bytes.ok()??).ok()?;
        Some(file.0.unknown_keys())
    }

    /// The layer of a file in this directory. One that lies nowhere in particular is the user's: it may say most.
    fn layer(&self, directory: &Path) -> Layer {
        for base in directory.ancestors() {
            let is_home = base == self.home;
            if !is_home && base.file_name().is_none_or(|name| name != OWN) {
                continue;
            }
            let in_profile = directory
                .strip_prefix(base)
                .is_ok_and(|below| below.starts_with("profiles"));
            return match (is_home, in_profile) {
                (true, false) => Layer::User,
                (true, true) => Layer::Profile,
                (false, false) => Layer::Workspace,
                (false, true) => Layer::WorkspaceProfile,
            };
        }
        Layer::User
    }
}

struct Place<'d> {
    directory: &'d dyn OpenDirectory,
    layer: Layer,
    unknown_keys: Option<UnknownKeys>,
    name: &'d str,
    path: String,
}

impl Place<'_> {
    fn check(&self, sort: Sort) -> Vec<Diagnostic> {
        let (layer, path) = (self.layer, self.path.as_str());
        let limit = match sort {
            Sort::Config | Sort::Identity => CONFIG_BYTES_MAX,
            Sort::Mcp => MCP_BYTES_MAX,
            Sort::Agent | Sort::Skill => DEFINITION_BYTES_MAX,
            Sort::Dotenv => DOTENV_BYTES_MAX,
        };
        let content = self.read(self.name, limit);
        if matches!(sort, Sort::Agent | Sort::Skill) {
            return self.definition(sort, content);
        }
        let bytes = match content {
            Ok(bytes) => bytes,
            Err(fault) if sort == Sort::Dotenv => return vec![dotenv::unreadable(layer, path, &fault)],
            Err(fault) => return vec![config::unread(layer, path, &fault)],
        };
        match sort {
            Sort::Mcp => {
                let read = mcp::read(layer, path, &bytes);
                [read.problems, read.warnings].concat()
            }
            Sort::Dotenv => dotenv::findings(layer, path, &dotenv::read(&bytes)),
            Sort::Identity => self.identity(&bytes),
            Sort::Config | Sort::Agent | Sort::Skill => {
                let checked = match self.unknown_keys {
                    Some(unknown_keys) => config::check_file_with(layer, path, &bytes, unknown_keys),
                    None => config::check_file(layer, path, &bytes),
                };
                [checked.problems, checked.warnings].concat()
            }
        }
    }

    fn definition(&self, sort: Sort, content: Result<Vec<u8>, ReadFault>) -> Vec<Diagnostic> {
        let sidecar = match self.read("mcp.json", MCP_BYTES_MAX) {
            Err(ReadFault::Unreadable) if self.directory.look("mcp.json") == Ok(None) => None,
            read => Some((self.beside("mcp.json"), read)),
        };
        let directory_name = self.directory.path().rsplit('/').next().unwrap_or_default();
        let found = Found {
            layer: self.layer,
            path: self.path.clone(),
            directory_name: directory_name.to_owned(),
            content,
            mcp: sidecar,
        };
        match sort {
            Sort::Agent => definition::read_agent(&found).diagnostics,
            _ => definition::read_skill(&found, "compozy").diagnostics,
        }
    }

    fn identity(&self, bytes: &[u8]) -> Vec<Diagnostic> {
        let Err(problem) = identity::parse(bytes) else {
            return Vec::new();
        };
        let found = Diagnostic::new(
            "identity_invalid",
            Severity::Error,
            self.layer,
            self.path.as_str(),
            format!("the file {}", problem.problem),
            "restore it from version control, or run `compozy workspace identity repair`",
        );
        let line = problem.line;
        vec![Diagnostic { line, ..found }]
    }

    /// There was a file a moment ago, so none now can't be read.
    fn read(&self, name: &str, limit: usize) -> Result<Vec<u8>, ReadFault> {
        let content = self.directory.read(name, limit)?;
        content.map(|content| content.bytes).ok_or(ReadFault::Unreadable)
    }

    fn beside(&self, name: &str) -> String {
        format!("{}/{name}", self.directory.path().trim_end_matches('/'))
    }
}

fn sort(name: &str) -> Option<Sort> {
    match name {
        "AGENT.md" => Some(Sort::Agent),
        "SKILL.md" => Some(Sort::Skill),
        ".env" => Some(Sort::Dotenv),
        "workspace.toml" => Some(Sort::Identity),
        name if name.ends_with("mcp.json") => Some(Sort::Mcp),
        name if Path::new(name)
            .extension()
            .is_some_and(|extension| extension == "toml") =>
        {
            Some(Sort::Config)
        }
        _ => None,
    }
}

fn not_ours(path: &Path) -> Failure {
    let message = format!(
        "{} is no file that is read here: name a .toml file, mcp.json, AGENT.md, SKILL.md, .env, or a directory",
        path.display()
    );
    Failure::new(FailureKind::Usage, message)
}
