//! Streams that a proxy changes or breaks.

use super::*;

/// Passes connections on to a server and lets a test meddle with what goes there.
pub(super) struct Proxy {
    pub(super) port: u16,
}

/// What is done with bytes on their way there: number of the connection, bytes before them, the
/// bytes. `false` cuts the connection.
type Meddle = dyn Fn(usize, usize, &mut [u8]) -> bool + Send + Sync;

impl Proxy {
    pub(super) fn start(to: u16, meddle: Arc<Meddle>) -> Self {
        let listener = std::net::TcpListener::bind((testkit::loopback(), 0)).unwrap();
        let at = listener.local_addr().unwrap();
        thread::spawn(move || {
            for (number, near) in listener.incoming().enumerate() {
                let near = near.unwrap();
                let Ok(far) = std::net::TcpStream::connect((at.ip(), to)) else {
                    return;
                };
                let (back, forth) = (near.try_clone().unwrap(), far.try_clone().unwrap());
                let meddle = Arc::clone(&meddle);
                thread::spawn(move || pass(near, forth, &|at, bytes| meddle(number, at, bytes)));
                thread::spawn(move || pass(far, back, &|_, _| true));
            }
        });
        Proxy { port: at.port() }
    }
}

fn pass(
    mut from: std::net::TcpStream,
    mut to: std::net::TcpStream,
    meddle: &dyn Fn(usize, &mut [u8]) -> bool,
) {
    use std::io::{Read, Write};
    let mut buffer = vec![0; 64 << 10];
    let mut at = 0;
    while let Ok(got @ 1..) = from.read(&mut buffer) {
        if !meddle(at, &mut buffer[..got]) {
            let _ = from.shutdown(std::net::Shutdown::Both);
            break;
        }
        at += got;
        if to.write_all(&buffer[..got]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(std::net::Shutdown::Write);
}

/// Copies 20 MB over three plain streams through a proxy.
fn copied_through(meddle: Arc<Meddle>) -> Outcome {
    copied_over(3, true, meddle)
}

fn copied_over(streams: u64, plain: bool, meddle: Arc<Meddle>) -> Outcome {
    let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let bytes = noise(20_000_001);
    let source = near.path().join("a");
    fs::write(&source, &bytes).unwrap();
    let server = Server::start(far.path());
    let proxy = Proxy::start(server.port, meddle);
    let mut spec = spec(CopyDirection::Put, &source, &server, "b");
    spec.options.plain = plain;
    spec.options.streams = Some(observe::StreamCount::new(streams).unwrap());
    let FarHost::Server { address, .. } = &mut spec.far.host else {
        unreachable!()
    };
    address.port = proxy.port;
    let outcome = copy(&spec, &CopyControl::default(), &mut Log(Vec::new())).unwrap();
    assert!(fs::read(far.path().join("b")).unwrap() == bytes);
    assert_eq!((outcome.files, outcome.failed.len()), (1, 0));
    outcome
}

/// A byte of the stream that comes to it first: which of them carries much is chance.
pub(super) struct Hit {
    place: usize,
    was: AtomicBool,
}

impl Hit {
    pub(super) fn at(place: usize) -> Self {
        let was = AtomicBool::new(false);
        Hit { place, was }
    }

    /// Where it is within bytes. Connection 0 is the conversation; streams follow.
    pub(super) fn within(&self, number: usize, at: usize, length: usize) -> Option<usize> {
        let is_within = number > 0 && (at..at + length).contains(&self.place);
        (is_within && !self.was.swap(true, Ordering::Relaxed)).then(|| self.place - at)
    }
}

#[test]
fn flipped_bits_of_a_piece_are_noticed_and_sent_again() {
    // Behind greeting and header: within the bytes of the first piece.
    let hit = Hit::at(5_000);
    let outcome = copied_through(Arc::new(move |number, at, bytes: &mut [u8]| {
        if let Some(place) = hit.within(number, at, bytes.len()) {
            bytes[place] ^= 0x10;
        }
        true
    }));
    assert!(outcome.sent_again.get() > 0, "{outcome:?}");
}

#[test]
fn flipped_bits_of_a_header_put_nothing_into_the_wrong_place() {
    // Greeting of 48 bytes, magic and file of the header, and then its offset.
    let hit = Hit::at(48 + 13);
    let outcome = copied_through(Arc::new(move |number, at, bytes: &mut [u8]| {
        if let Some(place) = hit.within(number, at, bytes.len()) {
            bytes[place] ^= 0x08;
        }
        true
    }));
    assert!(
        outcome.sent_again.get() > 0 || outcome.streams_replaced > 0,
        "{outcome:?}"
    );
}

#[test]
fn the_only_stream_is_replaced_when_the_receiver_can_read_it_no_more() {
    let outcome = copied_over(
        1,
        false,
        Arc::new(|number, at, bytes: &mut [u8]| {
            if number == 1 && (at..at + bytes.len()).contains(&7_000_000) {
                bytes[7_000_000 - at] ^= 0x01;
            }
            true
        }),
    );
    assert!(outcome.sent_again.get() > 0, "{outcome:?}");
    assert_eq!(outcome.reconnects, 0, "without opening the copy anew");
}

#[test]
fn what_a_broken_stream_owed_is_sent_by_others() {
    let hit = Hit::at(300_000);
    let outcome = copied_through(Arc::new(move |number, at, bytes: &mut [u8]| {
        hit.within(number, at, bytes.len()).is_none()
    }));
    assert!(outcome.streams_replaced > 0, "{outcome:?}");
    assert_eq!(outcome.reconnects, 0);
}
