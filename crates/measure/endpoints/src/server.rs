//! The far end: serves many clients at once on one port, iperf3's included.
//!
//! One thread accepts connections and reads the cookie each begins with: an unknown cookie opens a
//! session on a thread of its own, a known one is handed to its session as a stream. Another thread
//! takes streams over UDP and answers echo datagrams on the same port number, for running tests
//! only. A session may also send
//! and stamp trains of datagrams in place of a test, between this host and its client alone. What a
//! client says is bounded in length, count and time, and whatever goes wrong in one session, a
//! panic of our own included, ends that session alone.
//!
//! All sockets belong to the calling thread or to threads it starts, so a server that is bound and
//! run by a thread inside a network namespace lives there entirely.
//!
//! A connection that begins with TLS or with the greeting of a stream belongs to a copy, where this
//! server takes copies ([`copy_net`]), and goes to the acceptor of copies. Streams that come over
//! UDP, of tests and of copies, share the port of the echoes; their acceptor reads it, and passes
//! echoes on.
//!
//! Streams of datagrams (`iperf3 -u`) share that port, too: a socket connected to the client's gets
//! what comes from there.
//!
//! A server may have users, as iperf3 has them: who is none gets no test and no trains.
//!
//! Left out: SCTP, and a reply address for echoes chosen by the request's
//! destination; a host with several addresses answers echoes from the one its routes pick.
//!
//! Reading order: [`ServerLimits`], [`Server`], `event`, then `arrivals`, `acceptor`, `session`,
//! `agreed`, `flow`, `report`; `greeters`, `datagrams` and `udp_streams` for what comes over UDP;
//! `probe_demux` with `probing` for trains, `users` for who is let in.

mod acceptor;
mod agreed;
mod arrivals;
mod datagrams;
mod echo;
mod enforce;
mod event;
mod flow;
mod greeters;
mod probe_demux;
mod probing;
mod report;
mod session;
mod trace_back;
mod udp_memory;
mod udp_streams;
mod users;

use errors::{Fault, Hint};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use measure_protocol::trains::{Bounds, ProbingWaits};
use measure_protocol::{Cookie, EchoToken, ServerWaits, TestBounds};
use sockets::{BufferLimit, ListenAt};
use thiserror::Error;
use units::Span;

use arrivals::ArrivalSender;
use copy_net::{AcceptLimits, Acceptor, CopyHandler, Handover, Identity, Source, UdpAcceptor};
use greeters::Greeters;
use probe_demux::ProbeDemux;
use udp_memory::UdpMemory;

pub use event::{Refusal, ServerEvent, SessionError, SessionSummary};
pub use users::{Accounts, AccountsError, NotLetIn};

/// What a server allows its clients.
#[derive(Debug, Clone)]
pub struct ServerLimits {
    /// Copies alone are served: no tests, no trains, no echoes.
    pub files_only: bool,
    /// Tests at the same time; one more is told that the server is busy.
    pub sessions: usize,
    /// Those of them that may come from one address.
    pub sessions_per_address: usize,
    /// What one test may ask for.
    pub tests: TestBounds,
    /// Streams at the same time over all tests.
    pub streams: usize,
    /// Connections that have not sent their cookie yet; one more drops the oldest of the address
    /// that has most of them.
    pub unidentified: usize,
    /// How long a connection may take to send its cookie.
    pub identify: Span,
    /// How long a running test may move no data.
    pub idle: Span,
    /// How long each step of the conversation may take.
    pub waits: ServerWaits,
    /// Whether windows may pass the host's bounds.
    pub buffers: BufferLimit,
    /// What a session may ask for that sends trains in place of a test.
    pub probing: ProbingLimits,
    /// Who may test and send trains; `None` lets all in.
    pub accounts: Option<Arc<Accounts>>,
}

/// What a server allows those who probe, each for itself; together they count as tests.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProbingLimits {
    /// Bounds on their trains.
    pub bounds: Bounds,
    /// How long each step may take.
    pub waits: ProbingWaits,
}

impl Default for ServerLimits {
    /// 64 tests with 1024 streams are more than a host can carry at speed; as many may open at
    /// once. A client of ours that lets streams join a run has fewer than 16 tests at once. The
    /// waits are iperf3's.
    fn default() -> Self {
        ServerLimits {
            files_only: false,
            sessions: 64,
            sessions_per_address: 16,
            tests: TestBounds::default(),
            streams: 1_024,
            unidentified: 1_024,
            identify: Span::from_secs(10),
            idle: Span::from_secs(120),
            waits: ServerWaits::default(),
            buffers: BufferLimit::Host,
            probing: ProbingLimits::default(),
            accounts: None,
        }
    }
}

