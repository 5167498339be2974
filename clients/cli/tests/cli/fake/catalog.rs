//! What the fake does with its list: references, pages, registrations.

use std::path::Path;

use compozy_client::proto::page::v1::PageInfo;
use compozy_client::proto::workspace::v1::workspace_ref::Form;
use compozy_client::proto::workspace::v1::{
    ListWorkspacesRequest, ListWorkspacesResponse, RegisterWorkspaceRequest, RegisterWorkspaceResponse,
    SessionCounts, Workspace, WorkspaceOrder, WorkspaceRef,
};
use prost_types::Timestamp;
use tonic::{Code, Status};

use super::failed;

pub fn workspace(number: usize, name: &str, root: &str) -> Workspace {
    let created_at = Some(Timestamp {
        seconds: 1_777_905_000,
        nanos: 0,
    });
    Workspace {
        id: format!("ws_{number:016x}"),
        durable_id: format!("01HXJ9YR4QZ0V7M3T5B8N2{number:04}"),
        host_id: "01HOST".to_owned(),
        root_dir: root.to_owned(),
        name: Some(name.to_owned()),
        title: Some(name.to_owned()),
        etag: "e1".to_owned(),
        version: 1,
        created_at,
        updated_at: created_at,
        session_counts: Some(SessionCounts::default()),
        ..Workspace::default()
    }
}

/// The place of the workspace that a reference names.
pub fn find(workspaces: &[Workspace], reference: Option<&WorkspaceRef>) -> Result<usize, Status> {
    match reference.and_then(|reference| reference.form.as_ref()) {
        Some(Form::Path(path)) => owner(workspaces, path),
        Some(Form::Id(text) | Form::Any(text) | Form::Name(text) | Form::DurableId(text)) => workspaces
            .iter()
            .position(|workspace| {
                [&workspace.id, &workspace.durable_id, workspace.name()].contains(&text.as_str())
            })
            .ok_or_else(|| not_found(text)),
        None => Err(failed(
            Code::InvalidArgument,
            "INVALID_FIELD",
            "ref is not set.",
            &[],
        )),
    }
}

/// The nearest root above an existing directory.
pub fn owner(workspaces: &[Workspace], path: &str) -> Result<usize, Status> {
    let canonical = directory(path)?;
    (0..workspaces.len())
        .filter(|place| canonical.starts_with(&workspaces[*place].root_dir))
        .max_by_key(|place| Path::new(&workspaces[*place].root_dir).components().count())
        .ok_or_else(|| not_found(path))
}

pub fn directory(path: &str) -> Result<std::path::PathBuf, Status> {
    if !Path::new(path).is_absolute() {
        return Err(failed(
            Code::InvalidArgument,
            "PATH_NOT_ABSOLUTE",
            "The path is relative.",
            &[],
        ));
    }
    let Ok(canonical) = Path::new(path).canonicalize() else {
        let message = format!("{path} does not exist.");
        return Err(failed(
            Code::NotFound,
            "PATH_NOT_FOUND",
            &message,
            &[("path", path)],
        ));
    };
    if !canonical.is_dir() {
        let message = format!("{path} is no directory.");
        return Err(failed(
            Code::InvalidArgument,
            "PATH_NOT_DIRECTORY",
            &message,
            &[("path", path)],
        ));
    }
    Ok(canonical)
}

pub fn not_found(text: &str) -> Status {
    let message = format!("No workspace matches \"{text}\".");
    failed(Code::NotFound, "WORKSPACE_NOT_FOUND", &message, &[("ref", text)])
}

pub fn register(
    workspaces: &mut Vec<Workspace>,
    request: RegisterWorkspaceRequest,
) -> Result<RegisterWorkspaceResponse, Status> {
    let root = directory(&request.path)?.to_str().unwrap().to_owned();
    if let Some(existing) = workspaces.iter().find(|workspace| workspace.root_dir == root) {
        if request
            .title
            .as_ref()
            .is_some_and(|title| title != existing.title())
        {
            let message = format!("{root} is registered with another title.");
            return Err(failed(
                Code::AlreadyExists,
                "WORKSPACE_PATH_CONFLICT",
                &message,
                &[("fields", "title")],
            ));
        }
        return Ok(RegisterWorkspaceResponse {
            workspace: Some(existing.clone()),
            ..Default::default()
        });
    }
    let base = Path::new(&root).file_name().unwrap().to_str().unwrap();
    let name = request.name.clone().unwrap_or_else(|| base.to_owned());
    if workspaces.iter().any(|workspace| workspace.name() == name) {
        let message = format!("The name \"{name}\" is taken.");
        return Err(failed(
            Code::AlreadyExists,
            "WORKSPACE_NAME_CONFLICT",
            &message,
            &[("name", &name)],
        ));
    }
    let mut made = workspace(workspaces.len(), &name, &root);
    made.additional_dirs = request.additional_dirs;
    made.title = request.title.or(made.title);
    if request.validate_only {
        (made.id, made.durable_id, made.etag) = Default::default();
        (made.created_at, made.updated_at) = (None, None);
    } else {
        workspaces.insert(0, made.clone());
    }
    Ok(RegisterWorkspaceResponse {
        workspace: Some(made),
        created: true,
        ..Default::default()
    })
}

/// A page; the cursor is the number of rows before it.
pub fn list(
    workspaces: &[Workspace],
    request: &ListWorkspacesRequest,
) -> Result<ListWorkspacesResponse, Status> {
    if !(0..=100).contains(&request.limit) {
        return Err(failed(
            Code::InvalidArgument,
            "INVALID_FIELD",
            "limit has to be 1 to 100.",
            &[],
        ));
    }
    let limit = if request.limit == 0 { 50 } else { request.limit };
    let mut rows: Vec<Workspace> = workspaces.to_vec();
    rows.retain(|row| request.statuses.is_empty() || request.statuses.contains(&row.status));
    rows.retain(|row| row.name().contains(&request.query));
    if request.order_by() == WorkspaceOrder::Name {
        rows.sort_by(|one, other| one.name.cmp(&other.name));
    }
    let start: usize = request.cursor.parse().unwrap_or(0);
    let end = (start + usize::try_from(limit).unwrap()).min(rows.len());
    let has_more = end < rows.len();
    let page = PageInfo {
        total: i64::try_from(rows.len()).unwrap(),
        limit,
        has_more,
        next_cursor: has_more.then(|| end.to_string()),
        revision: "r7".to_owned(),
    };
    Ok(ListWorkspacesResponse {
        workspaces: rows[start..end].to_vec(),
        page: Some(page),
    })
}
