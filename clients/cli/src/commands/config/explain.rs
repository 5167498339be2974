//! `config explain`: where a value comes from, and what it overrode.

use clap::Args;

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::nearest;
use crate::offline;
use crate::output::{ExplainView, SnapshotView, Sourced};
use crate::reference::not_blank;
use crate::resolution::Question;
use crate::selection::{FlagSelector, ProfileSelector};

/// Tell where a value comes from, and what it overrode
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  compozy config explain\n  compozy config explain defaults.agent\n  compozy config explain mcp_servers --workspace api --profile work\n  compozy config explain -o jsonl"
)]
pub(crate) struct ExplainArguments {
    /// A key, or a table for everything in it. Default: everything
    // A name of its own: --key is an option of every command.
    #[arg(value_name = "KEY", value_parser = not_blank())]
    dotted_key: Option<String>,
    #[command(flatten)]
    selector: FlagSelector,
    #[command(flatten)]
    profile: ProfileSelector,
}

pub(crate) async fn run(app: &App, arguments: &ExplainArguments) -> Result<Exit, Failure> {
    let choice = arguments.selector.choose()?;
    let profile = arguments.profile.asked()?;
    let question = Question::new(app, &choice, profile, None).await?;
    let answered = question.whole(app).await?;
    let mut view = ExplainView::from(SnapshotView::from(answered.snapshot));
    if let Some(key) = arguments.dotted_key.as_deref().map(str::trim) {
        let keys: Vec<String> = view.leaves.iter().map(|leaf| leaf.key.clone()).collect();
        view.narrow(key);
        if view.leaves.is_empty() {
            let known = offline::known_keys(app).await;
            return Err(unknown(key, keys, &known).with("resolution_source", answered.source));
        }
    }
    app.printer.answer(&Sourced {
        resolution_source: answered.source,
        answer: view,
    })?;
    Ok(Exit::Ok)
}

fn unknown(key: &str, mut keys: Vec<String>, known: &[String]) -> Failure {
    if known.iter().any(|name| name == key) {
        let message = format!("nobody has set {key}, and it has no default");
        let hint = "`compozy config schema` tells what it takes and who may set it";
        return Failure::unknown("KEY_NOT_FOUND", message, hint).with("key", key);
    }
    keys.extend_from_slice(known);
    // Of a key its tables can be meant, too.
    let tables = keys.iter().flat_map(|key| tables(key));
    let names = keys.iter().map(String::as_str).chain(tables);
    // A pattern of keys is none that can be asked for.
    let names = names.filter(|name| !name.contains('*'));
    let schema = "`compozy config schema` lists every key";
    let hint = match nearest::of(key, names) {
        Some(near) => format!("did you mean {near}? {schema}"),
        None => schema.to_owned(),
    };
    Failure::unknown("KEY_NOT_FOUND", format!("no value counts under \"{key}\""), hint).with("key", key)
}

/// The tables that a dotted key lies in, as they are written. A dot within quotes parts nothing.
fn tables(key: &str) -> impl Iterator<Item = &str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    let dots = key.char_indices().filter(move |(_, letter)| {
        let quotes = *letter == '"' && !is_escaped;
        is_quoted ^= quotes;
        is_escaped = is_quoted && *letter == '\\' && !is_escaped;
        *letter == '.' && !is_quoted
    });
    dots.map(|(dot, _)| &key[..dot])
}

#[cfg(test)]
mod tests {
    use super::tables;

    #[test]
    fn a_dot_within_quotes_parts_nothing() {
        let found = |key| tables(key).collect::<Vec<_>>();
        assert_eq!(found("a.b.c"), ["a", "a.b"]);
        assert_eq!(
            found(r#"s."a.b \" . c".env.A"#),
            ["s", r#"s."a.b \" . c""#, r#"s."a.b \" . c".env"#]
        );
        assert_eq!(found(r#"loops."x\\".y"#), ["loops", r#"loops."x\\""#]);
        assert!(found("a").is_empty());
    }
}
