//! The steps of the decision that look at socket buffers.

use units::{Bytes, Span};

use super::evidence::{Evidence, SEGMENT};
use super::words::{percent, streams};
use super::{Limit, Verdict};

/// A larger share of busy time than this held back by one buffer: that buffer limits.
const BUFFER_SHARE: f64 = 0.1;
/// A buffer that binds nearly always, over a queue that stands: the link is full, and the buffer
/// only bounds the queue.
const BUFFER_ALWAYS: f64 = 0.8;
const QUEUE_BEHIND_FULL_BUFFERS: f64 = 0.5;
/// More than half of the readings.
const MOSTLY: f64 = 0.5;
/// A window that falls by more than this is closed by a program that does not read, or by what
/// waits behind lost packets: the kernel grows buffers and never shrinks them.
const WINDOW_FALLS: f64 = 0.5;

pub(super) fn buffer(evidence: &Evidence<'_>) -> Option<Verdict> {
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
    with_need(evidence, Limit::SendBuffer, because)
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
    match evidence.tcp.peer_window_fall {
        Some(fall) if fall > WINDOW_FALLS && is_always_missing_some(evidence) => {
            holds_what_came_behind_losses(evidence, fall, &because)
        }
        Some(fall) if fall > WINDOW_FALLS => slow_reader(fall, &because),
        None if share <= BUFFER_ALWAYS => {
            with_need(evidence, Limit::ReceiveBuffer, because).or(&[Limit::SlowReader])
        }
        _ => with_need(evidence, Limit::ReceiveBuffer, because),
    }
}

fn with_need(evidence: &Evidence<'_>, limit: Limit, because: String) -> Verdict {
    Verdict {
        window_needed: window_needed(evidence),
        ..Verdict::of(limit, because)
    }
}

/// Whether a stream loses a packet in each round trip and more, so that something always waits in
/// the receiver's buffer behind one that is missing.
fn is_always_missing_some(evidence: &Evidence<'_>) -> bool {
    let lost = evidence.tcp.retransmitted_share.unwrap_or(0.0);
    let rtt = evidence.rtt_min.map_or(0.0, Span::as_secs_f64);
    let each = evidence.goodput().as_f64() / evidence.streams() as f64;
    lost * each * rtt / (8.0 * SEGMENT) >= 1.0
}

fn holds_what_came_behind_losses(evidence: &Evidence<'_>, fall: f64, because: &str) -> Verdict {
    let because = format!(
        "{because}; the window fell by {} in between: what arrives behind a lost packet waits in \
         the buffer until that was sent again",
        percent(fall)
    );
    with_need(evidence, Limit::ReceiveBuffer, because).or(&[Limit::Loss, Limit::SlowReader])
}

/// The receiver closes its window while data wait to be read.
fn slow_reader(fall: f64, because: &str) -> Verdict {
    let because = format!(
        "{because}; the window fell by {} in between: the receiving program leaves data lying",
        percent(fall)
    );
    Verdict::of(Limit::SlowReader, because).or(&[Limit::ReceiveBuffer])
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
