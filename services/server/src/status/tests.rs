#![allow(clippy::unwrap_used)]

use compozy_domain::error::{PathConflict, RootFault};
use compozy_domain::{CursorFault, Diagnostic, IdentityFault, Layer, PathFault, Severity, WorkspaceId};
use compozy_proto::error::v1::ErrorReason;

use super::*;

fn workspace() -> WorkspaceId {
    WorkspaceId::parse("ws_0123456789abcdef").unwrap()
}

fn text(word: &str) -> String {
    word.to_owned()
}

fn problem(line: u32) -> Diagnostic {
    let (code, layer) = ("config_unknown_key", Layer::Workspace);
    Diagnostic::new(
        code,
        Severity::Error,
        layer,
        "/w/config.toml",
        "unknown key `x`",
        "take it out",
    )
    .at(line, 1)
}

/// One error of every kind, each with everything that it can carry.
fn every_error() -> Vec<CatalogError> {
    let identity = |fault| CatalogError::Identity {
        path: text("/p/workspace.toml"),
        fault,
        remedy: text("mend it"),
    };
    let mut errors = vec![
        CatalogError::invalid_field("title", "is too long"),
        CatalogError::InvalidName {
            problem: text("it is empty"),
        },
        CatalogError::Cursor(CursorFault::OtherQuery),
        CatalogError::RequestIdReused,
        CatalogError::Config {
            problems: vec![problem(3)],
        },
        CatalogError::ProfileNotFound {
            reference: text("none"),
        },
        CatalogError::AgentNotFound { name: text("none") },
        CatalogError::DefinitionNotFound {
            kind: "skill",
            name: text("none"),
        },
        CatalogError::FingerprintStale,
        CatalogError::ProfileNameConflict {
            name: text("p"),
            is_archived: true,
        },
        CatalogError::ProfileDirectoryExists { path: text("/p") },
        CatalogError::ProfilePermanent,
        CatalogError::ProfileInUse {
            name: text("p"),
            session_count: 2,
        },
        CatalogError::ProfileArchived { name: text("p") },
        CatalogError::WorkspaceNotFound {
            reference: text("none"),
        },
        CatalogError::NameConflict {
            name: text("a"),
            holder: Some(workspace()),
        },
        CatalogError::DirectoryExists { path: text("/p") },
        CatalogError::OtherHost { host: text("h") },
        CatalogError::HostNotServed,
        CatalogError::AmbiguousReference {
            durable_id: text("D"),
            ids: vec![workspace(); 12],
        },
        identity(IdentityFault::Invalid {
            line: Some(2),
            problem: text("no ULID"),
        }),
        identity(IdentityFault::Unreadable),
        identity(IdentityFault::Unwritable {
            problem: text("read-only"),
        }),
        CatalogError::IdentityMismatch {
            path: text("/p"),
            expected: text("A"),
            found: Some(text("B")),
            remedy: "use force",
        },
        CatalogError::HomeForbidden { path: text("/") },
        CatalogError::RecordNotUnderstood {
            id: text("ws_1"),
            defect: text("root"),
        },
        CatalogError::EtagMismatch { id: text("ws_1") },
        CatalogError::MessageTooLarge { limit: 4 },
        CatalogError::AnswerTooLarge {
            limit: 4,
            remedy: "ask for less",
        },
        CatalogError::RateLimited,
        CatalogError::DiskFull,
        CatalogError::DeadlineExceeded,
        CatalogError::ScopeDenied { scope: "admin" },
        CatalogError::TokenMissing,
        CatalogError::TokenInvalid,
        CatalogError::StoreUnavailable {
            outcome_unknown: true,
        },
        CatalogError::Draining,
        CatalogError::MethodUnknown,
        CatalogError::StoreCorrupt,
        CatalogError::Defect {
            detail: text("secret detail"),
        },
    ];
    for fault in [
        PathFault::NotAbsolute,
        PathFault::NotFound,
        PathFault::NotDirectory,
        PathFault::Loop,
        PathFault::Unreadable,
        PathFault::NotAllowed,
    ] {
        errors.push(CatalogError::path("path", "/p", fault));
    }
    for fault in [RootFault::Missing, RootFault::NotDirectory, RootFault::Unreadable] {
        errors.push(CatalogError::Root {
            root: text("/p"),
            fault,
        });
    }
    for conflict in [
        PathConflict::Registered {
            fields: vec!["title", "name"],
        },
        PathConflict::Copy { original: text("/o") },
        PathConflict::RootTaken,
    ] {
        errors.push(CatalogError::PathConflict {
            path: text("/p"),
            holder: Some(workspace()),
            conflict,
        });
    }
    errors
}

#[test]
fn every_failure_has_one_error_info_with_a_reason_of_the_contract() {
    for error in every_error() {
        let reason = error.reason();
        let status = status(error);
        let infos = status.get_error_details_vec();
        let infos = infos
            .iter()
            .filter(|detail| matches!(detail, tonic_types::ErrorDetail::ErrorInfo(_)));
        assert_eq!(infos.count(), 1, "{reason:?}");
        let info = status.get_details_error_info().unwrap();
        assert_eq!(
            (info.domain.as_str(), info.reason.as_str()),
            (DOMAIN, reason_name(reason))
        );
        let known = ErrorReason::from_str_name(&format!("ERROR_REASON_{}", info.reason));
        assert!(known.is_some(), "{reason:?} is not in the contract");
        assert_eq!(status.code(), code(reason));
        assert!(is_ours(&status));
    }
}

