//! The daemon's own settings, over the wire: what it runs with, and one key of its file at a time.

use std::sync::Arc;

use compozy_domain::{CatalogError, HostId, Layer, Random};
use compozy_proto::admin::v1 as pb;
use compozy_resolver::config::key;

use crate::config::{Config, EditDone, EditFault, EditWanted, Overrides, Setting, edit, needs_restart};
use crate::home::Home;
use crate::tasks::Tasks;

/// The settings of this process and the file that they come from.
#[derive(Debug)]
pub struct Settings {
    settings: Vec<pb::Setting>,
    home: Home,
    random: Arc<dyn Random>,
    tasks: Tasks,
}

impl Settings {
    /// The settings of a process that runs with this configuration.
    #[must_use]
    pub fn new(config: &Config, host_id: &HostId, home: Home, random: Arc<dyn Random>, tasks: Tasks) -> Self {
        let mut settings: Vec<pb::Setting> = config.settings.iter().map(setting).collect();
        // Nobody sets it, as a rule: the home has it.
        let host = settings
            .iter_mut()
            .find(|setting| setting.key == "daemon.host_id");
        if let Some(host) = host.filter(|setting| setting.value.is_empty()) {
            host.value = format!("\"{host_id}\"");
        }
        Self {
            settings,
            home,
            random,
            tasks,
        }
    }

    /// What the process runs with.
    #[must_use]
    pub fn get(&self) -> pb::GetConfigResponse {
        pb::GetConfigResponse {
            settings: self.settings.clone(),
            path: self.path(),
        }
    }

    /// Changes one key in the file. Goes on to its end when the caller goes away.
    ///
    /// # Errors
    /// [`CatalogError::Config`], [`CatalogError::DiskFull`]; the file is as it was then.
    pub async fn set(&self, request: pb::SetConfigRequest) -> Result<pb::SetConfigResponse, CatalogError> {
        let pb::SetConfigRequest { key, value, unset } = request;
        if unset && !value.is_empty() {
            return Err(CatalogError::invalid_field(
                "value",
                "must be empty together with unset",
            ));
        }
        let needs_restart =
            key::split(&key).is_some_and(|parts| needs_restart(&key::join(parts.iter().map(String::as_str))));
        let (home, random) = (self.home.clone(), Arc::clone(&self.random));
        let work = move || write(&home, &key, (!unset).then_some(value.as_str()), random.as_ref());
        let written = self
            .tasks
            .spawn(async move { tokio::task::spawn_blocking(work).await });
        let EditDone { line, changed } = match written.await {
            Ok(Ok(done)) => done?,
            Ok(Err(failed)) | Err(failed) => {
                let detail = format!("an edit of the configuration failed: {failed}");
                return Err(CatalogError::Defect { detail });
            }
        };
        Ok(pb::SetConfigResponse {
            path: self.path(),
            line: line.map_or(0, |line| i32::try_from(line).unwrap_or(i32::MAX)),
            changed,
            needs_restart,
        })
    }

    fn path(&self) -> String {
        self.home.config_path().to_string_lossy().into_owned()
    }
}

fn write(home: &Home, key: &str, value: Option<&str>, random: &dyn Random) -> Result<EditDone, CatalogError> {
    let path = home.config_path();
    let wanted = EditWanted {
        path: &path,
        layer: Layer::User,
        key,
        value,
        // The next start reads it.
        check: &|bytes| Config::check(home, bytes, &Overrides::default()).map(|_| ()),
    };
    edit(&wanted, random).map_err(|fault| match fault {
        EditFault::Problems(problems) => CatalogError::Config { problems },
        EditFault::DiskFull => CatalogError::DiskFull,
    })
}

fn setting(setting: &Setting) -> pb::Setting {
    let Setting {
        key,
        value,
        is_secret,
        is_default,
    } = setting;
    pb::Setting {
        key: (*key).to_owned(),
        value: value.clone(),
        is_secret: *is_secret,
        is_default: *is_default,
    }
}
