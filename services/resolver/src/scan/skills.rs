//! Skills of all tiers: who wins a name, and what each source came to.

use std::collections::HashSet;

use compozy_domain::{Diagnostic, Layer};

use super::bases::{BaseKind, OWN};
use super::locate::{BaseFault, Located, open};
use super::settle::{Definition, settle};
use super::walk::{FoundSkill, Walker};
use super::{Bundled, Scanned, Scope, SkillSource, findings, marketplace};
use crate::definition::{Shadowed, Skill, read_skill};
use crate::watched::ReadDirectory;

impl Definition for Skill {
    fn name(&self) -> &str {
        &self.name
    }

    fn place(&self) -> Shadowed {
        Shadowed {
            layer: self.layer,
            path: self.path.clone(),
        }
    }

    fn is_usable(&self) -> bool {
        self.usable
    }

    fn shadowed(&mut self) -> &mut Vec<Shadowed> {
        &mut self.shadowed
    }

    fn diagnostics(&mut self) -> &mut Vec<Diagnostic> {
        &mut self.diagnostics
    }
}

/// Finds the skills of all bases and settles who wins.
pub(super) fn scan(
    scope: Scope<'_>,
    bases: &[Located],
    bundled: &[Bundled],
    disabled: &HashSet<&str>,
    scanned: &mut Scanned,
) {
    let mut walker = Walker::default();
    let mut found = Vec::new();
    let mut installed = Vec::new();
    for located in bases {
        let source = scan_base(
            scope.of(located.base.layer),
            located,
            &mut walker,
            &mut |skill| match skill.layer {
                Layer::Marketplace => installed.push(skill),
                _ => found.push(skill),
            },
        );
        scanned.truncated |= source.truncated;
        scanned.sources.push(source);
    }
    scanned.diagnostics.append(&mut walker.diagnostics);
    found.append(&mut installed);
    found.extend(bundled.iter().map(|bundled| read_skill(&bundled.found(), OWN)));
    scanned.skills = by_name(settle(found, disabled, &mut scanned.diagnostics));
}

/// The own skills of an agent, which lie in this directory.
pub(super) fn of_agent(
    scope: Scope<'_>,
    path: &str,
    disabled: &HashSet<&str>,
    scanned: &mut Scanned,
) -> Vec<Skill> {
    let layer = Layer::AgentLocal;
    let directory = match open(scope.reader, scope.allowed, path) {
        Ok(Some(directory)) => directory,
        Ok(None) => return Vec::new(),
        Err(fault) => {
            scanned.diagnostics.push(base_fault(layer, path, false, &fault));
            return Vec::new();
        }
    };
    // One that is a link is a base as well, and may have links in it.
    let mut trusted = scope.trusted.to_vec();
    trusted.push(directory.path().to_owned());
    let scope = Scope {
        trusted: &trusted,
        ..scope
    };
    let mut found = Vec::new();
    let mut walker = Walker::default();
    let walked = walker.walk(scope, &directory, layer, false, &mut |skill| {
        found.push(read_skill(&skill.found, OWN));
    });
    scanned.truncated |= walked.is_truncated;
    scanned.diagnostics.append(&mut walker.diagnostics);
    by_name(settle(found, disabled, &mut scanned.diagnostics))
}

/// Opens a base again that was located; what keeps it from being read is told.
pub(super) fn reopen<'s>(
    scope: Scope<'s>,
    located: &Located,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<ReadDirectory<'s, 's>> {
    let base = &located.base;
    let opened = match &located.place {
        Ok(_) => open(scope.reader, scope.allowed, &base.path),
        Err(fault) => Err(fault.clone()),
    };
    match opened {
        // One that went away in between is seen when everything is compared.
        Ok(opened) => opened,
        Err(fault) => {
            let is_custom = base.kind == BaseKind::Custom;
            diagnostics.push(base_fault(base.layer, &base.path, is_custom, &fault));
            None
        }
    }
}

fn scan_base(
    scope: Scope<'_>,
    located: &Located,
    walker: &mut Walker,
    take: &mut dyn FnMut(Skill),
) -> SkillSource {
    let base = &located.base;
    let mut source = SkillSource {
        name: base.source.clone(),
        layer: base.layer,
        path: base.path.clone(),
        readable: false,
        truncated: false,
        skill_count: 0,
    };
    let Some(directory) = reopen(scope, located, &mut walker.diagnostics) else {
        return source;
    };
    let has_meta = base.layer == Layer::User && base.kind == BaseKind::Own;
    let walked = walker.walk(scope, &directory, base.layer, has_meta, &mut |skill| {
        take(read(skill, &base.source));
    });
    source.readable = walked.is_readable;
    source.truncated = walked.is_truncated;
    source.skill_count = walked.skill_count;
    source
}

fn read(skill: FoundSkill, source: &str) -> Skill {
    let FoundSkill { mut found, meta } = skill;
    let Some((meta_path, meta)) = meta else {
        return read_skill(&found, source);
    };
    found.layer = Layer::Marketplace;
    let problem = marketplace::check(&found, &meta_path, meta);
    let mut skill = read_skill(&found, source);
    if let Some(problem) = problem {
        skill.usable = false;
        skill.diagnostics.push(problem);
    }
    skill
}

fn base_fault(layer: Layer, path: &str, is_custom: bool, fault: &BaseFault) -> Diagnostic {
    match fault {
        BaseFault::NotAllowed => findings::not_allowed(layer, path),
        BaseFault::Directory(fault) => findings::base(layer, path, is_custom, fault),
    }
}

fn by_name(mut skills: Vec<Skill>) -> Vec<Skill> {
    skills.sort_by(|one, other| one.name.cmp(&other.name));
    skills
}
