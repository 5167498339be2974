//! What a runtime starts its agent with: made afresh for each call of a lease's holder, with secrets, and kept nowhere.

mod command;
mod environment;
mod provider_home;
mod servers;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use compozy_domain::path::contains;
use compozy_domain::session::PermissionMode;
use compozy_domain::{
    AbsolutePath, CatalogError, Diagnostic, Layer, LeaseHash, Session, Severity, WorkspaceRef,
};
use compozy_resolver::definition::Agent;
use compozy_resolver::dotenv::{self, DOTENV_BYTES_MAX, Dotenv};
use compozy_resolver::files::DirectoryFault;
use compozy_resolver::mcp::McpServer;
use compozy_resolver::snapshot::{
    self, Request, ResolveFault, Snapshot, TextFault, TextKind, definition_text,
};
use compozy_resolver::{AllowedRoots, Files};

use compozy_domain::error::SessionCwdFault;

use crate::registry::profile::active::ProfileAsked;
use crate::registry::resolve::Resolvable;
use crate::registry::{Caller, NamedPath, Reference, Registry, within};
use crate::resolution::{ResolveOutcome, ResolveWanted, Subject};

/// How often files may change between the snapshot and the prompt.
const ATTEMPTS: usize = 3;
const DOTENV: &str = ".env";

/// What an agent is started with. Holds secrets: nothing here shows them.
#[derive(Clone, PartialEq)]
pub struct Launch {
    /// Program and arguments; empty if no layer says what to run.
    pub argv: Vec<String>,
    /// The directory to run in, canonical.
    pub cwd: String,
    /// Environment that wins over the runtime's own.
    pub environment: BTreeMap<String, String>,
    /// Environment that gives way to the runtime's own.
    pub fallback_environment: BTreeMap<String, String>,
    /// The prompt, or empty.
    pub prompt: String,
    /// What the agent may do without asking.
    pub permission_mode: PermissionMode,
    /// The servers of the agent.
    pub servers: Vec<McpServer>,
}

impl fmt::Debug for Launch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Launch").finish_non_exhaustive()
    }
}

/// The files that a launch is made of.
struct Basis {
    snapshot: Arc<Snapshot>,
    /// The root of the workspace as it was read; `None` for an ungrouped session.
    root: Option<String>,
}

/// What the disk says besides the snapshot.
struct Looked {
    cwd: String,
    prompt: String,
    dotenv: Dotenv,
}

impl Registry {
    /// What the holder of a runtime lease starts its agent with.
    ///
    /// # Errors
    /// [`CatalogError::LeaseLost`]; those of [`Registry::resolve`]; [`CatalogError::Config`] for an agent or a command
    /// that can't be used; [`CatalogError::SessionCwd`].
    pub async fn get_launch(&self, caller: &Caller, lease: &LeaseHash) -> Result<Launch, CatalogError> {
        let visibility = &caller.principal.visibility;
        let found = self.store.session_of_lease(lease, visibility, self.now());
        let session = within(caller.deadline, found).await?.session;
        self.require_host()?;
        if session.host_id != self.host {
            return Err(CatalogError::OtherHost {
                host: session.host_id.to_string(),
            });
        }
        for _ in 1..ATTEMPTS {
            match self.launch_of(caller, &session).await {
                Err(CatalogError::FingerprintStale) => {}
                made => return made,
            }
        }
        self.launch_of(caller, &session).await
    }