/// Why a server could not be set up.
#[derive(Debug, Error)]
pub enum BindError {
    /// The address cannot be listened on.
    #[error("cannot listen on TCP {at}")]
    Tcp {
        /// Where.
        at: ListenAt,
        /// The system's reason.
        source: io::Error,
    },
    /// The same port number is not free for datagrams.
    #[error("cannot receive echo requests on UDP {at}")]
    Udp {
        /// Where.
        at: ListenAt,
        /// The system's reason.
        source: io::Error,
    },
}

impl Hint for BindError {
    fn fault(&self) -> Fault {
        Fault::Run
    }

    fn hint(&self) -> Option<String> {
        let (BindError::Tcp { source, .. } | BindError::Udp { source, .. }) = self;
        let hint = match source.kind() {
            io::ErrorKind::AddrInUse => {
                Some("another server uses this port: stop it or choose another with `--port`")
            }
            io::ErrorKind::PermissionDenied => {
                Some("ports below 1024 are for root: choose a higher one with `--port`")
            }
            io::ErrorKind::AddrNotAvailable => {
                Some("this host does not have that address: leave `--bind` out to use all")
            }
            // A device that is not there has no kind of its own.
            _ if source.raw_os_error() == Some(libc::ENODEV) => {
                Some("this host has no such device: `ip address` shows those that it has")
            }
            _ => None,
        };
        hint.map(str::to_owned)
    }
}

/// A free number of TCP may be in use for datagrams: so many are tried.
const FREE_PORTS_TRIED: u32 = 16;

/// Both sockets of a place and their address.
fn both(at: &ListenAt) -> Result<(TcpListener, UdpSocket, SocketAddr), BindError> {
    let mut tries = match at.port {
        0 => FREE_PORTS_TRIED,
        _ => 1,
    };
    loop {
        tries -= 1;
        let tcp = |source| BindError::Tcp {
            at: at.clone(),
            source,
        };
        let listener = at.tcp().map_err(tcp)?;
        let bound = listener.local_addr().map_err(tcp)?;
        let here = at.clone().at_port(bound.port());
        match here.udp() {
            Ok(datagrams) => return Ok((listener, datagrams, bound)),
            Err(error) if tries > 0 && error.kind() == io::ErrorKind::AddrInUse => {}
            Err(source) => return Err(BindError::Udp { at: here, source }),
        }
    }
}

/// A bound server.
pub struct Server {
    listener: TcpListener,
    /// For echoes and trains.
    datagrams: UdpSocket,
    /// For streams and control connections, on the same socket.
    udp: UdpAcceptor,
    /// Control connections that came there.
    over_udp: Source,
    identity: Identity,
    address: SocketAddr,
    limits: ServerLimits,
    copies: Option<(Handover, Acceptor)>,
    numbers: Arc<AtomicU64>,
}

impl Server {
    /// Listens `at` a place over TCP and UDP.
    ///
    /// # Errors
    /// When the address or one of the two ports is not free.
    pub fn bind(at: impl Into<ListenAt>, limits: ServerLimits) -> Result<Self, BindError> {
        let at = at.into();
        let (listener, datagrams, address) = both(&at)?;
        let udp = |source| BindError::Udp {
            at: at.clone(),
            source,
        };
        let identity = Identity::generate().map_err(udp)?;
        let shared_port = datagrams.try_clone().map_err(udp)?;
        let acceptor = UdpAcceptor::new(shared_port, &identity, &AcceptLimits::default());
        let (control, over_udp) = Handover::new().map_err(udp)?;
        Ok(Server {
            listener,
            udp: acceptor.map_err(udp)?.with_control(control),
            over_udp,
            datagrams,
            identity,
            address,
            limits,
            copies: None,
            numbers: Arc::default(),
        })
    }

    /// Takes copies on the same port, with streams over TCP and over UDP. Their connections begin
    /// with another byte than tests do.
    ///
    /// # Errors
    /// When this process has no descriptor left.
    pub fn with_copies(
        mut self,
        limits: AcceptLimits,
        handler: Arc<dyn CopyHandler>,
    ) -> io::Result<Self> {
        let (handover, acceptor) = Acceptor::behind(self.identity.clone(), limits, handler)?;
        self.udp = self.udp.with_copies(&acceptor);
        self.copies = Some((handover, acceptor));
        Ok(self)
    }

