//! Small packets to a live host, or over an emulated path: round trips, trains, hops.
//!
//! Trains need a server that stamps their packets: [`PathProbes`] asks for a session when it meets
//! one, and opens another when that was lost. Any other host is probed as far as its kernel
//! answers.
//!
//! All sockets are made by the calling thread or by threads that it starts, whenever they are
//! needed, so that a caller in a network namespace has to be there for every call.
//!
//! Reading order: [`PathProbes`], `round_trips`, `session`, `errors`.

mod errors;
mod round_trips;
mod session;

use std::mem;
use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use measure_protocol::trains::{Bounds, Cause, Traced, TracedHop, TrainPlan};
use observe::{
    Flow, FlowPlan, Hop, HopAnswer, Passages, PathMtu, ProbeMethod, ProbeSeries, Probes,
    ProbesError, RunObserver, SizedEcho, SizedHop, SizedPlan, TargetError, Trace, TracePlan,
    TraceProtocol, Train, Transport, Way,
};
use units::{Address, Span};

use crate::client::busy_retry::ServerState;
use crate::client::probe_session::{ProbeServer, request_probing, request_probing_with_retry};
use crate::client::{ClientError, Login, connect};
use probe_net::Tracer;
use probe_net::round_trips::sized_echoes;
use probe_net::trains::least_packet;
use session::{Outcome, ProbingSession};
use sockets::FarEnd;

/// A train whose stamps are worthless, or for which the server has no budget, is asked for so
/// often.
const TRIES: usize = 4;
/// A server that wants to be asked later than this is not waited for.
const PAUSE_MAX: Span = Span::from_secs(10);
/// How soon a cancellation is noticed.
const TICK: Span = Span::from_millis(100);

/// Probes of the path to one server.
#[derive(Debug)]
pub struct PathProbes {
    address: Address,
    login: Option<Login>,
    peer: SocketAddr,
    far: Far,
    /// Whether one was there when it was last asked.
    server: ServerState,
    /// What answered round trips, so that two series are comparable.
    method: Option<ProbeMethod>,
    /// Keeps its flows from one trace to the next.
    tracer: Tracer,
}

/// What is known of the far end.
#[derive(Debug)]
enum Far {
    /// A server that stamps packets.
    Stamping(Box<ProbingSession>),
    /// One that does not, in words.
    Other(&'static str),
    /// Nothing: it was busy, or is gone.
    Unknown,
}

impl PathProbes {
    /// Looks for the server at `address`. One that is busy or not there can still be probed as far
    /// as the kernel of its host answers.
    ///
    /// # Errors
    /// When the host's name has no address.
    pub fn connect(address: &Address, watch: &mut dyn RunObserver) -> Result<Self, ClientError> {
        PathProbes::connect_as(address, None, watch)
    }

    /// The same as one of the server's users.
    ///
    /// # Errors
    /// As [`PathProbes::connect`].
    pub fn connect_as(
        address: &Address,
        login: Option<Login>,
        watch: &mut dyn RunObserver,
    ) -> Result<Self, ClientError> {
        let found = connect::resolve(address)?;
        let (far, server, peer) = match connect::control(address, Transport::Tcp, watch) {
            Ok((control, peer)) => {
                let far = request_probing(address, login.as_ref(), control, watch);
                let far = far.map_or(Far::Unknown, |server| {
                    Far::from(server, far_end(address, peer))
                });
                (far, ServerState::Served, Some(peer))
            }
            Err(_) => (Far::Unknown, ServerState::Unknown, None),
        };
        let nowhere = || ClientError::UnknownHost {
            host: address.host.clone(),
            source: std::io::ErrorKind::NotFound.into(),
        };
        let peer = peer.or_else(|| found.first().copied());
        let peer = peer.ok_or_else(nowhere)?;
        Ok(PathProbes {
            address: address.clone(),
            login,
            peer,
            far,
            server,
            method: None,
            tracer: Tracer::to(far_end(address, peer), None),
        })
    }

    fn far_end(&self) -> FarEnd {
        far_end(&self.address, self.peer)
    }

