//! Front matter that is TOML, and front matter that is nothing.

use compozy_resolver::front_matter;

use crate::support::{agent, agent_with, error, the};

#[test]
fn r129_toml_is_read_where_it_is_no_yaml() {
    let files = [
        "name = \"reviewer\"\ndescription = \"Use when: x\"\ntools = [\"Read\"]\n[skills]\ndisabled = [\"y\"]\n",
        // Each of these lines would be YAML.
        "description = \"Use when: x\"\nname = \"reviewer\"\ntools = ['Read']\nskills.disabled = ['y']\n",
        "# note\n\nname = 'reviewer'\ntools = [\n  'Read'\n]\ndescription = '''Use when: x'''\nskills = {disabled = ['y']}\n",
    ];
    for front in files {
        let agent = agent(format!("---\n{front}---\nReview.\n"));
        assert!(agent.usable, "{:#?}", agent.diagnostics);
        assert_eq!(agent.diagnostics, []);
        assert_eq!(agent.name, "reviewer");
        assert_eq!(agent.description, "Use when: x");
        assert_eq!(
            (agent.tools, agent.disabled_skills),
            (vec!["Read".to_owned()], vec!["y".to_owned()])
        );
    }
    let one = agent("---\nname = \"a: b\"\n---\nReview.\n");
    assert_eq!(error(&one.diagnostics), ("agent_name_invalid", 2, 1));
}

#[test]
fn toml_knows_its_places() {
    let text = "---\nname = \"reviewer\"\n\n[hooks]\ncolour = \"é\" \nx = 1.10\n[[more]]\n---\nReview.\n";
    let agent = agent(text);
    let found = the("agent_unknown_key", &agent.diagnostics);
    assert_eq!((found.line, found.column), (Some(7), Some(3)));
    let front = front_matter::read(text.as_bytes());
    let number = front
        .fields
        .as_ref()
        .unwrap()
        .get("hooks")
        .unwrap()
        .get("x")
        .unwrap();
    assert_eq!(front.text(number), Some("1.10"));
    assert_eq!((number.line, number.column), (6, 1));
}

#[test]
fn r130_what_is_neither_yaml_nor_toml_is_an_error_with_its_place() {
    let cases = [
        (
            "name: reviewer\ndescription: \"x\" \"y\n  z\n",
            ("front_matter_syntax", 3, 18),
        ),
        ("name: reviewer\ntools: [a, b\n", ("front_matter_syntax", 3, 8)),
        (
            "name = \"reviewer\"\ndescription = x y\n",
            ("front_matter_syntax", 3, 15),
        ),
        (
            "name = \"reviewer\"\nname = \"x\"\n",
            ("front_matter_duplicate_key", 3, 1),
        ),
        ("just some words\n", ("front_matter_not_table", 2, 1)),
        ("- name\n- reviewer\n", ("front_matter_not_table", 2, 1)),
        ("name: reviewer\n...\nmodel: x\n", ("front_matter_syntax", 4, 1)),
        ("? [a]\n: b\n", ("front_matter_syntax", 2, 3)),
        ("%YAML 1.2\n", ("front_matter_syntax", 2, 1)),
        ("a: &x [*x]\n", ("front_matter_syntax", 2, 8)),
    ];
    for (front, expected) in cases {
        let agent = agent(format!("---\n{front}---\nReview.\n"));
        assert!(!agent.usable);
        assert_eq!(error(&agent.diagnostics), expected, "{front:?}");
    }
}

#[test]
fn r133_tabs_repeated_keys_and_bytes_that_are_no_text_have_a_place() {
    let tab = agent("---\nname: reviewer\ntools:\n\t- Read\n---\nReview.\n");
    assert_eq!(
        (tab.usable, error(&tab.diagnostics)),
        (false, ("front_matter_tab", 4, 1))
    );

    let twice = agent("---\nname: reviewer\nmodel: a\nmodel: b\n---\nReview.\n");
    assert_eq!(error(&twice.diagnostics), ("front_matter_duplicate_key", 4, 1));
    assert_eq!((twice.usable, twice.model.as_str()), (false, "a"));
    assert_eq!(twice.diagnostics[0].key.as_deref(), Some("model"));
    let nested = agent_with("hooks:\n  - a: 1\n    a: 2");
    assert_eq!(error(&nested.diagnostics), ("front_matter_duplicate_key", 5, 5));

    let mut bytes = "---\nname: reviewer\n---\né".as_bytes().to_vec();
    bytes.push(0xff);
    let byte = agent(bytes);
    assert_eq!(
        (byte.usable, error(&byte.diagnostics)),
        (false, ("definition_not_utf8", 4, 2))
    );
    assert_eq!(byte.name, "reviewer");
}

#[test]
fn a_byte_order_mark_is_no_column() {
    let mut bytes = "\u{feff}---\nname: reviewer\nx: y".as_bytes().to_vec();
    bytes.extend(b"\xff\n---\nReview.\n");
    let agent = agent(bytes);
    let found = the("definition_not_utf8", &agent.diagnostics);
    assert_eq!((found.line, found.column), (Some(3), Some(5)));
}

#[test]
fn numbers_and_flags_are_texts_where_texts_are_expected() {
    let agent =
        agent_with("model: 1.10\nprovider: no\ncommand: 0x1F\nreasoning_effort: True\ntools: [1, yes, 2.0]");
    assert!(agent.usable, "{:#?}", agent.diagnostics);
    assert_eq!((agent.model.as_str(), agent.provider.as_str()), ("1.10", "no"));
    assert_eq!(
        (agent.command.as_str(), agent.reasoning_effort.as_str()),
        ("0x1F", "True")
    );
    assert_eq!(agent.tools, ["1", "yes", "2.0"]);
}

#[test]
fn anchors_and_aliases_stand_for_what_they_name() {
    let agent = agent_with("model: &m 1.10\ncommand: *m\ntools: &t [Read, Grep]\ntoolsets: *t");
    assert_eq!(agent.diagnostics, []);
    assert_eq!((agent.model.as_str(), agent.command.as_str()), ("1.10", "1.10"));
    assert_eq!(agent.toolsets, ["Read", "Grep"]);
}

#[test]
fn an_empty_front_matter_says_nothing() {
    for front in ["", "# nothing yet\n", "\n \n"] {
        let agent = agent(format!("---\n{front}---\nReview.\n"));
        assert!(agent.usable, "{front:?}");
        assert_eq!(agent.name, "reviewer");
        the("agent_name_missing", &agent.diagnostics);
    }
}
