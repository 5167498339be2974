//! Commands: from one line of a file to a program and its arguments.

use compozy_domain::{CatalogError, Diagnostic, Layer, Severity};
use compozy_resolver::config::EffectiveConfig;

use super::environment::text_of;

/// What the session's provider says to run; nothing if it says nothing.
pub(super) fn of_provider(config: &EffectiveConfig, provider: &str) -> Result<Vec<String>, CatalogError> {
    if provider.is_empty() {
        return Ok(Vec::new());
    }
    let key = format!("providers.{provider}.command");
    let Some(command) = text_of(config, provider, "command").filter(|command| !command.trim().is_empty())
    else {
        return Ok(Vec::new());
    };
    let origin = config.origin(&key);
    let layer = origin.map_or(Layer::User, |origin| origin.layer);
    let path = origin
        .and_then(|origin| origin.path.as_deref())
        .unwrap_or_default();
    let mut argv = words(command, (layer, path, &key))?;
    let arguments = config.texts(&format!("providers.{provider}.args"));
    argv.extend(arguments.into_iter().map(str::to_owned));
    Ok(argv)
}

/// The words of a command, as a shell would divide them: blanks outside of quotes divide, a backslash takes what
/// follows as it is. Nothing is expanded, and nothing is run by a shell.
pub(super) fn words(
    command: &str,
    (layer, path, key): (Layer, &str, &str),
) -> Result<Vec<String>, CatalogError> {
    divide(command).ok_or_else(|| {
        let message = "the command has an opening quote and no closing one, or ends with a backslash";
        let found = Diagnostic::new(
            "command_not_understood",
            Severity::Error,
            layer,
            path,
            message,
            "close the quote",
        );
        CatalogError::Config {
            problems: vec![found.about(key)],
        }
    })
}

fn divide(command: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    // `Some("")` is a word of two quotes without anything in between.
    let mut word: Option<String> = None;
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match letter {
            letter if letter.is_whitespace() => words.extend(word.take()),
            '\\' => word.get_or_insert_default().push(letters.next()?),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next()? {
                        '\'' => break,
                        letter => word.push(letter),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next()? {
                        '"' => break,
                        '\\' => match letters.next()? {
                            escaped @ ('"' | '\\' | '$' | '`') => word.push(escaped),
                            other => word.extend(['\\', other]),
                        },
                        letter => word.push(letter),
                    }
                }
            }
            letter => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_command_is_divided_as_a_shell_would() {
        let cases: [(&str, &[&str]); 8] = [
            ("claude", &["claude"]),
            ("  npx -y  @x/acp\t--stdio\n", &["npx", "-y", "@x/acp", "--stdio"]),
            ("'/opt/my tools/run' a", &["/opt/my tools/run", "a"]),
            (r#"sh -c "echo \"$X\" \n""#, &["sh", "-c", r#"echo "$X" \n"#]),
            (r"a\ b c", &["a b", "c"]),
            ("a '' \"\"", &["a", "", ""]),
            ("x'y'\"z\"", &["xyz"]),
            ("$(rm -r /) #x", &["$(rm", "-r", "/)", "#x"]),
        ];
        for (command, words) in cases {
            assert_eq!(divide(command).unwrap(), words, "{command}");
        }
    }

    #[test]
    fn what_does_not_end_is_told_with_its_file_and_without_its_text() {
        for command in ["run 'secret", "run \"secret", "run secret\\"] {
            let error = words(command, (Layer::Workspace, "/w/AGENT.md", "command")).unwrap_err();
            let CatalogError::Config { problems } = error else {
                unreachable!("a broken command is a broken configuration")
            };
            assert_eq!(problems[0].path, "/w/AGENT.md");
            assert!(!problems[0].message.contains("secret"));
        }
    }
}
