//! What holds for a new session where its caller names nothing: of its agent and its snapshot, or, outside every
//! workspace, of the user's configuration.

use compozy_domain::session::PermissionMode;
use compozy_domain::{CatalogError, Diagnostic, Layer, Profile, Severity};
use compozy_resolver::Files;
use compozy_resolver::config::{self, CONFIG_BYTES_MAX, EffectiveConfig, LayerFiles, SourceFile};
use compozy_resolver::definition::{Agent, Permissions};
use compozy_resolver::files::{OpenDirectory, ReadFault};
use compozy_resolver::snapshot::Snapshot;

use crate::registry::{Caller, Registry};

const CONFIG: &str = "config.toml";

/// What holds where a caller names nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unnamed {
    pub(super) agent: String,
    pub(super) provider: String,
    pub(super) model: String,
    pub(super) permission_mode: PermissionMode,
}

impl Unnamed {
    /// What a snapshot says, for the agent that the caller names or else for its default one. An agent that no layer
    /// defines says nothing.
    ///
    /// # Errors
    /// [`CatalogError::Config`] for a named agent that is broken.
    pub(super) fn of_snapshot(snapshot: &Snapshot, named: Option<&str>) -> Result<Self, CatalogError> {
        let of_config = Self::of_config(&snapshot.config);
        let name = named.unwrap_or(&of_config.agent);
        let agent = snapshot.agent(name);
        if let (Some(_), Some(broken)) = (named, agent.filter(|agent| !agent.usable)) {
            return Err(CatalogError::Config {
                problems: problems_of(broken),
            });
        }
        Ok(match agent.filter(|agent| agent.usable) {
            None => of_config,
            Some(agent) => of_config.under(agent),
        })
    }

    fn of_config(config: &EffectiveConfig) -> Self {
        let text = |key| config.text(key).unwrap_or_default();
        Self {
            agent: text("defaults.agent").to_owned(),
            provider: text("defaults.provider").to_owned(),
            model: String::new(),
            // The built-in configuration says it for whoever is silent.
            permission_mode: PermissionMode::parse(text("permissions.mode"))
                .unwrap_or(PermissionMode::DenyAll),
        }
    }

    fn under(self, agent: &Agent) -> Self {
        let own = |own: &String, other: String| if own.is_empty() { other } else { own.clone() };
        Self {
            agent: self.agent,
            provider: own(&agent.provider, self.provider),
            model: own(&agent.model, self.model),
            permission_mode: agent.permissions.map_or(self.permission_mode, mode),
        }
    }
}

impl Registry {
    /// What the configuration of the daemon's home says for a session of no workspace, with the layer of its profile.
    pub(super) async fn unnamed_outside(
        &self,
        caller: &Caller,
        profile: &Profile,
    ) -> Result<Unnamed, CatalogError> {
        let home = self.settings.catalog_home.clone();
        let profile = (!profile.name.is_permanent()).then(|| profile.name.to_string());
        let layers = self
            .look(caller.deadline, move |files| {
                layers_of_home(files, &home, profile.as_deref())
            })
            .await??;
        let config = config::resolve(&layers, "").map_err(|problems| CatalogError::Config { problems })?;
        Ok(Unnamed::of_config(&config))
    }
}

fn layers_of_home(
    files: &dyn Files,
    home: &str,
    profile: Option<&str>,
) -> Result<Vec<LayerFiles>, CatalogError> {
    let directory = files.open(home).map_err(|fault| CatalogError::Config {
        problems: vec![config::not_a_directory(Layer::User, home, &fault)],
    })?;
    let mut layers = vec![layer(Layer::User, directory.as_ref())?];
    let Some(name) = profile else {
        return Ok(layers);
    };
    let path = format!("{}/profiles/{name}", directory.path());
    let entered = match directory.enter("profiles") {
        Ok(Some(profiles)) => profiles.enter(name),
        other => other,
    };
    if let Some(profile) = entered.map_err(|fault| unread(Layer::Profile, &path, &fault))? {
        layers.push(layer(Layer::Profile, profile.as_ref())?);
    }
    Ok(layers)
}

fn layer(layer: Layer, directory: &dyn OpenDirectory) -> Result<LayerFiles, CatalogError> {
    let path = format!("{}/{CONFIG}", directory.path());
    let read = directory.read(CONFIG, CONFIG_BYTES_MAX);
    let content = read.map_err(|fault| unread(layer, &path, &fault))?;
    Ok(LayerFiles {
        layer,
        config: content.map(|content| SourceFile {
            path,
            bytes: content.bytes,
        }),
        mcp: None,
    })
}

fn unread(layer: Layer, path: &str, fault: &ReadFault) -> CatalogError {
    CatalogError::Config {
        problems: vec![config::unread(layer, path, fault)],
    }
}

/// Why an agent can't be used.
fn problems_of(agent: &Agent) -> Vec<Diagnostic> {
    let all = agent.diagnostics.iter();
    let mut problems: Vec<Diagnostic> = all
        .filter(|found| found.severity == Severity::Error)
        .cloned()
        .collect();
    if problems.is_empty() {
        problems.push(Diagnostic::new(
            "agent_broken",
            Severity::Error,
            agent.layer,
            agent.path.clone(),
            format!("the agent '{}' can't be used", agent.name),
            "correct its file, or name another agent",
        ));
    }
    Diagnostic::sort(&mut problems);
    problems
}

const fn mode(permissions: Permissions) -> PermissionMode {
    match permissions {
        Permissions::DenyAll => PermissionMode::DenyAll,
        Permissions::ApproveReads => PermissionMode::ApproveReads,
        Permissions::ApproveAll => PermissionMode::ApproveAll,
    }
}
