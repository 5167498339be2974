//! The log.

use super::{Check, Context, Report};
use crate::failure::Failure;

#[derive(Debug)]
pub(super) struct LogCheck;

#[tonic::async_trait]
impl Check for LogCheck {
    fn name(&self) -> &'static str {
        "log"
    }

    async fn run(&self, context: &Context) -> Result<Vec<Report>, Failure> {
        let path = context.home.log_path();
        let shown = path.display();
        Ok(vec![match std::fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_file() => {
                Report::ok(self.name(), format!("{shown} has {} bytes", metadata.len()))
            }
            Ok(_) => Report::error(self.name(), format!("{shown} is no regular file"), "move it away"),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Report::ok(self.name(), format!("{shown} is not there yet"))
            }
            Err(error) => Report::error(
                self.name(),
                format!("{shown} can't be looked at ({error})"),
                "check its permissions",
            ),
        }])
    }
}
