//! `.env`: what it says, what is wrong with it, and that it says nothing to this product.

use compozy_domain::{Layer, Severity};
use compozy_resolver::dotenv::{self, DOTENV_BYTES_MAX, DotenvFault};
use compozy_resolver::files::ReadFault;

const PATH: &str = "/r/.env";

fn entries(text: &str) -> Vec<(String, String)> {
    let read = dotenv::read(text.as_bytes());
    assert!(read.problems.is_empty(), "{:?}", read.problems);
    read.entries
        .into_iter()
        .map(|(key, value, _)| (key, value))
        .collect()
}

fn value(line: &str) -> String {
    let mut entries = entries(line);
    assert_eq!(entries.len(), 1, "{line}");
    entries.remove(0).1
}

#[test]
fn assignments_are_read_as_shells_do() {
    for (line, expected) in [
        ("K=v", "v"),
        ("K=", ""),
        ("  K = v  ", "v"),
        ("export K=v", "v"),
        ("export\tK=v", "v"),
        ("K=v # c", "v"),
        ("K=v#c", "v#c"),
        ("K=#c", ""),
        ("K=\"v w\"", "v w"),
        ("K='v w'", "v w"),
        ("K='a\\nb\"'", "a\\nb\""),
        ("K=\"a\\nb\\t\\\"\\\\\\$x\\q\"", "a\nb\t\"\\$x\\q"),
        ("K=\"a # b\" # c", "a # b"),
        ("K=$A ${B} `c`", "$A ${B} `c`"),
        ("K=a=b", "a=b"),
        ("K=\"a\nb\"", "a\nb"),
        ("K=\"a\r\nb\"\r\n", "a\nb"),
        ("K='a\n\nb'", "a\n\nb"),
        ("k.e-y_1=v", "v"),
        ("exported=v", "v"),
    ] {
        assert_eq!(value(line), expected, "{line}");
    }
}

#[test]
fn comments_blank_lines_crlf_and_a_byte_order_mark_do_no_harm() {
    let text = "\u{feff}# first\r\n\r\nA=1\r\n  # second\r\nexport B=\"2\"\r\n";
    let read = dotenv::read(text.as_bytes());
    assert!(read.problems.is_empty());
    let expected = [("A", "1", 3), ("B", "2", 5)];
    let found: Vec<_> = read
        .entries
        .iter()
        .map(|(key, value, line)| (key.as_str(), value.as_str(), *line))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn a_line_costs_only_itself_and_is_never_shown() {
    let text = "A=1\nnot an assignment s3cr3t\n1K=s3cr3t\nB=\"s3cr3t\" x\nsome prose with = s3cr3t\nexport\n=s3cr3t\nC=2\nD=\"s3cr3t\n";
    let read = dotenv::read(text.as_bytes());
    let keys: Vec<&str> = read.entries.iter().map(|(key, _, _)| key.as_str()).collect();
    assert_eq!(keys, ["A", "C"]);
    let problems: Vec<_> = read
        .problems
        .iter()
        .map(|problem| (problem.line, problem.fault))
        .collect();
    assert_eq!(
        problems,
        [
            (2, DotenvFault::NoAssignment),
            (3, DotenvFault::BadKey),
            (4, DotenvFault::BehindQuote),
            (5, DotenvFault::NoAssignment),
            (6, DotenvFault::NoAssignment),
            (7, DotenvFault::BadKey),
            (9, DotenvFault::OpenQuote),
        ]
    );
    let findings = dotenv::findings(Layer::Workspace, PATH, &read);
    assert_eq!(findings.len(), 7);
    for (found, (line, _)) in findings.iter().zip(problems) {
        assert_eq!(
            (found.path.as_str(), found.line, found.severity),
            (PATH, Some(line), Severity::Warning)
        );
        assert!(!found.remedy.is_empty());
    }
    assert!(!format!("{read:?} {findings:?}").contains("s3cr3t"));
}

#[test]
fn what_is_no_text_costs_the_rest_of_the_file() {
    let read = dotenv::read(b"A=1\nB=\xff\nC=3\n");
    assert_eq!(read.entries.len(), 1);
    assert_eq!(
        (read.problems[0].line, read.problems[0].fault),
        (2, DotenvFault::NotText)
    );
    assert_eq!(dotenv::read(b"A=\0").problems[0].fault, DotenvFault::Nul);
}

#[test]
fn one_mebibyte_is_read_and_not_a_byte_more() {
    let mut bytes = b"A=1\n".to_vec();
    bytes.resize(DOTENV_BYTES_MAX, b'\n');
    assert_eq!(dotenv::read(&bytes).entries.len(), 1);
    bytes.push(b'\n');
    let read = dotenv::read(&bytes);
    assert!(read.entries.is_empty());
    assert_eq!(read.problems[0].fault, DotenvFault::TooLarge);
}

#[test]
fn many_bad_lines_are_told_in_few_words() {
    let read = dotenv::read("x\n".repeat(10_000).as_bytes());
    let findings = dotenv::findings(Layer::Workspace, PATH, &read);
    assert_eq!(findings.len(), 51);
    assert!(findings[50].message.contains("9950 more"));
}

#[test]
fn a_file_that_moves_the_home_is_told_so() {
    let read = dotenv::read(b"A=1\nCOMPOZY_HOME=/tmp/other\nexport COMPOZY_PROFILE=p\n");
    let findings = dotenv::findings(Layer::Workspace, PATH, &read);
    let told: Vec<_> = findings
        .iter()
        .map(|found| (found.code, found.severity, found.line, found.key.as_deref()))
        .collect();
    assert_eq!(
        told,
        [
            (
                "dotenv_home_ignored",
                Severity::Warning,
                Some(2),
                Some("COMPOZY_HOME")
            ),
            (
                "dotenv_profile_ignored",
                Severity::Info,
                Some(3),
                Some("COMPOZY_PROFILE")
            ),
        ]
    );
    assert!(
        findings
            .iter()
            .all(|found| found.path == PATH && !found.message.contains("/tmp/other"))
    );
}

#[test]
fn a_file_that_can_t_be_read_is_named() {
    for fault in [
        ReadFault::NotRegular,
        ReadFault::Unreadable,
        ReadFault::TooLarge {
            limit: DOTENV_BYTES_MAX,
        },
    ] {
        let found = dotenv::unreadable(Layer::Workspace, PATH, &fault);
        assert_eq!((found.path.as_str(), found.severity), (PATH, Severity::Warning));
        assert!(found.message.contains(&fault.to_string()) && !found.remedy.is_empty());
    }
}