    /// The address that the name of the server has, with the port that it serves on.
    pub fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// A session, opened anew where the last one is over.
    fn session(&mut self, watch: &mut dyn RunObserver) -> Result<&mut ProbingSession, ProbesError> {
        if self.far.is_lost() || matches!(self.far, Far::Unknown) {
            // One that did not come back in this time is not waited for again.
            let state = mem::replace(&mut self.server, ServerState::Unknown);
            let login = self.login.as_ref();
            let server = request_probing_with_retry(&self.address, login, state, watch);
            self.far = Far::from(server.map_err(TargetError::from)?, self.far_end());
            self.server = ServerState::Served;
        }
        match &mut self.far {
            Far::Stamping(session) => Ok(session),
            Far::Other(what) => Err(errors::not_ours(&self.address, what)),
            Far::Unknown => Err(errors::not_ours(&self.address, "nothing that is known")),
        }
    }

    /// Its probes carry the token of a session, where there is one; the server hears that it is
    /// still needed. One that was lost is opened anew, because its token is void; where that fails
    /// the far kernel still answers.
    fn tracer(&mut self, watch: &mut dyn RunObserver) -> &mut Tracer {
        if self.far.is_lost() {
            let _ = self.session(watch);
        }
        let token = match &mut self.far {
            Far::Stamping(session) => {
                session.stay_alive();
                Some(session.token())
            }
            _ => None,
        };
        self.tracer.set_echo(token);
        &mut self.tracer
    }

    /// A train that no server could send or stamp is the caller's mistake.
    fn check(&self, plan: &TrainPlan) -> Result<(), ProbesError> {
        let unbounded = Bounds {
            packets_max: usize::MAX,
            length_max: Span::MAX,
            rate_max: units::Rate::from_bits_per_second(u64::MAX),
            ..Bounds::default()
        };
        let checked = unbounded.check(plan, least_packet(self.peer.ip()));
        checked.map_err(|error| errors::wrong_train(error.to_string()))
    }

    /// One try.
    fn attempt(
        &mut self,
        plan: &TrainPlan,
        watch: &mut dyn RunObserver,
    ) -> Result<Attempt, ProbesError> {
        let address = self.address.clone();
        let session = self.session(watch)?;
        if let Ok(mtu) = session.socket().and_then(|socket| socket.mtu())
            && plan.packet > mtu
        {
            return Err(errors::too_large(plan.packet, mtu));
        }
        match session.train(plan, watch) {
            Ok(Outcome::Seen(passages)) => Ok(Attempt::Seen(passages)),
            Ok(Outcome::Unstamped(set)) => Ok(Attempt::Again(set.to_string(), Span::ZERO)),
            Ok(Outcome::Refused(refused)) => {
                let wait = Span::from_millis(refused.again_ms.unwrap_or(0));
                match refused.cause {
                    Cause::Rate | Cause::Clock if wait <= PAUSE_MAX => {
                        Ok(Attempt::Again(refused.words(), wait))
                    }
                    _ => Err(errors::refused(&address, &refused)),
                }
            }
            Err(error) => {
                self.far = Far::Unknown;
                Err(errors::ended(&address, error))
            }
        }
    }
}

/// What came of one try.
enum Attempt {
    Seen(Passages),
    /// Why not, and when to ask again.
    Again(String, Span),
}

/// The peer as the address says that it is reached.
fn far_end(address: &Address, peer: SocketAddr) -> FarEnd {
    FarEnd {
        address: peer,
        via: address.via.clone(),
    }
}

impl Far {
    /// Whether there was a session that is over.
    fn is_lost(&mut self) -> bool {
        match self {
            Far::Stamping(session) => !session.is_open(),
            Far::Other(_) | Far::Unknown => false,
        }
    }

    fn from(server: ProbeServer, peer: FarEnd) -> Self {
        match server {
            ProbeServer::Stamping(control, answer) => {
                Far::Stamping(Box::new(ProbingSession::new(control, &answer, peer)))
            }
            ProbeServer::Older => Far::Other("a version of it that knows none"),
            ProbeServer::Foreign => Far::Other("another server"),
        }
    }
}

impl Probes for PathProbes {
    fn round_trips(
        &mut self,
        lasting: Span,
        watch: &mut dyn RunObserver,
    ) -> Result<ProbeSeries, ProbesError> {
        if self.far.is_lost() {
            // Opened anew, because its token is void. Where that fails the far kernel still
            // answers.
            let _ = self.session(watch);
        }
        let far_end = self.far_end();
        let mut session = match &mut self.far {
            Far::Stamping(session) => Some(session.as_mut()),
            _ => None,
        };
        let token = session.as_ref().map(|session| session.token());
        let known = self
            .method
            .and_then(|method| round_trips::open(&far_end, method, token));
        let socket = match known {
            Some(socket) => Some(socket),
            None => {
                self.method = round_trips::find(&far_end, token);
                self.method
                    .and_then(|method| round_trips::open(&far_end, method, token))
            }
        };
        let socket = socket.ok_or_else(|| errors::unanswered(&self.address))?;
        let seen = round_trips::measure(&socket, lasting, session.take(), watch);
        match watch.is_cancelled() {
            true => Err(errors::cancelled()),
            false => Ok(seen),
        }
    }

