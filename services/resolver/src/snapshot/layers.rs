//! The files of the configuration's layers. Only the home and the primary root have any; what is in the way of one
//! is a problem that names it, never an absent layer.

use compozy_domain::{Diagnostic, Layer};

use super::Request;
use super::root::{Root, enter};
use crate::config::{CONFIG_BYTES_MAX, LayerFiles, SourceFile, not_a_directory, unread};
use crate::files::{DirectoryFault, ReadFault};
use crate::orphans;
use crate::watched::{ReadDirectory, Reader};

const CONFIG: &str = "config.toml";
const MCP: &str = "mcp.json";
/// The directory that holds those of profiles.
const PROFILES: &str = "profiles";

/// What was read of the layers.
#[derive(Default)]
pub(super) struct Layers {
    /// Lowest first.
    pub(super) files: Vec<LayerFiles>,
    /// Files and directories that can't be read.
    pub(super) problems: Vec<Diagnostic>,
    /// Layers of profiles that nobody knows.
    pub(super) orphans: Vec<Diagnostic>,
}

/// Reads every layer that the active profile has. What only a hint depends on is looked at through `beside`.
pub(super) fn read(
    reader: &Reader<'_>,
    beside: &Reader<'_>,
    request: &Request,
    root: &Root<'_, '_>,
) -> Layers {
    let mut layers = Layers::default();
    let home = match reader.open(&request.home) {
        Ok(home) => home,
        Err(fault) => {
            let problem = not_a_directory(Layer::User, &request.home, &fault);
            layers.problems.push(problem);
            None
        }
    };
    if let Some(home) = &home {
        layers.add(beside, request, home, [Layer::User, Layer::Profile]);
        if root.is_parent_of(home, reader) {
            return layers;
        }
    }
    match &root.own {
        None => {}
        Some(Ok(own)) => layers.add(beside, request, own, [Layer::Workspace, Layer::WorkspaceProfile]),
        Some(Err(fault)) => layers.fail(Layer::Workspace, &root.own_path(), fault),
    }
    layers
}

impl Layers {
    /// Reads the layer of a directory, and that of the active profile below it.
    fn add(
        &mut self,
        beside: &Reader<'_>,
        request: &Request,
        directory: &ReadDirectory<'_, '_>,
        layers: [Layer; 2],
    ) {
        let [own, of_profile] = layers;
        self.read(own, directory);
        let profiles = match enter(directory, PROFILES) {
            Ok(None) => return,
            Ok(Some(profiles)) => profiles,
            // Without an active profile nothing of it would be read.
            Err(_) if request.profile.is_none() => return,
            Err(fault) => return self.fail(of_profile, &directory.child(PROFILES), &fault),
        };
        if let Some(listed) = open_again(&profiles, beside) {
            self.orphans.extend(orphans::find(
                &listed,
                of_profile,
                &request.profile_names,
                [CONFIG, MCP],
            ));
        }
        let Some(name) = &request.profile else { return };
        match enter(&profiles, name) {
            Ok(None) => {}
            Ok(Some(profile)) => self.read(of_profile, &profile),
            Err(fault) => self.fail(of_profile, &profiles.child(name), &fault),
        }
    }

    fn read(&mut self, layer: Layer, directory: &ReadDirectory<'_, '_>) {
        let config = self.file(layer, directory, CONFIG);
        let mcp = self.file(layer, directory, MCP);
        self.files.push(LayerFiles { layer, config, mcp });
    }

    fn file(&mut self, layer: Layer, directory: &ReadDirectory<'_, '_>, name: &str) -> Option<SourceFile> {
        let path = directory.child(name);
        match directory.read(name, CONFIG_BYTES_MAX) {
            Ok(bytes) => bytes.map(|bytes| SourceFile { path, bytes }),
            Err(fault) => {
                self.problems.push(unread(layer, &path, &fault));
                None
            }
        }
    }

    /// A directory that can't be entered.
    fn fail(&mut self, layer: Layer, path: &str, fault: &ReadFault) {
        self.problems.push(match fault {
            ReadFault::NotRegular => not_a_directory(layer, path, &DirectoryFault::NotDirectory),
            ReadFault::Unreadable => not_a_directory(layer, path, &DirectoryFault::Unreadable),
            other => unread(layer, path, other),
        });
    }
}

/// The same directory through another reader; `None` if something else is there by now.
fn open_again<'r, 'f>(
    directory: &ReadDirectory<'_, '_>,
    reader: &'r Reader<'f>,
) -> Option<ReadDirectory<'r, 'f>> {
    let again = reader.open(directory.path()).ok().flatten()?;
    (again.stamp().file == directory.stamp().file).then_some(again)
}
