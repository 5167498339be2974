//! Servers that are reached over a network: tokens, TLS, and what is no server of ours.

use std::convert::Infallible;

use bytes::Bytes;
use http_body_util::Full;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tonic::transport::{Identity, ServerTlsConfig};

use crate::fake::Fake;
use crate::run::text;

/// A certificate for this machine, and a server's configuration with it.
fn certificate(fake: &Fake) -> (String, ServerTlsConfig) {
    let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
    let made = rcgen::generate_simple_self_signed(names).unwrap();
    let ca = fake.path("ca.pem");
    std::fs::write(&ca, made.cert.pem()).unwrap();
    let identity = Identity::from_pem(made.cert.pem(), made.signing_key.serialize_pem());
    (text(ca), ServerTlsConfig::new().identity(identity))
}

#[test]
fn c065_tokens_over_tls() {
    let fake = Fake::with_two();
    *fake.state.token.lock().unwrap() = Some("right".to_owned());
    let (ca, tls) = certificate(&fake);
    let server = format!("https://{}", fake.listen(Some(tls)));
    let list = ["--server", &server, "--ca", &ca, "workspace", "list"];
    assert_eq!(fake.run("", &list).done().error(77)["reason"], "TOKEN_MISSING");

    let token = text(fake.path("token"));
    let with_file = [&list[..], &["--token-file", &token]].concat();
    std::fs::write(&token, "wrong\n").unwrap();
    assert_eq!(
        fake.run("", &with_file).done().error(77)["reason"],
        "TOKEN_INVALID"
    );
    std::fs::write(&token, "right\n").unwrap();
    assert_eq!(fake.run("", &with_file).done().json()["page"]["total"], 2);
    assert_eq!(fake.run("", &list).env("COMPOZY_TOKEN", "right").done().exit, 0);

    // A certificate that nobody vouches for is no connection.
    let done = fake.run("", &["--server", &server, "workspace", "list"]).done();
    let error = done.error(69);
    assert!(
        error["message"].as_str().unwrap().contains("certificate"),
        "{error}"
    );
    assert!(error["hint"].as_str().unwrap().contains("--ca"), "{error}");

    // A port without TLS is none either.
    let plain = format!("https://{}", fake.listen(None));
    let error = fake
        .run("", &["--server", &plain, "workspace", "list"])
        .done()
        .error(69);
    assert!(error["hint"].as_str().unwrap().contains("http://"), "{error}");
}

#[test]
fn the_token_of_the_home_is_found() {
    let fake = Fake::with_two();
    *fake.state.token.lock().unwrap() = Some("local".to_owned());
    let server = format!("http://{}", fake.listen(None));
    let list = ["--server", &server, "workspace", "list"];
    assert_eq!(fake.run("", &list).done().error(77)["reason"], "TOKEN_MISSING");
    std::fs::write(fake.home().join("client.token"), "local").unwrap();
    assert_eq!(fake.run("", &list).done().json()["page"]["total"], 2);
}

/// Answers every request with 404 and a page, by HTTP/1 and HTTP/2.
fn web_server(fake: &Fake, only_http1: bool) -> String {
    fake.runtime().block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let answer = hyper::service::service_fn(|_| async {
                    let page = Full::new(Bytes::from_static(b"<html>not here</html>"));
                    let response = http::Response::builder()
                        .status(404)
                        .header("content-type", "text/html");
                    Ok::<_, Infallible>(response.body(page).unwrap())
                });
                let builder = auto::Builder::new(TokioExecutor::new());
                let builder = if only_http1 { builder.http1_only() } else { builder };
                tokio::spawn(
                    async move { drop(builder.serve_connection(TokioIo::new(stream), answer).await) },
                );
            }
        });
        format!("http://{address}")
    })
}

#[test]
fn c072_a_web_server_is_no_daemon() {
    let fake = Fake::start();
    for only_http1 in [false, true] {
        let server = web_server(&fake, only_http1);
        let done = fake
            .run_form("human", "", &["--server", &server, "workspace", "list"])
            .done();
        assert_eq!((done.exit, done.stdout.as_str()), (69, ""));
        assert_eq!(done.stderr.lines().count(), 2, "{}", done.stderr);
        let sentence = done.stderr.lines().next().unwrap();
        assert!(sentence.contains("compozy daemon"), "{sentence}");
        for dump in ["html", "h2", "grpc-status", "transport error", "http2"] {
            assert!(!sentence.contains(dump), "{sentence}");
        }
    }
}

#[test]
fn an_address_that_is_none_is_refused_before_any_request() {
    let fake = Fake::start();
    for server in ["", "localhost:1", "ftp://x"] {
        assert_eq!(
            fake.run("", &["--server", server, "workspace", "list"])
                .done()
                .error(64)["reason"],
            "USAGE"
        );
    }
    let done = fake
        .run("", &["workspace", "list"])
        .env("COMPOZY_SERVER", "nonsense")
        .done();
    assert_eq!(done.error(64)["reason"], "USAGE");
    assert_eq!(
        fake.run("", &["workspace", "list"])
            .env("COMPOZY_SERVER", " ")
            .done()
            .exit,
        0
    );
}
