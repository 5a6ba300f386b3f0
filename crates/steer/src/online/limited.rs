//! What limited the copy as a whole: which part for most of its time, and why.

use std::collections::BTreeMap;

use observe::{
    Context, Counted, DirectionSummary, Goodput, Limit, OtherCount, Steadiness, SteadyWindow,
};
use observe::{
    StreamCount, StreamDirection, StreamGoodput, Summary, TcpSummary, Transport, Verdict, diagnose,
};
use units::{Bytes, Rate, Span, Time};

use super::interval::{Interval, RateMax, SetBy};
use super::pool::Pool;

/// What limited a copy.
#[derive(Debug, Clone, PartialEq)]
pub struct Limited {
    /// Since data first flowed.
    pub time: Span,
    /// All parts that bound, the longest first. Their sum is less than `time` where at times no
    /// single part did.
    pub parts: Vec<LimitedPart>,
}

/// One part that bound.
#[derive(Debug, Clone, PartialEq)]
pub struct LimitedPart {
    /// Which.
    pub by: Limit,
    /// For how long.
    pub time: Span,
    /// Why, as a sentence for people without a full stop.
    pub why: String,
    /// Advice, as a sentence without a full stop.
    pub advice: Option<&'static str>,
}

/// What was seen over the whole copy.
#[derive(Debug, Clone, Default)]
pub(super) struct Record {
    /// Since data first flowed.
    time: Span,
    /// The intervals in which each bound.
    bound: BTreeMap<Limit, Pool>,
    /// The rate limits that were reached, in order.
    rates: Vec<RateMax>,
    /// While the network bound, by the number of streams, once they had settled.
    settled: BTreeMap<StreamCount, Pool>,
    transport: Transport,
}

/// One block without end.
const ONE_BLOCK: Span = Span::from_nanos(u64::MAX);

impl Record {
    pub fn add(&mut self, interval: &Interval, binds: Option<Limit>) {
        let is_before = self.time == Span::ZERO && interval.streams.arrived == Bytes::ZERO;
        if is_before {
            return;
        }
        self.time += interval.length;
        self.transport = interval.transport;
        let Some(binds) = binds else {
            return;
        };
        let pool = self.bound.entry(binds).or_default();
        pool.add(interval, ONE_BLOCK);
        if let (Limit::RateLimit, Some(rate)) = (binds, interval.rate_max) {
            self.add_rate(rate);
        }
    }

    /// A copy's part of what a server allows changes with the other copies, so only the last of
    /// several in a row is kept.
    fn add_rate(&mut self, rate: RateMax) {
        match self.rates.last_mut() {
            Some(last) if last.set_by == SetBy::Server && rate.set_by == SetBy::Server => {
                *last = rate;
            }
            Some(last) if *last == rate => {}
            _ => self.rates.push(rate),
        }
    }

    /// An interval in which the network bound.
    pub fn add_settled(&mut self, streams: StreamCount, interval: &Interval) {
        let pool = self.settled.entry(streams).or_default();
        pool.add(interval, ONE_BLOCK);
    }

    /// `rtt` is that of the handshake, before any stream of ours sent.
    pub fn limited(&self, rtt: Option<Span>) -> Option<Limited> {
        let part = |(by, pool): (&Limit, &Pool)| self.part(*by, pool, rtt);
        let mut parts: Vec<LimitedPart> = self.bound.iter().map(part).collect();
        parts.sort_by_key(|part| std::cmp::Reverse(part.time));
        let time = self.time;
        (time > Span::ZERO).then_some(Limited { time, parts })
    }

    fn part(&self, by: Limit, pool: &Pool, rtt: Option<Span>) -> LimitedPart {
        let verdict = (by == Limit::Network).then(|| self.diagnose(pool, rtt));
        let by = verdict.as_ref().map_or(by, on_path);
        let why = match &verdict {
            Some(verdict) => why_of_path(verdict),
            None => self.why(by, pool, rtt),
        };
        LimitedPart {
            by,
            time: pool.length,
            why,
            advice: self.advice(by),
        }
    }

    /// Why, where it is not the path.
    fn why(&self, by: Limit, pool: &Pool, rtt: Option<Span>) -> String {
        // Of the time in which it bound: the copy as a whole may have stood still at others.
        let rate = format!("in that time it carried {}", pool.rate().human());
        match by {
            Limit::SenderDisk => format!("its streams waited for files to be read; {rate}"),
            Limit::ReceiverDisk => {
                format!("data waited there to be written or flushed; {rate}")
            }
            Limit::SenderProcessor | Limit::ReceiverProcessor => {
                format!("the threads there computed, or waited for a processor; {rate}")
            }
            Limit::Host => format!("both ends run on this host and share them; {rate}"),
            Limit::RateLimit => limits_reached(&self.rates),
            Limit::Gentle => format!("it took what others left; {rate}"),
            Limit::RoundTrips => of_round_trips(rtt),
            Limit::ReceiveBuffer => buffer(pool.tcp().peer_window.map(|window| window.human())),
            Limit::SendBuffer => {
                "data that was on the way filled it, and no more could follow".into()
            }
            other => format!("{other}; {rate}"),
        }
    }

