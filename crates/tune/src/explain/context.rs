//! What the other samples say about one of them.

use observe::{Alternative, Context, DirectionSummary, OtherCount, Paced, Setting, StreamCount};
use units::Span;

use super::is_paced;
use crate::climb;
use crate::history::{History, main_direction};
use crate::tuning::Sample;

/// Everything that is known beside `sample` itself.
pub(crate) fn context(history: &History, sample: &Sample) -> Context {
    let used = sample.observation.congestion_used.clone();
    Context {
        // What a search seeks is the path's limit, and its pacing was chosen for that.
        pacing: None,
        transport: sample.setting.transport,
        congestion: sample.setting.congestion.clone().or(used),
        best_seen: history.rate_best(),
        plateau: climb::plateau(history),
        rtt_min: history.rtt_min(),
        rtt_unloaded: idle(history),
        queue_most: queue_most(history),
        by_streams: by_streams(history, sample),
        paced: paced(history, sample),
        alternatives: alternatives(history, sample),
    }
}

/// The longest that packets waited on average beside any sample.
fn queue_most(history: &History) -> Option<Span> {
    let empty = history.rtt_min()?;
    let queueing = |sample: &Sample| sample.summary.queueing(empty);
    history.samples.iter().filter_map(queueing).max()
}

/// The middle one of the first idle probes: a host that hesitates now and then draws the mean up.
fn idle(history: &History) -> Option<Span> {
    let probed = |sample: &Sample| sample.observation.round_trips.unloaded.clone();
    let series = history.samples.iter().find_map(probed)?;
    let rtts = series.probes.iter().filter_map(|probe| probe.rtt);
    let rtts: Vec<f64> = rtts.map(Span::as_secs_f64).collect();
    stats::median(&rtts).map(Span::from_secs_f64)
}

/// What other numbers of streams carried with everything else as in `sample`.
fn by_streams(history: &History, sample: &Sample) -> Vec<OtherCount> {
    let like_it = |other: &&Sample| {
        let same = Setting {
            streams: sample.streams(),
            ..other.setting.clone()
        };
        same == sample.setting && other.streams() != sample.streams()
    };
    let others = history.samples.iter().filter(like_it);
    let seen = |other: &Sample| OtherCount {
        streams: other.streams(),
        goodput: other.rate(),
        retransmitted_share: other.retransmitted_share(),
    };
    others.map(seen).collect()
}

/// The same setting paced, else one paced stream: what that loses, no bursts cause.
fn paced(history: &History, sample: &Sample) -> Option<Paced> {
    let mut paced = history.samples.iter().rev();
    let own = paced.clone().find(|other| is_paced(other, sample));
    let one = || paced.find(|other| is_one_paced(other));
    let other = own.or_else(one)?;
    let way = main_direction(other)?;
    Some(Paced {
        pace: other.setting.pacing?,
        is_one_stream: other.streams() != sample.streams(),
        goodput: other.rate(),
        segments: segments(way),
        retransmitted_share: way.tcp.retransmitted_share,
        retransmits: way.tcp.retransmits,
        retransmits_total: way.retransmits_total,
    })
}

fn is_one_paced(sample: &Sample) -> bool {
    sample.setting.pacing.is_some() && sample.streams() == StreamCount::ONE
}

fn segments(way: &DirectionSummary) -> Option<f64> {
    let bytes = way.goodput.mean.bytes_in(way.steady.length());
    Some(bytes.as_f64() / way.tcp.mss?.as_f64())
}

/// What other congestion controls made of the same setting.
fn alternatives(history: &History, sample: &Sample) -> Vec<Alternative> {
    let other = |other: &Sample| {
        let congestion = other.setting.congestion.clone()?;
        let same = Setting {
            congestion: sample.setting.congestion.clone(),
            ..other.setting.clone()
        };
        let differs = same == sample.setting && other.setting != sample.setting;
        differs.then(|| Alternative {
            congestion,
            goodput: other.rate(),
            retransmitted_share: other.retransmitted_share(),
        })
    };
    history.samples.iter().filter_map(other).collect()
}
