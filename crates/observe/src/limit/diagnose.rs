//! The decision procedure.

use units::{Bytes, Rate};

use super::evidence::Evidence;
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
/// At or above this share of the best seen, the path is taken as full when more streams add nothing.
const FULL: f64 = 0.9;
/// A queue that stands although better was seen by more than this: losses empty the pipe in between.
const NEARLY_FULL: f64 = 0.75;
/// Retransmissions above this share count as the cause without a look at Mathis's formula, and below
/// it only when that formula gives a rate like the one seen.
const LOSS_MIN: f64 = 1e-5;
/// Pacing that lowers retransmissions by this factor shows that bursts caused them.
const PACING_CURES: f64 = 5.0;
/// Twice the streams brought this much: each stream is limited for itself.
const LINEAR_GAIN: f64 = 1.8;
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
        return verdict(Limit::Unknown, "no stream carried data".to_owned());
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

fn verdict(limit: Limit, because: String) -> Verdict {
    Verdict {
        limit,
        or: None,
        because,
        window_needed: None,
    }
}

fn nothing_arrived(evidence: &Evidence<'_>) -> Option<Verdict> {
    let nothing = || verdict(Limit::Unknown, "nothing arrived".to_owned());
    (evidence.goodput() == Rate::ZERO).then(nothing)
}

fn host(evidence: &Evidence<'_>) -> Option<Verdict> {
    let cpu = evidence.busiest_cpu().filter(|share| *share >= CPU_FULL)?;
    let because = format!("one thread used {} of a processor", percent(cpu));
    Some(verdict(Limit::Host, because))
}

fn application(evidence: &Evidence<'_>) -> Option<Verdict> {
    let tcp = evidence.tcp;
    if let Some(busy) = tcp.busy_share.filter(|busy| *busy < BUSY_MIN) {
        let because = format!(
            "data was outstanding only {} of the time: the sending program left the connections idle",
            percent(busy)
        );
        return Some(verdict(Limit::Application, because));
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
    (!held_back).then(|| verdict(Limit::Application, because()))
}

/// Comparison with other runs: close to what more streams do not raise.
fn full_path(evidence: &Evidence<'_>) -> Option<Verdict> {
    let note = queue_note(evidence);
    let goodput = evidence.goodput().human();
    if let Some(share) = evidence.share_of_plateau().filter(|share| *share >= FULL) {
        let because = format!(
            "{goodput} is {} of what the path carries with however many streams{note}",
            percent(share)
        );
        return Some(verdict(Limit::Link, because));
    }
    let gain = evidence.gain().filter(|gain| *gain <= 1.0 / FULL)?;
    (evidence.utilisation() >= FULL).then(|| {
        let because = format!(
            "twice the streams carry {} of its {goodput}{note}",
            percent(gain)
        );
        verdict(Limit::Link, because)
    })
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
        ..verdict(Limit::SendBuffer, because)
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
        ..verdict(Limit::ReceiveBuffer, because)
    }
}

/// The bandwidth-delay product of the best rate seen, per stream; `None` while nothing better is known.
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

/// The path's own queue fills: the link is full, or was before losses emptied it.
fn standing_queue(evidence: &Evidence<'_>) -> Option<Verdict> {
    evidence.standing_queue()?;
    if evidence.utilisation() < NEARLY_FULL {
        return None;
    }
    let because = format!("the path's queue fills{}", queue_note(evidence));
    Some(verdict(Limit::Link, because))
}

fn queue_note(evidence: &Evidence<'_>) -> String {
    let (Some(queueing), Some(empty)) = (evidence.queueing(), evidence.rtt_min) else {
        return String::new();
    };
    if evidence.standing_queue().is_none() {
        return String::new();
    }
    let deep = queueing > empty.max(units::Span::from_millis(30));
    let depth = if deep {
        ", far more than a link needs to stay full"
    } else {
        ""
    };
    format!(
        ": waiting adds {} to a round trip of {}{depth}",
        queueing.human(),
        empty.human()
    )
}

fn loss(evidence: &Evidence<'_>) -> Option<Verdict> {
    let share = evidence.tcp.retransmitted_share?;
    if share <= LOSS_MIN && !evidence.loss_explains_rate() {
        return None;
    }
    let lost = format!("{} of the bytes were sent twice", percent(share));
    Some(reordering(evidence, &lost).unwrap_or_else(|| drops(evidence, share, lost)))
}

/// No losses in the steady window, but some before it, and the window has not grown back since.
fn early_loss(evidence: &Evidence<'_>) -> Option<Verdict> {
    let lost = evidence
        .way
        .retransmits_total
        .filter(|segments| *segments > 0)?;
    let window = evidence.tcp.congestion_window?;
    (evidence.utilisation() < NEARLY_FULL).then(|| {
        let because = format!(
            "{lost} segments were lost before the rate settled, and the congestion window has not \
             grown beyond {} since",
            window.human()
        );
        Verdict {
            or: Some(Limit::ShallowQueue),
            ..verdict(Limit::Loss, because)
        }
    })
}

fn reordering(evidence: &Evidence<'_>, lost: &str) -> Option<Verdict> {
    let in_vain = evidence
        .tcp
        .duplicate_share
        .filter(|share| *share > MOSTLY)?;
    evidence.tcp.reorderings.filter(|events| *events > 0)?;
    let because = format!(
        "{lost}, {} of them in vain: the path reorders packets and TCP takes it for loss",
        percent(in_vain)
    );
    Some(verdict(Limit::Loss, because))
}

fn drops(evidence: &Evidence<'_>, share: f64, lost: String) -> Verdict {
    let lost = format!("{lost} and no queue stands");
    match evidence.context.paced_retransmitted_share {
        Some(paced) if paced * PACING_CURES < share => {
            let because = format!(
                "{lost}; paced it is {}: bursts overflow a queue that is too short for them",
                percent(paced)
            );
            verdict(Limit::ShallowQueue, because)
        }
        Some(paced) => {
            let because = format!(
                "{lost}; pacing leaves {}: packets are lost at random",
                percent(paced)
            );
            verdict(Limit::Loss, because)
        }
        None => undecided(evidence, lost),
    }
}

/// Without a paced run: how the streams scale leans one way, and the other is named too.
fn undecided(evidence: &Evidence<'_>, lost: String) -> Verdict {
    let (limit, or, scaling) = match evidence.gain() {
        Some(gain) if gain >= LINEAR_GAIN => (
            Limit::Loss,
            Limit::ShallowQueue,
            format!("; twice the streams carry {gain:.1} times as much"),
        ),
        Some(gain) => (
            Limit::ShallowQueue,
            Limit::Loss,
            format!("; twice the streams carry only {gain:.1} times as much"),
        ),
        None => (Limit::Loss, Limit::ShallowQueue, String::new()),
    };
    let because = format!("{lost}{scaling}; only a paced run would tell loss from a shallow queue");
    Verdict {
        or: Some(or),
        ..verdict(limit, because)
    }
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
    verdict(Limit::Unknown, because)
}

fn streams(evidence: &Evidence<'_>) -> String {
    match evidence.streams() {
        1 => "stream".to_owned(),
        n => format!("{n} streams"),
    }
}

/// Two significant digits: `99 %`, `1.2 %`, `0.0070 %`.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let digits = if percent >= 10.0 || percent <= 0.0 {
        0
    } else {
        (1.0 - percent.log10().floor()) as usize
    };
    format!("{percent:.digits$} %")
}
