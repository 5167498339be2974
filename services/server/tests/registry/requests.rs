//! Requests with as few words as a case needs.

use compozy_proto::workspace::v1 as pb;
use compozy_proto::workspace::v1::workspace_ref::Form;

pub(crate) const ID1: &str = "01HXJ9YR4QZ0V7M3T5B8N2C6KD";
pub(crate) const ID2: &str = "01J0ZK3M5N7P9Q1R3S5T7V9WXY";

pub(crate) fn register(path: impl Into<String>) -> pb::RegisterWorkspaceRequest {
    pb::RegisterWorkspaceRequest {
        path: path.into(),
        ..Default::default()
    }
}

pub(crate) fn named(path: impl Into<String>, name: &str) -> pb::RegisterWorkspaceRequest {
    pb::RegisterWorkspaceRequest {
        name: Some(name.to_owned()),
        ..register(path)
    }
}

pub(crate) fn by(form: Form) -> Option<pb::WorkspaceRef> {
    Some(pb::WorkspaceRef { form: Some(form) })
}

pub(crate) fn by_id(id: &str) -> Option<pb::WorkspaceRef> {
    by(Form::Id(id.to_owned()))
}

pub(crate) fn by_any(text: &str) -> Option<pb::WorkspaceRef> {
    by(Form::Any(text.to_owned()))
}

pub(crate) fn get(form: Form) -> pb::GetWorkspaceRequest {
    pb::GetWorkspaceRequest {
        r#ref: by(form),
        include_status: false,
    }
}

pub(crate) fn list() -> pb::ListWorkspacesRequest {
    pb::ListWorkspacesRequest::default()
}

/// The whole snapshot of the workspace with this id.
pub(crate) fn resolve(id: &str) -> pb::ResolveWorkspaceRequest {
    pb::ResolveWorkspaceRequest {
        r#ref: by_id(id),
        view: pb::ResolveView::Full.into(),
        ..Default::default()
    }
}

pub(crate) fn discover(path: impl Into<String>) -> pb::DiscoverWorkspaceRequest {
    pb::DiscoverWorkspaceRequest { path: path.into() }
}

/// An update of the record with this id, by a mask.
pub(crate) fn update(id: &str, mask: &[&str], workspace: pb::Workspace) -> pb::UpdateWorkspaceRequest {
    pb::UpdateWorkspaceRequest {
        r#ref: by_id(id),
        workspace: Some(workspace),
        update_mask: Some(prost_types::FieldMask {
            paths: mask.iter().map(|path| (*path).to_owned()).collect(),
        }),
        ..Default::default()
    }
}

pub(crate) fn titled(title: &str) -> pb::Workspace {
    pb::Workspace {
        title: Some(title.to_owned()),
        ..Default::default()
    }
}

pub(crate) fn moved(id: &str, before: Option<&str>) -> pb::MoveWorkspaceRequest {
    pb::MoveWorkspaceRequest {
        r#ref: by_id(id),
        before: before.and_then(by_id),
        request_id: String::new(),
    }
}

pub(crate) fn relink(id: &str, path: impl Into<String>) -> pb::RelinkWorkspaceRequest {
    pb::RelinkWorkspaceRequest {
        r#ref: by_id(id),
        path: path.into(),
        ..Default::default()
    }
}

pub(crate) fn remove(id: &str) -> pb::RemoveWorkspaceRequest {
    pb::RemoveWorkspaceRequest {
        r#ref: by_id(id),
        ..Default::default()
    }
}

pub(crate) fn settle(id: &str, action: pb::IdentityAction) -> pb::UpdateIdentityRequest {
    pb::UpdateIdentityRequest {
        target: by_id(id).map(pb::update_identity_request::Target::Ref),
        action: action.into(),
        force: false,
        request_id: String::new(),
    }
}

pub(crate) fn settle_path(path: &str, action: pb::IdentityAction) -> pb::UpdateIdentityRequest {
    pb::UpdateIdentityRequest {
        target: Some(pb::update_identity_request::Target::Path(path.to_owned())),
        action: action.into(),
        force: false,
        request_id: String::new(),
    }
}

pub(crate) fn prune(days: i64, validate_only: bool) -> pb::PruneWorkspacesRequest {
    pb::PruneWorkspacesRequest {
        missing_for: Some(prost_types::Duration {
            seconds: days * 86_400,
            nanos: 0,
        }),
        validate_only,
        request_id: String::new(),
    }
}
