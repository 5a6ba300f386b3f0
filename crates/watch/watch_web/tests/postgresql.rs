//! The same pages from PostgreSQL, whose client brings a runtime of its own.

mod common;
#[path = "../../watch_store/tests/common/server.rs"]
#[allow(dead_code, reason = "its own tests use other parts")]
mod server;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use common::{Mesh, Still};
use watch_store::Store;
use watch_web::{WebOptions, WebServer};

const DAYS: u64 = 2;

#[test]
fn pages_come_from_postgresql() {
    let Some(postgresql) = server::Server::start() else {
        return;
    };
    let database = postgresql.database("watch");
    Mesh::new(5, DAYS).fill(&mut Store::open(&database).unwrap());
    let options = WebOptions {
        listen: "127.0.0.1:0".parse().unwrap(),
        database,
        token: None,
    };
    let pages = WebServer::start(options, Arc::new(Still::new(DAYS))).unwrap();
    let get = |path: &str| {
        let mut stream = TcpStream::connect(pages.address()).unwrap();
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let paths = [
        "/",
        "/pair/slac/cern?task=goodput",
        "/months",
        "/traffic",
        "/hosts",
        "/stream.ndjson",
    ];
    for path in paths {
        let answer = get(path);
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
    }
    assert!(get("/").contains("slac"));
    postgresql.down();
    let answer = get("/");
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    assert!(answer.contains("tart the server"), "{answer}");
    postgresql.up();
    assert!(get("/").starts_with("HTTP/1.1 200"));
}
