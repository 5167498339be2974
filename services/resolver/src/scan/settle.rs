//! Who wins a name: the same rule for agents and for skills.

use std::collections::{HashMap, HashSet};

use compozy_domain::{Diagnostic, Layer};

use super::findings;
use crate::definition::Shadowed;

/// What has a name that others may have, too.
pub(super) trait Definition {
    fn name(&self) -> &str;
    /// Its layer and file.
    fn place(&self) -> Shadowed;
    fn is_usable(&self) -> bool;
    /// Its losers.
    fn shadowed(&mut self) -> &mut Vec<Shadowed>;
    /// What is wrong with it.
    fn diagnostics(&mut self) -> &mut Vec<Diagnostic>;
}

/// The first of a name wins, usable or not, and the others are its losers. What is wrong with any of them is told. Of
/// a name that is disabled nothing is left.
pub(super) fn settle<D: Definition>(
    found: Vec<D>,
    disabled: &HashSet<&str>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<D> {
    let mut winners: Vec<D> = Vec::new();
    let mut by_name: HashMap<String, usize> = HashMap::new();
    for mut next in found {
        if disabled.contains(next.name()) {
            continue;
        }
        match by_name.get(next.name()) {
            Some(at) => {
                winners[*at].shadowed().push(next.place());
                diagnostics.append(next.diagnostics());
            }
            None => {
                by_name.insert(next.name().to_owned(), winners.len());
                winners.push(next);
            }
        }
    }
    for winner in &mut winners {
        tell_shadowed_by_broken(winner);
        diagnostics.extend(winner.diagnostics().iter().cloned());
    }
    winners
}

fn tell_shadowed_by_broken<D: Definition>(winner: &mut D) {
    if winner.is_usable() || winner.shadowed().is_empty() {
        return;
    }
    let layers: Vec<Layer> = winner.shadowed().iter().map(|loser| loser.layer).collect();
    let Shadowed { layer, path } = winner.place();
    let told = findings::shadowed_by_broken(layer, &path, winner.name(), &layers);
    winner.diagnostics().push(told);
}
