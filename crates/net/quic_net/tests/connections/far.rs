//! A server, and what goes over its streams.

use std::io::{Read, Write};
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use quic_net::{Arrival, Server, ServerLimits, Stream, connect};
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::version::TLS13;
use rustls::{ClientConfig, RootCertStore, ServerConfig};

const FIRST: usize = 4;
pub const LIMITS: ServerLimits = ServerLimits {
    waiting: 8,
    unvalidated: 4,
    timeout: Duration::from_secs(5),
};

/// A server on a thread, until it is dropped.
pub struct Far {
    pub address: SocketAddr,
    certificate: CertificateDer<'static>,
    pub arrivals: Receiver<Arrival>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Far {
    pub fn start(limits: ServerLimits) -> Self {
        let made = rcgen::generate_simple_self_signed(vec!["trunkline".to_owned()]).unwrap();
        let certificate = made.cert.der().clone();
        let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
        let tls = ServerConfig::builder_with_provider(ring::default_provider().into())
            .with_protocol_versions(&[&TLS13])
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.clone()], key)
            .unwrap();
        let socket = UdpSocket::bind((testkit::loopback(), 0)).unwrap();
        let address = socket.local_addr().unwrap();
        let server = Server::new(socket, tls, limits).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let is_stopped = Arc::clone(&stop);
        let (sender, arrivals) = channel();
        let thread = thread::spawn(move || {
            let mut arrived = |arrival| drop(sender.send(arrival));
            let others = |datagram: &[u8], _| datagram.starts_with(b"other");
            let is_stopped = || is_stopped.load(Ordering::Relaxed);
            server.run(&|_| FIRST, &mut arrived, &others, &is_stopped);
        });
        Far {
            address,
            certificate,
            arrivals,
            stop,
            thread: Some(thread),
        }
    }

    pub fn tls(&self) -> ClientConfig {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.clone()).unwrap();
        ClientConfig::builder_with_provider(ring::default_provider().into())
            .with_protocol_versions(&[&TLS13])
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth()
    }

    pub fn connect(&self) -> Stream {
        connect(self.address, self.tls(), soon(), &|| false).unwrap()
    }

    /// Both ends of a stream, behind its first bytes.
    pub fn pair(&self) -> (Stream, Stream) {
        self.pair_over(self.address)
    }

    /// The same over whatever leads from that address to the server.
    pub fn pair_over(&self, address: SocketAddr) -> (Stream, Stream) {
        let mut near = connect(address, self.tls(), soon(), &|| false).unwrap();
        near.write_all(b"abcd").unwrap();
        let arrival = self.arrivals.recv_timeout(Duration::from_secs(20)).unwrap();
        assert_eq!(arrival.first, b"abcd");
        arrival.stream.trust(quic_net::WINDOW_MOST);
        (near, arrival.stream)
    }
}

impl Drop for Far {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let thread = self.thread.take().unwrap();
        if !thread::panicking() {
            thread.join().unwrap();
        }
    }
}

pub fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

/// Every byte depends on its place.
pub fn content(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at % 251) as u8).collect()
}

pub fn carry(mut from: Stream, mut to: Stream, length: usize) -> (Stream, Stream) {
    let sender = thread::spawn(move || {
        from.write_all(&content(length)).unwrap();
        from.finish().unwrap();
        from
    });
    let mut read = Vec::new();
    to.read_to_end(&mut read).unwrap();
    assert!(read == content(length));
    (sender.join().unwrap(), to)
}
