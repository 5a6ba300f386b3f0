//! The running streams of a test.

use std::io::ErrorKind;
use std::net::TcpStream;

use observe::{Amount, Buffers, CpuSample, Ladder, SamplePlan, Snapshot, StreamDirection};
use units::{Bytes, Rate, Span, Time};
use wire::{StreamPlan, TestRequest};

use super::ClientError;
use super::sent::Sent;
use crate::clock::Clock;
use crate::options::{self, StreamOptions};
use crate::processor;
use crate::stream::{Job, StreamEnd, StreamThread, Work, close_all};
use crate::telemetry::StreamSeries;

/// Readings kept over all streams: some tens of megabytes at the most.
const READINGS_MAX: usize = 200_000;
/// A broken stream is the server's to explain; this is how long it may take.
const EXPLANATION_WAIT: Span = Span::from_secs(1);
/// Longest time without progress in a test that counts bytes.
const STALL_MAX: Span = Span::from_secs(30);

/// The streams, their readings and their clock.
pub(super) struct Flow {
    pub plan: StreamPlan,
    pub streams: Vec<StreamThread>,
    pub series: Vec<StreamSeries>,
    pub buffers: Vec<Buffers>,
    pub cpu: Ladder<CpuSample>,
    pub congestion: Option<String>,
    pub clock: Clock,
    /// Bytes each stream had moved when the test ended.
    pub totals: Vec<Bytes>,
    pub duration: Span,
    work: Work,
    amount: Amount,
    next_reading: Time,
    last: Snapshot,
    sent: Option<Sent>,
    moved_at: Time,
    broken_at: Option<Time>,
}

impl Flow {
    /// Lets data flow on connected streams, those to send on first.
    pub(super) fn start(
        sockets: Vec<TcpStream>,
        request: &TestRequest,
        options: &StreamOptions,
        amount: Amount,
    ) -> Result<Self, ClientError> {
        let plan = request.client_streams();
        let buffers = sockets.iter().map(|socket| options.granted(socket));
        let buffers = buffers.collect::<Result<Vec<_>, _>>()?;
        let congestion = sockets.first().and_then(options::congestion);
        let work = Work::new(request.block, budget(amount));
        let clock = Clock::start();
        let streams = start_threads(sockets, plan, &work)?;
        let bound = READINGS_MAX / streams.len().max(1);
        Ok(Flow {
            plan,
            series: streams.iter().map(|_| StreamSeries::new(bound)).collect(),
            streams,
            buffers,
            cpu: Ladder::new(bound),
            congestion,
            clock,
            totals: Vec::new(),
            duration: Span::ZERO,
            work,
            amount,
            next_reading: Time::ZERO,
            last: start_of(amount),
            sent: None,
            moved_at: Time::ZERO,
            broken_at: None,
        })
    }

    pub(super) fn is_running(&self) -> bool {
        self.totals.is_empty()
    }

    pub(super) fn direction(&self, index: usize) -> StreamDirection {
        direction(self.plan, index)
    }

    /// How long until the streams have to be looked at again.
    pub(super) fn until_due(&self) -> Span {
        let now = self.clock.now();
        let end = match self.amount {
            Amount::Time(length) => Time::ZERO + length,
            Amount::Bytes(_) => Time::MAX,
        };
        self.next_reading.min(end).since(now)
    }

    /// Reads all streams when it is time; what to show then beside the latest probe.
    pub(super) fn read_when_due(&mut self, probe_rtt: Option<Span>) -> Option<Snapshot> {
        let now = self.clock.now();
        if now < self.next_reading {
            return None;
        }
        let streams = self.streams.iter().zip(&mut self.series);
        streams.for_each(|(stream, series)| series.read(stream, now));
        if let Some(sample) = processor::of_process(now) {
            self.cpu.offer(sample);
        }
        self.next_reading = (self.next_reading + SamplePlan::INTERVAL).max(now);
        Some(self.snapshot(now, probe_rtt))
    }

    fn snapshot(&mut self, now: Time, probe_rtt: Option<Span>) -> Snapshot {
        let bytes = self.delivered();
        let sent = self.sent_so_far();
        let before = std::mem::replace(&mut self.sent, sent);
        if bytes > self.last.bytes {
            self.moved_at = now;
        }
        self.last = Snapshot {
            at: now,
            duration_max: self.last.duration_max,
            bytes,
            rate: Rate::of(bytes - self.last.bytes, now.since(self.last.at)),
            rtt: self.mean_rtt(),
            probe_rtt,
            retransmitted_share: sent.and_then(|sent| sent.repeated_since(before?)),
        };
        self.last
    }

    /// Bytes that reached the far end as far as this one can tell: acknowledged or read here.
    pub(super) fn delivered(&self) -> Bytes {
        let each = (0..self.streams.len()).filter_map(|index| self.delivered_on(index));
        each.sum()
    }

    fn delivered_on(&self, index: usize) -> Option<Bytes> {
        match self.direction(index) {
            StreamDirection::Receiving => Some(self.streams.get(index)?.moved()),
            StreamDirection::Sending => {
                let series = self.series.get(index)?;
                let first = series.tcp.kept().first()?.bytes_acked?;
                Some(series.latest?.bytes_acked? - first)
            }
        }
    }

