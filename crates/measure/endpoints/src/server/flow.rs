//! The running streams of one session.

use copy_net::Channel;
use measure_protocol::{StreamPlan, TestEnd, TestRequest};
use observe::{CpuSample, SamplePlan};
use units::{Bytes, Span, Time};

use super::event::SessionError;
use crate::series::StreamSeries;
use crate::stream::{Job, StreamThread, Work, close_all};
use sockets::Clock;
use sockets::processor;

/// Readings kept over all streams of a session: a few megabytes.
const READINGS_MAX: usize = 40_000;

/// How far the streams were when counting began.
struct Baseline {
    at: Time,
    moved: Vec<Bytes>,
    retransmits: Vec<u32>,
}

/// The streams, their readings and their clock.
pub(super) struct Flow {
    pub plan: StreamPlan,
    pub streams: Vec<StreamThread>,
    pub series: Vec<StreamSeries>,
    pub cpu: Option<(CpuSample, CpuSample)>,
    pub duration: Span,
    omit: Span,
    baseline: Option<Baseline>,
    /// When the last report was given, from which on everything but `duration` counts.
    reported_at: Time,
    started: Clock,
    next_reading: Time,
    moved: Bytes,
    moved_at: Time,
    open: bool,
}

impl Flow {
    /// Lets data flow on streams in their agreed order, those to receive on first.
    pub(super) fn start(
        request: &TestRequest,
        channels: Vec<Channel>,
    ) -> Result<Self, SessionError> {
        let plan = request.server_streams();
        let started = Clock::start();
        let cpu = processor::of_process(Time::ZERO);
        let streams = start_threads(request, plan, channels)?;
        let bound = readings_max(streams.len());
        Ok(Flow {
            plan,
            series: streams.iter().map(|_| StreamSeries::new(bound)).collect(),
            streams,
            cpu: cpu.map(|first| (first, first)),
            duration: Span::ZERO,
            omit: request.omit,
            baseline: None,
            reported_at: Time::ZERO,
            started,
            next_reading: Time::ZERO,
            moved: Bytes::ZERO,
            moved_at: Time::ZERO,
            open: true,
        })
    }

    pub(super) fn is_open(&self) -> bool {
        self.open
    }

    /// How long data has flowed.
    pub(super) fn elapsed(&self) -> Span {
        self.started.now().since(Time::ZERO)
    }

    /// How long until the streams have to be read; `None` once they are closed.
    pub(super) fn until_reading(&self) -> Option<Span> {
        let left = self.next_reading.since(self.started.now());
        self.open.then_some(left)
    }

    /// Reads all streams when it is time.
    pub(super) fn read_when_due(&mut self) {
        let now = self.started.now();
        if now < self.next_reading {
            return;
        }
        let streams = self.streams.iter().zip(&mut self.series);
        streams.for_each(|(stream, series)| series.read(stream, now));
        self.next_reading = (self.next_reading + SamplePlan::INTERVAL).max(now);
        let moved = self.streams.iter().map(StreamThread::moved).sum();
        if moved != self.moved {
            (self.moved, self.moved_at) = (moved, now);
        }
        if self.baseline.is_none() && now.since(Time::ZERO) >= self.omit {
            self.baseline = Some(self.position(now));
        }
    }

    fn position(&self, at: Time) -> Baseline {
        let retransmits = (0..self.streams.len()).map(|index| self.retransmits_seen(index));
        Baseline {
            at,
            moved: self.streams.iter().map(StreamThread::moved).collect(),
            retransmits: retransmits.map(Option::unwrap_or_default).collect(),
        }
    }

    fn retransmits_seen(&self, index: usize) -> Option<u32> {
        self.series.get(index)?.retransmits()
    }

    /// The baseline of a test that leaves its beginning out.
    fn omitted(&self) -> Option<&Baseline> {
        self.baseline.as_ref().filter(|_| self.omit > Span::ZERO)
    }

