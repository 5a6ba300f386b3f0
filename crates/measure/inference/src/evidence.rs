//! What a sample showed, in the terms in which a path explains it.

use observe::{Direction, Limit, Observation, Setting, Stream, StreamDirection, Summary};
use observe::{TcpSummary, Transport, Window};
use units::{Bytes, Rate, Span, Time};

use crate::rounds::{Control, Run};

/// Parts of a sample at the most, and the least length of one in seconds and in round trips.
const PARTS: f64 = 48.0;
const PART_MIN: (f64, f64) = (0.4, 3.0);
/// Payload of a segment where no kernel says: that of Ethernet with time stamps.
const SEGMENT: f64 = 1448.0;
/// The least that a far end is believed: IPv4 carries packets of 68 bytes (RFC 791).
const SEGMENT_MIN: f64 = 16.0;
/// Of a fixed buffer, which Linux doubles, so much is offered as window for each byte asked for.
const OFFERED: f64 = 1.25;
/// The share of busy time in which a buffer holds streams back, from which on it binds.
const HELD: f64 = 0.3;
/// ... and from which on it may leave the kernel with nothing to send.
const HELD_SOME: f64 = 0.1;
/// A window that falls by more than this is closed by a program that does not read, or by what
/// waits behind lost packets: kernels never shrink buffers.
const FALLS: f64 = 0.5;
/// More than half of the readings, or of what was sent again.
const MOSTLY: f64 = 0.5;
/// Less of the time with data outstanding: the program leaves connections idle.
const BUSY: f64 = 0.9;
/// Where more than this is lost, timeouts leave connections idle.
const LOSES: f64 = 0.05;
/// A thread that uses this much of a processor has next to none left, and so has a program that
/// leaves its connections idle.
const PROCESSOR: f64 = 0.9;

/// What one sample showed.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// What was sent.
    pub run: Run,
    /// Its parts of equal length.
    pub parts: Vec<Part>,
    /// Payload of a segment, bytes.
    pub segment: f64,
    /// The shortest round trip, seconds.
    pub rtt_min: Option<f64>,
    /// How long packets waited before any stream sent, on average, seconds; `None` where nothing
    /// was probed then.
    pub idle_wait: Option<f64>,
    /// What held the streams back, as a host's kernel counted.
    pub held: Option<Held>,
    /// What queues marked instead of dropping it; `None` where nothing was marked.
    pub marks: Option<Marks>,
    /// Payload on the way of each stream, the most over its parts, bytes.
    pub on_way: f64,
    /// Goodput once it had settled, as its row says it, bits per second.
    pub settled: f64,
}

/// A part of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Part {
    /// Payload that arrived, bits per second.
    pub rate: f64,
    /// Segments sent again, and each mark that a sender answered as one more: it answers both alike
    /// (RFC 3168, section 5). `None` where no kernel says.
    pub lost: Option<f64>,
    /// Mean round trip, seconds; `None` where it is unknown.
    pub rtt: Option<f64>,
}

/// What queues on the way marked instead of dropping it (ECN, RFC 3168).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Marks {
    /// How often senders were told to slow down, as [`Part::lost`] counts it.
    pub signals: f64,
    /// Segments of which an acknowledgement echoed a mark, as a share of those that arrived, once
    /// the rate had settled.
    pub echoed: f64,
    /// Segments sent again, in the same time.
    pub resent: u64,
}

impl Marks {
    fn of(streams: &[&Stream], seconds: f64, tcp: &TcpSummary) -> Option<Marks> {
        let signals: f64 = streams.iter().map(|one| answered(one, 0.0, seconds)).sum();
        (signals > 0.0).then(|| Marks {
            signals,
            echoed: tcp.mark_echoed_share.unwrap_or(0.0),
            resent: tcp.retransmits.unwrap_or(0),
        })
    }
}

