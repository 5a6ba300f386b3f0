//! A server on loopback for the length of a test, and iperf3 where it is installed.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::net::SocketAddr;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use net::server::{ServerEvent, SessionError, SessionSummary};
use net::{Address, Server, ServerLimits};

/// Longest wait for something that has to happen.
const PATIENCE: Duration = Duration::from_secs(60);

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
        let server = Server::bind("127.0.0.1:0".parse().unwrap(), limits).unwrap();
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
        events.recv_timeout(PATIENCE).expect("an event in time")
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
        .args(["-c", "127.0.0.1", "-p", &server.port().to_string()])
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

    fn with(options: &[&str]) -> Self {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let child = Command::new("iperf3")
            .args(["-s", "-p", &port.to_string()])
            .args(options)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        // Asking by connecting would use up its one test, so the kernel's list is read.
        let wanted = format!(":{port:04X} ");
        let is_listening = || {
            ["/proc/net/tcp", "/proc/net/tcp6"].iter().any(|list| {
                let sockets = std::fs::read_to_string(list).unwrap_or_default();
                let mut lines = sockets.lines();
                lines.any(|line| line.contains(&wanted) && line.contains(" 0A "))
            })
        };
        while !is_listening() {
            thread::sleep(Duration::from_millis(5));
        }
        Iperf3Server {
            target: format!("127.0.0.1:{port}").parse().unwrap(),
            child,
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
