//! The file that `auth.tokens_file` names, TOML:
//!
//! ```toml
//! [[tokens]]
//! id = "ci"                                  # names the caller in logs; unique
//! sha256 = "<64 hex digits>"                 # of the token: printf %s "$TOKEN" | sha256sum
//! scopes = ["read", "write"]                 # read, write, admin, launch
//! workspaces = ["ws_0123456789abcdef"]       # optional: nothing else exists for this caller
//! expires_at = 2027-01-01T00:00:00Z          # optional
//!
//! [[certificates]]
//! id = "gateway"
//! san = "spiffe://cluster/ns/default/sa/gateway"   # a DNS or URI name of the client's certificate
//! scopes = ["read"]
//! ```

use std::collections::HashSet;
use std::path::Path;

use compozy_domain::{Principal, Scope, Timestamp, Visibility, WorkspaceId};
use serde::Deserialize;

use super::{Entries, Grant, LOCAL_TOKEN_ID, TokenHash};
use crate::failure::Failure;
use crate::small_file::{self, Links};

const BYTES_MAX: u64 = 1024 * 1024;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TokensFile {
    #[serde(default)]
    tokens: Vec<TokenEntry>,
    #[serde(default)]
    certificates: Vec<CertificateEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenEntry {
    id: String,
    sha256: String,
    scopes: Vec<String>,
    workspaces: Option<Vec<String>>,
    expires_at: Option<toml::value::Datetime>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CertificateEntry {
    id: String,
    san: String,
    scopes: Vec<String>,
    workspaces: Option<Vec<String>>,
    expires_at: Option<toml::value::Datetime>,
}

/// Reads the file.
pub(super) fn read(path: &Path) -> Result<Entries, Failure> {
    let refused = |problem: String| Failure::config(format!("auth.tokens_file {} {problem}", path.display()));
    let text =
        small_file::read(path, BYTES_MAX, Links::Follow).map_err(|fault| refused(fault.to_string()))?;
    let text = text.ok_or_else(|| refused("does not exist: make it, or unset the key".to_owned()))?;
    parse(&text).map_err(refused)
}

/// Reads the text of a file. Messages name entries by number and id, never a hash.
pub(super) fn parse(text: &str) -> Result<Entries, String> {
    let file: TokensFile = toml::from_str(text).map_err(|error| {
        let line = error
            .span()
            .map_or(0, |span| text[..span.start].matches('\n').count() + 1);
        format!("is not valid at line {line}: {}", error.message())
    })?;
    let mut entries = Entries::default();
    let mut ids = HashSet::from([LOCAL_TOKEN_ID.to_owned(), Principal::local().id]);
    for entry in file.tokens {
        let TokenEntry {
            id,
            sha256,
            scopes,
            workspaces,
            expires_at,
        } = entry;
        let hash = parse_hash(&sha256).ok_or_else(|| format!("has no SHA-256 of 64 hex digits at '{id}'"))?;
        let grant = grant(&mut ids, id, &scopes, workspaces, expires_at)?;
        entries.tokens.push((hash, grant));
    }
    for entry in file.certificates {
        let CertificateEntry {
            id,
            san,
            scopes,
            workspaces,
            expires_at,
        } = entry;
        let grant = grant(&mut ids, id, &scopes, workspaces, expires_at)?;
        entries.certificates.push((san, grant));
    }
    Ok(entries)
}

fn grant(
    ids: &mut HashSet<String>,
    id: String,
    scopes: &[String],
    workspaces: Option<Vec<String>>,
    expires_at: Option<toml::value::Datetime>,
) -> Result<Grant, String> {
    let well_formed = (1..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic());
    if !well_formed {
        return Err("has an id that is not 1 to 64 visible ASCII characters".to_owned());
    }
    if !ids.insert(id.clone()) {
        return Err(format!(
            "has the id '{id}' twice, or it is one of the daemon's own"
        ));
    }
    let scopes = scopes.iter().map(|word| {
        Scope::parse(word)
            .ok_or_else(|| format!("has an unknown scope at '{id}': use read, write, admin, launch"))
    });
    let scopes = scopes.collect::<Result<Vec<_>, _>>()?;
    let visibility = match workspaces {
        None => Visibility::All,
        Some(texts) => Visibility::Only(workspace_ids(&id, &texts)?),
    };
    let expires_at = expires_at.map(|at| instant(&id, at)).transpose()?;
    Ok(Grant {
        id,
        scopes,
        visibility,
        expires_at,
    })
}

fn workspace_ids(id: &str, texts: &[String]) -> Result<Vec<WorkspaceId>, String> {
    let parsed = texts.iter().map(|text| WorkspaceId::parse(text));
    parsed
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| format!("has a workspace at '{id}' that is no ws_ id"))
}

fn instant(id: &str, at: toml::value::Datetime) -> Result<Timestamp, String> {
    let parsed = at.to_string().parse::<jiff::Timestamp>().ok();
    let nanos = parsed.and_then(|at| i64::try_from(at.as_nanosecond()).ok());
    nanos
        .map(Timestamp::from_nanos)
        .ok_or_else(|| format!("has an expires_at at '{id}' that is no instant such as 2027-01-01T00:00:00Z"))
}

fn parse_hash(text: &str) -> Option<TokenHash> {
    let mut hash = TokenHash::default();
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (at, byte) in hash.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(hash)
}