/// What held streams back, as a host's kernel counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Held {
    /// The receiver's buffer: each stream had so many bytes on the way.
    ReceiveBuffer(f64),
    /// The same buffer, which a program leaves full.
    SlowReader(f64),
    /// The sender's buffer.
    SendBuffer(f64),
    /// The sending program had nothing to send: so many bits per second in all.
    Program(f64),
    /// A thread for each stream had no processor left: so many bits per second each.
    Processor(f64),
    /// Packets overtake each other: most of what was sent again had arrived.
    Reordering,
}

impl Evidence {
    /// What `seen` shows of its main direction; `None` where nothing can be told over time, or data
    /// went both ways.
    ///
    /// * `congestion`: what the sender uses where the setting names nothing.
    pub fn of(seen: &Observation, congestion: Option<&str>) -> Option<Evidence> {
        let way = match seen.setting.direction {
            Direction::Forward => StreamDirection::Sending,
            Direction::Reverse => StreamDirection::Receiving,
            Direction::Both => return None,
        };
        let streams: Vec<&Stream> = seen
            .streams
            .iter()
            .filter(|one| one.direction == way)
            .collect();
        let summary = seen.summary();
        let main = summary.main()?;
        let tcp = &main.tcp;
        let readings = streams.iter().flat_map(|one| &one.tcp);
        let smoothed = || readings.filter_map(|one| one.rtt).min();
        let least = [tcp.rtt_min, summary.rtt_unloaded].into_iter().flatten();
        let rtt_min = least.min().or_else(smoothed);
        let rtt = rtt_min.map_or(0.0, Span::as_secs_f64);
        // A sender that may not use what was asked for says what it used.
        let used = seen.congestion_used.clone();
        let setting = Setting {
            congestion: used.or_else(|| seen.setting.congestion.clone()),
            ..seen.setting.clone()
        };
        let run = Run {
            seconds: seen.duration.as_secs_f64(),
            joined: seen.grown_from.map_or(0, |count| count.get().into()),
            window: granted(&seen.setting, &streams),
            ..of_setting(&setting, congestion)
        };
        let parts = parts(seen, &streams, run.seconds, rtt)?;
        let held = Held::of(&summary);
        Some(Evidence {
            run,
            held: held.filter(|held| *held != Held::Reordering || goes_on(&parts)),
            marks: Marks::of(&streams, run.seconds, tcp),
            parts,
            segment: tcp.mss.map_or(SEGMENT, Bytes::as_f64).max(SEGMENT_MIN),
            rtt_min: rtt_min.map(Span::as_secs_f64),
            idle_wait: summary.rtt_unloaded.map(|idle| idle.as_secs_f64() - rtt),
            on_way: most_on_way(&streams),
            settled: main.goodput.mean.as_f64(),
        })
    }

    /// Mean goodput from the part `from` on, bits per second.
    pub fn goodput(&self, from: usize) -> f64 {
        let parts = &self.parts[from.min(self.parts.len())..];
        let sum: f64 = parts.iter().map(|part| part.rate).sum();
        sum / parts.len().max(1) as f64
    }

    /// The mean goodput of the better half of its parts: what waits behind a hole is read at once
    /// when that is filled, and makes a single part look fast.
    pub fn peak(&self) -> f64 {
        let mut rates: Vec<f64> = self.parts.iter().map(|part| part.rate).collect();
        rates.sort_by(f64::total_cmp);
        let better = &rates[rates.len() / 2..];
        better.iter().sum::<f64>() / better.len().max(1) as f64
    }
}

