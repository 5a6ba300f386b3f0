//! The running streams of one test and what is read of them.

use std::io;

use measure_protocol::{StreamPlan, TestRequest};
use observe::{Buffer, Buffers, MultipathConnection, StreamDirection};
use units::{Bytes, Span, Time};

use super::ClientError;
use super::retransmits::Sent;
use copy_net::{Channel, StreamHandle};

use crate::series::StreamSeries;
use crate::stream::{Job, StreamEnd, StreamThread, Work, close_all};
use sockets::Clock;
use sockets::options::StreamOptions;

/// The streams, those to send on first, and their readings in the present part of the run.
#[derive(Debug)]
pub(super) struct Flow {
    pub plan: StreamPlan,
    pub streams: Vec<StreamThread>,
    pub series: Vec<StreamSeries>,
    pub buffers: Vec<Option<Buffers>>,
    pub congestion: Option<String>,
    /// Counts from just before the first stream started.
    pub started: Clock,
    /// Bytes each stream had moved when the present part ended.
    pub totals: Vec<Bytes>,
    /// What each stream goes over, where multipath TCP was asked for.
    pub multipath: Option<Vec<MultipathConnection>>,
    work: Work,
    cpu_before: Vec<Option<Span>>,
}

impl Flow {
    /// Lets data flow on connected streams, those to send on first.
    ///
    /// * `budget`: how much is sent over all of them; `None` for no end.
    pub(super) fn start(
        channels: Vec<Channel>,
        request: &TestRequest,
        options: &StreamOptions,
        budget: Option<Bytes>,
    ) -> Result<Self, ClientError> {
        let plan = request.client_streams();
        let handles: Vec<StreamHandle> = channels.iter().map(Channel::handle).collect();
        let buffers = handles.iter().map(|handle| granted(handle, options));
        let connections = || vec![MultipathConnection::default(); handles.len()];
        let multipath = options.via.multipath.then(connections);
        let congestion = handles.first().and_then(StreamHandle::congestion);
        let work = Work::new(request.block, budget);
        let started = Clock::start();
        Ok(Flow {
            plan,
            buffers: buffers.collect(),
            streams: start_threads(channels, plan, &work)?,
            series: Vec::new(),
            congestion,
            started,
            totals: Vec::new(),
            multipath,
            work,
            cpu_before: Vec::new(),
        })
    }

    /// What the present part shows counts from the start of the streams.
    ///
    /// * `bound`: readings kept of each.
    pub(super) fn begin(&mut self, bound: usize) {
        let streams = self.streams.iter();
        self.series = streams.map(|_| StreamSeries::new(bound)).collect();
    }

    /// What the present part shows counts from here on.
    pub(super) fn begin_anew(&mut self, bound: usize) {
        let since = |stream| StreamSeries::since(bound, stream, Time::ZERO);
        self.series = self.streams.iter().map(since).collect();
        self.cpu_before = self.streams.iter().map(StreamThread::cpu).collect();
    }

    pub(super) fn direction(&self, index: usize) -> StreamDirection {
        direction(self.plan, index)
    }

    /// Reads all streams.
    pub(super) fn read(&mut self, now: Time) {
        let streams = self.streams.iter().zip(&mut self.series);
        streams.for_each(|(stream, series)| series.read(stream, now));
        self.see_subflows();
    }

    fn see_subflows(&mut self) {
        let connections = self.multipath.iter_mut().flatten();
        for (connection, stream) in connections.zip(&self.streams) {
            if let Some(now) = stream.connection.multipath() {
                connection.see(now);
            }
        }
    }

    /// Reads all streams for the last time in the present part: nothing counts from here on.
    pub(super) fn read_last(&mut self, now: Time) {
        let streams = self.streams.iter().zip(&mut self.series);
        streams.for_each(|(stream, series)| series.read_last(stream, now));
        let both = self.series.iter().zip(&self.streams);
        self.totals = both.map(|(series, stream)| series.moved(stream)).collect();
        self.see_subflows();
    }

    /// The senders stop; receivers read on, because a server whose writes are blocked might not
    /// notice the end.
    pub(super) fn halt_senders(&self) {
        self.senders().for_each(StreamThread::halt);
    }

    fn senders(&self) -> impl Iterator<Item = &StreamThread> {
        self.streams.iter().take(self.plan.send.into())
    }

