//! `version`: needs neither a daemon nor a home.

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::VersionView;

pub(crate) fn run(app: &App) -> Result<Exit, Failure> {
    app.printer.answer(&VersionView {
        version: env!("CARGO_PKG_VERSION"),
    })?;
    Ok(Exit::Ok)
}
