//! The decision procedure, and its steps at the two ends of the connection.

use units::{Bytes, Rate};

use super::evidence::Evidence;
use super::in_path::{early_loss, full_path, loss, standing_queue};
use super::words::{percent, streams};
use super::{Context, Limit, Verdict};
use crate::Summary;

/// Less of the time with data outstanding than this: the program leaves the connection idle.
const BUSY_MIN: f64 = 0.9;
/// A larger share of busy time than this held back by one buffer: that buffer limits.
const BUFFER_SHARE: f64 = 0.1;
/// A buffer that binds nearly always, over a queue that stands: the link is full, and the buffer
/// only bounds the queue.
const BUFFER_ALWAYS: f64 = 0.8;
const QUEUE_BEHIND_FULL_BUFFERS: f64 = 0.5;
/// More than half of the readings.
const MOSTLY: f64 = 0.5;
/// A thread that uses this much of a processor has none left.
const CPU_FULL: f64 = 0.95;
/// A window that still grows by this much over the run had not arrived.
const STILL_GROWING: f64 = 0.1;

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
        host,
        application,
        full_path,
        buffer,
        standing_queue,
        loss,
        early_loss,
    ];
    let found = steps.into_iter().find_map(|step| step(&evidence));
    found.unwrap_or_else(|| unknown(&evidence))
}

fn nothing_arrived(evidence: &Evidence<'_>) -> Option<Verdict> {
    let nothing = || Verdict::of(Limit::Unknown, "nothing arrived".to_owned());
    (evidence.goodput() == Rate::ZERO).then(nothing)
}

fn host(evidence: &Evidence<'_>) -> Option<Verdict> {
    let cpu = evidence.busiest_cpu().filter(|share| *share >= CPU_FULL)?;
    let because = format!("one thread used {} of a processor", percent(cpu));
    Some(Verdict::of(Limit::Host, because))
}

fn application(evidence: &Evidence<'_>) -> Option<Verdict> {
    let tcp = evidence.tcp;
    if let Some(busy) = tcp.busy_share.filter(|busy| *busy < BUSY_MIN) {
        let because = format!(
            "data was outstanding only {} of the time: the sending program left the connections \
             idle",
            percent(busy)
        );
        return Some(Verdict::of(Limit::Application, because));
    }
    let empty = tcp.not_sent_empty_share.filter(|share| *share > MOSTLY)?;
    let buffers = [tcp.send_buffer_share, tcp.receive_window_share];
    let held_back = buffers
        .into_iter()
        .flatten()
        .any(|share| share >= BUFFER_SHARE);
    let because = || {
        format!(
            "the kernel had nothing left to send in {} of the readings",
            percent(empty)
        )
    };
    (!held_back).then(|| Verdict::of(Limit::Application, because()))
}

fn buffer(evidence: &Evidence<'_>) -> Option<Verdict> {
    let tcp = evidence.tcp;
    let receive = tcp.receive_window_share.unwrap_or(0.0);
    let send = tcp.send_buffer_share.unwrap_or(0.0);
    let full = tcp.window_full_share.unwrap_or(0.0);
    if receive.max(send) > BUFFER_ALWAYS && queue_behind_buffers(evidence) {
        return None;
    }
    if send > BUFFER_SHARE && send >= receive {
        return Some(send_buffer(evidence, send));
    }
    if receive > BUFFER_SHARE || full > MOSTLY {
        return Some(receive_buffer(evidence, receive, full));
    }
    None
}

fn queue_behind_buffers(evidence: &Evidence<'_>) -> bool {
    evidence
        .standing_queue()
        .is_some_and(|share| share > QUEUE_BEHIND_FULL_BUFFERS)
}

fn send_buffer(evidence: &Evidence<'_>, share: f64) -> Verdict {
    let because = format!(
        "{} of the busy time the send buffer held the {} back{}",
        percent(share),
        streams(evidence),
        need(evidence),
    );
    Verdict {
        window_needed: window_needed(evidence),
        ..Verdict::of(Limit::SendBuffer, because)
    }
}

fn receive_buffer(evidence: &Evidence<'_>, share: f64, full: f64) -> Verdict {
    let window = evidence
        .tcp
        .peer_window
        .map(|window| format!(" ({})", window.human()));
    let window = window.unwrap_or_default();
    let how_much = if share > BUFFER_SHARE {
        format!("{} of the busy time", percent(share))
    } else {
        format!("in {} of the readings", percent(full))
    };
    let because = format!(
        "{how_much} the receiver's window{window} held the {} back{}",
        streams(evidence),
        need(evidence),
    );
    Verdict {
        window_needed: window_needed(evidence),
        ..Verdict::of(Limit::ReceiveBuffer, because)
    }
}

/// The bandwidth-delay product of the best rate seen, per stream; `None` while nothing better is
/// known.
fn window_needed(evidence: &Evidence<'_>) -> Option<Bytes> {
    let product = evidence.best().bytes_in(evidence.rtt_min?);
    let each = Bytes::new(product.get().div_ceil(evidence.streams() as u64));
    (evidence.best() > evidence.goodput()).then_some(each)
}

fn need(evidence: &Evidence<'_>) -> String {
    let (Some(window), Some(rtt)) = (window_needed(evidence), evidence.rtt_min) else {
        return String::new();
    };
    let each = if evidence.streams() == 1 {
        ""
    } else {
        " in each stream"
    };
    format!(
        "; filling {} at {} needs {}{each}",
        evidence.best().human(),
        rtt.human(),
        window.human()
    )
}

fn unknown(evidence: &Evidence<'_>) -> Verdict {
    let because = match evidence.tcp.congestion_window_growth {
        None if evidence.tcp.rtt.is_none() => {
            "the sender's kernel cannot be asked, and no other run tells".to_owned()
        }
        Some(growth) if growth > STILL_GROWING => format!(
            "the congestion window still grew by {}: the run was too short to tell",
            percent(growth)
        ),
        _ => "neither buffers nor losses nor a queue explain the rate".to_owned(),
    };
    Verdict::of(Limit::Unknown, because)
}
