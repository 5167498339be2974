//! The child directories of a directory.

use compozy_client::proto::workspace::v1::{DirectoryCrumb, DirectoryEntry, ListDirectoryResponse};
use serde::Serialize;

use super::{Answer, Human};

/// `compozy.workspace.v1.ListDirectoryResponse`.
#[derive(Debug, Serialize)]
pub(crate) struct DirectoryView {
    path: String,
    entries: Vec<EntryView>,
    truncated: bool,
    crumbs: Vec<CrumbView>,
}

/// `compozy.workspace.v1.DirectoryEntry`.
#[derive(Debug, Serialize)]
struct EntryView {
    name: String,
    path: String,
    hidden: bool,
}

/// `compozy.workspace.v1.DirectoryCrumb`.
#[derive(Debug, Serialize)]
struct CrumbView {
    name: String,
    path: String,
}

impl From<ListDirectoryResponse> for DirectoryView {
    fn from(answer: ListDirectoryResponse) -> Self {
        let ListDirectoryResponse {
            path,
            entries,
            truncated,
            crumbs,
        } = answer;
        Self {
            path,
            entries: entries.into_iter().map(EntryView::from).collect(),
            truncated,
            crumbs: crumbs.into_iter().map(CrumbView::from).collect(),
        }
    }
}

impl From<DirectoryEntry> for EntryView {
    fn from(entry: DirectoryEntry) -> Self {
        let DirectoryEntry { name, path, hidden } = entry;
        Self { name, path, hidden }
    }
}

impl From<DirectoryCrumb> for CrumbView {
    fn from(crumb: DirectoryCrumb) -> Self {
        let DirectoryCrumb { name, path } = crumb;
        Self { name, path }
    }
}

impl Answer for DirectoryView {
    fn human(&self, human: &mut Human) {
        human.line(&self.path);
        for entry in &self.entries {
            human.line(&format!("  {}/", entry.name));
        }
    }

    fn notes(&self) -> Vec<String> {
        if self.truncated {
            vec!["there are more directories than one answer holds".to_owned()]
        } else {
            Vec::new()
        }
    }
}
