//! Updates: a mask says which fields are meant; without one those that are set are.

use compozy_domain::{CatalogError, Workspace, WorkspaceName, text};
use compozy_proto::workspace::v1 as pb;
use compozy_store::Written;

use super::mask::Mask;
use super::reference::reference;
use super::register::dirs;
use super::workspace::record;
use crate::registry::{DirsWanted, UpdateWanted};
use crate::resume_token;
use crate::seal::Seal;

/// Reads a request.
///
/// # Errors
/// [`CatalogError`] naming the field, or the path of the mask.
pub fn wanted(request: pb::UpdateWorkspaceRequest) -> Result<UpdateWanted, CatalogError> {
    let pb::UpdateWorkspaceRequest {
        r#ref,
        workspace,
        update_mask,
        add_dirs,
        remove_dirs,
        etag,
        validate_only,
        request_id: _,
    } = request;
    let reference = reference(r#ref, "ref")?;
    let pb::Workspace {
        name,
        title,
        default_agent,
        additional_dirs,
        // Set by the server. A caller that sends back what it read changes nothing of it.
        id: _,
        durable_id: _,
        host_id: _,
        root_dir: _,
        etag: _,
        version: _,
        created_at: _,
        updated_at: _,
        status: _,
        is_default: _,
        shares_identity_with: _,
        session_counts: _,
        defect: _,
    } = workspace.unwrap_or_default();
    let fields = ["name", "title", "additional_dirs", "default_agent"];
    let mask = Mask::read(update_mask, &fields, "")?;
    let given = |field: &str, value: Option<String>| {
        mask.means(field, value.is_some())
            .then(|| value.unwrap_or_default())
    };
    let (title, default_agent) = (given("title", title), given("default_agent", default_agent));
    if let Some(title) = &title {
        text::check_title(title, "workspace.title")?;
    }
    if let Some(agent) = &default_agent {
        text::check_agent(agent, "workspace.default_agent")?;
    }
    Ok(UpdateWanted {
        reference,
        name: given("name", name)
            .as_deref()
            .map(WorkspaceName::parse)
            .transpose()?,
        title,
        default_agent,
        dirs: dirs_wanted(
            mask.means("additional_dirs", false),
            &additional_dirs,
            &add_dirs,
            &remove_dirs,
        )?,
        etag: super::etag(etag)?,
        validate_only,
    })
}

fn dirs_wanted(
    replace: bool,
    additional_dirs: &[String],
    add: &[String],
    remove: &[String],
) -> Result<DirsWanted, CatalogError> {
    let is_delta = !add.is_empty() || !remove.is_empty();
    if replace && is_delta {
        let field = if add.is_empty() { "remove_dirs" } else { "add_dirs" };
        let problem = "must be empty when the mask names additional_dirs";
        return Err(CatalogError::invalid_field(field, problem));
    }
    if replace {
        return Ok(DirsWanted::Replace(dirs(
            additional_dirs,
            "workspace.additional_dirs",
        )?));
    }
    if is_delta {
        return Ok(DirsWanted::Delta {
            add: dirs(add, "add_dirs")?,
            remove: dirs(remove, "remove_dirs")?,
        });
    }
    Ok(DirsWanted::Keep)
}

/// Makes the response.
#[must_use]
pub fn answer(seal: &Seal, written: &Written<Workspace>) -> pb::UpdateWorkspaceResponse {
    let Written { value, revision } = written;
    pb::UpdateWorkspaceResponse {
        workspace: Some(record(value, None)),
        revision: resume_token::encode(seal, revision),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use compozy_proto::workspace::v1::workspace_ref::Form;

    use super::*;

    fn request(mask: Option<&[&str]>, workspace: pb::Workspace) -> pb::UpdateWorkspaceRequest {
        pb::UpdateWorkspaceRequest {
            r#ref: Some(pb::WorkspaceRef {
                form: Some(Form::Name("a".into())),
            }),
            workspace: Some(workspace),
            update_mask: mask.map(|paths| prost_types::FieldMask {
                paths: paths.iter().map(|path| (*path).to_owned()).collect(),
            }),
            ..Default::default()
        }
    }

    fn full() -> pb::Workspace {
        pb::Workspace {
            id: "ws_0123456789abcdef".into(),
            root_dir: "/elsewhere".into(),
            name: Some("n".into()),
            title: Some("t".into()),
            additional_dirs: vec!["/d".into()],
            ..Default::default()
        }
    }

    #[test]
    fn w189_without_a_mask_what_is_set_is_meant() {
        for mask in [None, Some(&[][..])] {
            let wanted = wanted(request(mask, full())).unwrap();
            assert_eq!(wanted.name.unwrap().as_str(), "n");
            assert_eq!((wanted.title.as_deref(), wanted.default_agent), (Some("t"), None));
            assert_eq!(wanted.dirs, DirsWanted::Keep);
        }
    }

    #[test]
    fn w192_a_mask_means_what_it_names() {
        let wanted = wanted(request(
            Some(&["additional_dirs", "title"]),
            pb::Workspace::default(),
        ))
        .unwrap();
        assert_eq!((wanted.name, wanted.title.as_deref()), (None, Some("")));
        assert_eq!(wanted.dirs, DirsWanted::Replace(Vec::new()));
    }

    #[test]
    fn w188_a_mask_that_names_something_else_is_told() {
        for path in ["colour", "root_dir", "created_at"] {
            let error = wanted(request(Some(&["title", path]), full())).unwrap_err();
            assert!(error.to_string().contains(&format!("'{path}'")), "{error}");
        }
        assert!(wanted(request(Some(&["name"; 17]), full())).is_err());
        // A name can't be cleared.
        assert!(wanted(request(Some(&["name"]), pb::Workspace::default())).is_err());
    }
}
