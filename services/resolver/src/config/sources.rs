//! What may stand in `skills.sources` and `skills.custom_sources`, as far as a file alone can tell: a wrong word is
//! told wherever a file is looked at, and not only once it would count.

use compozy_domain::Layer;

/// The key of the presets.
pub(crate) const PRESETS_KEY: &str = "skills.sources";
/// The key of the custom ones.
pub(crate) const CUSTOM_KEY: &str = "skills.custom_sources";
/// What may stand in `skills.sources`. The first is always on, named or not.
pub(super) const PRESETS: [&str; 3] = ["compozy", "agents", "claude"];
/// Custom sources at most.
const CUSTOM_MAX: usize = 256;

/// Something that is wrong with an entry. What the file says is not repeated: an entry is named by its number.
pub(crate) struct Wrong {
    pub(crate) code: &'static str,
    /// Number of the entry, from 0.
    pub(crate) index: usize,
    pub(crate) message: String,
    pub(crate) remedy: String,
}

/// How a custom source is written.
pub(crate) enum Spelling<'w> {
    Absolute(&'w str),
    /// What follows `~`.
    InHome(&'w str),
    /// Below the root of the workspace.
    InRoot(&'w str),
}

/// Everything that is wrong with the names of presets.
pub(super) fn wrong_presets(names: &[&str]) -> Vec<Wrong> {
    let mut found = Vec::new();
    for (index, name) in names.iter().enumerate() {
        if !PRESETS.contains(name) {
            found.push(unknown(index, name));
        } else if names[..index].contains(name) {
            let message = format!("{} names `{name}`, which is named before", entry(index));
            found.push(same(index, message));
        }
    }
    found
}

/// Everything that is wrong with how custom sources of a layer are written.
pub(super) fn wrong_paths(layer: Layer, written: &[&str]) -> Vec<Wrong> {
    let mut found = Vec::new();
    for (index, path) in written.iter().enumerate() {
        if index == CUSTOM_MAX {
            let message = format!("there are more than {CUSTOM_MAX} custom sources");
            found.push(invalid(index, message, "name a directory above them instead"));
            break;
        }
        if let Err((rule, remedy)) = spelling(layer, path) {
            found.push(invalid(index, format!("{} {rule}", entry(index)), remedy));
        }
    }
    found
}

/// How a custom source of a layer is written; else the rule that is broken, and the remedy.
pub(crate) fn spelling(layer: Layer, written: &str) -> Result<Spelling<'_>, (&'static str, &'static str)> {
    if written.trim().is_empty() {
        return Err(("is empty", "write the path of a directory, or remove it"));
    }
    if written.contains(char::is_control) {
        return Err(("holds control characters", "write a path without them"));
    }
    if written.starts_with('/') {
        return Ok(Spelling::Absolute(written));
    }
    if let Some(rest) = written.strip_prefix('~') {
        return match rest.is_empty() || rest.starts_with('/') {
            true => Ok(Spelling::InHome(rest)),
            false => Err((
                "begins with the home directory of somebody else",
                "write the whole path; only `~/`, your own home, is expanded",
            )),
        };
    }
    match layer {
        Layer::Workspace | Layer::WorkspaceProfile => Ok(Spelling::InRoot(written)),
        _ => Err((
            "is relative, which it may be in the files of a workspace only",
            "write an absolute path, or one that begins with `~/`",
        )),
    }
}

/// An entry that names what another one names.
pub(crate) fn same(index: usize, message: String) -> Wrong {
    Wrong {
        code: "duplicate_skill_source",
        index,
        message,
        remedy: "name it once".to_owned(),
    }
}

/// An entry that is no path which could be read.
pub(crate) fn invalid(index: usize, message: String, remedy: &str) -> Wrong {
    Wrong {
        code: "invalid_source_path",
        index,
        message,
        remedy: remedy.to_owned(),
    }
}

pub(crate) fn entry(index: usize) -> String {
    format!("entry {}", index + 1)
}

fn unknown(index: usize, name: &str) -> Wrong {
    let entry = entry(index);
    let (message, remedy) = match nearest(name) {
        Some(nearest) => (
            format!("{entry} is no known source of skills, did you mean `{nearest}`?"),
            format!("write `{nearest}`"),
        ),
        None => {
            let known = PRESETS.map(|name| format!("`{name}`")).join(", ");
            (
                format!("{entry} is no known source of skills: there are {known}"),
                format!("write one of them; a directory goes into `{CUSTOM_KEY}`"),
            )
        }
    };
    Wrong {
        code: "unknown_skill_source",
        index,
        message,
        remedy,
    }
}

/// The preset that was probably meant.
fn nearest(name: &str) -> Option<&'static str> {
    /// Letters that may be missing, too many, wrong or swapped.
    const SLIPS_MAX: usize = 2;
    /// What is longer than any preset is near none.
    const CHARS_MAX: usize = 64;
    let name: String = name.chars().take(CHARS_MAX).collect();
    let name = name.to_lowercase();
    let name = name.trim_start_matches('.').trim_end_matches("/skills");
    let distances = PRESETS.map(|preset| (strsim::osa_distance(name, preset), preset));
    let (distance, preset) = distances.into_iter().min()?;
    (distance <= SLIPS_MAX).then_some(preset)
}
