//! What limited the copy, in words.

use std::collections::BTreeMap;

use observe::{
    Context, Counted, DirectionSummary, Goodput, Limit, OtherCount, Steadiness, SteadyWindow,
};
use observe::{StreamCount, StreamDirection, StreamGoodput, Summary, Verdict, diagnose};
use units::{Rate, Span, Time};

use super::Interval;
use super::activity::{Activity, Bound};
use super::pool::Pool;

/// What limited a copy.
#[derive(Debug, Clone, PartialEq)]
pub struct Limited {
    /// What bound for most of its time.
    pub by: Bound,
    /// Share of the copy's time for which it did.
    pub share: f64,
    /// The path's limit, where the path is what bound.
    pub path: Option<Verdict>,
    /// Why, as a sentence for people without a full stop.
    pub why: String,
    /// What can be done about it, as a sentence without a full stop.
    pub advice: Option<String>,
}

/// What was seen over the whole copy.
#[derive(Debug, Clone, Default)]
pub(super) struct Record {
    time: Span,
    bound: BTreeMap<Bound, Span>,
    rate_max: Option<Rate>,
    /// Of the whole copy.
    all: Pool,
    /// By the number of streams, once they had settled.
    settled: BTreeMap<StreamCount, Pool>,
    /// While nothing bound that could be named.
    work: Work,
}

/// What the sender's threads did, summed.
#[derive(Debug, Clone, Copy, Default)]
struct Work {
    /// Of all threads that carry data, in seconds.
    threads: f64,
    /// In reading files, in seconds.
    disk: f64,
    /// Processor time of the whole process, in seconds.
    processor: f64,
}

impl Work {
    fn add(&mut self, activity: &Activity) {
        self.threads += activity.length.as_secs_f64() * f64::from(activity.streams);
        self.disk += activity.disk.as_secs_f64();
        self.processor += activity.processor.as_secs_f64();
    }

    /// What at the sender left the streams without data: the larger of its two kinds of work. `None` where it did not say
    /// what it did.
    fn of_sender(&self, verdict: &Verdict) -> Option<(Bound, String, Option<&'static str>)> {
        let share = |part: f64| (self.threads > 0.0).then(|| 100.0 * part / self.threads);
        let (disk, processor) = (share(self.disk)?, share(self.processor)?);
        let (by, advice) = match processor >= disk {
            true => (
                Bound::SenderProcessor,
                "more streams use more processors (`--streams`), and `--plain` leaves out encryption",
            ),
            false => (
                Bound::SenderDisk,
                "read from a faster disk; more streams read at more places at once (`--streams`)",
            ),
        };
        let why = format!(
            "its threads left the streams without data: they computed for {processor:.0} % and read files for \
             {disk:.0} % of their time, and {}",
            verdict.because
        );
        Some((by, why, Some(advice)))
    }
}

/// One block without end.
const ONE_BLOCK: Span = Span::from_nanos(u64::MAX);

impl Record {
    pub fn add(&mut self, interval: &Interval, binds: Option<Bound>) {
        self.time += interval.length;
        self.rate_max = interval.rate_max.or(self.rate_max);
        self.all.add(interval, ONE_BLOCK);
        if let (Some(Bound::Network), Some(sender)) = (binds, &interval.sender) {
            self.work.add(sender);
        }
        if let Some(binds) = binds {
            *self.bound.entry(binds).or_default() += interval.length;
        }
    }

    pub fn add_settled(&mut self, streams: StreamCount, interval: &Interval) {
        let pool = self.settled.entry(streams).or_default();
        pool.add(interval, ONE_BLOCK);
    }

    /// `rtt` is that of the handshake, before any stream of ours sent.
    pub fn limited(&self, rtt: Option<Span>) -> Option<Limited> {
        let (by, span) = self.bound.iter().max_by_key(|(_, span)| **span)?;
        let path = (*by == Bound::Network).then(|| self.diagnose(rtt));
        // Streams without data: the path was free, whatever the threads waited for.
        let starved = path.as_ref().filter(|it| it.limit == Limit::Application);
        let (by, why, advice) = match (starved, &path) {
            (Some(verdict), _) => self.work.of_sender(verdict)?,
            (None, Some(verdict)) => (*by, of_path(verdict), advice_for_path(verdict)),
            (None, None) => {
                let (why, advice) = self.of_ends(*by);
                (*by, why, advice)
            }
        };
        let path = path.filter(|_| by == Bound::Network);
        Some(Limited {
            by,
            share: span.as_secs_f64() / self.time.as_secs_f64(),
            path,
            why,
            advice: advice.map(str::to_owned),
        })
    }

