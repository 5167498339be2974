//! What callers may write.

use super::super::fields::*;
use super::*;

fn field<T: std::fmt::Debug>(outcome: Result<T, CatalogError>) -> String {
    match outcome.unwrap_err() {
        CatalogError::InvalidField { field, .. } => field,
        other => panic!("{other:?}"),
    }
}

#[test]
fn s027_s148_white_space_of_names_collapses() {
    for (given, kept) in [
        ("  My\u{a0} \u{3000}plan ", "My plan"),
        ("  a \u{2003}\u{a0} b ", "a b"),
        ("a\n\tb", "a b"),
    ] {
        assert_eq!(SessionName::parse(given, "name").unwrap().as_str(), kept);
    }
}

#[test]
fn s028_s029_s149_s150_bounds_of_names() {
    let long = "\u{1f600}".repeat(64);
    assert_eq!(SessionName::parse(&long, "name").unwrap().as_str(), long);
    for bad in ["a\u{7}b", "a\u{0}b", "", " \u{3000} ", &"\u{1f600}".repeat(65)] {
        assert_eq!(field(SessionName::parse(bad, "name")), "name");
    }
}

#[test]
fn s024_s025_names_of_agents_are_kept_exactly_and_not_blank() {
    assert_eq!(parse_name("General".into(), "agent").unwrap(), "General");
    assert_eq!(parse_model("m-5.1 (Preview)".into()).unwrap(), "m-5.1 (Preview)");
    for bad in ["", "  ", "ge\u{7}n"] {
        assert_eq!(field(parse_name(bad.into(), "agent")), "agent");
    }
}

#[test]
fn s032_s033_s034_bounds_of_labels() {
    let labels = |pairs: &[(&str, &str)]| {
        let pairs = pairs
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        parse_labels(pairs.collect(), "labels")
    };
    let many = |count: usize| (0..count).map(|n| (format!("k{n}"), String::new())).collect();
    assert_eq!(parse_labels(many(32), "labels").unwrap().len(), 32);
    assert_eq!(field(parse_labels(many(33), "labels")), "labels");
    let (k63, k64, v255, v256) = ("k".repeat(63), "k".repeat(64), "v".repeat(255), "v".repeat(256));
    labels(&[("k", ""), (&k63, &v255)]).unwrap();
    for bad in [("", "v"), (&k64, "v"), ("k", &v256), ("k\n", "v"), ("k", "v\n")] {
        assert_eq!(field(labels(&[bad])), "labels");
    }
}

#[test]
fn s041_ids_that_callers_choose() {
    parse_new_id("sess-00000000000000aa").unwrap();
    for bad in [
        "",
        "sess-00000000000000AA",
        "sess-00000000000000a",
        "sess-00000000000000aaa",
        "sess_00000000000000aa",
        "sess-../../../x000",
        "sess-00000000000000a/",
    ] {
        assert_eq!(field(parse_new_id(bad)), "id", "{bad}");
    }
}

#[test]
fn s067_s177_bounds_of_leases_before_any_arithmetic() {
    let runtime = LeaseBounds::runtime(Duration::from_secs(5));
    assert_eq!(runtime.parse(None, "ttl").unwrap(), Duration::from_secs(5));
    assert_eq!(
        runtime.parse(Some((1, 0)), "ttl").unwrap(),
        Duration::from_secs(1)
    );
    assert_eq!(
        runtime.parse(Some((3_600, 0)), "ttl").unwrap(),
        Duration::from_secs(3_600)
    );
    for bad in [
        (0, 0),
        (0, 999_000_000),
        (-1, 0),
        (1, -1),
        (3_600, 1),
        (1 << 62, 0),
        (i64::MIN, i32::MIN),
        (5, 1_000_000_000),
    ] {
        assert_eq!(field(runtime.parse(Some(bad), "ttl")), "ttl", "{bad:?}");
    }
    let attach = LeaseBounds::ATTACH;
    assert_eq!(attach.parse(None, "ttl").unwrap(), Duration::from_secs(900));
    attach.parse(Some((86_400, 0)), "ttl").unwrap();
    for bad in [(0, 500_000_000), (86_401, 0), (86_400, 1), (1 << 62, 0)] {
        assert_eq!(field(attach.parse(Some(bad), "ttl")), "ttl", "{bad:?}");
    }
}

#[test]
fn s099_s360_bounds_of_free_texts() {
    parse_detail("d".repeat(2_048)).unwrap();
    assert_eq!(field(parse_detail("d".repeat(2_049))), "detail");
    assert_eq!(parse_detail("two\nlines".into()).unwrap(), "two\nlines");
    assert_eq!(field(parse_detail("a\u{0}".into())), "detail");
    parse_start_cause("\u{1f600}".repeat(500)).unwrap();
    assert_eq!(field(parse_start_cause("c".repeat(501))), "start_cause");
    let cut = cut_prose(&"\u{1f600}".repeat(600), DETAIL_BYTES_MAX);
    assert_eq!(cut, "\u{1f600}".repeat(512));
    assert_eq!(cut_prose("a\u{0}b\u{1b}[0m\n", 99), "ab[0m\n");
}

#[test]
fn s068_holders_and_origins() {
    assert_eq!(field(parse_holder(String::new())), "holder");
    assert_eq!(field(parse_holder("h\u{1b}".into())), "holder");
    assert_eq!(parse_origin("other-tool".into(), "7".into()).unwrap().id, "7");
    assert_eq!(field(parse_origin("Other".into(), String::new())), "origin.tool");
    assert_eq!(field(parse_origin("native".into(), "7".into())), "origin.id");
}
