//! Round trips of small probes, idle or during a run.
//!
//! Against a trunkline server that answers them the probes are echo datagrams; otherwise ICMP,
//! where this host permits it. Where neither works there is no series beside streams, and their own
//! smoothed round trip has to do; a path without streams is probed with beginnings of TCP
//! connections. Probes still on their way at the end are left out
//! ([`ProbeSeries::leave_out_unknown`]).
//!
//! Send and receive times are taken in the program: a busy host adds its scheduling delay.

pub(crate) mod icmp;
mod sized;
mod tcp;

use std::io;
use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use icmp::IcmpSocket;
use measure_protocol::EchoToken;
use measure_protocol::echo::{ECHO_LENGTH, Echo, EchoKind};
use observe::{Probe, ProbeMethod, ProbeSeries};
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use sockets::Clock;
use sockets::FarEnd;
use sockets::poll::{readable, wait};
use tcp::TcpConnects;
use units::{Span, Time};

pub use sized::sized_echoes;

const INTERVAL: Span = ProbeSeries::INTERVAL;
const TIMEOUT: Span = ProbeSeries::PATIENCE;
/// Probes that find out whether there are answers: one or two may be lost.
const TRIALS: usize = 3;
/// Most probes of one series: an hour and a half of them.
const PROBES_MAX: usize = 100_000;

/// Something that answers probes.
#[derive(Debug)]
pub enum ProbeSocket {
    /// A trunkline server's echo service.
    Udp {
        /// Connected to the service.
        socket: UdpSocket,
        /// Of the session that the service answers.
        token: EchoToken,
    },
    /// The far kernel.
    Icmp(IcmpSocket),
    /// The far kernel, too, by beginning connections.
    Tcp(TcpConnects),
}

impl ProbeSocket {
    /// Probes the echo service behind `server`.
    pub fn udp(server: &FarEnd, token: EchoToken) -> io::Result<Self> {
        let domain = Domain::for_address(server.address);
        let socket = Socket::new(domain, Type::DGRAM, Some(Protocol::UDP))?;
        server.prepare(&SockRef::from(&socket))?;
        let socket = UdpSocket::from(socket);
        socket.connect(server.address)?;
        socket.set_nonblocking(true)?;
        Ok(ProbeSocket::Udp { socket, token })
    }

    /// Probes the kernel of `host`; an error where this host does not permit ICMP.
    pub fn icmp(host: &FarEnd, token: EchoToken) -> io::Result<Self> {
        IcmpSocket::open(host, token).map(ProbeSocket::Icmp)
    }

    /// Probes the kernel of `host` at a port, with or without a listener.
    pub fn tcp(host: &FarEnd) -> Self {
        ProbeSocket::Tcp(TcpConnects::to(host.clone()))
    }

    fn method(&self) -> ProbeMethod {
        match self {
            ProbeSocket::Tcp(_) => ProbeMethod::TcpConnect,
            ProbeSocket::Udp { .. } => ProbeMethod::UdpEcho,
            ProbeSocket::Icmp(_) => ProbeMethod::IcmpEcho,
        }
    }

    fn send(&self, sequence: u64, at: Time) -> io::Result<()> {
        match self {
            ProbeSocket::Udp { socket, token } => {
                let echo = Echo::request(*token, sequence, at.as_nanos());
                socket.send(&echo.encode()).map(drop)
            }
            ProbeSocket::Icmp(socket) => socket.send(sequence),
            ProbeSocket::Tcp(connects) => connects.send(sequence),
        }
    }

    /// The sequence number of the next answer; `None` when none has arrived.
    fn receive(&self) -> Option<Option<u64>> {
        match self {
            ProbeSocket::Udp { socket, token } => {
                let mut buffer = [0; ECHO_LENGTH + 1];
                let length = socket.recv(&mut buffer).ok()?;
                let echo = Echo::decode(buffer.get(..length)?).ok();
                let ours = echo.filter(|e| e.kind == EchoKind::Reply && e.token == *token);
                Some(ours.map(|echo| echo.sequence))
            }
            ProbeSocket::Icmp(socket) => socket.receive(),
            ProbeSocket::Tcp(connects) => connects.receive(),
        }
    }

    fn wait(&self, limit: Duration) {
        let descriptor = match self {
            ProbeSocket::Udp { socket, .. } => socket.as_fd(),
            ProbeSocket::Icmp(socket) => socket.as_fd(),
            ProbeSocket::Tcp(connects) => return connects.wait(limit),
        };
        // A failed wait is a short one: the loop looks at the clock again.
        let _ = wait(&mut [readable(descriptor)], limit);
    }
}

/// Whether an answer comes within the timeout; normally known after one round trip.
pub fn is_answered(socket: &ProbeSocket) -> bool {
    let clock = Clock::start();
    let probe = Probe {
        sent: clock.now(),
        rtt: None,
    };
    let mut trials = Collected {
        probes: vec![probe; TRIALS],
        duplicated: 0,
    };
    for (probe, sequence) in trials.probes.iter().zip(0..) {
        // One that cannot be sent is not answered either.
        let _ = socket.send(sequence, probe.sent);
    }
    let end = clock.now() + TIMEOUT;
    let is_answered = |probe: &Probe| probe.rtt.is_some();
    while clock.now() < end && !trials.probes.iter().any(is_answered) {
        socket.wait(clock.until(end));
        trials.take(socket, clock);
    }
    trials.probes.iter().any(is_answered)
}