    /// Bytes of a stream without the omitted beginning.
    pub(super) fn counted(&self, index: usize) -> Option<Bytes> {
        let moved = self.series.get(index)?.moved(self.streams.get(index)?);
        let before = self.omitted().and_then(|before| before.moved.get(index));
        Some(moved - before.copied().unwrap_or(Bytes::ZERO))
    }

    /// Time without the omitted beginning.
    pub(super) fn counted_time(&self) -> Span {
        let before = self.omitted().map(|before| before.at.since(Time::ZERO));
        let since_report = self.duration - self.reported_at.since(Time::ZERO);
        since_report - before.unwrap_or(Span::ZERO)
    }

    /// Segments sent again without the omitted beginning.
    pub(super) fn retransmits(&self, index: usize) -> Option<u64> {
        let seen = self.retransmits_seen(index)?;
        let before = self
            .omitted()
            .and_then(|before| before.retransmits.get(index));
        Some(seen.saturating_sub(before.copied().unwrap_or(0)).into())
    }

    /// How long nothing has moved.
    pub(super) fn idle(&self) -> Span {
        self.started.now().since(self.moved_at)
    }

    /// Reads the streams for a report; the streams go on.
    pub(super) fn take_stock(&mut self) {
        let now = self.started.now();
        self.duration = now.since(Time::ZERO);
        if let (Some((_, last)), Some(sample)) = (&mut self.cpu, processor::of_process(now)) {
            *last = sample;
        }
        let streams = self.streams.iter().zip(&mut self.series);
        streams.for_each(|(stream, series)| series.read_last(stream, now));
    }

    /// Counts from here on, after a report was given.
    pub(super) fn count_anew(&mut self) {
        let now = self.started.now();
        self.reported_at = now;
        self.omit = Span::ZERO;
        self.cpu = processor::of_process(now).map(|first| (first, first));
        let bound = readings_max(self.streams.len());
        let streams = self.streams.iter();
        let series = streams.map(|stream| StreamSeries::since(bound, stream, now));
        self.series = series.collect();
        self.next_reading = now + SamplePlan::INTERVAL;
    }

    /// The client ended the test: reads the streams for the last time and closes them.
    pub(super) fn close(&mut self) {
        self.open = false;
        self.streams.iter().for_each(StreamThread::halt);
        self.take_stock();
        close_all(&mut self.streams);
    }

    /// Bytes received and sent.
    pub(super) fn totals(&self) -> (Bytes, Bytes) {
        let (receivers, senders) = self.streams.split_at(self.plan.receive.into());
        let sum = |streams: &[StreamThread]| streams.iter().map(StreamThread::moved).sum();
        (sum(receivers), sum(senders))
    }
}

fn readings_max(streams: usize) -> usize {
    READINGS_MAX / streams.max(1)
}

/// All threads are told before the first is waited for.
impl Drop for Flow {
    fn drop(&mut self) {
        close_all(&mut self.streams);
    }
}

/// The streams of a test that counts bytes are read to their last byte.
fn start_threads(
    request: &TestRequest,
    plan: StreamPlan,
    channels: Vec<Channel>,
) -> Result<Vec<StreamThread>, SessionError> {
    let (budget, receiving) = match request.end {
        TestEnd::Bytes(bytes) => (budget(request, bytes), Job::ReceiveAll),
        TestEnd::After(_) | TestEnd::Client => (None, Job::Receive),
    };
    let work = Work::new(request.block, budget);
    let job = |index: usize| match index < usize::from(plan.receive) {
        true => receiving,
        false => Job::Send,
    };
    let streams = channels.into_iter().enumerate();
    let streams = streams.map(|(index, channel)| StreamThread::start(channel, job(index), &work));
    Ok(streams.collect::<Result<_, _>>()?)
}

/// A client that leaves the beginning out counts its bytes only from then on, and ends the test.
fn budget(request: &TestRequest, bytes: Bytes) -> Option<Bytes> {
    (request.omit == Span::ZERO).then_some(bytes)
}
