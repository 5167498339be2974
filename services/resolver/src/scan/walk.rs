//! Walks through a base of skills, down to any depth, in the order of the bytes of the paths.

use std::collections::HashSet;

use compozy_domain::{Diagnostic, FileIdentity, Layer};

use super::findings::{self, LinkFault, TooMuch};
use super::names::{self, META, SKILL};
use super::read::{definition, read};
use super::tell::Findings;
use super::{DEPTH_MAX, ENTRIES_MAX, SKILLS_MAX, Scope, links};
use crate::definition::Found;
use crate::files::{Kind, Named, ReadFault};
use crate::watched::ReadDirectory;

/// Bytes of a `.compozy-meta.json` at most.
const META_BYTES_MAX: usize = 64 * 1024;

/// A skill as it lies there.
pub(super) struct FoundSkill {
    pub(super) found: Found,
    /// Path and content of the `.compozy-meta.json` beside it, if there is one and it means something.
    pub(super) meta: Option<(String, Result<Vec<u8>, ReadFault>)>,
}

/// What a walk through one base came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Walked {
    pub(super) skill_count: usize,
    pub(super) is_truncated: bool,
    /// Whether the base itself could be listed.
    pub(super) is_readable: bool,
}

/// Walks through bases, and through no directory twice.
#[derive(Default)]
pub(super) struct Walker {
    visited: HashSet<FileIdentity>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

struct Walk<'w, 't> {
    scope: Scope<'w>,
    visited: &'w mut HashSet<FileIdentity>,
    findings: Findings<'w>,
    layer: Layer,
    has_meta: bool,
    take: &'t mut dyn FnMut(FoundSkill),
    /// The directories that are being walked through.
    way: Vec<FileIdentity>,
    /// Files and directories that were passed.
    passed: usize,
    skills: usize,
    too_much: Option<TooMuch>,
    is_too_deep: bool,
    is_readable: bool,
}

impl Walker {
    /// Walks through one base and hands over every skill. `has_meta` says whether skills of it may come from a
    /// marketplace.
    pub(super) fn walk(
        &mut self,
        scope: Scope<'_>,
        base: &ReadDirectory<'_, '_>,
        layer: Layer,
        has_meta: bool,
        take: &mut dyn FnMut(FoundSkill),
    ) -> Walked {
        let mut walk = Walk {
            scope,
            visited: &mut self.visited,
            findings: Findings::new(&mut self.diagnostics, layer),
            layer,
            has_meta,
            take,
            way: Vec::new(),
            passed: 0,
            skills: 0,
            too_much: None,
            is_too_deep: false,
            is_readable: true,
        };
        walk.directory(base, last_name(base.path()));
        walk.findings.end(base.path());
        let (too_much, is_too_deep) = (walk.too_much, walk.is_too_deep);
        let walked = Walked {
            skill_count: walk.skills,
            is_truncated: too_much.is_some() || is_too_deep,
            is_readable: walk.is_readable,
        };
        let depth = is_too_deep.then_some(TooMuch::Depth);
        for too_much in too_much.into_iter().chain(depth) {
            let told = findings::truncated(layer, base.path(), SKILL, too_much);
            self.diagnostics.push(told);
        }
        walked
    }
}

impl Walk<'_, '_> {
    fn directory(&mut self, directory: &ReadDirectory<'_, '_>, name: &str) {
        let file = directory.stamp().file;
        if !self.visited.insert(file) {
            return;
        }
        let names = match directory.names() {
            Ok(names) => names,
            Err(fault) => return self.unreadable(directory.path(), &fault),
        };
        if !names.unprintable.is_empty() {
            let told = findings::unprintable(self.layer, directory.path(), &names.unprintable);
            self.findings.tell(told);
            self.passed += names.unprintable.len();
        }
        let mut entries = names.entries;
        names::sort_by_path(&mut entries);
        self.way.push(file);
        for entry in &entries {
            if self.is_over() {
                break;
            }
            self.entry(directory, name, entry, &entries);
            self.passed += 1;
        }
        self.way.pop();
        if names.truncated && self.too_much.is_none() {
            self.too_much = Some(TooMuch::Names);
        }
    }

    /// Whether nothing more is looked at.
    fn is_over(&mut self) -> bool {
        if self.too_much.is_none() && self.passed > ENTRIES_MAX {
            self.too_much = Some(TooMuch::Entries);
        }
        self.too_much.is_some()
    }

    fn entry(&mut self, directory: &ReadDirectory<'_, '_>, name: &str, entry: &Named, entries: &[Named]) {
        if entry.name == SKILL {
            return self.skill(directory, name, entries);
        }
        if names::is_misspelled(entry, SKILL) {
            let is_right_there = names::has(entries, SKILL);
            let path = directory.child(&entry.name);
            let told = findings::misspelled(self.layer, &path, SKILL, is_right_there);
            return self.findings.tell(told);
        }
        if names::is_skipped(&entry.name) {
            return;
        }
        match entry.kind {
            Kind::Directory => self.enter(directory, &entry.name),
            Kind::Link => self.follow(directory, &entry.name),
            Kind::Regular | Kind::Special => {}
        }
    }

    fn enter(&mut self, directory: &ReadDirectory<'_, '_>, name: &str) {
        if self.is_deep_enough() {
            return;
        }
        match directory.enter(name) {
            Ok(Some(entered)) => self.directory(&entered, name),
            // It changed since the names were read; that is seen when everything is compared.
            Ok(None) => {}
            Err(fault) => self.unreadable(&directory.child(name), &fault),
        }
    }

    fn follow(&mut self, directory: &ReadDirectory<'_, '_>, name: &str) {
        if self.is_deep_enough() {
            return;
        }
        match links::follow(self.scope, directory, name, &self.way) {
            Ok(Some(target)) => self.directory(&target, last_name(target.path())),
            Ok(None) => {}
            Err(fault) => self.link(&directory.child(name), &fault),
        }
    }

    fn is_deep_enough(&mut self) -> bool {
        let is_deep = self.way.len() >= DEPTH_MAX;
        self.is_too_deep |= is_deep;
        is_deep
    }

    fn skill(&mut self, directory: &ReadDirectory<'_, '_>, name: &str, entries: &[Named]) {
        if self.skills == SKILLS_MAX {
            self.too_much = Some(TooMuch::Definitions);
            return;
        }
        let Some(found) = definition(self.layer, directory, name, SKILL, entries) else {
            return;
        };
        self.skills += 1;
        let mut meta = None;
        if self.has_meta && names::has(entries, META) {
            meta = read(directory, META, META_BYTES_MAX);
        }
        (self.take)(FoundSkill { found, meta });
    }

    fn link(&mut self, path: &str, fault: &LinkFault) {
        let told = findings::link(self.layer, path, fault);
        self.findings.tell(told);
    }

    fn unreadable(&mut self, path: &str, fault: &ReadFault) {
        self.is_readable &= !self.way.is_empty();
        let told = findings::unreadable(self.layer, path, fault);
        self.findings.tell(told);
    }
}

fn last_name(path: &str) -> &str {
    compozy_domain::path::base_name(path)
}