    fn train(
        &mut self,
        way: Way,
        train: &Train,
        watch: &mut dyn RunObserver,
    ) -> Result<Passages, ProbesError> {
        let plan = TrainPlan {
            way,
            packet: train.packet,
            departures: train.departures.clone(),
        };
        self.check(&plan)?;
        let mut why = String::new();
        for _ in 0..TRIES {
            match self.attempt(&plan, watch)? {
                Attempt::Seen(passages) => return Ok(passages),
                Attempt::Again(reason, wait) => {
                    pause(&reason, wait, watch)?;
                    why = reason;
                }
            }
        }
        Err(errors::gave_up(&self.address, &why, TRIES))
    }

    fn pause(&mut self, span: Span) {
        thread::sleep(span.into());
    }

    fn trace(
        &mut self,
        plan: &TracePlan,
        watch: &mut dyn RunObserver,
    ) -> Result<Trace, ProbesError> {
        self.tracer(watch).trace(plan, watch)
    }

    fn sized_hops(
        &mut self,
        plan: &SizedPlan,
        watch: &mut dyn RunObserver,
    ) -> Result<Vec<SizedHop>, ProbesError> {
        self.tracer(watch).sized_hops(plan, watch)
    }

    fn sized_echoes(
        &mut self,
        sizes: &[u16],
        watch: &mut dyn RunObserver,
    ) -> Result<Vec<SizedEcho>, ProbesError> {
        let seen = sized_echoes(&self.far_end(), sizes, || watch.is_cancelled());
        match (watch.is_cancelled(), seen) {
            (true, _) => Err(errors::cancelled()),
            (false, Ok(Some(seen))) => Ok(seen),
            (false, Ok(None)) => Err(errors::no_icmp(&self.address, None)),
            (false, Err(error)) => Err(errors::no_icmp(&self.address, Some(error))),
        }
    }

    fn flows(
        &mut self,
        plan: &FlowPlan,
        watch: &mut dyn RunObserver,
    ) -> Result<Vec<Flow>, ProbesError> {
        let mut seen = self.tracer(watch).flows(plan, watch)?;
        if self.far.is_lost() {
            // The last echoes had a void token: what they lost is not known.
            seen.iter_mut().for_each(|flow| flow.echoes.clear());
        }
        Ok(seen)
    }

    fn trace_back(&mut self, watch: &mut dyn RunObserver) -> Result<Trace, ProbesError> {
        let address = self.address.clone();
        let session = match self.session(watch) {
            Ok(session) if session.traces_back() => session,
            Ok(_) | Err(ProbesError::Unsupported { .. }) => {
                return Err(errors::no_way_back(&address));
            }
            Err(error) => return Err(error),
        };
        match session.trace_back(watch) {
            Ok(Ok(traced)) => Ok(way_back(&traced)),
            Ok(Err(refused)) => Err(errors::refused(&address, &refused)),
            Err(error) => {
                self.far = Far::Unknown;
                Err(errors::ended(&address, error))
            }
        }
    }

    fn path_mtu(&mut self, watch: &mut dyn RunObserver) -> Result<PathMtu, ProbesError> {
        self.tracer(watch).path_mtu(watch)
    }
}

/// What the server told, with one probe for each hop.
fn way_back(traced: &Traced) -> Trace {
    let hop = |(distance, hop): (u8, &TracedHop)| Hop {
        distance,
        probes: vec![hop.from.zip(hop.rtt_ns).map(|(from, nanos)| HopAnswer {
            from,
            rtt: Span::from_nanos(nanos),
        })],
    };
    Trace {
        protocol: TraceProtocol::Udp,
        one_flow: true,
        hops: (1..).zip(&traced.hops).map(hop).collect(),
        reached: traced.reached,
    }
}

/// Waits until a train may be asked for again.
fn pause(why: &str, wait: Span, watch: &mut dyn RunObserver) -> Result<(), ProbesError> {
    watch.on_wait(why, wait);
    let mut left = wait;
    while left > Span::ZERO {
        if watch.is_cancelled() {
            return Err(errors::cancelled());
        }
        thread::sleep(Duration::from(TICK.min(left)));
        left = left - TICK;
    }
    Ok(())
}
