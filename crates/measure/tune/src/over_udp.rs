//! One stream over UDP, where losses hold TCP back.
//!
//! Our own controller keeps its rate under losses, whatever the sender's kernel has. It costs more
//! processor time than TCP, and no other program speaks it. So it is a candidate where the
//! objective seeks goodput and nothing else, losses hold one default stream back, bbr cannot be
//! tried, and the far end takes streams over UDP; and it has to carry clearly more
//! (`worth.rs`).
//!
//! Where the plan names UDP for all samples, as on paths that pass nothing else, their number is
//! searched like that of TCP's streams.

use observe::{Direction, Setting, StreamCount, TargetKind, Transport, Window};

use crate::controls;
use crate::history::History;
use crate::plan::{Controls, Objective};
use crate::search::Inferred;
use crate::strategy::Strategy;
use crate::tuning::Sample;

/// One stream over UDP, where it may be tried.
pub(crate) fn candidate(history: &History) -> Option<Setting> {
    let plan = &history.plan;
    let setting = Setting {
        transport: Transport::Udp,
        ..history.setting(StreamCount::ONE, Window::Auto)
    };
    let seeks_goodput = matches!(plan.objective, Objective::Knee { .. } | Objective::Max);
    let wanted = seeks_goodput
        && plan.controls() == Controls::WhereLosing
        && setting.only_of_tcp().is_none()
        && plan.base.direction != Direction::Both
        && takes_udp(history)
        && !controls::may_be_tried(history)
        && controls::is_held_back(history);
    wanted.then_some(setting)
}

fn is_over_udp(sample: &Sample) -> bool {
    sample.setting.transport == Transport::Udp
}

fn takes_udp(history: &History) -> bool {
    let mut samples = history.samples.iter();
    samples.any(|sample| sample.observation.takes_udp)
}

/// The best over TCP.
fn best_of_tcp(history: &History) -> Option<&Sample> {
    let samples = history.samples.iter().filter(|one| !is_over_udp(one));
    samples.max_by_key(|one| one.rate())
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
        "; `--transport udp` of measure and copy sends so. Where a queue is full it sends as a \
         CUBIC flow would, and losses by chance cost it no rate: on a path that loses so, streams \
         of cubic and reno beside it get less; {processor}"
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
    let choice = Inferred.choose_where(history, &|setting| setting.transport == Transport::Tcp)?;
    history.samples.get(choice.sample)
}