/// Sends probes at equal distances and collects the answers.
///
/// * `is_over` is asked before each probe with the time that has passed.
/// * `latest` shows meanwhile how the last one went.
pub fn series(
    socket: &ProbeSocket,
    latest: &LatestTrip,
    is_over: impl Fn(Span) -> bool,
) -> ProbeSeries {
    let clock = Clock::start();
    let mut collected = Collected::default();
    let mut next = Time::ZERO;
    let elapsed = || clock.now().since(Time::ZERO);
    while !is_over(elapsed()) && collected.probes.len() < PROBES_MAX {
        if clock.now() >= next {
            let sent = clock.now();
            // A probe that cannot be sent is a lost one.
            let _ = socket.send(collected.probes.len() as u64, sent);
            collected.probes.push(Probe { sent, rtt: None });
            next = (next + INTERVAL).max(sent);
        }
        socket.wait(clock.until(next));
        latest.put(collected.take(socket, clock));
    }
    await_stragglers(socket, &mut collected, clock);
    let mut series = ProbeSeries {
        method: socket.method(),
        duplicated: collected.duplicated,
        probes: collected.probes,
    };
    series.leave_out_unknown(clock.now());
    series
}

/// Probes and what came of them so far.
#[derive(Default)]
struct Collected {
    probes: Vec<Probe>,
    duplicated: u32,
}

impl Collected {
    /// Takes the answers that have come; the round trip of the last one.
    fn take(&mut self, socket: &ProbeSocket, clock: Clock) -> Option<Span> {
        let mut last = None;
        while let Some(answer) = socket.receive() {
            let index = answer.and_then(|sequence| usize::try_from(sequence).ok());
            let Some(probe) = index.and_then(|index| self.probes.get_mut(index)) else {
                continue;
            };
            self.duplicated += u32::from(probe.rtt.is_some());
            last = Some(*probe.rtt.get_or_insert(clock.now().since(probe.sent)));
        }
        last
    }
}

/// Waits for the last answers, but no longer than thrice the longest round trip seen: where half of
/// the probes are lost anyway, the rest is not worth a second.
fn await_stragglers(socket: &ProbeSocket, collected: &mut Collected, clock: Clock) {
    let timeout =
        longest(&collected.probes).map_or(TIMEOUT, |rtt| rtt.times(3).min(TIMEOUT.max(rtt)));
    let end = clock.now() + timeout;
    let recent = |probe: &Probe| probe.rtt.is_none() && clock.now().since(probe.sent) < timeout;
    while clock.now() < end && collected.probes.iter().any(recent) {
        socket.wait(clock.until(end));
        collected.take(socket, clock);
    }
}

fn longest(probes: &[Probe]) -> Option<Span> {
    probes.iter().filter_map(|probe| probe.rtt).max()
}

/// The round trip of the last probe that was answered, for those who look on.
#[derive(Debug)]
pub struct LatestTrip(AtomicU64);

impl LatestTrip {
    /// Stands for no answer so far: 585 years.
    const NONE: u64 = u64::MAX;

    fn put(&self, rtt: Option<Span>) {
        if let Some(rtt) = rtt {
            self.0.store(rtt.as_nanos(), Ordering::Relaxed);
        }
    }

    fn get(&self) -> Option<Span> {
        let nanos = Some(self.0.load(Ordering::Relaxed));
        nanos
            .filter(|nanos| *nanos != Self::NONE)
            .map(Span::from_nanos)
    }
}

impl Default for LatestTrip {
    fn default() -> Self {
        LatestTrip(AtomicU64::new(Self::NONE))
    }
}

/// A series of probes during a run, on a thread of its own.
#[derive(Debug)]
pub struct LoadedProbes {
    stop: Arc<AtomicBool>,
    latest: Arc<LatestTrip>,
    thread: Option<JoinHandle<ProbeSeries>>,
}

impl LoadedProbes {
    /// Starts the thread.
    ///
    /// # Errors
    /// When this host has no thread left.
    pub fn start(socket: ProbeSocket) -> io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let latest = Arc::new(LatestTrip::default());
        let shown = Arc::clone(&latest);
        let builder = thread::Builder::new().name("probes".to_owned());
        let run = move || series(&socket, &shown, |_| told.load(Ordering::Relaxed));
        let thread = builder.spawn(run)?;
        Ok(LoadedProbes {
            stop,
            latest,
            thread: Some(thread),
        })
    }

    /// The round trip of the last probe that was answered.
    pub fn latest(&self) -> Option<Span> {
        self.latest.get()
    }

    /// No more probes are sent; the answers on the way are still awaited.
    pub fn halt(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// The series, once the last answers are in.
    pub fn finish(mut self) -> Option<ProbeSeries> {
        self.halt();
        self.thread.take()?.join().ok()
    }
}

impl Drop for LoadedProbes {
    fn drop(&mut self) {
        self.halt();
    }
}

#[cfg(test)]
mod tests;
