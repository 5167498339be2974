//! What an agent is started with, for the holder of its lease. Nothing here is kept, and nothing is told to anybody else.

use std::collections::BTreeMap;

use compozy_domain::{CatalogError, LeaseHash};
use compozy_proto::session::v1 as pb;
use compozy_resolver::mcp::{McpServer, Transport};
use compozy_resolver::value::Value;

use super::lease::hash;
use super::words;
use crate::registry::session::launch::Launch;

const AUTHORIZATION: &str = "Authorization";

/// Reads a request.
///
/// # Errors
/// [`CatalogError::LeaseLost`].
pub fn wanted(request: &pb::GetLaunchRequest) -> Result<LeaseHash, CatalogError> {
    hash(&request.lease)
}

/// Makes the response.
#[must_use]
pub fn answer(launch: Launch) -> pb::GetLaunchResponse {
    let Launch {
        argv,
        cwd,
        environment,
        fallback_environment,
        prompt,
        permission_mode,
        servers,
    } = launch;
    pb::GetLaunchResponse {
        argv,
        cwd,
        environment: environment.into_iter().collect(),
        fallback_environment: fallback_environment.into_iter().collect(),
        prompt,
        permission_mode: words::permission_mode(permission_mode).into(),
        servers: servers.into_iter().map(server).collect(),
    }
}

fn server(server: McpServer) -> pb::LaunchServer {
    let McpServer {
        name,
        transport,
        command,
        args,
        mut env,
        secret_env,
        cwd: _,
        url,
        mut headers,
        auth,
        timeout: _,
        disabled: _,
        description: _,
        other: _,
        origin: _,
    } = server;
    env.extend(secret_env);
    authorize(&mut headers, auth.as_ref());
    let (word, argv) = match transport {
        Transport::Stdio => ("stdio", std::iter::once(command).chain(args).collect()),
        // What does not say is the one that is in use today.
        Transport::Http | Transport::Url => ("http", Vec::new()),
        Transport::Sse => ("sse", Vec::new()),
    };
    pb::LaunchServer {
        name,
        transport: word.to_owned(),
        argv,
        environment: env.into_iter().collect(),
        url,
        headers: headers.into_iter().collect(),
    }
}

/// Authentication by a bearer token is a header. Every other kind is something that the runtime has to do.
fn authorize(headers: &mut BTreeMap<String, String>, auth: Option<&Value>) {
    let Some(auth) = auth.and_then(Value::as_table) else {
        return;
    };
    let text = |key: &str| auth.get(key).and_then(Value::as_text);
    let is_bearer = text("type").is_none_or(|kind| kind.eq_ignore_ascii_case("bearer"));
    let is_said = headers
        .keys()
        .any(|name| name.eq_ignore_ascii_case(AUTHORIZATION));
    if let (true, false, Some(token)) = (is_bearer, is_said, text("token")) {
        headers.insert(AUTHORIZATION.to_owned(), format!("Bearer {token}"));
    }
}
