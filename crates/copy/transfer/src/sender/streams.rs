//! The sender's streams as a whole: how many, how they fare, and which of them hang.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use copy_net::Channel;
use copy_protocol::{Activity, Opening};
use observe::{Limit, StreamCount, TcpSample, Transport};
use steer::online::{Interval, Meter, Online, RateMax, Streams as Seen};
use steer::{Scavenger, StreamReading, common_rtt, scavenger, stream_pacing, surplus};
use units::{Bytes, Rate, Span, Time};

use super::piece_size::PieceSize;
use super::send_queue::SendQueue;
use super::stream::SendStream;
use super::stream_control::{Ends, StreamControl};
use crate::opening::{first_streams, plan};
use crate::session::{SessionContext, SessionEnd, TICK};
use crate::stream_options::Part;
use crate::stream_set::StreamSet;
use files::source::Source;

/// All that a stream carried has arrived when it ends; the receiver confirms it within this time on
/// the other connection.
const CONFIRMED_MAX: Span = Span::from_secs(2);

/// Remaining time from which the end of the copy is near.
const END: Span = Span::from_secs(3);
/// Near the end, streams below this share of the mean rate of their pair of addresses take no more
/// pieces.
const SLOW: f64 = 0.5;

/// All streams of one conversation.
pub(crate) struct Streams {
    stream_set: StreamSet,
    queue: Arc<SendQueue>,
    source: Arc<Source>,
    compress: bool,
    streams: BTreeMap<u32, StreamControl>,
    online: Online,
    meter: Meter,
    scavenger: Option<Scavenger>,
    target: u16,
    /// Over several pairs of addresses.
    has_pairs: bool,
    /// The user said how many.
    is_asked_for: bool,
    last: Time,
    last_gentle: Time,
    rate_max: Option<RateMax>,
    /// The most streams that the server allows this copy.
    most: StreamCount,
    gentle_rate: Option<Rate>,
    /// Streams that ended, and when: what they carried may not be confirmed yet.
    parted: VecDeque<(Time, u32)>,
    /// Streams that were given up because they hung, or broke.
    pub replaced: u32,
}

/// What the streams did since the last look.
#[derive(Debug, Clone, Default)]
pub(crate) struct Look {
    /// As the tuner takes it.
    pub seen: Seen,
    /// The number of streams changes, and why.
    pub steered: Option<(u16, String)>,
}

impl Streams {
    /// None yet; `now`: the time before this was spent on meeting the far end.
    pub(crate) fn new(
        stream_set: StreamSet,
        queue: Arc<SendQueue>,
        source: Arc<Source>,
        opening: &Opening,
        rtt: Option<Span>,
        now: Time,
    ) -> Self {
        let gentle = opening.gentle_nanoseconds.map(Span::from_nanos);
        if let Some(rtt) = rtt {
            queue.set_rtt(rtt);
        }
        let scavenger = gentle.map(|budget| Scavenger::new(budget, rtt));
        let gentle_rate = scavenger.as_ref().map(|one| one.allowance().rate);
        let asked = opening.rate_max_bits_per_second;
        let asked = asked.map(Rate::from_bits_per_second);
        Streams {
            stream_set,
            target: first_streams(opening, rtt),
            queue,
            source,
            compress: opening.compress,
            streams: BTreeMap::new(),
            online: Online::new(plan(opening, rtt)),
            meter: Meter::default(),
            scavenger,
            has_pairs: opening.pairs > 1,
            is_asked_for: opening.streams.is_some(),
            last: now,
            last_gentle: now,
            rate_max: RateMax::lower(asked, None),
            most: StreamCount::MAX,
            gentle_rate,
            parted: VecDeque::new(),
            replaced: 0,
        }
    }

    /// As many as there should be: missing ones come, those that are too many go, and those that
    /// the receiver gave up, too.
    pub(crate) fn keep(&mut self, context: &SessionContext) {
        for (number, stream) in &mut self.streams {
            // Its thread may wait for work, and would not notice.
            if !stream.is_leaving && stream.handle.is_let_go() {
                stream.is_leaving = true;
                self.queue.leave(*number);
            }
        }
        let target = self.target.min(self.most.get());
        self.stream_set.grow(target, context);
        for number in self.surplus(target.into()) {
            if let Some(stream) = self.streams.get_mut(&number) {
                stream.is_leaving = true;
            }
            self.queue.leave(number);
        }
    }

