//! One stream over UDP, where losses hold TCP back and bbr does not help.
//!
//! Our own controller keeps its rate under losses, whatever the sender's kernel has. It costs more
//! processor time than TCP, and no other program speaks it. So it is tried once, when more streams
//! of TCP bring no more: where the objective seeks goodput and nothing else, one default stream
//! falls short because packets are lost, no stream of TCP filled the path, bbr is not allowed at
//! the sender or did not count, and the far end takes streams over UDP. It counts only where it
//! carries clearly more than all that was seen over TCP.
//!
//! Where the plan names UDP for all samples, as on paths that pass nothing else, their number is
//! searched like that of TCP's streams.

use observe::{Direction, SamplePlan, Setting, StreamCount, TargetKind, Then, Transport, Window};
use units::Rate;

use crate::choose::choose_where;
use crate::controls;
use crate::history::History;
use crate::strategy::Request;
use crate::tuning::{Purpose, Sample};

/// What it has to carry, in terms of the best over TCP.
const CLEARLY_MORE: f64 = 1.25;

/// One stream over UDP.
pub(crate) fn unasked(history: &History) -> Option<Request> {
    let setting = Setting {
        transport: Transport::Udp,
        ..history.setting(StreamCount::ONE, Window::Auto)
    };
    let wanted = !was_tried(history)
        && setting.only_of_tcp().is_none()
        && history.plan.base.direction != Direction::Both
        && takes_udp(history)
        && controls::is_held_back(history)
        && !is_filled(history);
    let plan = history.longer_plan().filter(|_| wanted)?;
    Some(Request {
        setting,
        plan: SamplePlan {
            then: Then::Stop,
            ..plan
        },
        purpose: Purpose::Alternative,
        why: "what one stream over UDP carries under the losses that hold TCP back".to_owned(),
    })
}

fn was_tried(history: &History) -> bool {
    history.samples.iter().any(is_over_udp)
}

/// Whether a sample of it counts: what is sampled after that can only confirm it.
pub(crate) fn counts(history: &History) -> bool {
    let mut samples = history.samples.iter();
    samples.any(|sample| is_over_udp(sample) && doubt(history, sample).is_none())
}

fn is_over_udp(sample: &Sample) -> bool {
    sample.setting.transport == Transport::Udp
}

fn takes_udp(history: &History) -> bool {
    let mut samples = history.samples.iter();
    samples.any(|sample| sample.observation.takes_udp)
}

/// Whether any stream of TCP filled the path.
fn is_filled(history: &History) -> bool {
    let mut samples = history.samples.iter();
    samples.any(|sample| history.is_full(sample))
}

/// The best over TCP.
fn best_of_tcp(history: &History) -> Option<&Sample> {
    let samples = history.samples.iter().filter(|one| !is_over_udp(one));
    let samples = samples.filter(|one| controls::doubt(history, one).is_none());
    samples.max_by(|a, b| a.rate().cmp(&b.rate()))
}

/// Why a sample over UDP does not count: a sentence for people without a full stop; `None` where it
/// does, and of any other sample.
pub(crate) fn doubt(history: &History, sample: &Sample) -> Option<String> {
    if !is_over_udp(sample) || history.plan.base.transport == Transport::Udp {
        return None;
    }
    let best = best_of_tcp(history)?.rate();
    let enough = CLEARLY_MORE * best.as_f64();
    (sample.rate().as_f64() < enough).then(|| {
        format!(
            "TCP carried {}, and UDP counts from {} on: it costs more processor time, and other \
             programs do not speak it",
            best.human(),
            Rate::from_f64(enough).human()
        )
    })
}

/// What others on the path and this host pay for a recommendation of UDP.
pub(crate) fn caution(history: &History, sample: &Sample) -> String {
    if !is_over_udp(sample) {
        return String::new();
    }
    let processor = match processor(history, sample) {
        Some((own, tcp)) => format!(
            "it took {:.0} % of a processor at this end, and TCP {:.0} % at its best",
            own * 100.0,
            tcp * 100.0
        ),
        None => "it takes about twice the processor time of TCP for the same bytes".to_owned(),
    };
    format!(
        "; `--transport udp` of measure and copy sends so. It gives way to losses only where \
         they are 2 % or more than the path loses by chance, so where a queue is short, streams of \
         cubic and reno beside it give way first; {processor}"
    )
}

/// What this end used beside it and beside the best over TCP; `None` where this process is both
/// ends, or the system does not tell.
fn processor(history: &History, sample: &Sample) -> Option<(f64, f64)> {
    let used = |sample: &Sample| {
        let (user, kernel) = sample.summary.cpu_near?;
        Some(user + kernel)
    };
    let is_one_end = history.target.kind == TargetKind::Live;
    let tcp = best_of_tcp(history).filter(|_| is_one_end)?;
    used(sample).zip(used(tcp))
}

/// The best setting over TCP, for those who cannot send over UDP.
pub(crate) fn best_over_tcp(history: &History) -> Option<&Sample> {
    let choice = choose_where(history, |setting| setting.transport == Transport::Tcp)?;
    history.samples.get(choice.sample)
}
