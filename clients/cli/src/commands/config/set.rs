//! `config set`: one key. The daemon edits its user's file; a workspace's file is edited by the daemon's program, here.

use std::ffi::OsString;

use clap::Args;
use compozy_client::proto::admin::v1::{SetConfigRequest, SetConfigResponse};
use compozy_client::proto::workspace::v1::GetWorkspaceRequest;
use compozy_client::{Client, ErrorReason};
use serde::Deserialize;

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::offline;
use crate::output::SettingView;
use crate::reference::not_blank;
use crate::selection::FlagSelector;

/// Set one key in your own config.toml, or in the workspace's
///
/// Comments and everything else in the file stay. A file that would not be valid afterwards is not touched.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  compozy config set defaults.agent reviewer\n  compozy config set skills.disabled_skills '[\"noisy\"]' --workspace-file\n  compozy config set permissions.mode approve-reads --workspace-file --workspace api\n  compozy config set defaults.provider --unset"
)]
pub(crate) struct SetArguments {
    /// The key, as `config explain` names it
    // A name of its own: --key is an option of every command.
    #[arg(value_name = "KEY", value_parser = not_blank())]
    dotted_key: String,
    /// The value: as TOML writes it, or the bare text for a key that takes a text
    #[arg(
        value_name = "VALUE",
        required_unless_present = "unset",
        allow_hyphen_values = true
    )]
    value: Option<String>,
    /// Take the key out of the file
    #[arg(long, conflicts_with = "value")]
    unset: bool,
    /// In the workspace's .compozy/config.toml instead of your own
    #[arg(long)]
    workspace_file: bool,
    #[command(flatten)]
    selector: FlagSelector,
}

/// What `compozyd set-config` says about a file that it has looked at.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Edited {
    line: Option<i32>,
    changed: bool,
}

pub(crate) async fn run(app: &App, arguments: &SetArguments) -> Result<Exit, Failure> {
    if arguments.selector.is_given() && !arguments.workspace_file {
        return Err(Failure::usage(
            "--workspace says which workspace, and your own file belongs to none",
            "add --workspace-file to set the key in that workspace's file",
        ));
    }
    let answer = if arguments.workspace_file {
        in_workspace(app, arguments).await?
    } else {
        in_home(app, arguments).await?
    };
    app.printer
        .answer(&SettingView::new(&arguments.dotted_key, answer))?;
    Ok(Exit::Ok)
}

async fn in_home(app: &App, arguments: &SetArguments) -> Result<SetConfigResponse, Failure> {
    let client = app.client().await?;
    let request = SetConfigRequest {
        key: arguments.dotted_key.clone(),
        value: arguments.value.clone().unwrap_or_default(),
        unset: arguments.unset,
    };
    let answer = app.wait("setting the key", client.set_config(request)).await;
    answer.map_err(|error| unchanged(error.into()))
}

/// The file stays as it was, so it is not the file that has to be corrected.
fn unchanged(failure: Failure) -> Failure {
    /// Where a remedy of the file already sends people.
    const SCHEMA: &str = "`compozy config schema`";
    if !failure.is_about(ErrorReason::ConfigInvalid) {
        return failure;
    }
    let remedy = failure
        .metadata("remedy")
        .filter(|remedy| !remedy.contains(SCHEMA));
    let hint = match remedy {
        Some(remedy) => format!("nothing was changed: {remedy}; {SCHEMA} tells what every key takes"),
        None => format!("nothing was changed; {SCHEMA} tells what every key takes"),
    };
    failure.hinting(hint)
}

async fn in_workspace(app: &App, arguments: &SetArguments) -> Result<SetConfigResponse, Failure> {
    let choice = arguments.selector.choose()?;
    let client = app.client().await?;
    let selected = choice.select(app, &client).await?;
    let request = GetWorkspaceRequest {
        r#ref: Some(selected.reference.clone()),
        include_status: false,
    };
    let answer = app
        .wait("looking at the workspace", client.get_workspace(request))
        .await;
    let answer = answer.map_err(|error| selected.failure(error))?;
    let root = answer.workspace.unwrap_or_default().root_dir;
    let path = file_in(app, &client, &root).await?;
    let mut words = ["set-config", "--format", "json", "--layer", "workspace", "--file"]
        .map(OsString::from)
        .to_vec();
    words.push(OsString::from(&path));
    if arguments.unset {
        words.push(OsString::from("--unset"));
    }
    words.push(OsString::from("--"));
    words.push(OsString::from(&arguments.dotted_key));
    words.extend(arguments.value.as_ref().map(OsString::from));
    let output = offline::output(app, "set-config", words).await?;
    if !output.status.success() {
        let failure = offline::complaint(&output, "set-config");
        return Err(unchanged(failure).with("path", &path));
    }
    let edited: Edited = serde_json::from_slice(&output.stdout)
        .map_err(|error| Failure::defect(format!("`compozyd set-config` gave no report: {error}")))?;
    Ok(SetConfigResponse {
        path,
        line: edited.line.unwrap_or_default(),
        changed: edited.changed,
        // The next resolve reads it again.
        needs_restart: false,
    })
}

/// The file of a workspace whose disk this is.
async fn file_in(app: &App, client: &Client, root: &str) -> Result<String, Failure> {
    if !app.is_on_this_host(client).await? {
        return Err(Failure::usage(
            "the workspace's file lies on the daemon's host",
            "run the command there",
        ));
    }
    Ok(format!("{root}/.compozy/config.toml"))
}