    /// Sessions are counted with these numbers, and with whatever else is.
    #[must_use]
    pub fn numbered_by(mut self, numbers: Arc<AtomicU64>) -> Self {
        self.numbers = numbers;
        self
    }

    /// The address clients can connect to; the port is the one that was really taken.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` is set; running tests are then told and ended.
    ///
    /// `on_event` is called from several threads.
    pub fn run(self, stop: &AtomicBool, on_event: &(dyn Fn(ServerEvent) + Sync)) {
        let (copies, acceptor) = self.copies.unzip();
        let (udp, over_udp) = (self.udp, self.over_udp);
        let shared = Shared {
            stop,
            on_event,
            tokens: Mutex::default(),
            sessions: Mutex::default(),
            demux: ProbeDemux::default(),
            echo: (!self.limits.files_only).then_some(&self.datagrams),
            limits: self.limits,
            port: Mutex::default(),
            traced: Mutex::default(),
            streams: AtomicUsize::new(0),
            udp_memory: UdpMemory::default(),
            greeters: Greeters::default(),
            copies,
            numbers: self.numbers,
        };
        let shared = &shared;
        let all_ended = &AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(move || {
                let mut streams = |stream| udp_streams::take(shared, stream);
                let others = |datagram: &[u8], from| echo::take(shared, datagram, from);
                // Sessions whose control connection is over UDP say their last word before.
                let is_stopped = || all_ended.load(Ordering::Acquire);
                udp.run(udp_streams::FIRST, &mut streams, &others, &is_stopped);
            });
            let _ended = SetWhenDropped(all_ended);
            thread::scope(|scope| {
                if let Some(acceptor) = acceptor {
                    scope.spawn(move || acceptor.run(&|| shared.is_stopped()));
                }
                acceptor::serve(scope, &self.listener, &over_udp, shared);
            });
        });
    }
}

/// Sets a flag, even where what came before panicked.
struct SetWhenDropped<'a>(&'a AtomicBool);

impl Drop for SetWhenDropped<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// What the threads of a server share.
pub(crate) struct Shared<'a> {
    pub limits: ServerLimits,
    stop: &'a AtomicBool,
    on_event: &'a (dyn Fn(ServerEvent) + Sync),
    /// Echo tokens of running tests, and the host that each test's control connection comes from.
    tokens: Mutex<BTreeMap<u64, IpAddr>>,
    /// Where the streams of each session go.
    sessions: Mutex<BTreeMap<Cookie, ArrivalSender>>,
    demux: ProbeDemux,
    echo: Option<&'a UdpSocket>,
    /// Held while the port of `echo` may be shared.
    port: Mutex<()>,
    /// Hosts to which the way is being looked for.
    traced: Mutex<BTreeSet<IpAddr>>,
    streams: AtomicUsize,
    udp_memory: UdpMemory,
    greeters: Greeters,
    /// Where connections of copies go.
    copies: Option<Handover>,
    /// Sessions so far, and whatever else its owner counts with them.
    numbers: Arc<AtomicU64>,
}

impl Shared<'_> {
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn tell(&self, event: ServerEvent) {
        tracing::info!("{event:?}");
        (self.on_event)(event);
    }

    fn traced(&self) -> MutexGuard<'_, BTreeSet<IpAddr>> {
        self.traced.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tokens(&self) -> MutexGuard<'_, BTreeMap<u64, IpAddr>> {
        // A map of numbers is intact even when another thread panicked.
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sessions(&self) -> MutexGuard<'_, BTreeMap<Cookie, ArrivalSender>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a running test of the host at `from` has that token; other hosts get no echoes for
    /// it.
    fn knows(&self, token: EchoToken, from: SocketAddr) -> bool {
        let host = from.ip().to_canonical();
        self.tokens().get(&token.0) == Some(&host)
    }

    /// Takes room for `count` streams; `None` when the server is full.
    fn reserve(&self, count: usize) -> Option<Reserved<'_>> {
        let bound = self.limits.streams;
        let take = |used: usize| used.checked_add(count).filter(|sum| *sum <= bound);
        let taken = self
            .streams
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        taken.ok().map(|_| Reserved {
            used: &self.streams,
            count,
        })
    }
}

/// Room for streams, given back when dropped.
pub(crate) struct Reserved<'a> {
    used: &'a AtomicUsize,
    count: usize,
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        self.used.fetch_sub(self.count, Ordering::Relaxed);
    }
}
