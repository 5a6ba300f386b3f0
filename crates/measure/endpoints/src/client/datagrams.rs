//! Datagrams at a steady rate, to or from a server of iperf3's protocol.

use std::io::ErrorKind;
use std::net::UdpSocket;
use std::thread;
use std::time::Duration;

use copy_net::DialError;
use measure_protocol::iperf3::datagram::{HELLO, WELCOME, repeated_hello};
use measure_protocol::{ClientAction, Cookie, Offer, TestEnd, TestRequest};
use observe::{DatagramPlan, Datagrams, RunObserver, Snapshot, Transport};
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use sockets::{Clock, FarEnd, random};
use units::{Bytes, Rate, Span, Time};

use super::busy_retry::{ServerState, retry_while_busy};
use super::connect;
use super::conversation::{Conversation, check_cancelled};
use super::counted;
use super::login::token;
use super::{Client, ClientError};
use crate::datagrams::{
    DatagramStream, FORM, INTERVAL, Job, Moved, PreparedStream, Task, finish_all,
};

/// How often a greeting is repeated.
const AGAIN: Duration = Duration::from_millis(500);
/// How long an answer to it is waited for.
const GREETING_MAX: Span = Span::from_secs(10);
/// What is on its way when the senders stop may take so long: longer than round trips by
/// satellite. What comes later counts as lost.
const ON_THE_WAY: Span = Span::from_millis(600);

impl Client {
    /// Sends datagrams at a rate, or has them sent, and tells what arrived.
    ///
    /// # Errors
    /// When there is no server, it refuses or fails, no datagram reaches it, or `watch` cancels.
    pub fn datagrams(
        &self,
        plan: &DatagramPlan,
        watch: &mut dyn RunObserver,
    ) -> Result<Datagrams, ClientError> {
        retry_while_busy(watch, ServerState::Unknown, |watch| {
            self.datagrams_once(plan, watch)
        })
    }

    fn datagrams_once(
        &self,
        plan: &DatagramPlan,
        watch: &mut dyn RunObserver,
    ) -> Result<Datagrams, ClientError> {
        let (control, peer) = connect::control(&self.address, Transport::Tcp, watch)?;
        let cookie = Cookie::from_random(&random::bytes()?);
        let request = TestRequest {
            dscp: self.address.via.dscp,
            token: token(self.login.as_ref())?,
            ..request(plan)
        };
        let tasks = tasks(&request);
        let address = self.address.clone();
        let mut conversation = Conversation::begin(address, control, cookie, request);
        let is_open = |action: &_| matches!(action, ClientAction::OpenStreams(_));
        while !is_open(&conversation.await_action(watch)?) {}
        let far = FarEnd {
            address: peer,
            via: self.address.via.clone(),
        };
        let open = |task: &Task| {
            let socket = greet(&mut conversation, &far, watch)?;
            Ok::<_, ClientError>(PreparedStream::new(socket, *task)?)
        };
        let open = tasks.iter().map(open).collect::<Result<Vec<_>, _>>()?;
        conversation.on_streams_open();
        while conversation.await_action(watch)? != ClientAction::Start {}
        let streams = open.into_iter().map(PreparedStream::start);
        let running = Running {
            streams: streams.collect::<Result<_, _>>()?,
            tasks,
            duration: plan.duration,
        };
        running.until_over(conversation, watch)
    }
}

/// A test whose datagrams flow.
struct Running {
    streams: Vec<DatagramStream>,
    tasks: Vec<Task>,
    duration: Span,
}

impl Running {
    fn until_over(
        mut self,
        mut conversation: Conversation,
        watch: &mut dyn RunObserver,
    ) -> Result<Datagrams, ClientError> {
        let answer = conversation.answer();
        self.flow(&mut conversation, watch)?;
        // Those that send stop first: what they sent last is to be counted, too.
        let first = self.senders();
        let (senders, receivers) = self.streams.split_at_mut(first);
        let mut ours = finish_all(senders);
        check_allowed(&ours)?;
        if !ours.is_empty() {
            rest(&mut conversation, watch)?;
        }
        conversation.end_test()?;
        let theirs = conversation.exchange_with(watch, &mut || {
            until_quiet(receivers);
            ours.append(&mut finish_all(receivers));
            crate::datagrams::results(&ours, answer.is_some())
        })?;
        Ok(counted::datagrams(&ours, &theirs, answer.is_some()))
    }

    fn senders(&self) -> usize {
        self.tasks.iter().filter(|task| task.sends()).count()
    }

    /// Until the time is over.
    fn flow(
        &self,
        conversation: &mut Conversation,
        watch: &mut dyn RunObserver,
    ) -> Result<(), ClientError> {
        let clock = Clock::start();
        let mut before = (Time::ZERO, Bytes::ZERO);
        while clock.now().since(Time::ZERO) < self.duration {
            let left = clock.until(Time::ZERO + self.duration);
            thread::sleep(Duration::from(INTERVAL).min(left));
            check_cancelled(watch)?;
            conversation.hear()?;
            let now = (clock.now(), self.moved());
            watch.on_progress(&self.snapshot(before, now));
            before = now;
        }
        Ok(())
    }

