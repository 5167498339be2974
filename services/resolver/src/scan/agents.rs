//! Agents: one directory each, one level below their base.

use std::collections::HashSet;

use compozy_domain::{Diagnostic, FileIdentity, Layer};

use super::findings::{self, LinkFault, TooMuch};
use super::locate::Located;
use super::names::{self, AGENT, OWN_SKILLS};
use super::read::definition;
use super::settle::{Definition, settle};
use super::tell::Findings;
use super::{ENTRIES_MAX, SKILLS_MAX, Scanned, Scope, links, skills};
use crate::definition::{Agent, Found, Shadowed, read_agent};
use crate::files::{Kind, Named, ReadFault};
use crate::watched::ReadDirectory;

/// An agent, and the directory of its own skills, if it has one.
struct FoundAgent {
    agent: Agent,
    own_skills: Option<String>,
}

impl Definition for FoundAgent {
    fn name(&self) -> &str {
        &self.agent.name
    }

    fn place(&self) -> Shadowed {
        Shadowed {
            layer: self.agent.layer,
            path: self.agent.path.clone(),
        }
    }

    fn is_usable(&self) -> bool {
        self.agent.usable
    }

    fn shadowed(&mut self) -> &mut Vec<Shadowed> {
        &mut self.agent.shadowed
    }

    fn diagnostics(&mut self) -> &mut Vec<Diagnostic> {
        &mut self.agent.diagnostics
    }
}

/// Finds the agents, settles who wins, and finds the own skills of the winners.
pub(super) fn scan(
    scope: Scope<'_>,
    bases: &[Located],
    disabled_skills: &HashSet<&str>,
    scanned: &mut Scanned,
) {
    let mut found = Vec::new();
    let mut visited = HashSet::new();
    for located in bases {
        scan_base(
            scope.of(located.base.layer),
            located,
            &mut visited,
            &mut found,
            scanned,
        );
    }
    let mut winners = settle(found, &HashSet::new(), &mut scanned.diagnostics);
    winners.sort_by(|one, other| order(&one.agent).cmp(&order(&other.agent)));
    for FoundAgent { agent, own_skills } in winners {
        if let Some(path) = own_skills {
            let own = skills::of_agent(scope.of(agent.layer), &path, disabled_skills, scanned);
            if !own.is_empty() {
                scanned.agent_skills.push((agent.name.clone(), own));
            }
        }
        scanned.agents.push(agent);
    }
}

fn scan_base(
    scope: Scope<'_>,
    located: &Located,
    visited: &mut HashSet<FileIdentity>,
    found: &mut Vec<FoundAgent>,
    scanned: &mut Scanned,
) {
    let Some(directory) = skills::reopen(scope, located, &mut scanned.diagnostics) else {
        return;
    };
    let layer = located.base.layer;
    let names = match directory.names() {
        Ok(names) => names,
        Err(fault) => {
            let told = findings::unreadable(layer, directory.path(), &fault);
            return scanned.diagnostics.push(told);
        }
    };
    let mut findings = Findings::new(&mut scanned.diagnostics, layer);
    if !names.unprintable.is_empty() {
        findings.tell(findings::unprintable(layer, directory.path(), &names.unprintable));
    }
    let mut too_much = names.truncated.then_some(TooMuch::Names);
    let mut entries = names.entries;
    if entries.len() > ENTRIES_MAX + 1 {
        entries.truncate(ENTRIES_MAX + 1);
        too_much = Some(TooMuch::Entries);
    }
    let mut base = Base {
        scope,
        layer,
        directory: &directory,
        findings: &mut findings,
    };
    let mut agents = base.agents(&entries, visited);
    findings.end(directory.path());
    if agents.len() > SKILLS_MAX {
        agents.truncate(SKILLS_MAX);
        too_much = Some(TooMuch::Definitions);
    }
    found.append(&mut agents);
    if let Some(too_much) = too_much {
        scanned.truncated = true;
        let told = findings::truncated(layer, directory.path(), AGENT, too_much);
        scanned.diagnostics.push(told);
    }
}

