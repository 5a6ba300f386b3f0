//! The decision procedure: steps from the hosts outwards, the first that finds something decides.

use units::Rate;

use super::buffers::buffer;
use super::drops::{early_loss, loss};
use super::evidence::Evidence;
use super::full::{full_path, others_fill_it, standing_queue};
use super::no_signal::no_signal;
use super::over_udp::over_udp;
use super::words::percent;
use super::{Context, Limit, Verdict};
use crate::{Summary, Transport};

/// Less of the time with data outstanding than this: the program leaves the connection idle.
const BUSY_MIN: f64 = 0.9;
/// A larger share of busy time than this held back by one buffer: that buffer limits.
const BUFFER_SHARE: f64 = 0.1;
/// More than half of the readings.
const MOSTLY: f64 = 0.5;
/// A sending thread that uses this much of a processor has next to none left: the rest goes to
/// waking up.
const CPU_FULL: f64 = 0.9;
/// The whole process uses this much of one processor: some of its threads are likely to wait for
/// their turn.
const PROCESSOR_FULL: f64 = 0.9;
/// Where more than this is lost, timeouts leave a connection idle without any help from the
/// program.
const LOSS_HEAVY: f64 = 0.05;
/// What other runs must have carried beyond this one to speak of a gain.
const GAIN_MIN: f64 = 1.05;
/// Streams that carry this share of the rate that was set keep to it: headers take some of it.
const PACED: f64 = 0.93;
/// Packets with less payload than the smallest that IPv6 demands (1280 bytes less 72 of headers).
const SEGMENT_SMALL: u64 = 1208;

/// What limits a run, from the figures of its main direction and what else is known.
///
/// ```
/// # use observe::{Context, Limit, Summary};
/// # use observe::limit::diagnose;
/// // A run of which nothing is known is not guessed about.
/// let nothing = Summary {
///     directions: vec![], cpu_near: None, cpu_far: None, rtt_unloaded: None, rtt_loaded: None,
/// };
/// assert_eq!(diagnose(&nothing, &Context::default()).limit, Limit::Unknown);
/// ```
pub fn diagnose(summary: &Summary, context: &Context) -> Verdict {
    let Some(way) = summary.main() else {
        return Verdict::of(Limit::Unknown, "no stream carried data".to_owned());
    };
    let evidence = Evidence::new(summary, way, context);
    let steps = [
        nothing_arrived,
        rate_that_was_set,
        host,
        application,
        full_path,
        buffer,
        others_fill_it,
        standing_queue,
        over_udp,
        loss,
        early_loss,
    ];
    let found = steps.into_iter().find_map(|step| step(&evidence));
    let verdict = found.unwrap_or_else(|| no_signal(&evidence));
    small_packets(
        &evidence,
        Verdict {
            could_reach: could_reach(&evidence, verdict.limit),
            ..verdict
        },
    )
}

fn nothing_arrived(evidence: &Evidence<'_>) -> Option<Verdict> {
    let nothing = || Verdict::of(Limit::Unknown, "nothing arrived".to_owned());
    (evidence.goodput() == Rate::ZERO).then(nothing)
}

/// The pacing of the streams, where they keep to it and no queue stands.
fn rate_that_was_set(evidence: &Evidence<'_>) -> Option<Verdict> {
    let pace = evidence.context.pacing?;
    let all = pace.as_f64() * evidence.streams() as f64;
    let share = evidence.goodput().as_f64() / all;
    (share >= PACED && evidence.standing_queue().is_none()).then(|| {
        let set = match evidence.streams() {
            1 => format!("the {} that were set", pace.human()),
            streams => format!("the {streams} times {} that were set", pace.human()),
        };
        let because = format!(
            "{} is {} of {set}",
            evidence.goodput().human(),
            percent(share)
        );
        Verdict::of(Limit::RateLimit, because)
    })
}

/// Only threads tell: a whole process may use several processors and have time left on each.
fn host(evidence: &Evidence<'_>) -> Option<Verdict> {
    let cpu = evidence
        .way
        .thread_cpu_share
        .filter(|share| *share >= CPU_FULL)?;
    let because = format!("one thread here used {} of a processor", percent(cpu));
    Some(Verdict::of(Limit::Host, because))
}

fn application(evidence: &Evidence<'_>) -> Option<Verdict> {
    let tcp = evidence.tcp;
    if tcp
        .retransmitted_share
        .is_some_and(|share| share > LOSS_HEAVY)
    {
        return None;
    }
    if let Some(busy) = tcp.busy_share.filter(|busy| *busy < BUSY_MIN) {
        let because = format!(
            "data was outstanding only {} of the time: the sending program left the connections \
             idle",
            percent(busy)
        );
        return Some(idle_sender(evidence, because));
    }
    let empty = tcp.not_sent_empty_share.filter(|share| *share > MOSTLY)?;
    let buffers = [tcp.send_buffer_share, tcp.receive_window_share];
    let held_back = buffers
        .into_iter()
        .flatten()
        .any(|share| share >= BUFFER_SHARE);
    let because = || {
        format!(
            "the {} had nothing left to send in {} of the readings",
            match evidence.context.transport {
                Transport::Tcp => "kernel",
                Transport::Udp => "connection",
            },
            percent(empty)
        )
    };
    (!held_back).then(|| idle_sender(evidence, because()))
}

/// A sender that leaves connections idle: its program, unless this end's processors had no time
/// left for it. Which of several threads was kept waiting is not counted, so the program stays
/// named.
fn idle_sender(evidence: &Evidence<'_>, because: String) -> Verdict {
    let used = evidence
        .summary
        .cpu_near
        .map(|(user, kernel)| user + kernel);
    match used.filter(|used| *used >= PROCESSOR_FULL) {
        None => Verdict::of(Limit::Application, because),
        Some(used) => Verdict {
            or: vec![Limit::Application],
            ..Verdict::of(
                Limit::Host,
                format!(
                    "this end used {} of a processor, and {because}",
                    percent(used)
                ),
            )
        },
    }
}

/// With the limit gone the path carries what any run has shown it to carry. No run has shown what a
/// faster link would.
fn could_reach(evidence: &Evidence<'_>, limit: Limit) -> Option<Rate> {
    let best = evidence.best();
    let gains = best.as_f64() > GAIN_MIN * evidence.goodput().as_f64();
    let can_go = !matches!(limit, Limit::Link | Limit::Unknown);
    (gains && can_go).then_some(best)
}

/// Small packets make every loss cost more: named beside a limit that losses set.
fn small_packets(evidence: &Evidence<'_>, mut verdict: Verdict) -> Verdict {
    let segment = evidence
        .tcp
        .mss
        .map(|mss| mss.get())
        .filter(|mss| *mss < SEGMENT_SMALL);
    if let (Some(segment), Limit::Loss | Limit::ShallowQueue) = (segment, verdict.limit) {
        verdict.or.push(Limit::PathMtu);
        verdict.because = format!(
            "{}; packets carry {segment} bytes only, and larger ones would carry more at the same losses",
            verdict.because
        );
    }
    verdict
}
