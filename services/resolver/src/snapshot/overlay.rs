//! What one agent would see: its own skills on top, without those that it disables.

use std::borrow::Cow;
use std::collections::BTreeMap;

use compozy_domain::{Diagnostic, Severity};

use super::{Snapshot, fingerprint};
use crate::definition::{Agent, Shadowed, Skill};

/// A snapshot as one agent sees it. Everything but the skills is the snapshot's.
#[derive(Debug, Clone, PartialEq)]
pub struct Overlay<'s> {
    /// The agent.
    pub agent: &'s Agent,
    /// The skills that are offered to it, by name.
    pub skills: Vec<Cow<'s, Skill>>,
    /// What is to be said about these skills besides the diagnostics of the snapshot.
    pub diagnostics: Vec<Diagnostic>,
    /// Names this content.
    pub fingerprint: String,
}

impl Snapshot {
    /// The agent of this name, usable or not.
    #[must_use]
    pub fn agent(&self, name: &str) -> Option<&Agent> {
        self.agents.iter().find(|agent| agent.name == name)
    }

    /// What the agent of this name would see; `None` if there is none.
    #[must_use]
    pub fn for_agent(&self, name: &str) -> Option<Overlay<'_>> {
        let agent = self.agent(name)?;
        let mut skills: BTreeMap<&str, Cow<'_, Skill>> = BTreeMap::new();
        let mut diagnostics = Vec::new();
        for skill in &self.skills {
            skills.insert(&skill.name, Cow::Borrowed(skill));
        }
        for own in self.own_skills(name) {
            let skill = match skills.get(own.name.as_str()) {
                None => Cow::Borrowed(own),
                Some(loser) => Cow::Owned(on_top(own, loser)),
            };
            skills.insert(&own.name, skill);
        }
        for disabled in &agent.disabled_skills {
            skills.remove(disabled.as_str());
        }
        for skill in skills.values_mut() {
            if let Cow::Owned(skill) = skill
                && !skill.usable
            {
                let told = shadowed_by_broken(skill);
                skill.diagnostics.push(told.clone());
                diagnostics.push(told);
            }
        }
        let skills: Vec<Cow<'_, Skill>> = skills.into_values().collect();
        let fingerprint = fingerprint::of_skills(self.content_hash, name, &skills);
        Some(Overlay {
            agent,
            skills,
            diagnostics,
            fingerprint,
        })
    }

    /// The skills in an agent's own directory.
    fn own_skills(&self, agent: &str) -> &[Skill] {
        let mut all = self.agent_skills.iter();
        all.find(|(name, _)| name == agent)
            .map_or(&[], |(_, skills)| skills.as_slice())
    }
}

/// A skill that beats another one of its name, and everything that this one had beaten.
fn on_top(winner: &Skill, loser: &Skill) -> Skill {
    let mut winner = winner.clone();
    winner.shadowed.push(Shadowed {
        layer: loser.layer,
        path: loser.path.clone(),
    });
    winner.shadowed.extend_from_slice(&loser.shadowed);
    winner
}

fn shadowed_by_broken(winner: &Skill) -> Diagnostic {
    let layers: Vec<&str> = winner.shadowed.iter().map(|loser| loser.layer.as_str()).collect();
    Diagnostic::new(
        "shadowed_by_broken",
        Severity::Warning,
        winner.layer,
        &winner.path,
        format!(
            "`{}` can't be used, and this agent uses no other one of this name in its place (layer {})",
            winner.name,
            layers.join(", ")
        ),
        "mend it, or remove it so that the next one is used",
    )
}
