//! Whatever is in a file, reading it never panics, and what is written reads back.

#![allow(clippy::unwrap_used)]

mod support;

use compozy_domain::{DurableId, Timestamp};
use compozy_resolver::identity::{Identity, encode, parse, with_durable_id};
use proptest::prelude::*;
use support::{ID1, ID2, durable, file};

fn ids() -> impl Strategy<Value = DurableId> {
    "[0-7][0-9A-HJKMNP-TV-Z]{25}".prop_map(|text| durable(&text))
}

fn identities() -> impl Strategy<Value = Identity> {
    let path = any::<String>().prop_filter("not blank", |path| !path.trim().is_empty());
    (ids(), any::<i64>(), path, prop::option::of(ids())).prop_map(|(id, at, path, origin)| Identity {
        durable_id: id,
        created_at: Timestamp::from_nanos(at),
        realpath_at_creation: path,
        forked_from: origin,
    })
}

/// A valid file with some pieces of TOML put into it and some bytes changed.
fn nearly_valid() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        "\n",
        "\r\n",
        "\"",
        "'",
        "\"\"\"",
        "[",
        "]",
        "[[a]]\n",
        "[note]\n",
        "= ",
        "x = 1\n",
        "#",
        ".",
        ",",
        "{",
        "}",
        "\\",
        "\u{feff}",
        "workspace_id",
        "\"created_at\" = ",
        "é",
        "\t",
        "forked_from = \"\"\n",
    ]);
    let edits = prop::collection::vec((any::<prop::sample::Index>(), piece, any::<bool>()), 0..6);
    (
        edits,
        prop::option::of((any::<prop::sample::Index>(), any::<u8>())),
    )
        .prop_map(|(edits, byte)| {
            let mut content = format!("{}\n# end\nteam = \"x\"\n[note]\nby = 'y'\n", file(ID1)).into_bytes();
            for (at, piece, overwrite) in edits {
                let at = at.index(content.len());
                let end = if overwrite {
                    (at + piece.len()).min(content.len())
                } else {
                    at
                };
                content.splice(at..end, piece.bytes());
            }
            if let Some((at, byte)) = byte {
                let at = at.index(content.len());
                content[at] = byte;
            }
            content
        })
}

/// What a file says must survive an edit of its id, and nothing else may change.
fn check_edit(content: &[u8]) {
    let Ok(before) = parse(content) else { return };
    let edited = with_durable_id(content, &durable(ID2), Some(&before.durable_id)).unwrap();
    let after = parse(&edited).unwrap();
    assert_eq!(after.durable_id, durable(ID2));
    assert_eq!(after.forked_from.as_ref(), Some(&before.durable_id));
    assert_eq!(after.created_at, before.created_at);
    assert_eq!(after.realpath_at_creation, before.realpath_at_creation);
    let restored = with_durable_id(&edited, &before.durable_id, None).unwrap();
    assert_eq!(parse(&restored).unwrap().durable_id, before.durable_id);
}

proptest! {
    #[test]
    fn what_is_written_reads_back(identity in identities()) {
        prop_assert_eq!(parse(&encode(&identity)), Ok(identity));
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(content in prop::collection::vec(any::<u8>(), 0..300)) {
        check_edit(&content);
    }

    #[test]
    fn a_file_that_is_nearly_valid_is_read_and_edited_without_a_panic(content in nearly_valid()) {
        check_edit(&content);
    }
}

#[test]
fn deep_nesting_is_refused_without_a_panic() {
    for (open, close) in [("[", "]"), ("{a=", "}")] {
        let nested = format!(
            "{}x = {}{}\n",
            file(ID1),
            open.repeat(20_000),
            close.repeat(20_000)
        );
        let _ = parse(nested.as_bytes()).map(|_| ());
    }
    let dotted = format!("{}{}x = 1\n", file(ID1), "a.".repeat(20_000));
    check_edit(dotted.as_bytes());
}

#[test]
fn an_edit_keeps_every_other_byte() {
    let content = format!("\u{feff}{}team = \"x\"\n", file(ID1)).replace('\n', "\r\n");
    let origin = durable(ID1);
    let edit = |content: &str, origin| {
        String::from_utf8(with_durable_id(content.as_bytes(), &durable(ID2), origin).unwrap()).unwrap()
    };
    assert_eq!(edit(&content, None), content.replace(ID1, ID2));
    let forked = content
        .replace(ID1, ID2)
        .replace("team", &format!("forked_from = \"{ID1}\"\r\nteam"));
    assert_eq!(edit(&content, Some(&origin)), forked);
    assert_eq!(edit(&forked, Some(&origin)), forked);
    let without_end = file(ID1).trim_end().to_owned();
    let forked = format!("{}\nforked_from = \"{ID1}\"\n", without_end.replace(ID1, ID2));
    assert_eq!(edit(&without_end, Some(&origin)), forked);
}