    /// Bytes that reached the far end as far as this one can tell: acknowledged or read here.
    pub(super) fn delivered(&self) -> Bytes {
        let each = (0..self.streams.len()).filter_map(|index| self.delivered_on(index));
        each.sum()
    }

    fn delivered_on(&self, index: usize) -> Option<Bytes> {
        let series = self.series.get(index)?;
        match self.direction(index) {
            StreamDirection::Receiving => Some(series.moved(self.streams.get(index)?)),
            StreamDirection::Sending => {
                let first = series.tcp.kept().first()?.bytes_acked?;
                Some(series.latest?.bytes_acked? - first)
            }
        }
    }

    /// Over all streams on which this end sends; `None` where it sends on none or the kernel does
    /// not count.
    pub(super) fn sent_so_far(&self) -> Option<Sent> {
        let senders = self.series.iter().take(self.plan.send.into());
        Sent::sum(senders.map(|series| Sent::of(&series.latest?)))
    }

    /// The latest smoothed round-trip time of each stream.
    pub(super) fn rtts(&self) -> impl Iterator<Item = Span> {
        self.series.iter().filter_map(|series| series.latest?.rtt)
    }

    /// Bytes that the receivers have read.
    pub(super) fn received(&self) -> Bytes {
        let receivers = self.streams.iter().skip(self.plan.send.into());
        receivers.map(StreamThread::moved).sum()
    }

    /// Sent and acknowledged: what still waits in a send buffer would be lost with its stream.
    pub(super) fn has_sent_all(&self) -> bool {
        let arrived = |stream: &StreamThread| stream.connection.has_delivered_all();
        self.plan.send > 0
            && self.work.is_spent()
            && self.senders().all(StreamThread::is_over)
            && self.senders().all(arrived)
    }

    /// The first stream that ended by itself.
    pub(super) fn broken(&self) -> Option<usize> {
        (0..self.streams.len()).find(|index| self.is_broken(*index))
    }

    fn is_broken(&self, index: usize) -> bool {
        let over = self.streams.get(index).is_some_and(StreamThread::is_over);
        let by_itself = self.direction(index) == StreamDirection::Receiving;
        over && (by_itself || !self.work.is_spent())
    }

    /// Why a stream ended by itself.
    pub(super) fn failure(&mut self, index: usize) -> Option<io::Error> {
        self.streams.get_mut(index)?.close()?.failure
    }

    /// Processor time of each thread in the present part, as long as the threads run.
    pub(super) fn cpu(&self) -> Vec<Option<Span>> {
        let now = self.streams.iter().map(StreamThread::cpu);
        now.enumerate()
            .map(|(index, used)| self.cpu_since(index, used))
            .collect()
    }

    /// Closes all streams; processor time of each thread in the present part.
    pub(super) fn close(&mut self) -> Vec<Option<Span>> {
        let ends = close_all(&mut self.streams).into_iter();
        ends.enumerate()
            .map(|(index, end)| self.cpu_since(index, end.and_then(|end: StreamEnd| end.cpu)))
            .collect()
    }

    fn cpu_since(&self, index: usize, used: Option<Span>) -> Option<Span> {
        let before = self.cpu_before.get(index).copied().flatten();
        Some(used? - before.unwrap_or(Span::ZERO))
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

/// What the kernel granted, with what was asked for; `None` over UDP.
fn granted(handle: &StreamHandle, options: &StreamOptions) -> Option<Buffers> {
    let buffers = handle.buffers().ok()?;
    let asked = |buffer: Buffer| Buffer {
        asked: options.window,
        ..buffer
    };
    Some(Buffers {
        send: asked(buffers.send),
        receive: asked(buffers.receive),
    })
}

fn start_threads(
    channels: Vec<Channel>,
    plan: StreamPlan,
    work: &Work,
) -> Result<Vec<StreamThread>, ClientError> {
    let job = |index| match direction(plan, index) {
        StreamDirection::Sending => Job::Send,
        StreamDirection::Receiving => Job::Receive,
    };
    let streams = channels.into_iter().enumerate();
    let streams = streams.map(|(index, channel)| StreamThread::start(channel, job(index), work));
    Ok(streams.collect::<Result<_, _>>()?)
}
