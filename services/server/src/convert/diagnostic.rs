//! Findings.

use compozy_domain::{Diagnostic, Layer, Severity};
use compozy_proto::workspace::v1 as pb;

/// A finding on the wire.
#[must_use]
pub fn finding(diagnostic: &Diagnostic) -> pb::Diagnostic {
    let Diagnostic {
        path,
        line,
        column,
        code,
        severity,
        layer: about,
        key,
        profile,
        message,
        remedy,
    } = diagnostic;
    pb::Diagnostic {
        code: (*code).to_owned(),
        severity: severity_to_wire(*severity).into(),
        path: path.clone(),
        line: place(*line),
        column: place(*column),
        message: message.clone(),
        remedy: remedy.clone(),
        layer: about.map_or(pb::Layer::Unspecified, layer).into(),
        key: key.clone().unwrap_or_default(),
        profile: profile.clone().unwrap_or_default(),
    }
}

/// Findings on the wire, in their order.
#[must_use]
pub fn findings(diagnostics: &[Diagnostic]) -> Vec<pb::Diagnostic> {
    diagnostics.iter().map(finding).collect()
}

/// A layer on the wire.
#[must_use]
pub const fn layer(layer: Layer) -> pb::Layer {
    match layer {
        Layer::Default => pb::Layer::Default,
        Layer::User => pb::Layer::User,
        Layer::Profile => pb::Layer::Profile,
        Layer::Workspace => pb::Layer::Workspace,
        Layer::WorkspaceProfile => pb::Layer::WorkspaceProfile,
        Layer::Registration => pb::Layer::Registration,
        Layer::Additional => pb::Layer::Additional,
        Layer::Bundled => pb::Layer::Bundled,
        Layer::Marketplace => pb::Layer::Marketplace,
        Layer::AgentLocal => pb::Layer::AgentLocal,
    }
}

/// A line or column; 0 stands for none.
#[must_use]
pub fn place(number: Option<u32>) -> i32 {
    i32::try_from(number.unwrap_or_default()).unwrap_or(i32::MAX)
}

const fn severity_to_wire(severity: Severity) -> pb::Severity {
    match severity {
        Severity::Info => pb::Severity::Info,
        Severity::Warning => pb::Severity::Warning,
        Severity::Error => pb::Severity::Error,
    }
}
