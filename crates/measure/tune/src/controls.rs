//! bbr, which keeps its rate under losses that make other congestion controls give way.
//!
//! One stream of it may carry what many of the default control carry. Where queues are short it
//! also takes more than its share from those others, so it is a candidate unasked only where the
//! objective seeks goodput and nothing else and the sender may use it, and it costs what four times
//! its streams would (`worth.rs`).

use observe::{Direction, Limit, Peer, Setting, TargetKind, Transport};

use crate::advice::{End, SysctlLine};
use crate::history::History;
use crate::over_udp;
use crate::plan::{Controls, Objective};
use crate::tuning::Sample;
use crate::verdict::verdict;

/// What is tried unasked.
pub(crate) const BBR: &str = "bbr";
/// More streams of the default control than this are worth a line on how to allow bbr.
const FEW: u16 = 4;

/// Whether the search may try bbr without being asked for it.
pub(crate) fn may_be_tried(history: &History) -> bool {
    is_open(history) && may_send(history)
}

fn is_open(history: &History) -> bool {
    let plan = &history.plan;
    let seeks_goodput = matches!(plan.objective, Objective::Knee { .. } | Objective::Max);
    plan.controls() == Controls::WhereLosing && seeks_goodput && !is_default(history)
}

/// Whether the sender uses bbr anyway.
fn is_default(history: &History) -> bool {
    let default = default(history).and_then(|index| history.samples.get(index));
    let used = default.and_then(|sample| sample.observation.congestion_used.as_ref());
    used.or(history.target.congestion.first())
        .is_some_and(|name| name == BBR)
}

/// One stream with everything as the host has it: of several samples the last.
pub(crate) fn default(history: &History) -> Option<usize> {
    let setting = history.setting(observe::StreamCount::ONE, observe::Window::Auto);
    history
        .samples
        .iter()
        .rposition(|sample| sample.setting == setting)
}

/// Whether the sender may use bbr, as far as this end knows. A trunkline far end sends with its own
/// control where it may not, and says so; an iperf3 one ends the test.
fn may_send(history: &History) -> bool {
    let is_listed = history.target.congestion.iter().any(|name| name == BBR);
    let first = history.samples.first();
    let peer = first.map(|sample| sample.observation.peer);
    match history.plan.base.direction {
        Direction::Forward => is_listed,
        Direction::Reverse if history.target.kind == TargetKind::Live => {
            history.target.mover.is_none() && peer == Some(Peer::Trunkline)
        }
        Direction::Reverse => is_listed,
        Direction::Both => false,
    }
}

/// What the sender used in place of the control that a setting names; `None` where it used that, or
/// was not asked yet, or did not say.
pub(crate) fn used_another<'a>(history: &'a History, setting: &Setting) -> Option<&'a str> {
    let asked = setting.congestion.as_deref()?;
    let of_it = |one: &&Sample| one.setting.congestion.as_deref() == Some(asked);
    let mut used = history.samples.iter().filter(of_it);
    let used = used.find_map(|one| one.observation.congestion_used.as_deref());
    used.filter(|used| *used != asked)
}

/// What others on the path have to know of a recommended control that was not asked for.
pub(crate) fn caution(history: &History, setting: &Setting) -> &'static str {
    let has_bbr = setting.congestion.as_deref() == Some(BBR);
    match has_bbr && history.plan.controls() == Controls::WhereLosing {
        true => {
            "; where a queue is short, bbr takes more than its share from streams of cubic and reno"
        }
        false => "",
    }
}

/// Whether losses hold one default stream back, of the path or of its queue.
pub(crate) fn is_held_back(history: &History) -> bool {
    let default = default(history).and_then(|index| history.samples.get(index));
    default.is_some_and(|default| {
        let limit = verdict(history, default).limit;
        matches!(limit, Limit::Loss | Limit::ShallowQueue)
    })
}

/// The line that would let the sender use bbr, where losses hold its streams back and it may not.
pub(crate) fn withheld(history: &History) -> Option<SysctlLine> {
    let refused = history.samples.iter().any(|one| {
        one.setting.congestion.as_deref() == Some(BBR)
            && used_another(history, &one.setting).is_some()
    });
    let is_withheld = is_open(history) && is_held_back(history) && (refused || !may_send(history));
    let chosen = over_udp::best_over_tcp(history)?;
    let few = chosen.streams().get() <= FEW;
    let is_tcp = history.plan.base.transport == Transport::Tcp;
    (is_withheld && is_tcp && !few && history.target.mover.is_none()).then(|| line(history, chosen))
}

fn line(history: &History, chosen: &Sample) -> SysctlLine {
    let is_here = history.plan.base.direction == Direction::Forward;
    let (mut names, condition) = match is_here {
        true => (history.target.congestion.clone(), ""),
        false => (
            vec!["reno".to_owned(), "cubic".to_owned()],
            "keep what the list there has: ",
        ),
    };
    names.push(BBR.to_owned());
    SysctlLine {
        end: End::Sender,
        key: "net.ipv4.tcp_allowed_congestion_control".to_owned(),
        value: names.join(" "),
        now: None,
        why: format!(
            "{condition}losses hold each stream back, and the sender may not use {BBR}; with it \
             one stream may carry what {} streams carry here, {}. It takes more than its share \
             from streams of cubic where a queue is short. `modprobe tcp_bbr` comes first where \
             the kernel has not loaded it",
            chosen.streams(),
            chosen.rate().human()
        ),
    }
}
