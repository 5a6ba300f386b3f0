//! A test of datagrams at the server: where its client's datagrams come from, and its streams.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

use measure_protocol::iperf3::datagram::{WELCOME, is_hello};
use measure_protocol::{Results, ServerOutput, TestRequest};
use observe::CpuSample;
use socket2::SockRef;
use sockets::Clock;
use sockets::options::set_dscp;
use sockets::processor;
use units::{Bytes, Span, Time};

use super::Shared;
use super::greeters::Turn;
use super::probe_demux::uniform;
use super::report::processor_percent;
use crate::datagrams::{DatagramStream, Job, Moved, PreparedStream, Task, finish_all, results};
use probe_net::trains::SharedPort;

/// How soon the answer to the last greeting is repeated where nothing follows. Longer than a round
/// trip: iperf3 takes a second answer for data, and its random rest for a number of lost datagrams.
const WELCOME_AGAIN: Span = Span::from_secs(3);
/// The longest that a test waits for its next greeting, in which a client of ours sends ten: other
/// tests of its host wait for it, and clients of ours for 15 s.
pub(super) const GREETING_MAX: Span = Span::from_secs(5);
/// Datagrams of others that a new socket may hold before it is connected.
const STRAYS_MAX: usize = 64;

/// The test of one client.
pub(super) struct DatagramTest<'a> {
    shared: &'a Shared<'a>,
    request: TestRequest,
    stage: Stage<'a>,
    /// In the order in which they are opened.
    tasks: Vec<Task>,
    since: Clock,
    /// Since a greeting came last.
    greeted: Clock,
    /// What had come when it last was more, and when that was.
    progress: (Bytes, Time),
    /// Of this process, when datagrams began to flow and when they ended.
    cpu: Option<(CpuSample, CpuSample)>,
}

enum Stage<'a> {
    /// Greetings are waited for; so many streams are open.
    Opening(Turn<'a>, Vec<UdpSocket>),
    Open(Vec<PreparedStream>),
    Running(Vec<DatagramStream>),
    Over(Vec<Moved>),
}

/// Where a running test stands.
pub(super) struct Standing {
    /// How long datagrams have flowed.
    pub took: Span,
    /// What has come.
    pub received: Bytes,
    /// How long nothing has come of a client that is to send.
    pub silent: Option<Span>,
}

impl<'a> DatagramTest<'a> {
    /// A test whose turn it is.
    pub(super) fn begin(shared: &'a Shared<'a>, request: &TestRequest, turn: Turn<'a>) -> Self {
        DatagramTest {
            shared,
            request: request.clone(),
            stage: Stage::Opening(turn, Vec::new()),
            tasks: tasks(request),
            since: Clock::start(),
            greeted: Clock::start(),
            progress: (Bytes::ZERO, Time::ZERO),
            cpu: None,
        }
    }

