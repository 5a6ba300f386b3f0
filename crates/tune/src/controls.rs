//! bbr, where losses hold the sender's own congestion control back.
//!
//! bbr keeps its rate under losses that make others give way: one stream may carry what many of the
//! default control carry. Where queues are short it also takes more than its share from those
//! others. So it is tried unasked only where the objective seeks goodput and nothing else, the
//! sender may use it, and one default stream falls short because packets are lost. It counts only
//! where the default control does not carry as much with a few times its streams. Where it counts,
//! the climb goes on with it.

use observe::{
    Direction, Limit, Peer, SamplePlan, Setting, StreamCount, TargetKind, Then, Transport,
};

use crate::advice::{End, SysctlLine};
use crate::explain;
use crate::history::History;
use crate::lasting;
use crate::over_udp;
use crate::packets;
use crate::plan::{Controls, Objective};
use crate::standing;
use crate::strategy::Request;
use crate::tuning::{Purpose, Sample};

/// What is tried unasked.
pub(crate) const BBR: &str = "bbr";
/// One default stream at this share of the best needs no other congestion control.
const GOOD_ENOUGH: f64 = 0.8;
/// bbr is not worth its cost to others where the default control carries as much with this many
/// times its streams.
const TIMES: u16 = 4;
/// Losses of one stream beyond which bbr is tried before more streams: three packets in a thousand
/// leave one of cubic or reno 5 Mbit/s at 100 ms.
const LOSES_MUCH: f64 = 3e-3;

/// One stream with bbr, once the default control was seen with a few streams, or at once where one
/// stream of it loses much.
pub(crate) fn unasked(history: &History) -> Option<Request> {
    let setting = Setting {
        congestion: Some(BBR.to_owned()),
        ..history.setting(StreamCount::ONE, history.climbing_window(StreamCount::ONE))
    };
    let wanted = is_open(history)
        && may_send(history)
        && (loses_much(history) || was_seen_with_a_few(history) && loses(history))
        && history.of(&setting).is_none();
    let plan = history.longer_plan().filter(|_| wanted)?;
    Some(Request {
        setting,
        plan: SamplePlan {
            then: Then::KeepRunning,
            ..plan
        },
        purpose: Purpose::Alternative,
        why: format!(
            "what one stream with {BBR} carries under the losses that hold back the others"
        ),
    })
}

/// Whether the search may try bbr without being asked for it.
fn is_open(history: &History) -> bool {
    let plan = &history.plan;
    let seeks_goodput = matches!(plan.objective, Objective::Knee { .. } | Objective::Max);
    plan.controls() == Controls::WhereLosing && seeks_goodput && !is_default(history)
}

