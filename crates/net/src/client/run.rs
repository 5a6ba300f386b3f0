//! One test from connecting to the server's results.

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use observe::{
    Amount, Direction, Observation, ProbeMethod, ProbeSeries, SamplePlan, Setting, Watch, Window,
};
use units::{Bytes, Span};
use wire::{
    ClientAction, ClientControl, ClientControlError, Cookie, Offer, Results, TestEnd, TestRequest,
};

use super::assemble::{self, Ended};
use super::busy::patiently;
use super::connect::{self, Identity, Opening};
use super::flow::Flow;
use super::precision::Arrived;
use super::{Client, ClientError};
use crate::clock::Clock;
use crate::control::{ControlSocket, Heard, readable, wait};
use crate::options::StreamOptions;
use crate::probe::{LatestTrip, LoadedProbes, ProbeSocket, is_answered, series};
use crate::random;

/// How soon a cancellation is noticed.
const TICK: Span = Span::from_millis(100);
/// Longest time for the server to take what is sent to it.
const SEND_LIMIT: Duration = Duration::from_secs(30);
/// Longest time to tell a server that we give up.
const GOODBYE_LIMIT: Duration = Duration::from_secs(1);

/// Runs one setting, and asks a busy server again.
pub(super) fn run(
    client: &Client,
    setting: &Setting,
    plan: &SamplePlan,
    watch: &mut dyn Watch,
) -> Result<Observation, ClientError> {
    let clock = Clock::start();
    patiently(watch, |watch| once(client, setting, plan, watch, clock))
}

fn once(
    client: &Client,
    setting: &Setting,
    plan: &SamplePlan,
    watch: &mut dyn Watch,
    clock: Clock,
) -> Result<Observation, ClientError> {
    let (control, peer) = connect::control(&client.address)?;
    let cookie = random::cookie()?;
    let request = request(setting, plan);
    let machine = ClientControl::new(cookie, request.clone(), clock.now());
    let mut run = Run {
        client,
        plan,
        watch,
        clock,
        control,
        peer,
        cookie,
        options: options(client, setting),
        request,
        machine,
        method: None,
        unloaded: None,
        loading: None,
        sockets: Vec::new(),
        flow: None,
        arrived: Arrived::default(),
    };
    let results = run.converse().inspect_err(|_| run.give_up());
    let results = results?;
    Ok(run.assemble(setting, &results))
}

struct Run<'a> {
    client: &'a Client,
    plan: &'a SamplePlan,
    watch: &'a mut dyn Watch,
    clock: Clock,
    control: ControlSocket,
    peer: SocketAddr,
    cookie: Cookie,
    options: StreamOptions,
    request: TestRequest,
    machine: ClientControl,
    method: Option<ProbeMethod>,
    unloaded: Option<ProbeSeries>,
    loading: Option<LoadedProbes>,
    sockets: Vec<TcpStream>,
    flow: Option<Flow>,
    arrived: Arrived,
}

