//! `client.token`: what the home's owner uses over TCP. Every start that finds none makes one.

use std::fmt::Write as _;
use std::path::Path;

use compozy_domain::{Random, Scope, Visibility};

use super::Grant;
use crate::failure::Failure;
use crate::home::Home;
use crate::small_file::{self, Links};

/// The principal behind the home's own token.
pub const LOCAL_TOKEN_ID: &str = "client";

const BYTES_MAX: u64 = 4_096;
/// Fewer characters can be guessed.
const CHARS_MIN: usize = 32;

/// Makes the token if there is none.
///
/// # Errors
/// A failure that names the file.
pub fn ensure_local_token(home: &Home, random: &dyn Random) -> Result<(), Failure> {
    let path = home.token_path();
    if read(&path)?.is_some() {
        return Ok(());
    }
    let mut bytes = [0_u8; 32];
    random.fill(&mut bytes)?;
    let mut text = String::with_capacity(65);
    for byte in bytes {
        // Writing to a String can't fail.
        let _ = write!(text, "{byte:02x}");
    }
    text.push('\n');
    home.write(&path, text.as_bytes(), random)
}

/// The token in the file; `None` if there is no file.
pub(super) fn read(path: &Path) -> Result<Option<String>, Failure> {
    let refused = |problem: &str| {
        Failure::config(format!(
            "{} {problem}; or remove it, the next start makes a new one",
            path.display()
        ))
    };
    let text =
        small_file::read(path, BYTES_MAX, Links::Refuse).map_err(|fault| refused(&fault.to_string()))?;
    let Some(text) = text else { return Ok(None) };
    let token = text.trim();
    if token.len() < CHARS_MIN || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(refused("holds no token of 32 or more characters"));
    }
    Ok(Some(token.to_owned()))
}

/// The home's owner may do everything.
pub(super) fn grant() -> Grant {
    Grant {
        id: LOCAL_TOKEN_ID.to_owned(),
        scopes: vec![Scope::Read, Scope::Write, Scope::Admin, Scope::Launch],
        visibility: Visibility::All,
        expires_at: None,
    }
}