#[test]
fn kinds_of_failures_add_what_the_contract_says() {
    for error in every_error() {
        let reason = error.reason();
        let status = status(error);
        let details = status.get_error_details();
        match status.code() {
            Code::InvalidArgument => {
                assert!(details.bad_request().is_some(), "{reason:?}");
            }
            Code::NotFound | Code::AlreadyExists => assert!(details.resource_info().is_some(), "{reason:?}"),
            Code::FailedPrecondition | Code::Aborted => {
                assert!(details.precondition_failure().is_some(), "{reason:?}");
            }
            Code::Unavailable => assert!(details.retry_info().is_some(), "{reason:?}"),
            _ => {}
        }
        assert_eq!(
            reason == Reason::RateLimited,
            details.retry_info().is_some() && status.code() != Code::Unavailable
        );
    }
}

#[test]
fn metadata_tells_what_stands_in_the_way() {
    let of = |error| status(error).get_details_error_info().unwrap().metadata;
    let conflict = PathConflict::Registered {
        fields: vec!["title", "default_agent"],
    };
    let path = of(CatalogError::PathConflict {
        path: text("/p"),
        holder: Some(workspace()),
        conflict,
    });
    assert_eq!(path["fields"], "title,default_agent");
    assert_eq!(path["holder"], "ws_0123456789abcdef");
    let hidden = of(CatalogError::NameConflict {
        name: text("a"),
        holder: None,
    });
    assert!(!hidden.contains_key("holder"));
    let ids = of(CatalogError::AmbiguousReference {
        durable_id: text("D"),
        ids: vec![workspace(); 12],
    });
    assert_eq!(
        (ids["ids"].split(',').count(), ids["ids_count"].as_str()),
        (10, "12")
    );
    assert_eq!(
        of(CatalogError::StoreUnavailable {
            outcome_unknown: true
        })["outcome"],
        "unknown"
    );
    assert!(
        !of(CatalogError::StoreUnavailable {
            outcome_unknown: false
        })
        .contains_key("outcome")
    );
}

#[test]
fn every_problem_of_a_configuration_is_named_where_it_is() {
    let status = status(CatalogError::Config {
        problems: (1..=25).map(problem).collect(),
    });
    let info = status.get_details_error_info().unwrap();
    assert_eq!(info.metadata["problems_count"], "25");
    assert_eq!(
        (info.metadata["path"].as_str(), info.metadata["line"].as_str()),
        ("/w/config.toml", "1")
    );
    let violations = status.get_details_bad_request().unwrap().field_violations;
    assert_eq!(violations.len(), FIELD_VIOLATIONS_MAX);
    assert_eq!(violations[1].field, "/w/config.toml:2:1");
    assert_eq!(violations[1].description, "config_unknown_key: unknown key `x`");
    assert!(
        status.message().contains("/w/config.toml:1:1: unknown key `x`"),
        "{}",
        status.message()
    );
    assert!(status.message().contains("20 more"), "{}", status.message());
    assert!(status.details().len() <= DETAILS_BYTES_MAX);
}

#[test]
fn a_defect_keeps_its_detail_and_names_its_trace() {
    let before = DEFECTS.get();
    let status = status(CatalogError::Defect {
        detail: text("SELECT secret"),
    });
    assert_eq!(status.code(), Code::Internal);
    assert!(!status.message().contains("secret"));
    assert!(status.message().contains(&crate::trace_context::current().id()));
    assert!(DEFECTS.get() > before);
}

#[test]
fn a_status_stays_small_whatever_the_caller_sent() {
    let long = "/é".repeat(4_000);
    let conflict = PathConflict::Copy {
        original: long.clone(),
    };
    let status = status(CatalogError::PathConflict {
        path: long.clone(),
        holder: None,
        conflict,
    });
    assert!(status.message().len() <= MESSAGE_BYTES_MAX);
    assert!(status.details().len() <= DETAILS_BYTES_MAX);
    assert!(status.get_details_error_info().unwrap().metadata["original"].len() > 60);
    let many = (0..500)
        .map(|at| (format!("additional_dirs[{at}]"), long.clone()))
        .collect();
    let many = invalid_fields(many);
    assert_eq!(
        many.get_details_bad_request().unwrap().field_violations.len(),
        FIELD_VIOLATIONS_MAX
    );
    assert!(many.details().len() <= DETAILS_BYTES_MAX);
}

#[test]
fn statuses_of_the_transport_become_ours() {
    let cases = [
        (Code::Unimplemented, "", "METHOD_UNKNOWN", Code::Unimplemented),
        (
            Code::OutOfRange,
            "Error, decoded message length too large: found 5 bytes, the limit is: 4 bytes",
            "MESSAGE_TOO_LARGE",
            Code::ResourceExhausted,
        ),
        (
            Code::Internal,
            "failed to decode Protobuf message: x",
            "INVALID_FIELD",
            Code::InvalidArgument,
        ),
        (
            Code::Internal,
            "Missing request message.",
            "INVALID_FIELD",
            Code::InvalidArgument,
        ),
        (Code::Internal, "anything else", "DEFECT", Code::Internal),
        (Code::Unknown, "", "DEFECT", Code::Internal),
    ];
    for (code, message, reason, ours) in cases {
        let status = adopt(code, message);
        assert_eq!(
            status.get_details_error_info().unwrap().reason,
            reason,
            "{code:?} {message}"
        );
        assert_eq!(status.code(), ours);
    }
}

#[test]
fn an_unknown_service_is_named_without_its_control_characters() {
    let status = unknown_service("a\u{1b}[31m\nb");
    assert!(!status.message().contains(char::is_control), "{status:?}");
    let service = &status.get_details_error_info().unwrap().metadata["service"];
    assert_eq!(service, "a\\u{1b}[31m\\nb");
}