    /// What rings when a greeting has come; `None` once all have.
    pub(super) fn watched(&self) -> Option<BorrowedFd<'_>> {
        match &self.stage {
            Stage::Opening(turn, _) => Some(turn.as_fd()),
            _ => None,
        }
    }

    /// Opens streams of which the greeting has come; how many.
    pub(super) fn opened(&mut self, local: SocketAddr) -> io::Result<u16> {
        let Stage::Opening(turn, sockets) = &mut self.stage else {
            return Ok(0);
        };
        let mut opened = 0;
        while let Some(from) = turn.next() {
            let socket = open(self.shared, &self.request, uniform(local), from)?;
            socket.send(&WELCOME)?;
            sockets.push(socket);
            self.since = Clock::start();
            self.greeted = Clock::start();
            opened += 1;
        }
        answer_again(sockets);
        if opened == 0
            && self.since.now() >= Time::ZERO + WELCOME_AGAIN
            && let Some(last) = sockets.last()
        {
            // A client that does not repeat its greeting waits for the answer.
            let _ = last.send(&WELCOME);
            self.since = Clock::start();
        }
        if sockets.len() >= self.tasks.len() {
            let open = std::mem::take(sockets).into_iter().zip(&self.tasks);
            let open = open.map(|(socket, task)| PreparedStream::new(socket, *task));
            self.stage = Stage::Open(open.collect::<Result<_, _>>()?);
        }
        Ok(opened)
    }

    /// Whether the next greeting is so late that other tests of its host have to go on.
    pub(super) fn is_overdue(&self) -> bool {
        let is_opening = matches!(self.stage, Stage::Opening(..));
        is_opening && self.greeted.now() > Time::ZERO + GREETING_MAX
    }

    /// Lets datagrams flow.
    pub(super) fn start(&mut self) -> io::Result<()> {
        self.since = Clock::start();
        self.cpu = processor::of_process(Time::ZERO).map(|first| (first, first));
        if let Stage::Open(streams) = &mut self.stage {
            let streams = std::mem::take(streams);
            let streams = streams.into_iter().map(PreparedStream::start);
            self.stage = Stage::Running(streams.collect::<Result<_, _>>()?);
        }
        Ok(())
    }

    /// `None` while datagrams do not flow.
    pub(super) fn standing(&mut self) -> Option<Standing> {
        let Stage::Running(streams) = &self.stage else {
            return None;
        };
        let receivers = || {
            streams
                .iter()
                .zip(&self.tasks)
                .filter(|(_, task)| !task.sends())
        };
        let received = receivers().map(|(stream, _)| stream.bytes()).sum();
        let now = self.since.now();
        if received > self.progress.0 {
            self.progress = (received, now);
        }
        let is_to_come = receivers().next().is_some();
        Some(Standing {
            took: now.since(Time::ZERO),
            received,
            silent: is_to_come.then(|| now.since(self.progress.1)),
        })
    }

    /// Ends the streams.
    pub(super) fn close(&mut self) {
        if let Stage::Running(streams) = &mut self.stage {
            self.stage = Stage::Over(finish_all(streams));
            if let (Some((_, last)), Some(now)) =
                (&mut self.cpu, processor::of_process(self.since.now()))
            {
                *last = now;
            }
        }
    }

    /// What was seen; nothing before the end.
    fn moved(&self) -> &[Moved] {
        match &self.stage {
            Stage::Over(moved) => moved,
            _ => &[],
        }
    }

    /// What the client is told.
    pub(super) fn results(&self) -> Results {
        let (total, user, system) = processor_percent(self.cpu);
        let is_wanted = self.request.server_output == ServerOutput::Wanted;
        Results {
            cpu_util_total: total,
            cpu_util_user: user,
            cpu_util_system: system,
            server_output_text: is_wanted.then(|| self.text()),
            ..results(self.moved(), self.request.offer.is_some())
        }
    }

    fn text(&self) -> String {
        let line = |(number, one): (u32, &Moved)| {
            let bytes = one.bytes.human();
            match one.sent {
                true => format!(
                    "stream {number}: sent {} datagrams, {bytes}; could not send {}\n",
                    one.highest, one.not_sent
                ),
                false => format!(
                    "stream {number}: received {bytes}, lost {} of {}, {} reordered, {} twice, {} \
                     dropped by this host, jitter {}\n",
                    one.lost,
                    one.highest,
                    one.reordered,
                    one.duplicates,
                    one.dropped,
                    one.jitter.human()
                ),
            }
        };
        let lines: String = (1..).zip(self.moved()).map(line).collect();
        format!("trunkline serve, datagrams\n{lines}")
    }

    /// How long it took, what was received and what was sent.
    pub(super) fn totals(&self) -> (Span, Bytes, Bytes) {
        let moved = self.moved();
        let sum = |sent: bool| {
            let some = moved.iter().filter(|one| one.sent == sent);
            some.map(|one| one.bytes).sum()
        };
        let longest = moved.iter().map(|one| one.duration).max();
        (longest.unwrap_or(Span::ZERO), sum(false), sum(true))
    }
}

impl Drop for DatagramTest<'_> {
    /// All at once: each notices within a moment, and they are waited for one after another.
    fn drop(&mut self) {
        if let Stage::Running(streams) = &self.stage {
            streams.iter().for_each(DatagramStream::halt);
        }
    }
}

/// Those to receive on come first.
fn tasks(request: &TestRequest) -> Vec<Task> {
    let plan = request.server_streams();
    let task = |index: u16| {
        let job = match index < plan.receive {
            true => Job::Receive {
                welcomes: index + 1 == plan.total(),
            },
            false => Job::Send(request.pacing),
        };
        Task {
            job,
            size: request.block,
            form: request.datagrams.unwrap_or_default(),
            omit: request.omit,
        }
    };
    (0..plan.total()).map(task).collect()
}

/// A socket towards one stream's end.
fn open(
    shared: &Shared<'_>,
    request: &TestRequest,
    local: SocketAddr,
    from: SocketAddr,
) -> io::Result<UdpSocket> {
    let port = shared.echo.ok_or(io::ErrorKind::Unsupported)?;
    let beside = SharedPort {
        shared: port,
        lock: &shared.port,
    };
    let socket: UdpSocket = beside.connected(local, from)?.into();
    if let Some(dscp) = request.dscp {
        set_dscp(&SockRef::from(&socket), dscp).map_err(io::Error::other)?;
    }
    socket.set_nonblocking(true)?;
    // Until it was connected, it was given what others sent, too.
    let mut datagram = [0; 64];
    for _ in 0..STRAYS_MAX {
        let Ok((length, other)) = socket.recv_from(&mut datagram) else {
            break;
        };
        if uniform(other) != from {
            let bytes = datagram.get(..length).unwrap_or_default();
            shared.greeters.greet(bytes, other);
        }
    }
    Ok(socket)
}

/// Greetings that are repeated: their answers were lost.
fn answer_again(sockets: &[UdpSocket]) {
    let mut datagram = [0; 8];
    for socket in sockets {
        if let Ok(length) = socket.recv(&mut datagram)
            && is_hello(datagram.get(..length).unwrap_or_default())
        {
            let _ = socket.send(&WELCOME);
        }
    }
}

/// The host that a client is on, whose greetings are waited for.
pub(super) fn host(peer: SocketAddr) -> IpAddr {
    uniform(peer).ip()
}