    /// Streams that are too many.
    fn surplus(&self, keep: usize) -> Vec<u32> {
        let staying = self.streams.iter();
        let staying = staying.filter(|(_, stream)| !stream.is_leaving);
        let seen =
            |(number, stream): (&u32, &StreamControl)| (*number, self.pair_of(stream), stream.rate);
        surplus(&staying.map(seen).collect::<Vec<_>>(), keep)
    }

    /// What tells streams over several pairs of addresses apart.
    fn pair_of(&self, stream: &StreamControl) -> Option<Ends> {
        self.has_pairs.then_some(stream.ends)
    }

    /// What a stream of each pair carries on average, in bits per second.
    fn mean_rates(&self) -> BTreeMap<Option<Ends>, f64> {
        let mut sums: BTreeMap<Option<Ends>, (f64, f64)> = BTreeMap::new();
        for stream in self.streams.values() {
            let (sum, count) = sums.entry(self.pair_of(stream)).or_default();
            *sum += stream.rate;
            *count += 1.0;
        }
        let mean = |(pair, (sum, count)): (Option<Ends>, (f64, f64))| (pair, sum / count);
        sums.into_iter().map(mean).collect()
    }

    /// Ends all of them, whatever the receiver still does with its end: otherwise their threads
    /// would wait for it.
    pub(crate) fn shut_down(&self) {
        self.streams
            .values()
            .for_each(|stream| stream.handle.shut_down());
    }

    /// Another bound on the rate.
    pub(crate) fn set_rate_max(&mut self, bound: Option<RateMax>, now: Time) {
        if self.rate_max != bound {
            self.rate_max = bound;
            self.queue.set_rate_max(self.rate_max());
            self.pace(&self.readings(now));
        }
    }

    /// So many streams from now on; `None` leaves it to the steering. A gentle copy has as many as
    /// reach the rate that it may have. Returns how many there are to be where that changes.
    pub(crate) fn fix(&mut self, streams: Option<StreamCount>) -> Option<u16> {
        self.online.fix(streams);
        let wanted = self.online.streams().get();
        (self.scavenger.is_none() && wanted != self.target).then(|| {
            self.target = wanted;
            wanted
        })
    }

    /// At most so many streams from now on, before any other number; as many as there may be where
    /// that is none. Returns how many there are to be where that changes.
    pub(crate) fn limit(&mut self, most: Option<StreamCount>) -> Option<u16> {
        let most = most.unwrap_or(StreamCount::MAX);
        if most == self.most {
            return None;
        }
        let before = self.target.min(self.most.get());
        self.most = most;
        self.online.limit(most);
        if self.scavenger.is_none() {
            self.target = self.online.streams().get();
        }
        let now = self.target.min(most.get());
        (now != before).then_some(now)
    }

    /// The bound in force.
    pub(crate) fn rate_max(&self) -> Option<Rate> {
        self.rate_max.map(|bound| bound.rate)
    }