    fn mean_rtt(&self) -> Option<Span> {
        let rtts = self.series.iter().filter_map(|series| series.latest?.rtt);
        let rtts: Vec<f64> = rtts.map(Span::as_secs_f64).collect();
        stats::mean(&rtts).map(Span::from_secs_f64)
    }

    /// Over all streams on which this end sends; `None` where it sends on none or the kernel does
    /// not count.
    fn sent_so_far(&self) -> Option<Sent> {
        let senders = self.series.iter().take(self.plan.send.into());
        let each = senders.map(|series| Sent::of(&series.latest?));
        each.reduce(|sum, one| Some(sum?.plus(one?)))?
    }

    /// Whether the amount that was asked for has passed.
    pub(super) fn is_complete(&self) -> bool {
        match self.amount {
            Amount::Time(length) => self.clock.now().since(Time::ZERO) >= length,
            Amount::Bytes(wanted) => self.has_received(wanted) || self.has_sent_all(),
        }
    }

    fn has_received(&self, wanted: Bytes) -> bool {
        let receivers = self.streams.iter().skip(self.plan.send.into());
        receivers.map(StreamThread::moved).sum::<Bytes>() >= wanted
    }

    /// Sent and acknowledged: what still waits in a send buffer would be lost with its stream.
    fn has_sent_all(&self) -> bool {
        let senders = || self.streams.iter().take(self.plan.send.into());
        let arrived = |stream: &StreamThread| {
            let sample = crate::tcp_info::read(&stream.socket, Time::ZERO);
            sample.is_ok_and(|sample| {
                sample.unacked_segments == Some(0)
                    && sample.not_sent.is_none_or(|left| left == Bytes::ZERO)
            })
        };
        self.plan.send > 0
            && self.work.is_spent()
            && senders().all(StreamThread::is_over)
            && senders().all(arrived)
    }

    /// A stream that ended by itself, or a test that stands still.
    ///
    /// The control connection gets a moment to say why before the stream is blamed.
    pub(super) fn check(&mut self) -> Result<(), ClientError> {
        let now = self.clock.now();
        if matches!(self.amount, Amount::Bytes(_)) && now.since(self.moved_at) > STALL_MAX {
            return Err(ClientError::Stalled(STALL_MAX));
        }
        let Some(index) = (0..self.streams.len()).find(|index| self.is_broken(*index)) else {
            return Ok(());
        };
        let since = *self.broken_at.get_or_insert(now);
        match now.since(since) > EXPLANATION_WAIT {
            true => Err(self.breakage(index, since)),
            false => Ok(()),
        }
    }

    fn is_broken(&self, index: usize) -> bool {
        let over = self.streams.get(index).is_some_and(StreamThread::is_over);
        let by_itself = self.direction(index) == StreamDirection::Receiving;
        over && (by_itself || !self.work.is_spent())
    }

    fn breakage(&mut self, index: usize, since: Time) -> ClientError {
        let end = self.streams.get_mut(index).and_then(StreamThread::close);
        let failure = end.and_then(|end| end.failure);
        ClientError::Broken {
            number: index + 1,
            at: since.since(Time::ZERO),
            source: failure.unwrap_or_else(|| ErrorKind::UnexpectedEof.into()),
        }
    }

    /// The test is over: nothing counts from here on. Senders stop; receivers read on, because a
    /// server whose writes are blocked might not notice the end.
    pub(super) fn end(&mut self) {
        let now = self.clock.now();
        self.duration = now.since(Time::ZERO);
        let streams = self.streams.iter().zip(&mut self.series);
        streams.for_each(|(stream, series)| series.read_last(stream, now));
        if let Some(sample) = processor::of_process(now) {
            self.cpu.close(sample);
        }
        self.totals = self.streams.iter().map(StreamThread::moved).collect();
        let senders = self.streams.iter().take(self.plan.send.into());
        senders.for_each(StreamThread::halt);
    }

    /// Closes all streams; how their threads ended.
    pub(super) fn close(&mut self) -> Vec<Option<StreamEnd>> {
        close_all(&mut self.streams)
    }
}

/// All threads are told before the first is waited for.
impl Drop for Flow {
    fn drop(&mut self) {
        close_all(&mut self.streams);
    }
}

fn direction(plan: StreamPlan, index: usize) -> StreamDirection {
    match index < usize::from(plan.send) {
        true => StreamDirection::Sending,
        false => StreamDirection::Receiving,
    }
}

fn budget(amount: Amount) -> Option<Bytes> {
    match amount {
        Amount::Time(_) => None,
        Amount::Bytes(bytes) => Some(bytes),
    }
}

fn start_threads(
    sockets: Vec<TcpStream>,
    plan: StreamPlan,
    work: &Work,
) -> Result<Vec<StreamThread>, ClientError> {
    let job = |index| match direction(plan, index) {
        StreamDirection::Sending => Job::Send,
        StreamDirection::Receiving => Job::Receive,
    };
    let streams = sockets.into_iter().enumerate();
    let streams = streams.map(|(index, socket)| StreamThread::start(socket, job(index), work));
    Ok(streams.collect::<Result<_, _>>()?)
}

fn start_of(amount: Amount) -> Snapshot {
    Snapshot {
        at: Time::ZERO,
        duration_max: match amount {
            Amount::Time(length) => Some(length),
            Amount::Bytes(_) => None,
        },
        bytes: Bytes::ZERO,
        rate: Rate::ZERO,
        rtt: None,
        probe_rtt: None,
        retransmitted_share: None,
    }
}
