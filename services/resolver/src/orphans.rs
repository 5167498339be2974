//! Layers of profiles that the catalog does not know. Only names and kinds are looked at: nothing of them is opened.

use compozy_domain::profile::ProfileName;
use compozy_domain::{Diagnostic, Layer, Severity};

use crate::files::Kind;
use crate::watched::ReadDirectory;

/// The regular files of these names in the directories of profiles that are not among `known`.
pub(crate) fn find(
    profiles: &ReadDirectory<'_, '_>,
    layer: Layer,
    known: &[String],
    files: [&str; 2],
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    // A directory that can't be listed is not the active one's: whoever makes that one active is told.
    let Ok(names) = profiles.names() else {
        return found;
    };
    for directory in names.entries {
        let name = directory.name;
        let is_known = name == ProfileName::DEFAULT || known.contains(&name);
        if is_known || directory.kind != Kind::Directory {
            continue;
        }
        for file in files {
            let path = format!("{name}/{file}");
            if let Ok(Some(stamp)) = profiles.look(&path)
                && stamp.kind == Kind::Regular
            {
                found.push(orphaned(layer, &name, profiles.child(&path)));
            }
        }
    }
    found
}

fn orphaned(layer: Layer, profile: &str, path: String) -> Diagnostic {
    let remedy = if ProfileName::parse(profile).is_ok() {
        format!("create it with `compozy profile create {profile}`, or move its directory away")
    } else {
        "rename its directory to the name of a profile, or move it away".to_owned()
    };
    let message = "belongs to a profile that does not exist, so it is not read";
    Diagnostic {
        profile: Some(profile.to_owned()),
        ..Diagnostic::new(
            "config_profile_layer_orphaned",
            Severity::Warning,
            layer,
            path,
            message,
            remedy,
        )
    }
}