    async fn launch_of(&self, caller: &Caller, session: &Session) -> Result<Launch, CatalogError> {
        let basis = match session.workspace_id() {
            Some(_) => self.basis_in_workspace(caller, session).await?,
            None => self.basis_outside(caller, session).await?,
        };
        let agent = basis.snapshot.agent(&session.agent);
        let argv = argv(&basis.snapshot, agent, session)?;
        let servers = servers::of(&basis.snapshot, agent);
        let home = &self.settings.catalog_home;
        let isolated = environment::is_isolated(&basis.snapshot.config, &session.provider);
        let environment = environment::of(&basis.snapshot.config, session, home, isolated);
        let Looked { cwd, prompt, dotenv } = self.look_for_launch(caller, session, &basis).await?;
        if isolated {
            self.make_provider_home(caller, &session.provider).await?;
        }
        Ok(Launch {
            argv,
            cwd,
            fallback_environment: environment::fallback(dotenv, &environment),
            environment,
            prompt,
            permission_mode: session.permission_mode,
            servers,
        })
    }

    /// What the session's workspace says now, under the profile that the session was created under.
    async fn basis_in_workspace(&self, caller: &Caller, session: &Session) -> Result<Basis, CatalogError> {
        let id = session.workspace_id().cloned();
        let text = id.as_ref().map(ToString::to_string).unwrap_or_default();
        let reference = Reference {
            form: id.map_or(WorkspaceRef::Nothing, WorkspaceRef::Id),
            text,
            field: "lease".to_owned(),
        };
        let wanted = ResolveWanted {
            subject: Subject {
                reference,
                profile: profile_of(session),
                agent: None,
            },
            if_fingerprint: None,
            anew: false,
        };
        match self.resolve(caller, wanted).await? {
            ResolveOutcome::Resolved(resolved) => Ok(Basis {
                root: Some(resolved.snapshot.root.clone()),
                snapshot: resolved.snapshot,
            }),
            ResolveOutcome::NotModified => Err(CatalogError::Defect {
                detail: "a resolve without a fingerprint was not modified".to_owned(),
            }),
        }
    }

    /// An ungrouped session sees what lies in the home, and nothing of the directory that it runs in.
    async fn basis_outside(&self, caller: &Caller, session: &Session) -> Result<Basis, CatalogError> {
        let resolvable = Resolvable {
            root_dir: &self.settings.catalog_home,
            additional_dirs: &[],
            default_agent: "",
            durable_id: None,
        };
        let asked = profile_of(session);
        let (_, request) = self.request_for(caller, &resolvable, None, &asked).await?;
        let request = Request {
            // The home is the daemon's own: nobody who may launch is kept from it.
            allowed: AllowedRoots::Everything,
            ..request
        };
        let now = self.now();
        let resolved = self.look(caller.deadline, move |files| {
            snapshot::resolve(files, &request, now)
        });
        match resolved.await? {
            Ok((snapshot, _)) => Ok(Basis {
                snapshot: Arc::new(snapshot),
                root: None,
            }),
            Err(fault) => Err(self.home_fault(fault)),
        }
    }

    fn home_fault(&self, fault: ResolveFault) -> CatalogError {
        let problems = match fault {
            ResolveFault::Config(problems) => problems,
            ResolveFault::Identity(error) => return *error,
            ResolveFault::Changing => return CatalogError::FingerprintStale,
            ResolveFault::Root(_) | ResolveFault::NotAllowed => vec![Diagnostic::new(
                "home_unusable",
                Severity::Error,
                Layer::User,
                self.settings.catalog_home.clone(),
                "the home of the daemon can't be read",
                "bring it back and make it readable for the daemon",
            )],
        };
        CatalogError::Config { problems }
    }

    async fn look_for_launch(
        &self,
        caller: &Caller,
        session: &Session,
        basis: &Basis,
    ) -> Result<Looked, CatalogError> {
        if basis.root.is_none() && !caller.principal.local && !session.canonical_cwd.is_empty() {
            // Outside of what the caller may name, nothing is told about the disk.
            let path = AbsolutePath::parse(&session.canonical_cwd, "cwd")?;
            let field = "cwd".to_owned();
            self.admit(caller, &NamedPath { path, field }).await?;
        }
        let (session, snapshot, root) = (session.clone(), Arc::clone(&basis.snapshot), basis.root.clone());
        self.look(caller.deadline, move |files| {
            Ok(Looked {
                cwd: cwd_now(files, &session, root.as_deref())?,
                prompt: prompt_now(files, &snapshot, &session.agent)?,
                dotenv: root.map(|root| dotenv_now(files, &root)).unwrap_or_default(),
            })
        })
        .await?
    }