/// A base that is being looked through.
struct Base<'b, 's, 'd> {
    scope: Scope<'s>,
    layer: Layer,
    directory: &'b ReadDirectory<'s, 's>,
    findings: &'b mut Findings<'d>,
}

impl<'s> Base<'_, 's, '_> {
    /// The agents in the order of their directories, and no more of them than are needed to see that there are too
    /// many. Links come behind the directories themselves, which keep their own names.
    fn agents(&mut self, entries: &[Named], visited: &mut HashSet<FileIdentity>) -> Vec<FoundAgent> {
        let mut agents = Vec::new();
        for kind in [Kind::Directory, Kind::Link] {
            let of_kind = entries.iter().filter(|entry| entry.kind == kind);
            let found = of_kind.filter_map(|entry| self.entry(entry, visited));
            agents.extend(found.take(SKILLS_MAX + 1));
        }
        agents.sort_by(|one, other| one.agent.directory_name.cmp(&other.agent.directory_name));
        agents
    }

    fn entry(&mut self, entry: &Named, visited: &mut HashSet<FileIdentity>) -> Option<FoundAgent> {
        if names::is_skipped(&entry.name) {
            return None;
        }
        let directory = match entry.kind {
            Kind::Directory => match self.directory.enter(&entry.name) {
                Ok(directory) => directory?,
                Err(fault) => return Some(self.closed(&entry.name, fault)),
            },
            Kind::Link => match self.follow(&entry.name) {
                Ok(directory) => directory?,
                Err(fault) => return Some(self.closed(&entry.name, fault)),
            },
            Kind::Regular | Kind::Special => return None,
        };
        if !visited.insert(directory.stamp().file) {
            return None;
        }
        match directory.names() {
            Ok(listed) => {
                self.tell_names(&directory, &listed.entries);
                self.agent(&directory, &entry.name, &listed.entries)
            }
            Err(fault) => Some(self.closed(&entry.name, fault)),
        }
    }

    /// The directory that a link leads to, if it is followed.
    fn follow(&mut self, name: &str) -> Result<Option<ReadDirectory<'s, 's>>, ReadFault> {
        let way = [self.directory.stamp().file];
        match links::follow(self.scope, self.directory, name, &way) {
            Ok(target) => Ok(target),
            Err(LinkFault::Unreadable(fault)) => Err(ReadFault::Directory(fault)),
            Err(fault) => {
                let path = self.directory.child(name);
                self.findings.tell(findings::link(self.layer, &path, &fault));
                Ok(None)
            }
        }
    }

    fn agent(
        &mut self,
        directory: &ReadDirectory<'_, '_>,
        name: &str,
        entries: &[Named],
    ) -> Option<FoundAgent> {
        if !names::has(entries, AGENT) {
            return None;
        }
        let found = definition(self.layer, directory, name, AGENT, entries)?;
        let has_skills = entries
            .iter()
            .any(|entry| entry.name == OWN_SKILLS && matches!(entry.kind, Kind::Directory | Kind::Link));
        Some(FoundAgent {
            agent: read_agent(&found),
            own_skills: has_skills.then(|| directory.child(OWN_SKILLS)),
        })
    }

    /// A directory that can't be read may well be that of an agent: it is listed as one that can't be used, so that
    /// no other one of its name is silently used in its place.
    fn closed(&self, name: &str, fault: ReadFault) -> FoundAgent {
        let found = Found {
            layer: self.layer,
            path: format!("{}/{AGENT}", self.directory.child(name)),
            directory_name: name.to_owned(),
            content: Err(fault),
            mcp: None,
        };
        FoundAgent {
            agent: read_agent(&found),
            own_skills: None,
        }
    }

    fn tell_names(&mut self, directory: &ReadDirectory<'_, '_>, entries: &[Named]) {
        for entry in entries {
            if names::is_misspelled(entry, AGENT) {
                let is_right_there = names::has(entries, AGENT);
                let path = directory.child(&entry.name);
                self.findings
                    .tell(findings::misspelled(self.layer, &path, AGENT, is_right_there));
            }
        }
    }
}

fn order(agent: &Agent) -> (&str, &str) {
    (&agent.directory_name, &agent.name)
}
