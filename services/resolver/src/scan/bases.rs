//! The directories in which agents and skills are looked for, in the order in which they win.

use compozy_domain::Layer;

use super::Places;

/// The name of the source that is always on.
pub(super) const OWN: &str = "compozy";

/// A directory to look in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Base {
    pub(super) layer: Layer,
    pub(super) kind: BaseKind,
    /// The name of its source.
    pub(super) source: String,
    pub(super) path: String,
}

/// Why a directory is looked in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BaseKind {
    /// It is one of this product's own.
    Own,
    /// Other products look in it.
    Convention,
    /// The configuration names it.
    Custom,
}

/// The bases of agents, first wins.
pub(super) fn of_agents(places: &Places, additional: &[&str]) -> Vec<Base> {
    let mut bases = Vec::new();
    let mut add = |layer, directory: &str| bases.push(own(layer, format!("{directory}/agents")));
    let workspace = in_compozy(&places.root);
    if let Some(profile) = &places.profile {
        add(Layer::WorkspaceProfile, &in_profiles(&workspace, profile));
    }
    add(Layer::Workspace, &workspace);
    for root in additional {
        add(Layer::Additional, &in_compozy(root));
    }
    if let Some(profile) = &places.profile {
        add(Layer::Profile, &in_profiles(&places.home, profile));
    }
    add(Layer::User, &places.home);
    bases
}

/// The bases of skills, first wins. In a tier this product's own directories come before those of conventions, and
/// these before custom ones.
pub(super) fn of_skills(places: &Places, additional: &[&str]) -> Vec<Base> {
    let mut bases = Vec::new();
    let workspace = in_compozy(&places.root);
    if let Some(profile) = &places.profile {
        let directory = in_profiles(&workspace, profile);
        bases.push(own(Layer::WorkspaceProfile, format!("{directory}/skills")));
        conventions(places, Layer::WorkspaceProfile, &directory, &mut bases);
    }
    bases.push(own(Layer::Workspace, format!("{workspace}/skills")));
    conventions(places, Layer::Workspace, &places.root, &mut bases);
    for root in additional {
        bases.push(own(Layer::Additional, format!("{}/skills", in_compozy(root))));
    }
    for root in additional {
        conventions(places, Layer::Additional, root, &mut bases);
    }
    custom(places, &mut bases);
    if let Some(profile) = &places.profile {
        let directory = in_profiles(&places.home, profile);
        bases.push(own(Layer::Profile, format!("{directory}/skills")));
        conventions(places, Layer::Profile, &directory, &mut bases);
    }
    bases.push(own(Layer::User, format!("{}/skills", places.home)));
    if let Some(home) = &places.operator_home {
        conventions(places, Layer::User, home, &mut bases);
    }
    bases
}

fn in_compozy(root: &str) -> String {
    format!("{}/.compozy", root.trim_end_matches('/'))
}

fn in_profiles(directory: &str, profile: &str) -> String {
    format!("{directory}/profiles/{profile}")
}

fn own(layer: Layer, path: String) -> Base {
    Base {
        layer,
        kind: BaseKind::Own,
        source: OWN.to_owned(),
        path,
    }
}

fn conventions(places: &Places, layer: Layer, directory: &str, bases: &mut Vec<Base>) {
    let directory = directory.trim_end_matches('/');
    for (source, is_on) in [
        ("agents", places.sources.agents),
        ("claude", places.sources.claude),
    ] {
        if is_on {
            bases.push(Base {
                layer,
                kind: BaseKind::Convention,
                source: source.to_owned(),
                path: format!("{directory}/.{source}/skills"),
            });
        }
    }
}

fn custom(places: &Places, bases: &mut Vec<Base>) {
    for source in &places.sources.custom {
        bases.push(Base {
            layer: Layer::Additional,
            kind: BaseKind::Custom,
            source: base_name(&source.path).to_owned(),
            path: source.path.clone(),
        });
    }
}

/// The last name of a path as somebody wrote it; the whole path if there is none.
fn base_name(path: &str) -> &str {
    let names = path.rsplit('/');
    let mut names = names.filter(|name| !matches!(*name, "" | "." | ".."));
    names.next().unwrap_or(path)
}
