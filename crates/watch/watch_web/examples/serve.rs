//! Fills a new database with a drawn month and serves its pages: `serve FILE ADDRESS DAYS`.

#[path = "../tests/common/mod.rs"]
mod common;

use std::sync::Arc;
use std::time::Instant;

use watch_store::{DatabaseName, Store};
use watch_web::{WebOptions, WebServer};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, listen, days] = arguments.as_slice() else {
        panic!("usage: serve FILE ADDRESS DAYS");
    };
    let days = days.parse().unwrap();
    let database: DatabaseName = file.parse().unwrap();
    let is_new = !std::path::Path::new(file).exists();
    let mut store = Store::open(&database).unwrap();
    if is_new {
        let begin = Instant::now();
        let (visits, events) = common::Mesh::new(1124, days).fill(&mut store);
        println!("{visits} visits, {events} events in {:?}", begin.elapsed());
    }
    let options = WebOptions {
        listen: listen.parse().unwrap(),
        database,
        token: Some("secret".to_owned()),
    };
    let server = WebServer::start(options, Arc::new(common::Still::new(days))).unwrap();
    println!("http://{}/", server.address());
    loop {
        std::thread::park();
    }
}