    fn of_ends(&self, by: Bound) -> (String, Option<&'static str>) {
        let rate = self.all.rate().human();
        match by {
            Bound::SenderDisk => (
                format!("the sender's disk gave no more than {rate}"),
                Some("read from a faster disk"),
            ),
            Bound::ReceiverDisk => (
                format!("the receiver's disk took no more than {rate}"),
                Some("write to a faster disk"),
            ),
            Bound::SenderProcessor => (
                format!("the sender's processors had no time left at {rate}"),
                Some("`--plain` leaves out encryption, where the path can be trusted"),
            ),
            Bound::ReceiverProcessor => (
                format!("the receiver's processors had no time left at {rate}"),
                Some("`--plain` leaves out encryption, where the path can be trusted"),
            ),
            Bound::RateLimit | Bound::Network => {
                let limit = self.rate_max.map_or_else(String::new, Rate::human);
                (format!("the rate limit of {limit} was reached"), None)
            }
        }
    }

    /// What the path's limit was, at the number of streams that carried data for the longest time.
    fn diagnose(&self, unloaded: Option<Span>) -> Verdict {
        let longest = self.settled.iter().max_by_key(|(_, pool)| pool.length);
        let (streams, pool) = match longest {
            Some((streams, pool)) => (*streams, pool),
            None => (StreamCount::ONE, &self.all),
        };
        let summary = Summary {
            directions: vec![direction(streams, pool)],
            cpu_near: None,
            cpu_far: None,
            rtt_unloaded: unloaded,
            rtt_loaded: pool.rtt(),
        };
        diagnose(&summary, &self.context(streams, unloaded))
    }

    fn context(&self, streams: StreamCount, unloaded: Option<Span>) -> Context {
        let rtt_min = [self.all.tcp().rtt_min, unloaded]
            .into_iter()
            .flatten()
            .min();
        let queue = |pool: &Pool| Some(pool.rtt()? - rtt_min?);
        let others = self.settled.iter().filter(|(other, _)| **other != streams);
        let other = |(streams, pool): (&StreamCount, &Pool)| OtherCount {
            streams: *streams,
            goodput: pool.rate(),
            retransmitted_share: pool.retransmitted_share(),
        };
        Context {
            best_seen: self.settled.values().map(Pool::rate).max(),
            rtt_min,
            rtt_unloaded: unloaded,
            queue_most: self.settled.values().filter_map(queue).max(),
            by_streams: others.map(other).collect(),
            ..Context::default()
        }
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
        tcp: pool.tcp(),
        retransmits_total: None,
        thread_cpu_share: None,
    }
}

fn of_path(verdict: &Verdict) -> String {
    let what = match verdict.limit {
        Limit::Link => "the link is full",
        Limit::Loss => "the path loses packets",
        Limit::Policer => "a policer drops what exceeds its rate",
        Limit::ShallowQueue => "a short queue on the path overflows",
        Limit::Reordering => "the path reorders packets",
        Limit::PathMtu => "the path carries small packets only",
        Limit::PerFlow => "something holds each stream to one rate",
        Limit::ReceiveBuffer => "the receiver's socket buffer is too small",
        Limit::SlowReader => "the receiver reads more slowly than data arrives",
        Limit::SendBuffer => "the sender's socket buffer is too small",
        Limit::Application => "the sender left its streams without data",
        Limit::Host => "a processor has no time left",
        Limit::TooShort => "the copy was over before its rate had grown to a limit",
        Limit::Unknown => "the numbers do not tell what held the streams back",
    };
    format!("{what}: {}", verdict.because)
}

fn advice_for_path(verdict: &Verdict) -> Option<&'static str> {
    match verdict.limit {
        Limit::ReceiveBuffer => Some("raise the last number of net.ipv4.tcp_rmem at the receiver"),
        Limit::SendBuffer => Some("raise the last number of net.ipv4.tcp_wmem at the sender"),
        Limit::Loss | Limit::PerFlow => {
            Some("more streams may carry more: `--streams`, or `--objective max`")
        }
        _ => None,
    }
}
