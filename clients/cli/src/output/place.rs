//! Paths where there is little room: from the root of the workspace, or from the reader's home directory.

use std::path::Path;

/// The path below the root, or with `~` for the home directory; as it is if it lies in neither.
pub(super) fn short(path: &str, root: &str) -> String {
    let home = std::env::home_dir().unwrap_or_default();
    below(path, root, &home)
}

fn below(path: &str, root: &str, home: &Path) -> String {
    // As text: a line number may stand behind the path.
    let inside = |base: &str| {
        let rest = path.strip_prefix(base.trim_end_matches('/'))?;
        rest.strip_prefix('/').filter(|_| base.len() > 1)
    };
    if let Some(rest) = inside(root) {
        return rest.to_owned();
    }
    match home.to_str().and_then(inside) {
        Some(rest) => format!("~/{rest}"),
        None => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_and_the_home_directory_are_left_out() {
        let short = |path: &str| below(path, "/home/u/api", Path::new("/home/u"));
        assert_eq!(
            short("/home/u/api/.compozy/config.toml:2"),
            ".compozy/config.toml:2"
        );
        assert_eq!(
            short("/home/u/.compozy/config.toml:2"),
            "~/.compozy/config.toml:2"
        );
        assert_eq!(short("/home/u/apis/x"), "~/apis/x");
        assert_eq!(short("/srv/x"), "/srv/x");
        assert_eq!(below("/srv/x", "", Path::new("/")), "/srv/x");
    }
}