impl Run<'_> {
    fn converse(&mut self) -> Result<Results, ClientError> {
        loop {
            while let Some(action) = self.machine.next_action() {
                match action {
                    ClientAction::Finished(results) => return Ok(*results),
                    action => self.act(action)?,
                }
            }
            self.check_cancelled()?;
            self.hear()?;
            self.look_at_streams()?;
            let deadline = self.machine.deadline();
            if deadline.is_some_and(|at| at <= self.clock.now()) {
                let outcome = self.machine.on_deadline();
                self.explain(outcome)?;
            }
        }
    }

    fn act(&mut self, action: ClientAction) -> Result<(), ClientError> {
        match action {
            ClientAction::Send(bytes) => self.send(&bytes),
            ClientAction::OpenStreams(plan) => self.open_streams(plan.total()),
            ClientAction::Start => self.start(),
            ClientAction::GiveResults => {
                let results = self.flow.as_mut().map(assemble::results);
                let results = results.unwrap_or_default();
                let outcome = self.machine.give_results(self.clock.now(), &results);
                self.explain(outcome)
            }
            ClientAction::Recognised(_) | ClientAction::Reported(_) | ClientAction::Finished(_) => {
                Ok(())
            }
        }
    }

    /// A server that closes while we send may have said why: that is read before it is judged.
    fn send(&mut self, bytes: &[u8]) -> Result<(), ClientError> {
        if self.control.send(bytes, SEND_LIMIT).is_ok() {
            return Ok(());
        }
        self.read_control()?;
        let outcome = self.machine.on_closed();
        self.explain(outcome)
    }

    /// Echo datagrams where the server answers them. They may be filtered on the way, so that is
    /// tried, and the far kernel's ICMP has to do otherwise.
    fn answered_method(&self) -> Option<ProbeMethod> {
        let methods = [ProbeMethod::UdpEcho, ProbeMethod::IcmpEcho];
        methods.into_iter().find(|method| match method {
            ProbeMethod::UdpEcho => self.open_probes(*method).is_some_and(|s| is_answered(&s)),
            ProbeMethod::IcmpEcho => self.open_probes(*method).is_some(),
        })
    }

    /// A socket for one series: late answers to another never count in it.
    fn probes(&self) -> Option<ProbeSocket> {
        self.open_probes(self.method?)
    }

    fn open_probes(&self, method: ProbeMethod) -> Option<ProbeSocket> {
        match method {
            ProbeMethod::UdpEcho => {
                let token = self.machine.answer()?.echo_token;
                ProbeSocket::udp(self.peer, token).ok()
            }
            ProbeMethod::IcmpEcho => ProbeSocket::icmp(self.peer, random::token().ok()?).ok(),
        }
    }

    fn idle_series(&self, probes: &ProbeSocket) -> ProbeSeries {
        let (watch, enough) = (&*self.watch, self.plan.unloaded);
        let nobody_looks = LatestTrip::default();
        series(probes, &nobody_looks, |elapsed| {
            elapsed >= enough || watch.is_cancelled()
        })
    }

    /// The idle path is probed first, while the server waits for the streams.
    fn open_streams(&mut self, total: u16) -> Result<(), ClientError> {
        self.method = self.answered_method();
        if self.plan.unloaded > Span::ZERO {
            self.unloaded = self.probes().map(|probes| self.idle_series(&probes));
        }
        let opening = Opening {
            peer: self.peer,
            cookie: &self.cookie,
            options: &self.options,
            total,
            watch: &*self.watch,
        };
        let opened = opening.streams(self.identity());
        self.sockets = opened.map_err(|error| self.ask_why(error))?;
        self.machine.on_streams_open(self.clock.now());
        Ok(())
    }

    fn identity(&self) -> Identity {
        match self.machine.answer() {
            Some(_) => Identity::Number,
            None => Identity::Order,
        }
    }

    /// What the server said, when a stream failed because it gave up.
    fn ask_why(&mut self, error: ClientError) -> ClientError {
        self.read_control().err().unwrap_or(error)
    }

    fn start(&mut self) -> Result<(), ClientError> {
        let sockets = std::mem::take(&mut self.sockets);
        let flow = Flow::start(sockets, &self.request, &self.options, self.plan.amount)?;
        self.flow = Some(flow);
        if let Some(probes) = self.probes() {
            self.loading = Some(LoadedProbes::start(probes)?);
        }
        Ok(())
    }

    fn hear(&mut self) -> Result<(), ClientError> {
        let now = self.clock.now();
        let due = self.running().map(|flow| flow.until_due());
        let deadline = self.machine.deadline().map(|at| at.since(now));
        let limit = [due, deadline].into_iter().flatten().fold(TICK, Span::min);
        wait(
            &mut [readable(std::os::fd::AsFd::as_fd(&self.control))],
            limit.into(),
        )?;
        self.read_control()
    }

    fn read_control(&mut self) -> Result<(), ClientError> {
        let mut buffer = [0; 64 << 10];
        let outcome = match self.control.read(&mut buffer) {
            Heard::Nothing => Ok(()),
            Heard::Closed => self.machine.on_closed(),
            Heard::Bytes(got) => {
                let bytes = buffer.get(..got).unwrap_or_default();
                self.machine.on_bytes(self.clock.now(), bytes)
            }
        };
        self.explain(outcome)
    }

    fn explain(&self, outcome: Result<(), ClientControlError>) -> Result<(), ClientError> {
        outcome.map_err(|source| ClientError::Control {
            address: self.client.address.clone(),
            source,
        })
    }

    fn running(&mut self) -> Option<&mut Flow> {
        self.flow.as_mut().filter(|flow| flow.is_running())
    }

    fn look_at_streams(&mut self) -> Result<(), ClientError> {
        let probe_rtt = self.loading.as_ref().and_then(LoadedProbes::latest);
        let Some(flow) = self.running() else {
            return Ok(());
        };
        let snapshot = flow.read_when_due(probe_rtt);
        flow.check()?;
        let complete = flow.is_complete();
        if let Some(snapshot) = &snapshot {
            self.watch.on_progress(snapshot);
            self.arrived.add(snapshot);
        }
        if complete || (snapshot.is_some() && self.is_enough()) {
            self.end();
        }
        Ok(())
    }

    /// The one who looks on may end a run, and so may its precision.
    fn is_enough(&self) -> bool {
        let wanted = self.plan.precision.as_ref();
        self.watch.has_enough() || wanted.is_some_and(|wanted| self.arrived.suffices(wanted))
    }

    fn end(&mut self) {
        self.flow.iter_mut().for_each(Flow::end);
        self.loading.iter().for_each(LoadedProbes::halt);
        self.machine.end_test(self.clock.now());
    }

    fn check_cancelled(&self) -> Result<(), ClientError> {
        match self.watch.is_cancelled() {
            true => Err(ClientError::Cancelled),
            false => Ok(()),
        }
    }

    /// Tells the server that we give up, unless it was the one who did.
    fn give_up(&mut self) {
        self.machine.cancel();
        while let Some(action) = self.machine.next_action() {
            if let ClientAction::Send(bytes) = action {
                // The server notices the closed connection anyway.
                let _ = self.control.send(&bytes, GOODBYE_LIMIT);
            }
        }
    }

    fn assemble(mut self, setting: &Setting, results: &Results) -> Observation {
        let ends = self.flow.as_mut().map(Flow::close).unwrap_or_default();
        let loaded = self.loading.take().and_then(LoadedProbes::finish);
        assemble::observation(Ended {
            setting,
            answer: self.machine.answer(),
            flow: self.flow,
            ends,
            unloaded: self.unloaded,
            loaded,
            elapsed: self.clock.now().since(units::Time::ZERO),
            results,
        })
    }
}

