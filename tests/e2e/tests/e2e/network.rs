//! Beyond the socket.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};

use compozy_e2e::{Daemon, Environment, Run, utf8};

/// A port that was free a moment ago.
fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}

#[test]
fn c142_a_port_beyond_this_machine_needs_tls() {
    let environment = Environment::new();
    let tokens = environment.home.join("tokens.toml");
    std::fs::write(&tokens, "").unwrap();
    for auth in [
        String::new(),
        format!("[auth]\ntokens_file = \"{}\"\n", utf8(&tokens)),
    ] {
        let port = free_port();
        environment.configure(&format!("[grpc]\nlisten = \"0.0.0.0:{port}\"\n{auth}"));
        let refused = Run::of(&environment, "compozyd", &[]).done();
        assert!(refused.exit > 0, "{refused:?}");
        assert!(refused.stderr.contains("grpc.tls"), "{}", refused.stderr);
        assert!(TcpStream::connect(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).is_err());
    }
    assert!(environment.running_daemons().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn c176_the_token_of_the_home_opens_its_port_and_no_other_home_s() {
    let environment = Environment::new();
    let port = free_port();
    environment.configure(&format!(
        "[grpc]\nlisten = \"127.0.0.1:{port}\"\n[workspaces]\nregister_home = false\n"
    ));
    let _daemon = Daemon::start(&environment).await;
    let server = format!("http://127.0.0.1:{port}");
    let list = ["workspace", "list", "--server", &server];
    assert_eq!(
        Run::compozy(&environment, &list).done().json()["page"]["total"],
        0
    );
    let stranger = Environment::new();
    let error = Run::compozy(&stranger, &list).done().error(77);
    assert_eq!(error["reason"], "TOKEN_MISSING");
    let other = Environment::new();
    let _other = Daemon::start(&other).await;
    let error = Run::compozy(&other, &list).done().error(77);
    assert_eq!(error["reason"], "TOKEN_INVALID");
}