    /// Tells the kernel how fast each stream may send.
    ///
    /// Streams of a gentle copy have no more than their share: what they have in their buffers
    /// already must keep to it too. A bound on the rate is kept by the bucket, and streams
    /// may make up for each other.
    fn pace(&mut self, readings: &[StreamReading]) {
        let bound = self
            .rate_max()
            .map(|rate| stream_pacing(rate, self.streams.len()));
        let gentle = self
            .gentle_rate
            .map(|rate| scavenger::shares(rate, readings));
        let gentle: BTreeMap<u32, Rate> = gentle.unwrap_or_default().into_iter().collect();
        for (number, stream) in &mut self.streams {
            let share = gentle.get(number).copied();
            // Without pacing the bucket still keeps the bound, less smoothly.
            let _ = stream.pace(bound.into_iter().chain(share).min());
        }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u16 {
        u16::try_from(self.streams.len()).unwrap_or(u16::MAX)
    }

    /// One came. Says what there is to say of its pair of addresses.
    pub(crate) fn on_joined(
        &mut self,
        number: u32,
        channel: Channel,
        context: &SessionContext,
    ) -> Option<String> {
        tracing::debug!(stream = number, "joined");
        let news = self
            .stream_set
            .on_joined(number, channel.handle(), context.now());
        let piece_size = match self.compress {
            true => PieceSize::for_compression(),
            false => PieceSize::default(),
        };
        let is_bounded = self.rate_max.is_some() || self.scavenger.is_some();
        let rtt = self.online.rtt_min().filter(|_| !is_bounded);
        let piece_size = piece_size.for_round_trip(rtt);
        let stream = StreamControl::new(channel.handle(), piece_size.clone());
        self.streams.insert(number, stream);
        self.pace(&self.readings(context.now()));
        let (queue, source) = (Arc::clone(&self.queue), Arc::clone(&self.source));
        let stream = SendStream::new(
            number,
            channel,
            queue,
            source,
            context.report(),
            piece_size,
            self.compress,
        );
        thread::spawn(move || stream.run());
        news
    }

    /// One did not come. Says what there is to say of its pair of addresses.
    pub(crate) fn on_not_joined(
        &mut self,
        number: u32,
        context: &SessionContext,
        why: &str,
    ) -> Result<Option<String>, SessionEnd> {
        self.stream_set.on_not_joined(number, context.now(), why)
    }

    /// One is over. Returns the bytes that have to be sent again, and what there is to say of its
    /// pair of addresses.
    ///
    /// Where it ended as it should all of it has arrived, and the receiver has some time to say so.
    pub(crate) fn on_over(
        &mut self,
        number: u32,
        end: &Result<(), String>,
        now: Time,
    ) -> (u64, Option<String>) {
        let was_there = self.streams.remove(&number).is_some();
        let mut news = None;
        if was_there {
            news = self.stream_set.on_over(number, end, now);
            self.pace(&self.readings(now));
        }
        tracing::debug!(stream = number, ?end, "over");
        self.replaced += u32::from(end.is_err());
        let again = match end {
            Ok(()) => {
                self.parted.push_back((now, number));
                0
            }
            Err(_) => self.queue.over(number),
        };
        (again, news)
    }

    /// Gives pieces of ended streams to others once the receiver had time to confirm them.
    /// Returns the bytes of that.
    pub(crate) fn reassign_unconfirmed(&mut self, now: Time) -> u64 {
        let mut bytes = 0;
        while let Some((since, number)) = self.parted.front().copied()
            && now.since(since) > CONFIRMED_MAX
        {
            self.parted.pop_front();
            bytes += self.queue.over(number);
        }
        bytes
    }

    /// When to look at the clock again at the latest: a gentle copy reads its streams in time.
    pub(crate) fn next_look(&self, now: Time) -> Duration {
        let due = self.last_gentle + scavenger::PERIOD;
        match self.scavenger {
            Some(_) if due > now => TICK.min(due.since(now).into()),
            _ => TICK,
        }
    }

    /// Gives way to others, where the copy is to be gentle. Returns how many streams there are to
    /// be where that changes.
    pub(crate) fn give_way(&mut self, now: Time) -> Option<u16> {
        if now.since(self.last_gentle) < scavenger::PERIOD || self.streams.is_empty() {
            return None;
        }
        self.last_gentle = now;
        let mut scavenger = self.scavenger.take()?;
        let readings = self.readings(now);
        let allowance = scavenger.on_reading(now, &readings);
        self.scavenger = Some(scavenger);
        self.gentle_rate = Some(allowance.rate);
        self.pace(&readings);
        let wanted = allowance.streams.get();
        if self.is_asked_for || wanted == self.target {
            return None;
        }
        self.target = wanted;
        Some(wanted)
    }

    /// Looks at all of them: replaces those that hang, and asks the tuner how many there should be.
    pub(crate) fn look(
        &mut self,
        context: &SessionContext,
        left: Option<Bytes>,
        sender: Option<Activity>,
        receiver: Option<Activity>,
    ) -> Look {
        let now = context.now();
        self.stream_set.look(Part::Sends, context);
        let samples = self.samples(now);
        self.cut_stalled(now, &samples);
        self.set_piece_sizes(now.since(self.last), left, &samples);
        let all = samples.iter().map(|(_, sample)| sample);
        let common = self.has_pairs.then(|| common_rtt(all)).flatten();
        let seen = self.meter.read(samples);
        if let Some(rtt) = seen.rtt {
            self.queue.set_rtt(rtt);
        }
        let interval = Interval {
            length: now.since(self.last),
            streams: Seen {
                rtt: common.or(seen.rtt),
                ..seen
            },
            left,
            rate_max: self.rate_max,
            rate_gentle: self.gentle_rate,
            is_one_host: self.is_one_host(),
            transport: self.transport(),
            sender,
            receiver,
        };
        self.last = now;
        // While most streams wait for the receiver to hash holes, what they carry says nothing of
        // the path or of disks.
        let streams = self.streams.len().max(1) as u64;
        let is_held = self.queue.waited_for_holes().times(2) > interval.length.times(streams);
        let steer = (!is_held)
            .then(|| self.online.on_interval(&interval))
            .flatten();
        // A gentle copy has as few as reach the rate that it may have.
        let steered = steer.filter(|_| self.scavenger.is_none()).map(|steer| {
            self.target = steer.streams.get();
            self.stream_set.set_window(steer.window);
            (self.target, steer.why)
        });
        Look { seen, steered }
    }

    /// What binds now, and what limited the copy so far.
    pub(crate) fn limited(&mut self) -> (Option<Limit>, Option<copy_protocol::Limited>) {
        (self.online.binds(), self.online.limited())
    }

    /// The bytes of files that a byte on the streams stands for: more than one where pieces are
    /// compressed.
    pub(crate) fn unpacked(&self) -> f64 {
        let on_wire = self.queue.on_wire.load(Ordering::Relaxed);
        match self.compress && on_wire > 0 {
            true => self.queue.spent.totals().bytes as f64 / on_wire as f64,
            false => 1.0,
        }
    }

    /// All streams go over one.
    fn transport(&self) -> Transport {
        let mut all = self.streams.values();
        let any = all.next().map(|stream| stream.handle.transport());
        any.unwrap_or_default()
    }

    /// A connection from an address to itself leaves no host.
    fn is_one_host(&self) -> bool {
        let ends = |stream: &StreamControl| {
            Some((
                stream.handle.local().ok()?.ip(),
                stream.handle.peer().ok()?.ip(),
            ))
        };
        let mut all = self.streams.values().filter_map(ends);
        all.next().is_some_and(|(local, peer)| local == peer)
    }

    /// What the shares of a gentle copy follow from; others need none.
    fn readings(&self, now: Time) -> Vec<StreamReading> {
        if self.gentle_rate.is_none() {
            return Vec::new();
        }
        let reading = |(stream, tcp)| StreamReading { stream, tcp };
        self.samples(now).into_iter().map(reading).collect()
    }

    fn samples(&self, now: Time) -> Vec<(u32, TcpSample)> {
        let sample = |(number, stream): (&u32, &StreamControl)| {
            Some((*number, stream.handle.sample(now).ok()?))
        };
        self.streams.iter().filter_map(sample).collect()
    }

    /// A stream without acknowledgements keeps its piece size, so that a pause does not cut
    /// everything into crumbs.
    fn set_piece_sizes(&mut self, over: Span, left: Option<Bytes>, samples: &[(u32, TcpSample)]) {
        for (number, sample) in samples {
            let acked = sample.bytes_acked.unwrap_or(Bytes::ZERO);
            if let Some(stream) = self.streams.get_mut(number) {
                stream.on_acked(acked, over);
            }
        }
        let all: f64 = self.streams.values().map(|stream| stream.rate).sum();
        self.queue.set_rate(Rate::from_f64(all));
        let means = self.mean_rates();
        let is_end = left.is_some_and(|left| left.as_f64() * 8.0 < all * END.as_secs_f64());
        for stream in self.streams.values() {
            // The fastest is never below the mean, so at least one stream of each pair continues.
            let mean = means.get(&self.pair_of(stream)).copied().unwrap_or(0.0);
            stream
                .piece_size
                .set_resting(is_end && stream.rate < SLOW * mean);
        }
    }

    fn cut_stalled(&mut self, now: Time, samples: &[(u32, TcpSample)]) {
        let mut moved = Vec::new();
        for (number, sample) in samples {
            if let Some(stream) = self.streams.get_mut(number) {
                stream.stall.on_sample(now, sample);
                moved.push(stream.stall.last_moved());
            }
        }
        let newest = moved.into_iter().max().unwrap_or(now);
        for (number, sample) in samples {
            if let Some(stream) = self.streams.get(number)
                && stream.stall.is_stalled(now, newest, sample.rtt)
            {
                stream.handle.shut_down();
            }
        }
    }
}
