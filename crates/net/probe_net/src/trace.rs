//! The hops between here and the far end, and the largest packet that passes: traceroute and path
//! MTU discovery as any user may do them.
//!
//! A [`Tracer`] keeps its sockets, so that all its traces with one protocol are of one flow: one
//! before and one beside a load see the same routers. Its sockets belong to the network namespace
//! of the thread that asks first with a protocol.
//!
//! Without rights UDP and TCP work; ICMP works where `net.ipv4.ping_group_range` allows it, and
//! otherwise takes the right to raw sockets. A trace says what routers tell: they answer packets
//! that die slower than they pass on others, and seldom more than a few a second, so a loss or a
//! delay that later hops do not show is the router's own.
//!
//! Left out: names of routers, and the labels some add to their answers (RFC 4950).
//!
//! Reading order: [`Tracer`], `search` (which probe next), `probe_flow` (what carries them), `mtu`,
//! `sized` (packets of several sizes), `flows` (several flows side by side).

mod error;
mod flows;
mod rate_limit;
mod search;
mod sized;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use error::{icmp_refused, refused, to_probes_error};
use measure_protocol::EchoToken;
use observe::{
    Flow, FlowPlan, PathMtu, ProbesError, RunObserver, SizedHop, SizedPlan, Trace, TracePlan,
    TraceProtocol,
};
use rate_limit::RateLimit;
use search::{Search, Step};
use sockets::Clock;
use sockets::FarEnd;
use sockets::random;

use crate::mtu;
use crate::probe_flow::{IcmpFlow, PORT_UNUSED, ProbeFlow, TcpFlow, UdpFlow};
pub(crate) use error::TraceError;

/// How soon a cancellation is noticed.
const TICK: Duration = Duration::from_millis(100);

/// Looks for the hops of a path.
///
/// ```no_run
/// use observe::{TracePlan, TraceProtocol};
/// let far = std::net::SocketAddr::from(([192, 0, 2, 7], 5201));
/// let mut tracer = probe_net::Tracer::to(far.into(), None);
/// let plan = TracePlan {
///     protocol: TraceProtocol::Udp,
///     rounds: 3,
///     hops_max: 30,
///     patience: units::Span::from_secs(1),
/// };
/// for hop in tracer.trace(&plan, &()).unwrap().hops {
///     println!("{} {:?}", hop.distance, hop.probes);
/// }
/// ```
#[derive(Debug)]
pub struct Tracer {
    far: FarEnd,
    echo: Option<EchoToken>,
    pace: Pace,
    udp: Option<Traced<UdpFlow>>,
    tcp: Option<Traced<TcpFlow>>,
    icmp: Option<Traced<IcmpFlow>>,
}

/// What traces to one far end share.
#[derive(Debug)]
struct Pace {
    clock: Clock,
    rate_limit: RateLimit,
}

/// A flow, and the number of its next probe.
#[derive(Debug)]
struct Traced<F> {
    flow: F,
    next: u64,
}

impl Tracer {
    /// To the server at `far`.
    ///
    /// * `echo`: the token of a session with it, where it is a trunkline server; UDP probes then go
    ///   to its echo service, and otherwise to an unused port.
    ///
    /// TCP probes go to the server's own port. It never hears of them.
    pub fn to(far: FarEnd, echo: Option<EchoToken>) -> Self {
        let address = SocketAddr::new(far.ip().to_canonical(), far.address.port());
        Tracer {
            far: FarEnd { address, ..far },
            echo,
            pace: Pace {
                clock: Clock::start(),
                rate_limit: RateLimit::default(),
            },
            udp: None,
            tcp: None,
            icmp: None,
        }
    }

    /// The session has another token now, or is over.
    pub fn set_echo(&mut self, echo: Option<EchoToken>) {
        match (self.echo, echo) {
            // The same two ports: it stays the same flow.
            (Some(_), Some(token)) => {
                if let Some(traced) = &mut self.udp {
                    traced.flow.set_token(token);
                }
            }
            (None, None) => {}
            _ => self.udp = None,
        }
        self.echo = echo;
    }

    /// Looks for the hops. It takes about `plan.rounds` round trips, and TCP as many as there are
    /// probes, as it asks one hop at a time. After five rounds, of all traces together, they come
    /// one a second, as routers answer.
    ///
    /// # Errors
    /// [`ProbesError::Unsupported`] where this user may not send such probes; otherwise when there
    /// is no way to the far end from here, or `watch` cancels.
    pub fn trace(
        &mut self,
        plan: &TracePlan,
        watch: &dyn RunObserver,
    ) -> Result<Trace, ProbesError> {
        let far = self.far.clone();
        match plan.protocol {
            TraceProtocol::Udp => {
                let (to, token) = self
                    .datagrams_to()
                    .map_err(|error| refused(far.ip(), error))?;
                traced(&mut self.udp, || UdpFlow::open(&to, token))
                    .map_err(|error| refused(far.ip(), error))?
                    .run(plan, far.ip(), &mut self.pace, watch)
            }
            TraceProtocol::Tcp => traced(&mut self.tcp, || TcpFlow::open(&far))
                .map_err(|error| refused(far.ip(), error))?
                .run(plan, far.ip(), &mut self.pace, watch),
            TraceProtocol::Icmp => traced(&mut self.icmp, || open_icmp(&far))
                .map_err(|error| icmp_refused(far.ip(), error))?
                .run(plan, far.ip(), &mut self.pace, watch),
        }
    }

