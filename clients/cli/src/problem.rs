//! What is wrong with a configuration: a refused call names each problem with its place, as a refused field.

use compozy_client::{Error, ErrorReason, FieldViolation};
use serde_json::{Value, json};

use crate::quote;

/// The code of a key that nobody knows.
const UNKNOWN_KEY: &str = "config_unknown_key";

/// One problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    path: String,
    /// From 1; 0 if it is not known.
    line: u32,
    column: u32,
    code: String,
    message: String,
}

/// The problems of a configuration that is not valid; none of any other failure.
pub(crate) fn all(error: &Error) -> Vec<Problem> {
    if error.reason() != ErrorReason::ConfigInvalid {
        return Vec::new();
    }
    error.field_violations().iter().map(Problem::of).collect()
}

/// What to do: the remedy of the only one, and how to see all of them with theirs: in the project that the first is
/// about, else in the directory that the command names, else in the file itself.
pub(crate) fn hint(error: &Error, problems: &[Problem], directory: Option<&str>) -> String {
    let first = problems.first();
    let place = first.and_then(Problem::project).or(directory);
    let place = place
        .or(first.map(|problem| problem.path.as_str()))
        .unwrap_or(".");
    let validate = format!("`compozy config validate {}`", quote::shell(place));
    let unknown_keys = problems
        .iter()
        .filter(|problem| problem.code == UNKNOWN_KEY)
        .count();
    if problems.len() > 1 {
        let pass = match unknown_keys {
            0 | 1 => "",
            _ => "; `compozy config set config.unknown_keys warn` lets unknown keys pass",
        };
        return format!("correct what is named; {validate} says for each what to do{pass}");
    }
    let see = format!("{validate} checks everything there");
    match error.metadata().get("remedy").filter(|remedy| !remedy.is_empty()) {
        Some(remedy) => format!("{remedy}; {see}"),
        None => format!("correct what is named; {see}"),
    }
}

impl Problem {
    /// A field is `path:line:column`, as far as the place is known; the description is `code: message`.
    fn of(violation: &FieldViolation) -> Self {
        let (path, numbers) = place(&violation.field);
        let (code, message) = match violation.description.split_once(": ") {
            Some((code, message)) if !code.contains(' ') => (code, message),
            _ => ("", violation.description.as_str()),
        };
        Self {
            path: path.to_owned(),
            line: numbers[0],
            column: numbers[1],
            code: code.to_owned(),
            message: message.to_owned(),
        }
    }

    /// A line of another program, in the form of [`Problem::line`]; `None` for one that names no file.
    pub(crate) fn of_line(line: &str) -> Option<Self> {
        let (field, description) = line
            .split_once(": ")
            .filter(|(place, _)| place.starts_with('/'))?;
        Some(Self::of(&FieldViolation {
            field: field.to_owned(),
            description: description.to_owned(),
        }))
    }

    /// `file:line:column: code: message`, what is not known left out.
    pub(crate) fn line(&self) -> String {
        let mut text = self.path.clone();
        for number in [self.line, self.column]
            .into_iter()
            .take_while(|number| *number > 0)
        {
            text.push_str(&format!(":{number}"));
        }
        for part in [&self.code, &self.message]
            .into_iter()
            .filter(|part| !part.is_empty())
        {
            if !text.is_empty() {
                text.push_str(": ");
            }
            text.push_str(part);
        }
        text
    }

    pub(crate) fn object(&self) -> Value {
        let Self {
            path,
            line,
            column,
            code,
            message,
        } = self;
        json!({"path": path, "line": line, "column": column, "code": code, "message": message})
    }

    /// Whether it lies in a file of the configuration, and not in an agent or a skill.
    pub(crate) fn is_in_config(&self) -> bool {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        matches!(name, "config.toml" | "mcp.json")
    }

    /// The directory whose files are checked together, where the path tells it.
    fn project(&self) -> Option<&str> {
        let (root, _) = self.path.split_once("/.compozy/")?;
        Some(root).filter(|root| !root.is_empty() && !is_home(root))
    }
}

/// Whether the `.compozy` in a directory is the home of this machine's daemon.
fn is_home(root: &str) -> bool {
    compozy_client::Home::locate()
        .is_ok_and(|home| home.path() == std::path::Path::new(root).join(".compozy"))
}

/// A place, divided; a number that is not there is 0. A path may hold colons itself.
fn place(field: &str) -> (&str, [u32; 2]) {
    let mut rest = field;
    let mut numbers = Vec::new();
    while numbers.len() < 2 {
        let Some((before, last)) = rest.rsplit_once(':') else {
            break;
        };
        let Ok(number) = last.parse() else { break };
        numbers.insert(0, number);
        rest = before;
    }
    numbers.resize(2, 0);
    (rest, [numbers[0], numbers[1]])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(field: &str, description: &str) -> Problem {
        Problem::of(&FieldViolation {
            field: field.to_owned(),
            description: description.to_owned(),
        })
    }

    #[test]
    fn a_place_has_a_path_and_up_to_two_numbers() {
        assert_eq!(place("/a:b/c.toml:4:12"), ("/a:b/c.toml", [4, 12]));
        assert_eq!(place("/c.toml:4"), ("/c.toml", [4, 0]));
        assert_eq!(place("/c.toml"), ("/c.toml", [0, 0]));
        assert_eq!(place("/1:2:3:4"), ("/1:2", [3, 4]));
    }

    #[test]
    fn a_line_can_be_read_by_an_editor() {
        let problem = of("/w/.compozy/config.toml:4:1", "unknown_key: unknown key `x`");
        assert_eq!(Problem::of_line(&problem.line()), Some(problem.clone()));
        assert_eq!(Problem::of_line("what: is this"), None);
        assert_eq!(
            problem.line(),
            "/w/.compozy/config.toml:4:1: unknown_key: unknown key `x`"
        );
        assert_eq!(problem.object()["code"], "unknown_key");
        assert_eq!(
            of("/w/AGENT.md", "It is: broken").line(),
            "/w/AGENT.md: It is: broken"
        );
    }

    #[test]
    fn a_project_is_validated_as_a_whole() {
        let problem = of("/w/.compozy/agents/x/AGENT.md:1:1", "code: message");
        assert_eq!(problem.project(), Some("/w"));
        assert_eq!(of("/w/.agents/skills/x/SKILL.md", "c: m").project(), None);
    }
}
