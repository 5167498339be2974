//! Files of definitions, as they lie there.

use compozy_domain::Layer;

use super::names::{self, MCP};
use crate::definition::{DEFINITION_BYTES_MAX, Found};
use crate::files::{Named, ReadFault};
use crate::watched::ReadDirectory;

/// Bytes of a `mcp.json` at most.
const MCP_BYTES_MAX: usize = 1024 * 1024;

/// A definition and the `mcp.json` beside it; `None` if it was removed since the names were read, which is seen when
/// everything is compared.
pub(super) fn definition(
    layer: Layer,
    directory: &ReadDirectory<'_, '_>,
    name: &str,
    file: &str,
    entries: &[Named],
) -> Option<Found> {
    let (path, content) = read(directory, file, DEFINITION_BYTES_MAX)?;
    let has_mcp = names::has(entries, MCP);
    Some(Found {
        layer,
        path,
        directory_name: name.to_owned(),
        content,
        mcp: has_mcp.then(|| read(directory, MCP, MCP_BYTES_MAX)).flatten(),
    })
}

/// Path and content of a file; `None` if there is none.
pub(super) fn read(
    directory: &ReadDirectory<'_, '_>,
    name: &str,
    limit: usize,
) -> Option<(String, Result<Vec<u8>, ReadFault>)> {
    let content = directory.read(name, limit).transpose()?;
    Some((directory.child(name), content))
}