impl Held {
    /// What the kernels counted of the main direction.
    pub fn of(summary: &Summary) -> Option<Held> {
        let main = summary.main()?;
        let tcp = &main.tcp;
        let share = |share: Option<f64>| share.unwrap_or(0.0);
        let rate = main.goodput.mean.as_f64();
        let each = rate / main.streams.len().max(1) as f64;
        let product = each / 8.0 * tcp.rtt.map_or(0.0, Span::as_secs_f64);
        let on_way = tcp.flight.map_or(product, Bytes::as_f64).max(SEGMENT_MIN);
        let (receive, send) = (
            share(tcp.receive_window_share),
            share(tcp.send_buffer_share),
        );
        let is_processor = share(main.thread_cpu_share) >= PROCESSOR;
        let processor = summary.cpu_near.map_or(0.0, |(user, kernel)| user + kernel);
        match () {
            () if is_processor => Some(Held::Processor(each)),
            () if receive.max(send) > HELD && send >= receive => Some(Held::SendBuffer(on_way)),
            () if receive > HELD || share(tcp.window_full_share) > MOSTLY => {
                let is_read = share(tcp.peer_window_fall) <= FALLS || always_misses(tcp, each);
                Some(match is_read {
                    true => Held::ReceiveBuffer(on_way),
                    false => Held::SlowReader(on_way),
                })
            }
            () if share(tcp.duplicate_share) > MOSTLY && tcp.reorderings != Some(0) => {
                Some(Held::Reordering)
            }
            () if !is_idle(tcp) => None,
            () if processor >= PROCESSOR => Some(Held::Processor(each)),
            () => Some(Held::Program(rate)),
        }
    }

    /// What it is called.
    pub fn limit(self) -> Limit {
        match self {
            Held::ReceiveBuffer(_) => Limit::ReceiveBuffer,
            Held::SlowReader(_) => Limit::SlowReader,
            Held::SendBuffer(_) => Limit::SendBuffer,
            Held::Program(_) => Limit::Application,
            Held::Processor(_) => Limit::Host,
            Held::Reordering => Limit::Reordering,
        }
    }
}

/// Whether the program leaves connections idle, and not timeouts.
fn is_idle(tcp: &TcpSummary) -> bool {
    let is_lossy = tcp.retransmitted_share.is_some_and(|share| share >= LOSES);
    let is_idle = tcp.busy_share.is_some_and(|busy| busy < BUSY);
    let held = [tcp.receive_window_share, tcp.send_buffer_share]
        .into_iter()
        .flatten();
    let has_nothing = tcp.not_sent_empty_share.is_some_and(|share| share > MOSTLY)
        && held.fold(0.0, f64::max) < HELD_SOME;
    (is_idle || has_nothing) && !is_lossy
}

/// Whether a stream of `rate` loses a packet in each round trip and more, so that something always
/// waits in the receiver's buffer behind one that is missing.
fn always_misses(tcp: &TcpSummary, rate: f64) -> bool {
    let lost = tcp.retransmitted_share.unwrap_or(0.0);
    let rtt = tcp.rtt_min.map_or(0.0, Span::as_secs_f64);
    lost * rate * rtt / (8.0 * SEGMENT) >= 1.0
}

/// What a long run of `setting` sends.
///
/// * `congestion`: what the sender uses where the setting names nothing.
pub fn of_setting(setting: &Setting, congestion: Option<&str>) -> Run {
    let control = match setting.transport {
        Transport::Udp => Control::Rate,
        Transport::Tcp => control(setting.congestion.as_deref().or(congestion)),
    };
    Run {
        streams: setting.streams.get().into(),
        joined: 0,
        window: setting.window.fixed().map(|asked| OFFERED * asked.as_f64()),
        control,
        pacing: setting.pacing.map(Rate::as_f64),
        seconds: 60.0,
    }
}

fn control(name: Option<&str>) -> Control {
    match name {
        Some("reno") => Control::Reno,
        Some("bbr") => Control::Rate,
        _ => Control::Cubic,
    }
}

/// What the hosts gave where a window was asked for.
fn granted(setting: &Setting, streams: &[&Stream]) -> Option<f64> {
    let Window::Fixed(asked) = setting.window else {
        return None;
    };
    let asked = OFFERED * asked.as_f64();
    let least = |buffers: observe::Buffers| {
        let offered = OFFERED / 2.0 * buffers.receive.granted.as_f64();
        offered.min(buffers.send.granted.as_f64())
    };
    let near = streams.first().and_then(|one| one.buffers).map(least);
    let far = streams.first().and_then(|one| one.buffers_far).map(least);
    Some([near, far].into_iter().flatten().fold(asked, f64::min))
}

