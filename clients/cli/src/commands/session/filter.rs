//! Which sessions a list holds. All conditions have to hold; of one that may be repeated, any.

use std::collections::BTreeMap;

use clap::Args;
use compozy_client::proto::profile::v1::GetProfileRequest;
use compozy_client::proto::session::v1::{
    ArchiveFilter, RuntimeState, SessionBadge, SessionFilter, SessionState, SessionType,
};
use compozy_client::{Client, ErrorReason};
use prost_types::Timestamp;

use super::words::{Badge, RuntimeWord, State, Type, values};
use crate::app::App;
use crate::failure::Failure;
use crate::reference::not_blank;
use crate::{instant, labels};

/// The conditions.
#[derive(Debug, Args)]
#[command(next_help_heading = "Which sessions")]
pub(super) struct FilterArguments {
    /// Only sessions without a workspace
    #[arg(long, conflicts_with_all = ["workspace", "here"])]
    ungrouped: bool,
    /// Only of this agent; may be repeated
    #[arg(long, value_name = "NAME", value_parser = not_blank())]
    agent: Vec<String>,
    /// Only in this state; may be repeated
    #[arg(long, value_name = "STATE", value_enum, ignore_case = true)]
    state: Vec<State>,
    /// Only of this type; may be repeated
    #[arg(long, value_name = "TYPE", value_enum, ignore_case = true)]
    r#type: Vec<Type>,
    /// Only those that can be resumed; =false for the others
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    resumable: Option<bool>,
    /// Only those that can be entered; =false for the others
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    attachable: Option<bool>,
    /// Only those whose runtime is like this; may be repeated
    #[arg(long, value_name = "RUNTIME", value_enum, ignore_case = true)]
    runtime: Vec<RuntimeWord>,
    /// Only of this provider; may be repeated
    #[arg(long, value_name = "NAME", value_parser = not_blank())]
    provider: Vec<String>,
    /// Only with this badge; may be repeated
    #[arg(long, value_name = "BADGE", value_enum, ignore_case = true)]
    badge: Vec<Badge>,
    /// Only direct children of this session
    #[arg(long, value_name = "SESSION", value_parser = not_blank())]
    parent: Option<String>,
    /// Only the tree of this session, itself included
    #[arg(long, value_name = "SESSION", value_parser = not_blank())]
    root: Option<String>,
    /// Only with this label, key=value; repeated: with all of them
    #[arg(long, value_name = "KEY=VALUE", value_parser = labels::parse)]
    label: Vec<(String, String)>,
    /// Only those that come from this tool; native for our own
    #[arg(long, value_name = "TOOL", value_parser = not_blank())]
    origin: Option<String>,
    /// Only those created under this profile, by name or id
    #[arg(long, value_name = "PROFILE", value_parser = not_blank())]
    profile: Option<String>,
    /// Only with this text in id, name, agent, provider or the name of the workspace
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    query: String,
    /// Archived ones only
    #[arg(long, conflicts_with = "include_archived")]
    archived: bool,
    /// Archived ones, too
    #[arg(long)]
    include_archived: bool,
    /// Internal ones, too
    #[arg(long)]
    include_internal: bool,
    /// Only those created since then: a time, or how long ago
    #[arg(long, value_name = "TIME", value_parser = instant::parse)]
    created_after: Option<Timestamp>,
    /// Only those created before
    #[arg(long, value_name = "TIME", value_parser = instant::parse)]
    created_before: Option<Timestamp>,
    /// Only those active since then, or else created
    #[arg(long, value_name = "TIME", value_parser = instant::parse)]
    active_after: Option<Timestamp>,
    /// Only those last active before, or else created
    #[arg(long, value_name = "TIME", value_parser = instant::parse)]
    active_before: Option<Timestamp>,
}

impl FilterArguments {
    /// The filter of any workspace, under no profile, and the profile that is asked for by its name.
    pub(super) fn parts(self) -> Result<(SessionFilter, Option<String>), Failure> {
        let Self {
            ungrouped,
            agent,
            state,
            r#type,
            resumable,
            attachable,
            runtime,
            provider,
            badge,
            parent,
            root,
            label,
            origin,
            profile,
            query,
            archived,
            include_archived,
            include_internal,
            created_after,
            created_before,
            active_after,
            active_before,
        } = self;
        let filter = SessionFilter {
            workspace: None,
            ungrouped,
            agents: agent,
            states: values::<_, SessionState>(&state),
            types: values::<_, SessionType>(&r#type),
            providers: provider,
            badges: values::<_, SessionBadge>(&badge),
            runtimes: values::<_, RuntimeState>(&runtime),
            parent: parent.unwrap_or_default(),
            root: root.unwrap_or_default(),
            labels: conditions(label)?,
            origin: origin.unwrap_or_default(),
            profile: String::new(),
            resumable,
            attachable,
            archive: archive(archived, include_archived).into(),
            query,
            created_after,
            created_before,
            active_after,
            active_before,
            include_internal,
        };
        Ok((filter, profile))
    }
}

/// The id of a profile that is named. One that has gone can still be asked for by its id.
pub(super) async fn profile_id(app: &App, client: &Client, named: String) -> Result<String, Failure> {
    let request = GetProfileRequest {
        profile: named.clone(),
    };
    match app
        .wait("looking for the profile", client.get_profile(request))
        .await
    {
        Ok(answer) => Ok(answer.profile.unwrap_or_default().id),
        Err(error) if error.reason() == ErrorReason::ProfileNotFound && is_id(&named) => Ok(named),
        Err(error) => Err(error.into()),
    }
}

/// A ULID.
fn is_id(text: &str) -> bool {
    text.len() == 26
        && text
            .chars()
            .all(|letter| letter.is_ascii_digit() || letter.is_ascii_uppercase())
}

fn archive(only: bool, include: bool) -> ArchiveFilter {
    match (only, include) {
        (true, _) => ArchiveFilter::Only,
        (false, true) => ArchiveFilter::Include,
        (false, false) => ArchiveFilter::Unspecified,
    }
}

/// The same label twice is one condition; one key with two values could match nothing.
fn conditions(mut labels: Vec<(String, String)>) -> Result<BTreeMap<String, String>, Failure> {
    labels.sort();
    labels.dedup();
    labels::gathered(labels)
}
