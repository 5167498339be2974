//! Findings: what is worth knowing and did not make a call fail.

use compozy_client::proto::workspace::v1::Diagnostic;
use serde::Serialize;

use super::human::Human;
use super::layer;
use super::style::Style;

/// `compozy.workspace.v1.Diagnostic`. Enum values stand without the prefix of their type.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct DiagnosticView {
    pub(crate) code: String,
    pub(crate) severity: &'static str,
    pub(crate) path: String,
    pub(crate) line: i32,
    pub(crate) column: i32,
    pub(crate) message: String,
    pub(crate) remedy: String,
    pub(crate) layer: &'static str,
    pub(crate) key: String,
    pub(crate) profile: String,
}

/// How many findings there are of each severity.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) errors: usize,
    pub(crate) warnings: usize,
}

impl From<Diagnostic> for DiagnosticView {
    fn from(diagnostic: Diagnostic) -> Self {
        let severity = diagnostic
            .severity()
            .as_str_name()
            .trim_start_matches("SEVERITY_");
        let Diagnostic {
            code,
            severity: _,
            path,
            line,
            column,
            message,
            remedy,
            layer,
            key,
            profile,
        } = diagnostic;
        Self {
            code,
            severity,
            path,
            line,
            column,
            message,
            remedy,
            layer: layer::name(layer),
            key,
            profile,
        }
    }
}

impl DiagnosticView {
    pub(crate) fn is_error(&self) -> bool {
        self.severity == "ERROR"
    }

    pub(crate) fn is_warning(&self) -> bool {
        self.severity == "WARNING"
    }

    /// `path:line:column: message`, as far as the place is known.
    fn sentence(&self) -> String {
        let mut text = self.path.clone();
        for number in [self.line, self.column].iter().take_while(|number| **number > 0) {
            text.push_str(&format!(":{number}"));
        }
        if text.is_empty() {
            return self.message.clone();
        }
        format!("{text}: {}", self.message)
    }

    fn label(&self) -> (&'static str, fn(Style, &str) -> String) {
        match self.severity {
            "ERROR" => ("error:", Style::red),
            "WARNING" => ("warning:", Style::yellow),
            _ => ("info:", Style::dim),
        }
    }
}

impl Tally {
    pub(crate) fn of<'a>(findings: impl IntoIterator<Item = &'a DiagnosticView>) -> Self {
        let mut tally = Self::default();
        for finding in findings {
            tally.errors += usize::from(finding.is_error());
            tally.warnings += usize::from(finding.is_warning());
        }
        tally
    }

    /// `2 errors, 1 warning`; empty if there are none.
    pub(crate) fn summary(self) -> String {
        let counted = [(self.errors, "error"), (self.warnings, "warning")];
        let parts: Vec<String> = counted
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}{}", if *count == 1 { "" } else { "s" }))
            .collect();
        parts.join(", ")
    }
}

/// Writes findings by place, each with its remedy; a remedy that several in a row share comes once, behind them.
pub(super) fn write(human: &mut Human, findings: &[&DiagnosticView]) {
    let mut sorted = findings.to_vec();
    sorted.sort_by_key(|finding| (&finding.path, finding.line, finding.column));
    for (place, finding) in sorted.iter().enumerate() {
        let (label, paint) = finding.label();
        human.labelled(label, paint, &finding.sentence());
        let is_repeated = sorted
            .get(place + 1)
            .is_some_and(|next| next.remedy == finding.remedy);
        if !finding.remedy.is_empty() && !is_repeated {
            human.labelled("hint:", Style::yellow, &finding.remedy);
        }
    }
}

#[cfg(test)]
mod tests {
    use compozy_client::proto::workspace::v1::Severity;

    use super::*;

    fn found(path: &str, line: i32, severity: Severity, remedy: &str) -> DiagnosticView {
        DiagnosticView::from(Diagnostic {
            code: "code".to_owned(),
            severity: severity.into(),
            path: path.to_owned(),
            line,
            message: "is wrong".to_owned(),
            remedy: remedy.to_owned(),
            ..Diagnostic::default()
        })
    }

    fn written(findings: &[DiagnosticView]) -> String {
        let mut human = Human::new(Style {
            color: false,
            width: None,
        });
        write(&mut human, &findings.iter().collect::<Vec<_>>());
        human.finish()
    }

    #[test]
    fn findings_are_sorted_and_a_shared_remedy_comes_once() {
        let text = written(&[
            found("/b", 10, Severity::Warning, "mend it"),
            found("/b", 9, Severity::Warning, "mend it"),
            found("/a", 0, Severity::Error, "look"),
            found("", 0, Severity::Info, ""),
        ]);
        let expected = "info: is wrong\nerror: /a: is wrong\nhint: look\n\
            warning: /b:9: is wrong\nwarning: /b:10: is wrong\nhint: mend it\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_tally_counts_what_needs_somebody() {
        let all = [
            found("/a", 1, Severity::Error, ""),
            found("/a", 2, Severity::Error, ""),
            found("/a", 3, Severity::Warning, ""),
            found("/a", 4, Severity::Info, ""),
        ];
        assert_eq!(Tally::of(&all).summary(), "2 errors, 1 warning");
        assert_eq!(Tally::of(&all[3..]).summary(), "");
    }
}
