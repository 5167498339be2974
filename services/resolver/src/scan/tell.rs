//! Findings about the links and names of one base, so many that somebody can still read them.

use compozy_domain::{Diagnostic, Layer};

use super::findings;

/// Findings of one base that are told one by one.
const FINDINGS_MAX: usize = 200;

/// Tells the first of them, and how many more there are.
pub(super) struct Findings<'d> {
    diagnostics: &'d mut Vec<Diagnostic>,
    layer: Layer,
    told: usize,
    left_out: usize,
}

impl<'d> Findings<'d> {
    pub(super) fn new(diagnostics: &'d mut Vec<Diagnostic>, layer: Layer) -> Self {
        Self {
            diagnostics,
            layer,
            told: 0,
            left_out: 0,
        }
    }

    pub(super) fn tell(&mut self, diagnostic: Diagnostic) {
        if self.told < FINDINGS_MAX {
            self.told += 1;
            self.diagnostics.push(diagnostic);
        } else {
            self.left_out += 1;
        }
    }

    /// Tells how many were left out.
    pub(super) fn end(&mut self, base: &str) {
        if self.left_out > 0 {
            self.diagnostics
                .push(findings::more(self.layer, base, self.left_out));
        }
    }
}