    /// Only what the transport can follow: over UDP one stream fills a path, buffers follow it, and
    /// encryption is part of it.
    fn advice(&self, by: Limit) -> Option<&'static str> {
        let is_of_disks = matches!(by, Limit::SenderDisk | Limit::ReceiverDisk);
        advice(by).filter(|_| self.transport == Transport::Tcp || is_of_disks)
    }

    /// What the path's limit was, at the number of streams that carried data for the longest time.
    fn diagnose(&self, all: &Pool, unloaded: Option<Span>) -> Verdict {
        let longest = self.settled.iter().max_by_key(|(_, pool)| pool.length);
        let (streams, pool) = match longest {
            Some((streams, pool)) => (*streams, pool),
            None => (StreamCount::ONE, all),
        };
        let summary = Summary {
            directions: vec![direction(streams, pool)],
            cpu_near: None,
            cpu_far: None,
            // The handshake has one sample, which a busy host may have delayed.
            rtt_unloaded: None,
            rtt_loaded: pool.rtt_low(),
        };
        diagnose(&summary, &self.context(all, streams, unloaded))
    }

    fn context(&self, all: &Pool, streams: StreamCount, unloaded: Option<Span>) -> Context {
        let rtt_min = [all.tcp().rtt_min, unloaded].into_iter().flatten().min();
        let queue = |pool: &Pool| Some(pool.rtt_low()? - rtt_min?);
        let others = self.settled.iter().filter(|(other, _)| **other != streams);
        let other = |(streams, pool): (&StreamCount, &Pool)| OtherCount {
            streams: *streams,
            goodput: pool.rate(),
            retransmitted_share: pool.retransmitted_share(),
        };
        Context {
            transport: self.transport,
            best_seen: self.settled.values().map(Pool::rate).max(),
            rtt_min,
            queue_most: self.settled.values().filter_map(queue).max(),
            by_streams: others.map(other).collect(),
            ..Context::default()
        }
    }
}

/// Whether the sender or a buffer binds was decided interval by interval; what is left is the path.
fn without_ends(tcp: TcpSummary) -> TcpSummary {
    TcpSummary {
        busy_share: None,
        not_sent_empty_share: None,
        receive_window_share: None,
        send_buffer_share: None,
        window_full_share: None,
        ..tcp
    }
}

fn direction(streams: StreamCount, pool: &Pool) -> DirectionSummary {
    let rate = pool.rate();
    let each = Rate::from_f64(rate.as_f64() / f64::from(streams.get()));
    let stream = |number| StreamGoodput {
        number,
        goodput: each,
    };
    DirectionSummary {
        direction: StreamDirection::Sending,
        steady: SteadyWindow {
            from: Time::ZERO,
            to: Time::ZERO + pool.length,
            steadiness: Steadiness::Settled,
        },
        goodput: Goodput {
            mean: rate,
            interval: None,
            scatter: None,
        },
        unsettled: None,
        counted: Counted::ByAcknowledgement,
        streams: (1..=streams.get()).map(stream).collect(),
        fairness: None,
        tcp: without_ends(pool.tcp()),
        retransmits_total: None,
        thread_cpu_share: None,
    }
}

/// What on the path binds; the network, where the numbers do not tell.
fn on_path(verdict: &Verdict) -> Limit {
    match verdict.limit {
        limit if limit.is_of_the_network() => limit,
        _ => Limit::Network,
    }
}

fn why_of_path(verdict: &Verdict) -> String {
    match on_path(verdict) {
        Limit::Network => {
            let why = "the streams had data ready that the path did not take";
            format!("{why}, and the numbers do not tell what on it binds")
        }
        _ => verdict.because.clone(),
    }
}

fn of_round_trips(rtt: Option<Span>) -> String {
    let how_long = rtt.map_or_else(String::new, |rtt| format!(", {} away", rtt.human()));
    format!("the streams were idle until the far end{how_long} had answered")
}

fn buffer(window: Option<String>) -> String {
    let window = window.map_or_else(String::new, |window| format!(" ({window} in each stream)"));
    format!("the window that it offers{window} was full, and the path had room for more")
}

/// The rate limits that bound, in the order in which they did.
fn limits_reached(rates: &[RateMax]) -> String {
    match rates {
        [] => "the rate limit was reached".to_owned(),
        [one] => match one.set_by {
            SetBy::User => format!("the rate limit of {} was reached", one.rate.human()),
            SetBy::Server => format!(
                "the server bounds the rates of copies; this copy's part was {} at last",
                one.rate.human()
            ),
        },
        [before @ .., last] => {
            let before: Vec<String> = before.iter().map(named).collect();
            let before = before.join(", ");
            format!(
                "the rate limits of {before} and then {} were reached",
                named(last)
            )
        }
    }
}

fn named(bound: &RateMax) -> String {
    let rate = bound.rate.human();
    match bound.set_by {
        SetBy::User => rate,
        SetBy::Server => format!("{rate} (the server's)"),
    }
}

fn advice(by: Limit) -> Option<&'static str> {
    Some(match by {
        Limit::SenderDisk => "read from a faster disk, or at more places at once (`--streams`)",
        Limit::ReceiverDisk => "write to a faster disk",
        Limit::SenderProcessor | Limit::ReceiverProcessor => {
            "`--plain` leaves out encryption, where the path can be trusted; more streams use more \
            processors (`--streams`)"
        }
        Limit::Host => "`--plain` leaves out encryption",
        Limit::ReceiveBuffer => "raise the last number of net.ipv4.tcp_rmem at the receiver",
        Limit::SendBuffer => "raise the last number of net.ipv4.tcp_wmem at the sender",
        Limit::Loss | Limit::PerFlow => {
            "more streams may carry more: `--streams`, or `--objective max`"
        }
        _ => return None,
    })
}