    /// Looks for the hops with several flows, and has each send echoes where the far end answers
    /// all. It takes about a second for each round of each flow, as routers answer.
    ///
    /// # Errors
    /// As [`Tracer::trace`].
    pub fn flows(
        &mut self,
        plan: &FlowPlan,
        watch: &dyn RunObserver,
    ) -> Result<Vec<Flow>, ProbesError> {
        let far = self.far.ip();
        let failed = |error| refused(far, error);
        let (to, token) = self.datagrams_to().map_err(failed)?;
        // All are open at once, so that each has a port of its own.
        let open = |_| UdpFlow::open(&to, token).map_err(failed);
        let flows: Vec<UdpFlow> = (0..plan.flows).map(open).collect::<Result<_, _>>()?;
        flows::run(flows, plan, far, &mut self.pace, watch)
    }

    /// Sends datagrams of several sizes to each hop, in a flow of their own. It takes as long as
    /// the slowest hop, and no longer than the plan allows and then its patience.
    ///
    /// # Errors
    /// As [`Tracer::trace`].
    pub fn sized_hops(
        &mut self,
        plan: &SizedPlan,
        watch: &dyn RunObserver,
    ) -> Result<Vec<SizedHop>, ProbesError> {
        let far = self.far.ip();
        let failed = |error| refused(far, error);
        let (to, token) = self.datagrams_to().map_err(failed)?;
        let mut flow = UdpFlow::open_whole(&to, token).map_err(failed)?;
        let order = random::number().map_err(failed)?;
        let seen = sized::send(&mut flow, plan, order, self.pace.clock, watch);
        self.pace.rate_limit.empty(self.pace.clock.now());
        seen.map_err(|error| to_probes_error(far, error))
    }

    /// Looks for the largest packet that passes unfragmented on the way to the far end.
    ///
    /// # Errors
    /// When nothing can be told, there is no way to the far end from here, or `watch` cancels.
    pub fn path_mtu(&self, watch: &dyn RunObserver) -> Result<PathMtu, ProbesError> {
        let far = self.far.ip();
        let failed = |error| refused(far, error);
        if self.echo.is_none()
            && let Ok(number) = random::number()
            && let Ok(mut flow) = IcmpFlow::open_whole(&self.far, EchoToken(number))
        {
            let found = mtu::find(&mut flow, watch).map_err(|error| to_probes_error(far, error))?;
            if found.confirmed {
                return Ok(found);
            }
        }
        let (to, token) = self.datagrams_to().map_err(failed)?;
        let mut flow = UdpFlow::open_whole(&to, token).map_err(failed)?;
        mtu::find(&mut flow, watch).map_err(|error| to_probes_error(far, error))
    }

    /// Where datagrams go, and the token in them.
    fn datagrams_to(&self) -> io::Result<(FarEnd, EchoToken)> {
        match self.echo {
            Some(token) => Ok((self.far.clone(), token)),
            None => Ok((self.far.at_port(PORT_UNUSED), EchoToken(random::number()?))),
        }
    }
}

fn traced<F>(
    kept: &mut Option<Traced<F>>,
    open: impl FnOnce() -> io::Result<F>,
) -> io::Result<&mut Traced<F>> {
    let flow = match kept.take() {
        Some(flow) => flow,
        None => Traced {
            flow: open()?,
            next: 0,
        },
    };
    Ok(kept.insert(flow))
}

fn open_icmp(far: &FarEnd) -> io::Result<IcmpFlow> {
    IcmpFlow::open(far, EchoToken(random::number()?))
}

impl<F: ProbeFlow> Traced<F> {
    fn run(
        &mut self,
        plan: &TracePlan,
        far: IpAddr,
        pace: &mut Pace,
        watch: &dyn RunObserver,
    ) -> Result<Trace, ProbesError> {
        let plan = TracePlan {
            patience: plan.patience.min(self.flow.timeout_max()),
            hops_max: plan.hops_max.max(1),
            ..*plan
        };
        self.search(plan, pace, watch)
            .map_err(|error| to_probes_error(far, error))
    }

    /// Sends and listens until the search is over.
    fn search(
        &mut self,
        plan: TracePlan,
        pace: &mut Pace,
        watch: &dyn RunObserver,
    ) -> Result<Trace, TraceError> {
        let (clock, first) = (pace.clock, self.next);
        let (at_once, is_rate_limited) = (self.flow.at_once(), self.flow.is_rate_limited());
        let rate_limit = &mut pace.rate_limit;
        let mut search = Search::new(plan, at_once, is_rate_limited, rate_limit, clock.now());
        loop {
            if watch.is_cancelled() {
                return Err(TraceError::Cancelled);
            }
            match search.next(clock.now()) {
                Step::Over => return Ok(search.trace()),
                Step::Wait(until) => self.flow.wait(clock.until(until).min(TICK)),
                Step::Send { hops } => {
                    let at = clock.now();
                    self.flow.send(self.next, hops)?;
                    self.next += 1;
                    search.on_sent(at);
                }
            }
            self.collect(&mut search, first, clock);
        }
    }

    fn collect(&mut self, search: &mut Search<'_>, first: u64, clock: Clock) {
        while let Some(answer) = self.flow.receive() {
            let at = clock.now() - answer.age;
            match answer.probe {
                None => search.on_answer(None, answer.said, at),
                // What is still answered to an earlier trace of this flow does not count.
                Some(number) if number < first => {}
                Some(number) => search.on_answer(Some(number - first), answer.said, at),
            }
        }
    }
}
