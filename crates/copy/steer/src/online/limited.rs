//! What limited the copy as a whole: which part for most of its time, and why.

use std::collections::BTreeMap;

use copy_protocol::{Limited, LimitedPart};
use inference::{Control, Evidence, Marks, Part, Posterior, Run};
use observe::{Limit, StreamCount, Transport, Verdict};
use units::{Bytes, Span};

use super::interval::{Interval, RateMax, SetBy};
use super::pool::Pool;

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
    /// What on the path bound, and how long it had when that was last inferred.
    path: Option<(Span, Verdict)>,
}

/// The path is inferred once the network has bound for so long, and again each time that this has
/// doubled: it costs 0.04 s of a processor on long paths and up to 2 s on
/// round trips of a fraction of a millisecond.
const FIRST: Span = Span::from_secs(2);
/// Numbers of streams that are evidence of the path at the most, and a long run in seconds.
const EVIDENCE_MAX: usize = 4;
const LONG: f64 = 60.0;
/// Payload of a segment where no kernel says, bytes.
const SEGMENT: f64 = 1448.0;
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
    pub fn limited(&mut self, rtt: Option<Span>) -> Option<Limited> {
        self.infer(rtt);
        let part = |(by, pool): (&Limit, &Pool)| self.part(*by, pool, rtt);
        let mut parts: Vec<LimitedPart> = self.bound.iter().map(part).collect();
        parts.sort_by_key(|part| std::cmp::Reverse(part.nanoseconds));
        let time = self.time;
        (time > Span::ZERO).then_some(Limited {
            nanoseconds: time.as_nanos(),
            parts,
        })
    }

    fn part(&self, by: Limit, pool: &Pool, rtt: Option<Span>) -> LimitedPart {
        let path = self.path.as_ref().filter(|_| by == Limit::Network);
        let verdict = path.map(|(_, verdict)| verdict);
        let verdict = verdict.filter(|verdict| verdict.limit.is_of_the_network());
        let by = verdict.map_or(by, |verdict| verdict.limit);
        LimitedPart {
            by: by.name().to_owned(),
            nanoseconds: pool.length.as_nanos(),
            why: match verdict {
                Some(verdict) => verdict.because.clone(),
                None => self.why(by, pool, rtt),
            },
            advice: self.advice(by).map(str::to_owned),
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
            Limit::Network => "the streams had data ready that the path did not take, and the \
                               numbers do not tell what on it binds"
                .into(),
            other => format!("{other}; {rate}"),
        }
    }

    /// Only what the transport can follow: over UDP one stream fills a path, buffers follow it, and
    /// encryption is part of it.
    fn advice(&self, by: Limit) -> Option<&'static str> {
        let is_of_disks = matches!(by, Limit::SenderDisk | Limit::ReceiverDisk);
        advice(by).filter(|_| self.transport == Transport::Tcp || is_of_disks)
    }

    /// Infers the path, where there is enough new to be worth it.
    fn infer(&mut self, rtt: Option<Span>) {
        let length = self.settled.values().map(|pool| pool.length);
        let length = length.fold(Span::ZERO, |sum, one| sum + one);
        let next = self.path.as_ref().map_or(FIRST, |(at, _)| at.times(2));
        if length < next {
            return;
        }
        if let Some(verdict) = self.of_path(rtt) {
            self.path = Some((length, verdict));
        }
    }

    /// What on the path binds at the number of streams that carried data for the longest time.
    fn of_path(&self, rtt: Option<Span>) -> Option<Verdict> {
        let mut settled: Vec<(&StreamCount, &Pool)> = self.settled.iter().collect();
        settled.sort_by_key(|(_, pool)| std::cmp::Reverse(pool.length));
        let seen = settled.iter().take(EVIDENCE_MAX);
        let evidence = seen.map(|(streams, pool)| self.evidence(**streams, pool, rtt));
        let evidence: Vec<Evidence> = evidence.collect();
        let long = Run {
            seconds: LONG,
            joined: 0,
            ..evidence.first()?.run
        };
        // Whether a buffer binds was decided interval by interval: what is left is the path.
        Posterior::of(evidence, Some(f64::INFINITY), 1)?.verdict(&long)
    }

    /// What streams showed that had settled.
    fn evidence(&self, streams: StreamCount, pool: &Pool, rtt: Option<Span>) -> Evidence {
        let tcp = pool.tcp();
        let rtt_min = [tcp.rtt_min, rtt].into_iter().flatten().min();
        let signals = pool.marks_answered();
        Evidence {
            run: Run {
                streams: streams.get().into(),
                joined: streams.get().into(),
                window: None,
                control: match self.transport {
                    Transport::Tcp => Control::Cubic,
                    Transport::Udp => Control::Rate,
                },
                pacing: None,
                seconds: pool.length.as_secs_f64(),
            },
            parts: vec![Part {
                rate: pool.rate().as_f64(),
                lost: tcp.retransmits.map(|segments| segments as f64 + signals),
                rtt: pool.rtt_low().map(Span::as_secs_f64),
            }],
            segment: tcp.mss.map_or(SEGMENT, Bytes::as_f64),
            rtt_min: rtt_min.map(Span::as_secs_f64),
            idle_wait: None,
            held: None,
            marks: (signals > 0.0).then(|| Marks {
                signals,
                echoed: tcp.mark_echoed_share.unwrap_or(0.0),
                resent: tcp.retransmits.unwrap_or(0),
            }),
            on_way: tcp.flight.map_or(0.0, Bytes::as_f64),
            settled: pool.rate().as_f64(),
        }
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
        Limit::Loss | Limit::Marks | Limit::PerFlow => {
            "more streams may carry more: `--streams`, or `--objective max`"
        }
        _ => return None,
    })
}