    /// Of those that receive, and where none do of those that send.
    fn moved(&self) -> Bytes {
        let senders = self.senders();
        let receivers = self.streams.get(senders..).unwrap_or_default();
        let shown = match receivers.is_empty() {
            true => &self.streams,
            false => receivers,
        };
        shown.iter().map(DatagramStream::bytes).sum()
    }

    fn snapshot(&self, before: (Time, Bytes), (at, bytes): (Time, Bytes)) -> Snapshot {
        Snapshot {
            at,
            duration_max: Some(self.duration),
            bytes,
            rate: Rate::of(bytes - before.1, at.since(before.0)),
            rtt: None,
            probe_rtt: None,
            retransmitted_share: None,
        }
    }
}

impl Drop for Running {
    /// All at once: each notices within a moment, and they are waited for one after another.
    fn drop(&mut self) {
        self.streams.iter().for_each(DatagramStream::halt);
    }
}

/// An error where this host lets none of our datagrams out, as some firewalls do.
fn check_allowed(ours: &[Moved]) -> Result<(), ClientError> {
    let mut idle = ours.iter().filter(|one| one.highest == 0);
    match idle.find_map(|one| one.forbidden) {
        Some(number) => Err(std::io::Error::from_raw_os_error(number).into()),
        None => Ok(()),
    }
}

/// The server has stopped; its last datagrams may be behind its word, in a queue that its word did
/// not wait in.
fn until_quiet(receivers: &[DatagramStream]) {
    let came = || -> Bytes { receivers.iter().map(DatagramStream::bytes).sum() };
    let clock = Clock::start();
    let mut before = None;
    while before != Some(came()) && clock.now() < Time::ZERO + ON_THE_WAY {
        before = Some(came());
        thread::sleep(INTERVAL.into());
    }
}

/// What is on its way arrives, or does not.
fn rest(conversation: &mut Conversation, watch: &dyn RunObserver) -> Result<(), ClientError> {
    let clock = Clock::start();
    let end = Time::ZERO + ON_THE_WAY;
    while clock.now() < end {
        thread::sleep(clock.until(end).min(INTERVAL.into()));
        check_cancelled(watch)?;
        conversation.hear()?;
    }
    Ok(())
}

/// Opens a stream: the server learns where its datagrams come from.
fn greet(
    conversation: &mut Conversation,
    far: &FarEnd,
    watch: &dyn RunObserver,
) -> Result<UdpSocket, ClientError> {
    let socket = socket_towards(far)?;
    socket.set_read_timeout(Some(AGAIN))?;
    let is_ours = conversation.answer().is_some();
    let peer = far.address;
    let clock = Clock::start();
    let mut has_greeted = false;
    while clock.now().since(Time::ZERO) < GREETING_MAX {
        check_cancelled(watch)?;
        let _ = match has_greeted && !is_ours {
            true => socket.send(&repeated_hello()),
            false => socket.send(&HELLO),
        };
        has_greeted = true;
        // Whatever comes back shows that the greeting has arrived, and so does the server that
        // begins: its answer may have been lost. What is longer is counted later.
        match socket.peek(&mut [0; 2 * WELCOME.len()]) {
            Ok(length) => {
                if length <= WELCOME.len() {
                    let _ = socket.recv(&mut [0; WELCOME.len()]);
                }
                return Ok(socket);
            }
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                return Err(DialError::UdpRefused { peer }.into());
            }
            _ => conversation.hear()?,
        }
        if conversation.is_running() {
            return Ok(socket);
        }
    }
    let after = GREETING_MAX;
    Err(DialError::UdpSilent { peer, after }.into())
}

fn socket_towards(far: &FarEnd) -> Result<UdpSocket, ClientError> {
    let domain = Domain::for_address(far.address);
    let socket = Socket::new(domain, Type::DGRAM, Some(Protocol::UDP))?;
    far.prepare(&SockRef::from(&socket))?;
    socket.connect(&far.address.into())?;
    Ok(socket.into())
}

fn request(plan: &DatagramPlan) -> TestRequest {
    TestRequest {
        direction: plan.direction,
        block: plan.size,
        pacing: plan.rate_each(),
        offer: Some(Offer::default()),
        datagrams: Some(FORM),
        ..TestRequest::new(plan.streams.get(), TestEnd::After(plan.duration))
    }
}

/// Those to send on come first.
fn tasks(request: &TestRequest) -> Vec<Task> {
    let plan = request.client_streams();
    let task = |index: u16| Task {
        job: match index < plan.send {
            true => Job::Send(request.pacing),
            false => Job::Receive { welcomes: false },
        },
        size: request.block,
        form: FORM,
        omit: Span::ZERO,
    };
    (0..plan.total()).map(task).collect()
}