/// Whether the sender uses bbr anyway.
fn is_default(history: &History) -> bool {
    let default = explain::default(history).and_then(|index| history.samples.get(index));
    let used = default.and_then(|sample| sample.observation.congestion_used.as_ref());
    used.or(history.target.congestion.first())
        .is_some_and(|name| name == BBR)
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

/// Whether the default control was seen with as many streams as bbr has to make up for.
fn was_seen_with_a_few(history: &History) -> bool {
    let most = packets::streams_max(history).get().min(TIMES);
    let mut own = history
        .samples
        .iter()
        .filter(|one| !is_unasked(history, one));
    own.any(|sample| sample.streams().get() >= most)
}

/// Whether one default stream falls short because packets are lost.
fn loses(history: &History) -> bool {
    let default = explain::default(history).and_then(|index| history.samples.get(index));
    default
        .zip(history.rate_best())
        .is_some_and(|(default, best)| {
            let falls_short = default.rate().as_f64() < GOOD_ENOUGH * best.as_f64();
            falls_short && history.verdict(default).limit == Limit::Loss
        })
}

/// Whether the only sample so far loses so many packets, without a queue, that more streams of the
/// default control could hardly carry as much as bbr.
fn loses_much(history: &History) -> bool {
    let [default] = history.samples.as_slice() else {
        return false;
    };
    let lost = default.retransmitted_share().unwrap_or(0.0);
    let own = default.setting.streams == StreamCount::ONE && !history.is_full(default);
    own && lost > LOSES_MUCH && history.verdict(default).limit == Limit::Loss
}

/// Whether a sample of bbr carries more than a few streams of the default control could: they carry
/// at most so many times what one does.
fn outdoes_a_few(history: &History, sample: &Sample) -> bool {
    let default = explain::default(history).and_then(|index| history.samples.get(index));
    let most = f64::from(TIMES) * f64::from(sample.streams().get());
    let enough = as_much(history) * sample.rate().as_f64();
    default.is_some_and(|default| most * default.rate().as_f64() < enough)
}

/// Whether a sample has bbr although neither the user nor the hosts chose it.
pub(crate) fn is_unasked(history: &History, sample: &Sample) -> bool {
    let has_bbr = sample.setting.congestion.as_deref() == Some(BBR);
    has_bbr && history.plan.controls() == Controls::WhereLosing
}

/// Why an unasked sample of bbr does not count: a sentence for people without a full stop; `None`
/// where it does, and of any other sample.
pub(crate) fn doubt(history: &History, sample: &Sample) -> Option<String> {
    if !is_unasked(history, sample) {
        return None;
    }
    if let Some(used) = used_instead(sample) {
        return Some(format!(
            "the sender may not use {BBR}, and sent with {used}"
        ));
    }
    // What the climb went on with is held against the first of its rungs.
    let mut others = history.samples.iter();
    let is_rung = others.any(|fewer| {
        let has_fewer = is_unasked(history, fewer) && fewer.streams() < sample.streams();
        has_fewer && used_instead(fewer).is_none() && rival(history, fewer).is_none()
    });
    let rival = rival(history, sample).filter(|_| !is_rung)?;
    Some(format!(
        "{} of the default congestion control carried {:.0} % of it or more, and {BBR} takes more \
         from others",
        standing::name(history, rival),
        as_much(history) * 100.0
    ))
}

/// What the sender used in place of bbr; `None` where it used bbr, or did not say.
fn used_instead(sample: &Sample) -> Option<&str> {
    let used = sample.observation.congestion_used.as_deref();
    used.filter(|used| *used != BBR)
}

/// The fewest streams of the default control that carry as much as a sample of bbr with not many
/// more streams.
fn rival<'a>(history: &'a History, sample: &Sample) -> Option<&'a Sample> {
    let enough = as_much(history) * sample.rate().as_f64();
    let most = u32::from(sample.streams().get()) * u32::from(TIMES);
    let rivals = history.samples.iter().filter(|other| {
        let few = u32::from(other.streams().get()) <= most;
        let is_tcp = other.setting.transport == Transport::Tcp;
        few && is_tcp && !is_unasked(history, other) && lasting::expected(history, other) >= enough
    });
    rivals.min_by_key(|rival| rival.streams())
}

/// The share of a goodput that counts as much for the objective.
fn as_much(history: &History) -> f64 {
    match history.plan.objective {
        Objective::Knee { share } => share,
        _ => 1.0 - models::EQUAL,
    }
}

/// The control on which the climb goes on; `None` leaves it to the plan.
pub(crate) fn climbing(history: &History) -> Option<String> {
    let mut samples = history.samples.iter();
    let was_seen = was_seen_with_a_few(history);
    let gains = samples.any(|sample| {
        is_unasked(history, sample)
            && doubt(history, sample).is_none()
            && (was_seen || outdoes_a_few(history, sample))
    });
    gains.then(|| BBR.to_owned())
}

/// Whether an earlier search may have found this control without being asked for one.
pub(crate) fn may_be_remembered(history: &History, name: &str) -> bool {
    name == BBR && is_open(history) && may_send(history)
}

/// What others on the path have to know of a recommended control that was not asked for.
pub(crate) fn caution(history: &History, sample: &Sample) -> &'static str {
    match is_unasked(history, sample) {
        true => {
            "; where a queue is short, bbr takes more than its share from streams of cubic and reno"
        }
        false => "",
    }
}

/// Whether losses hold the default control back, and bbr does not help: the sender may not use it,
/// or it did not count.
pub(crate) fn is_held_back(history: &History) -> bool {
    is_open(history) && loses(history) && climbing(history).is_none()
}

/// The line that would let the sender use bbr, where losses hold its streams back and it may not.
pub(crate) fn withheld(history: &History) -> Option<SysctlLine> {
    let mut samples = history.samples.iter();
    let refused =
        samples.any(|sample| is_unasked(history, sample) && used_instead(sample).is_some());
    let is_withheld = is_open(history) && loses(history) && (refused || !may_send(history));
    let chosen = over_udp::best_over_tcp(history)?;
    let few = chosen.streams().get() <= TIMES;
    (is_withheld && !few && history.target.mover.is_none()).then(|| line(history, chosen))
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
