//! What became of a backup.

use compozy_client::proto::admin::v1::{BackupFile, BackupResponse};
use serde::Serialize;

use super::human::sanitized;
use super::{Answer, Human};

/// `compozy.admin.v1.BackupResponse`.
#[derive(Debug, Serialize)]
pub(crate) struct BackupView {
    /// Empty on Postgres.
    directory: String,
    files: Vec<BackupFileView>,
    /// Only on Postgres.
    dump_command: String,
}

/// `compozy.admin.v1.BackupFile`.
#[derive(Debug, Serialize)]
struct BackupFileView {
    path: String,
    size_bytes: i64,
    sha256: String,
}

impl From<BackupResponse> for BackupView {
    fn from(answer: BackupResponse) -> Self {
        let BackupResponse {
            directory,
            files,
            dump_command,
        } = answer;
        let files = files.into_iter().map(BackupFileView::from).collect();
        Self {
            directory,
            files,
            dump_command,
        }
    }
}

impl From<BackupFile> for BackupFileView {
    fn from(file: BackupFile) -> Self {
        let BackupFile {
            path,
            size_bytes,
            sha256,
        } = file;
        Self {
            path,
            size_bytes,
            sha256,
        }
    }
}

impl Answer for BackupView {
    fn human(&self, human: &mut Human) {
        if !self.dump_command.is_empty() {
            // To be pasted, so in one line.
            human.verbatim(&format!("{}\n", sanitized(&self.dump_command)));
            return;
        }
        human.line(&format!("written: {}", self.directory));
        for BackupFileView { path, size_bytes, .. } in &self.files {
            human.line(&format!("  {path}, {size_bytes} bytes"));
        }
    }

    fn notes(&self) -> Vec<String> {
        if self.dump_command.is_empty() {
            return Vec::new();
        }
        vec![
            "nothing was written: the catalog lies on Postgres, and this command dumps it".to_owned(),
            "after a dump was put back, run `compozyd new-epoch` before a daemon serves it".to_owned(),
        ]
    }
}
