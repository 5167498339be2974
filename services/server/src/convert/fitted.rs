//! Snapshots that are too large for one answer, made smaller where what goes is said elsewhere or can be looked up.
//!
//! A finding about an agent or skill stands in it and in the list of the snapshot, and may show a whole line of its
//! file. Two thousand skills whose descriptions hold a colon must not keep anybody from seeing them.

use compozy_domain::limits;
use compozy_proto::workspace::v1 as pb;
use prost::Message as _;

/// Characters of a message that stay if there is no room for all of it. Codes, places and remedies stay whole.
const MESSAGE_CHARS_MAX: usize = 140;

/// Findings that stay if there is no room for all of them, the worst first.
const FINDINGS_MAX: usize = 2_000;

/// The response if it is within the limit, or can be brought there: first long messages are cut, then agents and
/// skills lose their copies of what the snapshot's own list says, then this list is cut, which it tells. Nothing else
/// is ever taken out.
pub(super) fn fitted(mut response: pb::ResolveWorkspaceResponse) -> Option<pb::ResolveWorkspaceResponse> {
    let steps: [fn(&mut pb::Snapshot); 3] = [cut_messages, drop_copies, cut_findings];
    let mut steps = steps.iter();
    while response.encoded_len() > limits::RESPONSE_BYTES_MAX {
        let (step, snapshot) = (steps.next()?, response.snapshot.as_mut()?);
        step(snapshot);
    }
    Some(response)
}

fn cut_messages(snapshot: &mut pb::Snapshot) {
    let of_agents = snapshot
        .agents
        .iter_mut()
        .flat_map(|agent| &mut agent.diagnostics);
    let of_skills = snapshot
        .skills
        .iter_mut()
        .flat_map(|skill| &mut skill.diagnostics);
    for found in of_agents.chain(of_skills).chain(&mut snapshot.diagnostics) {
        if let Some((end, _)) = found.message.char_indices().nth(MESSAGE_CHARS_MAX) {
            found.message.truncate(end);
            found.message.push_str("...");
        }
    }
}

fn drop_copies(snapshot: &mut pb::Snapshot) {
    for agent in &mut snapshot.agents {
        agent.diagnostics.clear();
    }
    for skill in &mut snapshot.skills {
        skill.diagnostics.clear();
    }
}

fn cut_findings(snapshot: &mut pb::Snapshot) {
    let left_out = snapshot.diagnostics.len().saturating_sub(FINDINGS_MAX);
    if left_out == 0 {
        return;
    }
    let mut worst: Vec<(usize, pb::Diagnostic)> = snapshot.diagnostics.drain(..).enumerate().collect();
    worst.sort_by_key(|(_, found)| std::cmp::Reverse(found.severity));
    worst.truncate(FINDINGS_MAX);
    worst.sort_by_key(|(at, _)| *at);
    snapshot.diagnostics.push(pb::Diagnostic {
        code: "more_findings".to_owned(),
        severity: pb::Severity::Warning.into(),
        path: snapshot.root.clone(),
        message: format!("{left_out} more findings do not fit into an answer"),
        remedy: "mend those that are shown first, or run `compozy config validate`".to_owned(),
        layer: pb::Layer::Workspace.into(),
        ..pb::Diagnostic::default()
    });
    snapshot
        .diagnostics
        .extend(worst.into_iter().map(|(_, found)| found));
    snapshot
        .diagnostics
        .sort_by(|one, other| one.path.cmp(&other.path));
}
