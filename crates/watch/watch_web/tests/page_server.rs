//! A page of its own over loopback: what it says, what it may load, and that it follows changes.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use draw::page::{Block, Page};
use watch_web::PageServer;

/// A page that says a number, and one that cannot be made.
fn start(number: &Arc<AtomicU64>) -> PageServer {
    let number = Arc::clone(number);
    let make = move || match number.load(Ordering::Relaxed) {
        0 => Err("the folder cannot be read; mount it".to_owned()),
        number => {
            let blocks = vec![Block::Sentences(vec![format!(
                "<b>{number}</b> shards are done."
            )])];
            Ok(Page::new("campaign-status", "A campaign", blocks))
        }
    };
    PageServer::start("127.0.0.1:0".parse().unwrap(), Arc::new(make)).unwrap()
}

fn ask(address: SocketAddr, path: &str) -> TcpStream {
    let mut connection = TcpStream::connect(address).unwrap();
    connection
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    write!(
        connection,
        "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    connection
}

fn answer(address: SocketAddr, path: &str) -> String {
    let mut text = String::new();
    ask(address, path).read_to_string(&mut text).unwrap();
    text
}

#[test]
fn the_page_is_as_it_is_now_and_loads_nothing_from_elsewhere() {
    let number = Arc::new(AtomicU64::new(7));
    let server = start(&number);
    let page = answer(server.address(), "/");
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    assert!(page.contains("&lt;b&gt;7&lt;/b&gt; shards"), "{page}");
    assert!(page.contains("default-src 'none'"), "{page}");
    assert!(
        page.contains("<noscript><meta http-equiv=\"refresh\""),
        "{page}"
    );
    assert!(!page.contains("://"), "{page}");
    number.store(8, Ordering::Relaxed);
    assert!(answer(server.address(), "/").contains("8&lt;/b&gt;"));
    for file in ["/style.css", "/script.js", "/icon.svg"] {
        assert!(
            answer(server.address(), file).starts_with("HTTP/1.1 200"),
            "{file}"
        );
    }
    assert!(answer(server.address(), "/etc").starts_with("HTTP/1.1 404"));
}

#[test]
fn what_cannot_be_made_is_told_with_the_next_step() {
    let server = start(&Arc::new(AtomicU64::new(0)));
    let page = answer(server.address(), "/");
    assert!(page.starts_with("HTTP/1.1 503"), "{page}");
    assert!(page.contains("mount it"), "{page}");
}

#[test]
fn open_pages_hear_of_changes_and_of_nothing_else() {
    let number = Arc::new(AtomicU64::new(1));
    let server = start(&number);
    let mut news = ask(server.address(), "/live");
    let heard = Arc::new(Mutex::new(String::new()));
    let (into, mut buffer) = (Arc::clone(&heard), [0; 1024]);
    let reading = std::thread::spawn(move || {
        while let Ok(got) = news.read(&mut buffer) {
            let text = String::from_utf8_lossy(&buffer[..got]).into_owned();
            into.lock().unwrap().push_str(&text);
            if got == 0 {
                return;
            }
        }
    });
    let counted = || heard.lock().unwrap().matches("event: changed").count();
    let until = |count: usize| {
        for _ in 0..600 {
            if counted() >= count {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("{}", heard.lock().unwrap());
    };
    // The first look is news, since nothing was seen before it.
    until(1);
    std::thread::sleep(Duration::from_secs(5));
    assert_eq!(counted(), 1);
    number.store(2, Ordering::Relaxed);
    until(2);
    drop(server);
    reading.join().unwrap();
}