/// Whether losses go on after streams have started: what is sent again in vain after a burst of
/// them is no sign of reordering.
fn goes_on(parts: &[Part]) -> bool {
    let lost = |parts: &[Part]| parts.iter().filter_map(|one| one.lost).sum::<f64>();
    let late = lost(&parts[parts.len().div_ceil(3)..]);
    late > 0.0 && late >= lost(parts) / 3.0
}

/// The most that one stream had on the way.
fn most_on_way(streams: &[&Stream]) -> f64 {
    let readings = streams.iter().flat_map(|one| &one.tcp);
    let bytes =
        readings.filter_map(|one| Some(f64::from(one.unacked_segments?) * one.mss?.as_f64()));
    bytes.fold(0.0, f64::max)
}

fn parts(seen: &Observation, streams: &[&Stream], seconds: f64, rtt: f64) -> Option<Vec<Part>> {
    let rates: Vec<f64> = seen.rates().into_iter().map(Rate::as_f64).collect();
    let least = PART_MIN.0.max(PART_MIN.1 * rtt);
    let count = (seconds / least).floor().clamp(1.0, PARTS) as usize;
    if rates.len() < count || seconds <= 0.0 {
        return None;
    }
    let edge = |number: usize| number as f64 * seconds / count as f64;
    let part = |number: usize| {
        let (from, to) = (edge(number), edge(number + 1));
        let cell =
            |at: f64| ((at / seconds * rates.len() as f64).round() as usize).min(rates.len());
        let cells = &rates[cell(from).min(rates.len() - 1)..cell(to).max(1)];
        Part {
            rate: cells.iter().sum::<f64>() / cells.len().max(1) as f64,
            lost: counted(streams, from, to).map(|again| {
                let marks = streams.iter().map(|one| answered(one, from, to));
                again + marks.sum::<f64>()
            }),
            rtt: round_trip(streams, from, to),
        }
    };
    Some((0..count).map(part).collect())
}

/// Segments that all streams sent again between two times.
fn counted(streams: &[&Stream], from: f64, to: f64) -> Option<f64> {
    let by = |stream: &&Stream| {
        let told = |until: f64| {
            let before = stream
                .tcp
                .iter()
                .take_while(|one| seconds(one.at) <= until + 0.05);
            before
                .last()
                .map_or(Some(0.0), |one| one.retransmits.map(f64::from))
        };
        stream.tcp.first()?;
        Some(
            told(to)?
                - if from > 0.0 {
                    told(from)?
                } else {
                    first(stream)
                },
        )
    };
    streams.iter().map(by).sum()
}

/// Marks that a sender answered between two times: a receiver echoes each for about a round trip,
/// in which a window of segments arrives.
fn answered(stream: &Stream, from: f64, to: f64) -> f64 {
    let pairs = stream.tcp.iter().zip(stream.tcp.iter().skip(1));
    let within = pairs.filter(|(_, now)| (from..to).contains(&(seconds(now.at) - 0.05)));
    let marks = within.filter_map(|(before, now)| {
        let echoed = now
            .mark_echoed?
            .saturating_sub(before.mark_echoed.unwrap_or(0));
        let window = now.cwnd_segments?.max(1);
        Some(f64::from(echoed) / f64::from(window))
    });
    marks.sum()
}

/// What a stream that was there before had sent again by then.
fn first(stream: &Stream) -> f64 {
    let first = stream.tcp.first();
    first.and_then(|one| one.retransmits).map_or(0.0, f64::from)
}

fn round_trip(streams: &[&Stream], from: f64, to: f64) -> Option<f64> {
    let readings = streams.iter().flat_map(|one| &one.tcp);
    let within = readings.filter(|one| (from..to).contains(&seconds(one.at)));
    let (count, sum) = within
        .filter_map(|one| Some(one.rtt?.as_secs_f64()))
        .fold((0.0, 0.0), |(count, sum), rtt| (count + 1.0, sum + rtt));
    (count > 0.0).then(|| sum / count)
}

fn seconds(at: Time) -> f64 {
    at.since(Time::ZERO).as_secs_f64()
}
