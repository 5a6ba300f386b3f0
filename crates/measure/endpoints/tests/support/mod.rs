//! A server on loopback for the length of a test, and iperf3 where it is installed.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::net::SocketAddr;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use endpoints::server::{ServerEvent, SessionError, SessionSummary};
use endpoints::{Server, ServerLimits};
use units::Address;

/// Longest wait for something that has to happen.
const TIMEOUT: Duration = Duration::from_secs(60);

pub struct Running {
    pub address: SocketAddr,
    events: Mutex<Receiver<ServerEvent>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    pub fn start() -> Self {
        Self::with(ServerLimits::default())
    }

    pub fn with(limits: ServerLimits) -> Self {
        Self::on(SocketAddr::new(testkit::loopback(), 0), limits)
    }

    /// For tests that need several addresses of loopback: IPv6 has one.
    pub fn with_v4(limits: ServerLimits) -> Self {
        Self::at("127.0.0.1:0", limits)
    }

    pub fn at(address: &str, limits: ServerLimits) -> Self {
        Self::on(address.parse().unwrap(), limits)
    }

    fn on(address: SocketAddr, limits: ServerLimits) -> Self {
        let server = Server::bind(address, limits).unwrap();
        let address = server.address();
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let (sender, events): (Sender<ServerEvent>, _) = channel();
        let sender = Mutex::new(sender);
        let tell = move |event| drop(sender.lock().unwrap().send(event));
        Running {
            address,
            events: Mutex::new(events),
            stop,
            thread: Some(thread::spawn(move || server.run(&told, &tell))),
        }
    }

    pub fn target(&self) -> Address {
        self.address.to_string().parse().unwrap()
    }

    pub fn next_event(&self) -> ServerEvent {
        let events = self.events.lock().unwrap();
        events.recv_timeout(TIMEOUT).expect("an event in time")
    }

    /// How the next session to end ended.
    pub fn next_end(&self) -> Result<SessionSummary, SessionError> {
        loop {
            if let ServerEvent::Ended { outcome, .. } = self.next_event() {
                return outcome;
            }
        }
    }

    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
        let thread = self.thread.take().unwrap();
        assert!(thread.join().is_ok(), "the server thread panicked");
    }
}

/// Starts an iperf3 client against `server`.
pub fn iperf3_client(server: SocketAddr, options: &[&str]) -> Child {
    Command::new("iperf3")
        .args(["-c", &server.ip().to_string()])
        .args(["-p", &server.port().to_string()])
        .args(options)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Its output once it has ended well.
pub fn finished(client: Child) -> String {
    let output = client.wait_with_output().unwrap();
    let text = both(&output);
    assert!(output.status.success(), "{text}");
    text
}

pub fn both(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

/// An iperf3 server for one test, on a port of its own.
pub struct Iperf3Server {
    pub target: Address,
    child: Child,
}

impl Iperf3Server {
    /// It ends after its one test.
    pub fn start() -> Self {
        Self::with(&["-1"])
    }

    /// It serves until it is dropped.
    pub fn lasting() -> Self {
        Self::with(&[])
    }

    /// Another program may take the port in the moment before iperf3 does.
    pub fn with(options: &[&str]) -> Self {
        std::iter::repeat_with(|| Self::on(free_port(), options))
            .flatten()
            .next()
            .unwrap()
    }

    fn on(port: u16, options: &[&str]) -> Option<Self> {
        let child = Command::new("iperf3")
            .args(["-s", "-p", &port.to_string()])
            .args(options)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut server = Iperf3Server {
            target: Address::new(testkit::loopback().to_string(), port),
            child,
        };
        // Asking by connecting would use up its one test, so the kernel's list is read.
        while !is_listening(port) {
            if server.child.try_wait().unwrap().is_some() {
                return None;
            }
            thread::sleep(Duration::from_millis(5));
        }
        Some(server)
    }
}

fn is_listening(port: u16) -> bool {
    let wanted = format!(":{port:04X} ");
    ["/proc/net/tcp", "/proc/net/tcp6"].iter().any(|list| {
        let sockets = std::fs::read_to_string(list).unwrap_or_default();
        let mut lines = sockets.lines();
        lines.any(|line| line.contains(&wanted) && line.contains(" 0A "))
    })
}

/// A port without a listener, below those that Linux gives out by itself: none of the many
/// connections of other tests can come to have it.
pub fn free_port() -> u16 {
    static TAKEN: AtomicU16 = AtomicU16::new(0);
    loop {
        let next = TAKEN.fetch_add(1, Ordering::Relaxed);
        let place = (std::process::id() % 1_000) * 12 + u32::from(next);
        let port = 20_000 + u16::try_from(place % 12_000).unwrap();
        if std::net::TcpListener::bind(("127.0.0.1", port)).is_ok() && !is_listening(port) {
            return port;
        }
    }
}

impl Iperf3Server {
    /// Ends it at once, in the middle of whatever it does.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Iperf3Server {
    fn drop(&mut self) {
        // It may have ended by itself after its test.
        self.kill();
    }
}