    async fn make_provider_home(&self, caller: &Caller, provider: &str) -> Result<(), CatalogError> {
        let (home, provider) = (self.settings.catalog_home.clone(), provider.to_owned());
        self.look(caller.deadline, move |_| provider_home::make(&home, &provider))
            .await?
    }
}

/// A session keeps the profile that it was created under, whatever was selected since.
fn profile_of(session: &Session) -> ProfileAsked {
    ProfileAsked {
        request: Some(session.profile_id.to_string()),
        environment: None,
    }
}

/// What to run: the agent's command, or else that of the session's provider.
fn argv(snapshot: &Snapshot, agent: Option<&Agent>, session: &Session) -> Result<Vec<String>, CatalogError> {
    if let Some(agent) = agent {
        if !agent.usable {
            let errors = agent.diagnostics.iter();
            let errors = errors.filter(|found| found.severity == Severity::Error);
            return Err(CatalogError::Config {
                problems: errors.cloned().collect(),
            });
        }
        if !agent.command.trim().is_empty() {
            let place = (agent.layer, agent.path.as_str(), "command");
            return command::words(&agent.command, place);
        }
    }
    command::of_provider(&snapshot.config, &session.provider)
}

/// The directory of a session, if it is still there and still where it belongs.
fn cwd_now(files: &dyn Files, session: &Session, root: Option<&str>) -> Result<String, CatalogError> {
    let fault = |fault| CatalogError::SessionCwd {
        cwd: session.cwd.clone(),
        fault,
    };
    if session.canonical_cwd.is_empty() {
        return Err(fault(SessionCwdFault::Absent));
    }
    match files.directory(&session.canonical_cwd) {
        Ok(found) if root.is_none_or(|root| contains(root, &found.path)) => Ok(found.path),
        Ok(_) => Err(fault(SessionCwdFault::Mismatch)),
        Err(DirectoryFault::NotFound) => Err(fault(SessionCwdFault::NotFound)),
        Err(DirectoryFault::NotDirectory) => Err(fault(SessionCwdFault::NotDirectory)),
        Err(other) => Err(other.into_error("cwd", &session.canonical_cwd)),
    }
}

/// The prompt of an agent; empty for one that no layer defines.
fn prompt_now(files: &dyn Files, snapshot: &Snapshot, agent: &str) -> Result<String, CatalogError> {
    match definition_text(files, snapshot, None, TextKind::Agent, agent) {
        Ok(found) => Ok(found.text),
        Err(TextFault::AgentNotFound | TextFault::NotFound) => Ok(String::new()),
        Err(TextFault::Stale) => Err(CatalogError::FingerprintStale),
    }
}

/// The `.env` of a workspace. What can't be understood costs only itself, and is told without its content.
fn dotenv_now(files: &dyn Files, root: &str) -> Dotenv {
    let path = format!("{}/{DOTENV}", root.trim_end_matches('/'));
    let Ok(directory) = files.open(root) else {
        return Dotenv::default();
    };
    let (read, findings) = match directory.read(DOTENV, DOTENV_BYTES_MAX) {
        Ok(None) => return Dotenv::default(),
        Ok(Some(content)) => {
            let read = dotenv::read(&content.bytes);
            let findings = dotenv::findings(Layer::Workspace, &path, &read);
            (read, findings)
        }
        Err(fault) => {
            let found = dotenv::unreadable(Layer::Workspace, &path, &fault);
            (Dotenv::default(), vec![found])
        }
    };
    for found in findings {
        let Diagnostic {
            path,
            line,
            code,
            message,
            ..
        } = found;
        tracing::warn!(%path, line, code, "{message}");
    }
    read
}