fn request(setting: &Setting, plan: &SamplePlan) -> TestRequest {
    let end = match plan.amount {
        Amount::Time(length) => TestEnd::After(length),
        Amount::Bytes(bytes) => TestEnd::Bytes(bytes),
    };
    TestRequest {
        direction: match setting.direction {
            Direction::Forward => wire::Direction::Forward,
            Direction::Reverse => wire::Direction::Reverse,
            Direction::Both => wire::Direction::Both,
        },
        window: window(setting),
        segment: segment(setting),
        congestion: setting.congestion.clone(),
        pacing: setting.pacing,
        offer: Some(Offer::default()),
        ..TestRequest::new(setting.streams.get(), end)
    }
}

fn options(client: &Client, setting: &Setting) -> StreamOptions {
    StreamOptions {
        window: window(setting),
        limit: client.limit,
        congestion: setting.congestion.clone(),
        pacing: setting.pacing,
        segment: segment(setting),
        no_delay: false,
    }
}

fn window(setting: &Setting) -> Option<Bytes> {
    match setting.window {
        Window::Auto => None,
        Window::Fixed(bytes) => Some(bytes),
    }
}

fn segment(setting: &Setting) -> Option<Bytes> {
    setting.mss.map(|mss| Bytes::new(mss.into()))
}
