//! The environment of an agent.

use std::collections::BTreeMap;

use compozy_domain::Session;
use compozy_resolver::config::EffectiveConfig;
use compozy_resolver::dotenv::Dotenv;
use compozy_resolver::value::{Table, Value};

use super::provider_home;

/// Whether a provider has a home of its own. Only a provider that the configuration knows has one, so that its name is
/// one that may become a path.
pub(super) fn is_isolated(config: &EffectiveConfig, provider: &str) -> bool {
    text_of(config, provider, "home_policy") == Some("isolated")
}

/// What is said about a provider.
pub(super) fn text_of<'c>(config: &'c EffectiveConfig, provider: &str, key: &str) -> Option<&'c str> {
    provider_table(config, provider)?.get(key)?.as_text()
}

/// What wins over the runtime's own environment. The names of the product win over everything that files say.
pub(super) fn of(
    config: &EffectiveConfig,
    session: &Session,
    home: &str,
    isolated: bool,
) -> BTreeMap<String, String> {
    let mut environment = BTreeMap::new();
    if let Some(provider) = provider_table(config, &session.provider) {
        for key in ["env", "secret_env"] {
            let said = provider.get(key).and_then(Value::as_table);
            for (name, value) in said.into_iter().flatten() {
                if let Some(value) = value.as_text() {
                    environment.insert(name.clone(), value.to_owned());
                }
            }
        }
    }
    if isolated {
        environment.extend(provider_home::variables(home, &session.provider));
    }
    let workspace = session.workspace_id().map(ToString::to_string);
    for (name, value) in [
        ("COMPOZY_SESSION_ID", Some(session.id.to_string())),
        ("COMPOZY_AGENT", Some(session.agent.clone())),
        ("COMPOZY_WORKSPACE", workspace),
        ("COMPOZY_HOME", Some(home.to_owned())),
    ] {
        match value {
            Some(value) => environment.insert(name.to_owned(), value),
            None => environment.remove(name),
        };
    }
    environment
}

/// What gives way to the runtime's own environment: the workspace's `.env`, of two values of one name the later one.
pub(super) fn fallback(dotenv: Dotenv, environment: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let entries = dotenv.entries.into_iter().map(|(name, value, _)| (name, value));
    let mut fallback: BTreeMap<String, String> = entries.collect();
    fallback.retain(|name, _| !environment.contains_key(name));
    fallback
}

fn provider_table<'c>(config: &'c EffectiveConfig, provider: &str) -> Option<&'c Table> {
    let providers = config.tree_with_secrets().get("providers")?.as_table()?;
    providers.get(provider)?.as_table()
}
