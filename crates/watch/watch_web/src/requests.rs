//! What a request must be before a page sees it: meant for this server, and whole.

use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::time;

/// Longest time for the body of a request.
const BODY_TIME: Duration = Duration::from_secs(10);
/// Longest body of a request, in bytes.
const BODY: usize = 16 * 1024;

/// Names under which a server answers; `None` where it is reached from other hosts under any.
///
/// A server on the loopback device is reached by browsers of this host alone. A web site whose name
/// is pointed at 127.0.0.1 would otherwise read its pages through them (DNS rebinding).
#[derive(Debug, Clone)]
pub(crate) struct OwnNames(Option<String>);

impl OwnNames {
    pub(crate) fn of(listen: SocketAddr) -> Self {
        let machine = || fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        OwnNames(
            listen
                .ip()
                .is_loopback()
                .then(|| machine().trim().to_ascii_lowercase()),
        )
    }

    fn has(&self, host: &str) -> bool {
        let Some(machine) = &self.0 else {
            return true;
        };
        let host = without_port(host).to_ascii_lowercase();
        let is_address = host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
        is_address || host == "localhost" || host.ends_with(".localhost") || host == *machine
    }
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

/// Refuses requests under a foreign name, and such whose body does not come.
pub(crate) async fn check(State(names): State<OwnNames>, request: Request, next: Next) -> Response {
    tracing::debug!(method = %request.method(), path = request.uri().path(), "request");
    let host = request.headers().get(header::HOST);
    let host = host.map_or("", |host| host.to_str().unwrap_or("?"));
    if !host.is_empty() && !names.has(host) {
        let what = "this server listens on the loopback device and answers to addresses, \
                    `localhost` and the name of this machine\n\
                    hint: have the proxy in front of it send `Host: 127.0.0.1`\n";
        return (StatusCode::MISDIRECTED_REQUEST, what).into_response();
    }
    let (head, body) = request.into_parts();
    match time::timeout(BODY_TIME, to_bytes(body, BODY)).await {
        Ok(Ok(body)) => next.run(Request::from_parts(head, Body::from(body))).await,
        Ok(Err(_)) => {
            let what = format!("the body of the request is larger than {BODY} bytes\n");
            (StatusCode::PAYLOAD_TOO_LARGE, what).into_response()
        }
        Err(_) => {
            let what = format!("the body did not come within {} s\n", BODY_TIME.as_secs());
            (StatusCode::REQUEST_TIMEOUT, what).into_response()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_of_this_host_alone_knows_its_names_and_no_other() {
        let local = OwnNames(Some("vm".to_owned()));
        for host in [
            "127.0.0.1:8080",
            "[::1]:80",
            "[::1]",
            "localhost",
            "LOCALHOST:9",
            "a.localhost",
            "vm:1",
        ] {
            assert!(local.has(host), "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:80",
            "127.0.0.1.evil.example",
            "?",
        ] {
            assert!(!local.has(host), "{host}");
        }
        let everywhere = OwnNames::of("0.0.0.0:80".parse().unwrap());
        assert!(everywhere.has("watch.example.org"));
    }
}
