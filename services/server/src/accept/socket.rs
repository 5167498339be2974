//! The socket's file: where it is, that a stale one goes, and that nobody meets another mode than 0600.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use sha2::{Digest, Sha256};
use tokio::net::UnixListener;

use crate::failure::{Failure, FailureKind};
use crate::home::Home;

/// Bytes of a socket's path at most: the system's 108 hold its end mark too.
pub const SOCKET_PATH_MAX: usize = 107;

/// Connections that the kernel may hold ready.
const BACKLOG: i32 = 1_024;

/// The path of the socket: `daemon.socket`, else the home's own, else one in the runtime directory.
///
/// # Errors
/// When every candidate is too long.
pub fn socket_path(
    home: &Home,
    configured: Option<&Path>,
    runtime: Option<&Path>,
) -> Result<PathBuf, Failure> {
    let wanted = configured.map_or_else(|| home.socket_path(), Path::to_owned);
    let fits = |path: &Path| path.as_os_str().len() <= SOCKET_PATH_MAX;
    if fits(&wanted) {
        return Ok(wanted);
    }
    let hash = Sha256::digest(home.path().as_os_str().as_encoded_bytes());
    let name = hash
        .iter()
        .take(8)
        .fold("compozy-".to_owned(), |name, byte| format!("{name}{byte:02x}"))
        + ".sock";
    let fallback = runtime
        .filter(|path| path.is_absolute())
        .map(|path| path.join(name));
    fallback.filter(|path| fits(path)).ok_or_else(|| {
        Failure::config(format!(
            "the socket path {} is longer than the system's limit of 108 bytes: set XDG_RUNTIME_DIR or daemon.socket \
             to something shorter",
            wanted.display()
        ))
    })
}

/// Takes away a socket that nobody listens on. The lock of the home says that no daemon of this home does.
pub(super) fn remove_stale(path: &Path) -> Result<(), Failure> {
    let metadata = match std::fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Failure::io("look at", path, &error)),
    };
    if !metadata.file_type().is_socket() {
        return Err(Failure::config(format!(
            "{} is there and is no socket: move it away",
            path.display()
        )));
    }
    match try_connect(path) {
        Err(Errno::CONNREFUSED | Errno::NOENT) => {
            std::fs::remove_file(path).map_err(|error| Failure::io("replace", path, &error))
        }
        Err(error) if error != Errno::AGAIN => Err(Failure::io("look at", path, &error.into())),
        _ => Err(Failure::new(
            FailureKind::Unavailable,
            format!(
                "another process listens on {}: stop it, or set daemon.socket to another path",
                path.display()
            ),
        )),
    }
}

fn try_connect(path: &Path) -> Result<(), Errno> {
    rustix::net::connect(new_socket()?, &SocketAddrUnix::new(path)?)
}

fn new_socket() -> Result<OwnedFd, Errno> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)
}

pub(super) fn bind(path: &Path) -> io::Result<UnixListener> {
    let socket = new_socket()?;
    rustix::net::bind(&socket, &SocketAddrUnix::new(path)?)?;
    // Nobody can connect before it listens, so nobody meets another mode.
    rustix::fs::chmodat(CWD, path, Mode::from_raw_mode(0o600), AtFlags::empty())?;
    rustix::net::listen(&socket, BACKLOG)?;
    UnixListener::from_std(socket.into())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn long_home() -> Home {
        Home::at(format!("/{}", "h".repeat(200)))
    }

    #[test]
    fn a_long_path_falls_back_to_the_runtime_directory() {
        let path = socket_path(&long_home(), None, Some(Path::new("/run/user/1"))).unwrap();
        assert!(path.starts_with("/run/user/1") && path.to_string_lossy().ends_with(".sock"));
        let other = socket_path(
            &Home::at(format!("/{}", "i".repeat(200))),
            None,
            Some(Path::new("/run/user/1")),
        );
        assert_ne!(path, other.unwrap(), "two homes need two sockets");
        assert_eq!(
            socket_path(&Home::at("/h"), None, None).unwrap(),
            Path::new("/h/daemon.sock")
        );
        assert_eq!(
            socket_path(&Home::at("/h"), Some(Path::new("/s")), None).unwrap(),
            Path::new("/s")
        );
    }

    #[test]
    fn c151_without_a_runtime_directory_the_limit_is_named() {
        for runtime in [
            None,
            Some(Path::new("relative")),
            Some(Path::new(long_home().path())),
        ] {
            let failure = socket_path(&long_home(), None, runtime).unwrap_err();
            assert!(failure.to_string().contains("108 bytes"), "{failure}");
        }
    }
}
