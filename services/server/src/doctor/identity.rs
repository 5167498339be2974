//! What the home is known by: the host's id and the tokens.

use std::sync::Arc;

use super::{Check, Context, Report};
use crate::failure::Failure;
use crate::host;
use crate::token::Tokens;

#[derive(Debug)]
pub(super) struct HostCheck;

#[tonic::async_trait]
impl Check for HostCheck {
    fn name(&self) -> &'static str {
        "host"
    }

    async fn run(&self, context: &Context) -> Result<Vec<Report>, Failure> {
        let path = context.home.host_path();
        Ok(vec![match host::read(&context.home) {
            Ok(Some(id)) => Report::ok(self.name(), format!("{} names this host {id}", path.display())),
            Ok(None) => missing(self.name(), &path),
            Err(failure) => Report::error(self.name(), failure.to_string(), "restore the file from a backup"),
        }])
    }
}

#[derive(Debug)]
pub(super) struct TokenCheck;

#[tonic::async_trait]
impl Check for TokenCheck {
    fn name(&self) -> &'static str {
        "tokens"
    }

    async fn run(&self, context: &Context) -> Result<Vec<Report>, Failure> {
        let path = context.home.token_path();
        if !path.exists() {
            return Ok(vec![missing(self.name(), &path)]);
        }
        let shared = context
            .config
            .as_ref()
            .ok()
            .and_then(|config| config.tokens_file.as_deref());
        let loaded = Tokens::look(&context.home, shared, Arc::clone(&context.clock));
        Ok(vec![match loaded {
            Ok(tokens) => Report::ok(
                self.name(),
                format!("known tokens and certificates: {}", tokens.count()),
            ),
            Err(failure) => Report::error(self.name(), failure.to_string(), "mend the file"),
        }])
    }
}

fn missing(name: &'static str, path: &std::path::Path) -> Report {
    Report::warning(
        name,
        format!("{} is not there", path.display()),
        "start compozyd, which makes it",
    )
}
