//! Webhooks over TLS: what the system trusts is trusted, and nothing else.

mod common;

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;
use std::sync::Arc;
use std::{env, fs, thread};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use changes::UnixTime;
use common::{alerting, answer, send_due, with_one_event};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

const NOW: UnixTime = UnixTime::from_seconds(1_795_546_800);
const PORT: &str = "TRUNKLINE_TEST_PORT";

/// A server of HTTPS for one request; gives its port and its certificate as PEM.
fn server() -> (u16, String) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let certificate = made.cert.der().clone();
    let pem = format!(
        "-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n",
        BASE64_STANDARD.encode(&certificate)
    );
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let connection = ServerConnection::new(Arc::new(config)).unwrap();
        let mut stream = StreamOwned::new(connection, stream);
        let mut request = vec![0; 65_536];
        // A client that refuses the certificate sends no request.
        if stream.read(&mut request).is_ok() {
            let _ = stream.write_all(answer("200 OK", "").as_bytes());
        }
    });
    (port, pem)
}

fn post(port: u16) -> Vec<String> {
    let alerting = alerting(&format!(
        "[[webhook]]\nurl = \"https://localhost:{port}/hook\"\n"
    ));
    send_due(&mut with_one_event(&alerting, NOW), &alerting, NOW)
}

#[test]
fn a_certificate_that_the_system_does_not_trust_is_refused() {
    let (port, _) = server();
    let errors = post(port);
    let start = format!("https://localhost:{port} does not answer: ");
    assert!(
        errors[0].starts_with(&start) && errors[0].contains("certificate"),
        "{errors:?}"
    );
}

#[test]
fn a_certificate_that_the_system_trusts_is_accepted() {
    let (port, pem) = server();
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), pem).unwrap();
    // Trust is read once by a program, so this takes one of its own.
    let output = Command::new(env::current_exe().unwrap())
        .args(["--exact", "posts_where_the_environment_says", "--nocapture"])
        .env("SSL_CERT_FILE", file.path())
        .env(PORT, port.to_string())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("posted"), "{said}");
}

/// Does something in the program that the test above starts, and there alone.
#[test]
fn posts_where_the_environment_says() {
    let Some(port) = env::var(PORT).ok().and_then(|port| port.parse().ok()) else {
        return;
    };
    assert_eq!(post(port), Vec::<String>::new());
    println!("posted");
}
