//! Files as large as may be, of one piece over and over: none of them takes long. `cargo xtask fuzz large` prints how
//! long, in the build that is shipped.

use std::time::{Duration, Instant};

use compozy_domain::Layer;
use compozy_resolver::config::{LayerFiles, SourceFile, resolve};
use compozy_resolver::definition::{Found, read_agent};
use compozy_resolver::{dotenv, mcp};

use crate::targets::{Target, target};

/// Bytes of each file, instead of the few that a build for tests gets through.
const BYTES: &str = "COMPOZY_FUZZ_BYTES";
const BYTES_USUAL: usize = 8 * 1024;
/// Far beyond what any of them takes; whatever grows with the square of its size is beyond it at a mebibyte.
const MOST: Duration = Duration::from_secs(20);

/// One reader without the checks of its target.
fn reader(name: &str) -> fn(&[u8]) {
    match name {
        "config" => |bytes| {
            let config = SourceFile {
                path: "/c".to_owned(),
                bytes: bytes.to_vec(),
            };
            let user = LayerFiles {
                layer: Layer::User,
                config: Some(config),
                mcp: None,
            };
            let _ = resolve(&[user], "");
        },
        "dotenv" => |bytes| drop(dotenv::findings(Layer::Workspace, "/e", &dotenv::read(bytes))),
        "mcp_json" => |bytes| drop(mcp::read(Layer::Workspace, "/m", bytes)),
        _ => |bytes| {
            let found = Found {
                layer: Layer::Workspace,
                path: "/a".to_owned(),
                directory_name: "reviewer".to_owned(),
                content: Ok(bytes.to_vec()),
                mcp: None,
            };
            drop(read_agent(&found));
        },
    }
}

/// What stands before and behind the pieces.
fn frames(name: &str) -> &'static [(&'static str, &'static str)] {
    match name {
        "config" => &[
            ("", ""),
            ("x = [", "]"),
            ("loops.x = \"", "\""),
            ("[loops]\nx = {", "}"),
            ("loops.x.", "= 1"),
        ],
        "dotenv" => &[("", ""), ("A=\"", "\""), ("A=", "")],
        "mcp_json" => &[
            ("", ""),
            ("{\"mcpServers\": {", "}}"),
            ("{\"a\": [", "]}"),
            ("{\"a\": \"", "\"}"),
            (
                "{\"mcpServers\": {\"s\": {\"command\": \"c\", \"args\": [",
                "]}}}",
            ),
        ],
        _ => &[
            ("", ""),
            ("---\n", "\n---\nText.\n"),
            ("---\nname: a\ndescription: ", "\n---\nText.\n"),
            ("---\ndescription: x: ", "\n---\nText.\n"),
            ("---\nd: \"", "\n---\nText.\n"),
            ("---\nx: [", "]\n---\nText.\n"),
            ("---\nx = ", "\n---\nText.\n"),
        ],
    }
}

/// The file of many equal pieces, and of many that are numbered where there is room for a number.
fn files(target: &Target, size: usize) -> impl Iterator<Item = (String, Vec<u8>)> {
    let frames = frames(target.name).iter();
    frames.flat_map(move |(before, behind)| {
        target.pieces.iter().flat_map(move |piece| {
            let room = size.saturating_sub(before.len() + behind.len());
            let equal = piece.repeat(room / piece.len());
            let numbered = numbered(piece, room);
            [("", equal), ("numbered ", numbered)].map(|(how, many)| {
                let shape = format!("{before:?} {how}{piece:?} {behind:?}");
                (shape, format!("{before}{many}{behind}").into_bytes())
            })
        })
    })
}

fn numbered(piece: &str, room: usize) -> String {
    let mut many = String::with_capacity(room);
    for at in 0_u32.. {
        let (first, rest) = piece.split_at(
            piece
                .find(|letter: char| letter.is_ascii_alphabetic())
                .unwrap_or(0),
        );
        let next = format!("{first}k{at}{rest}");
        if many.len() + next.len() > room {
            return many;
        }
        many.push_str(&next);
    }
    many
}

fn slowest(name: &str) {
    let size = std::env::var(BYTES)
        .ok()
        .map_or(BYTES_USUAL, |size| size.parse().unwrap());
    let target = target(name).unwrap();
    let read = reader(name);
    let mut times = Vec::new();
    for (shape, bytes) in files(target, size) {
        let start = Instant::now();
        read(&bytes);
        times.push((start.elapsed(), shape));
    }
    times.sort();
    for (time, shape) in times.iter().rev().take(5) {
        println!("{name} {size}: {time:>8.1?} {shape}");
    }
    let (time, shape) = times.last().unwrap();
    assert!(*time < MOST, "{shape} takes {time:?}");
}

#[test]
fn a_front_matter_as_large_as_may_be_is_read_soon() {
    slowest("front_matter");
}

#[test]
fn a_configuration_as_large_as_may_be_is_read_soon() {
    slowest("config");
}

#[test]
fn an_mcp_file_as_large_as_may_be_is_read_soon() {
    slowest("mcp_json");
}

#[test]
fn an_env_file_as_large_as_may_be_is_read_soon() {
    slowest("dotenv");
}
