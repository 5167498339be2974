//! Whose disk this daemon looks at: `daemon.host_id`, else the id in `host.toml`, which the first start makes.

use compozy_domain::{Clock, HostId, Random};
use serde::Deserialize;

use crate::failure::Failure;
use crate::home::Home;
use crate::small_file::{self, Links};

/// Bytes of `host.toml` at most.
const BYTES_MAX: u64 = 4_096;

#[derive(Deserialize)]
struct HostFile {
    host_id: String,
}

/// The host's id. Makes `host.toml` if it is not there, even when the configuration names another id.
///
/// # Errors
/// A failure that names `host.toml`: an id that can't be read is never replaced, because workspaces carry it.
pub fn host_id(
    home: &Home,
    configured: Option<&HostId>,
    clock: &dyn Clock,
    random: &dyn Random,
) -> Result<HostId, Failure> {
    let own = match read(home)? {
        Some(id) => id,
        None => make(home, clock, random)?,
    };
    Ok(configured.cloned().unwrap_or(own))
}

/// The id in `host.toml`; `None` if there is no such file.
///
/// # Errors
/// A failure that names the file.
pub fn read(home: &Home) -> Result<Option<HostId>, Failure> {
    let path = home.host_path();
    let refused = |problem: &str| {
        Failure::config(format!(
            "{} {problem}: restore it, or remove it to become a new host",
            path.display()
        ))
    };
    let text =
        small_file::read(&path, BYTES_MAX, Links::Refuse).map_err(|fault| refused(&fault.to_string()))?;
    let Some(text) = text else { return Ok(None) };
    let file: HostFile = toml::from_str(&text).map_err(|_| refused("is no TOML with a text host_id"))?;
    let id = HostId::parse(&file.host_id).filter(|id| !id.is_none());
    id.map(Some)
        .ok_or_else(|| refused("holds a host_id that is not valid"))
}

fn make(home: &Home, clock: &dyn Clock, random: &dyn Random) -> Result<HostId, Failure> {
    let id = HostId::generate(clock.now(), random)?;
    write(home, &id, random)?;
    Ok(id)
}

/// Makes `host.toml` name this host.
///
/// # Errors
/// A failure that names the file.
pub fn write(home: &Home, id: &HostId, random: &dyn Random) -> Result<(), Failure> {
    let text = format!("# Names this machine in the catalog. Made by compozyd.\nhost_id = \"{id}\"\n");
    home.write(&home.host_path(), text.as_bytes(), random)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::clock::SystemClock;
    use crate::random::SystemRandom;

    #[test]
    fn the_id_is_made_once_and_a_configured_one_wins() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::at(directory.path());
        let ask = |configured| host_id(&home, configured, &SystemClock, &SystemRandom).unwrap();
        let first = ask(None);
        assert_eq!(ask(None), first);
        let none = HostId::parse("none").unwrap();
        assert_eq!(ask(Some(&none)), none);
        assert_eq!(ask(None), first);
    }

    #[test]
    fn a_broken_file_is_an_error_and_stays() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::at(directory.path());
        for text in ["", "host_id = 1", "host_id = \"a b\"", "host_id = \"none\""] {
            std::fs::write(home.host_path(), text).unwrap();
            let failure = host_id(&home, None, &SystemClock, &SystemRandom).unwrap_err();
            assert!(failure.to_string().contains("host.toml"), "{failure}");
            assert_eq!(std::fs::read_to_string(home.host_path()).unwrap(), text);
        }
    }
}
