//! The settings that a search may recommend.
//!
//! Powers of two of streams with windows left to the kernels; fixed windows where a buffer holds
//! streams back or where windows that grow freely fill a queue; other congestion controls, paced
//! streams and UDP where the plan and the sender allow them. All are candidates from the start:
//! what the samples say of the path decides which of them is worth a look.

use inference::Path;
use observe::{Setting, StreamCount, Transport, Window};
use units::{Bytes, Rate};

use crate::controls;
use crate::history::History;
use crate::moving;
use crate::over_udp;
use crate::plan::{Axis, Controls, Objective};
use crate::windows::granted_max;

/// The smallest window worth asking for: a dozen packets.
const WINDOW_MIN: Bytes = Bytes::from_kib(16);
/// Of a window that is asked for, so much more is offered.
const OFFERED: f64 = 1.25;
/// Windows that together hold so many bandwidth-delay products.
const FITS: [f64; 3] = [0.85, 1.02, 1.3];
/// A queue of less than this share of what fills the path overflows before streams fill it.
const SHORT: f64 = 0.5;
/// Streams are paced at this share of what the path carries: so that no queue grows.
const PACED: f64 = 0.97;
/// Streams of a congestion control that goes by the rate: more of them bring no more.
const RATE_STREAMS: [u64; 3] = [1, 2, 4];

/// All of them, those that were sampled among them.
pub(crate) fn candidates(history: &History) -> Vec<Setting> {
    let sampled = history.samples.iter();
    let sampled = sampled.filter(|one| moving::counts(history, one));
    let mut found: Vec<Setting> = sampled.map(|one| one.setting.clone()).collect();
    let counts = counts(history);
    found.extend(counts.iter().map(|count| usual(history, *count)));
    if let Some(path) = history
        .belief()
        .map(|belief| middle(&belief.posterior().particles))
    {
        found.extend(fixed(history, &counts, &path));
        found.extend(paced(history, &counts, &path));
    }
    found.extend(controls(history, &counts));
    found.extend(over_udp::candidate(history));
    let mut settings: Vec<Setting> = Vec::new();
    for one in found {
        let is_new = !settings.contains(&one) && !history.has_failed(&one);
        if is_new && controls::used_another(history, &one).is_none() {
            settings.push(one);
        }
    }
    settings
}

/// So many streams with windows left to the kernels, unless a program writes them in turn: then a
/// full buffer of one holds up the others.
pub(crate) fn usual(history: &History, count: StreamCount) -> Setting {
    let mover = history.target.mover.as_ref();
    let in_turn = mover.and_then(|mover| mover.window_in_turn);
    let in_turn =
        in_turn.filter(|_| count > StreamCount::ONE && history.plan.searches(Axis::Window));
    let granted = granted_max(history.limits());
    let window = in_turn.map(|wanted| granted.map_or(wanted, |granted| wanted.min(granted)));
    history.setting(count, Window::from(window))
}

/// The numbers of streams.
fn counts(history: &History) -> Vec<StreamCount> {
    let most = match history.plan.searches(Axis::Streams) {
        true => history.plan.streams_max,
        false => history.plan.base.streams,
    };
    if !history.plan.searches(Axis::Streams) {
        return vec![most];
    }
    let doubled = std::iter::successors(Some(StreamCount::ONE), |count| count.doubled());
    let mut counts: Vec<StreamCount> = doubled.take_while(|count| *count <= most).collect();
    if counts.last() != Some(&most) {
        counts.push(most);
    }
    counts
}

/// A path in the middle of those that explain the samples.
fn middle(particles: &[inference::Particle]) -> Path {
    let mut paths: Vec<Path> = particles.iter().map(|one| one.path).collect();
    paths.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    paths[paths.len() / 2]
}

/// The largest windows that the hosts grant, and those that together just fill the path.
fn fixed(history: &History, counts: &[StreamCount], path: &Path) -> Vec<Setting> {
    if !history.plan.searches(Axis::Window) {
        return Vec::new();
    }
    let granted = granted_max(history.limits());
    let minds_delay = matches!(
        history.plan.objective,
        Objective::Power | Objective::Gentle { .. }
    );
    let overflows = path.queue < SHORT * path.product();
    let fits: &[f64] = match minds_delay {
        true => &FITS,
        false if overflows => &FITS[1..2],
        false => &[],
    };
    let mut found = Vec::new();
    for count in counts.iter().filter(|count| count.get() <= 32) {
        let mut push = |bytes: f64| {
            let wanted = Bytes::new(round(bytes)).max(WINDOW_MIN);
            let window = granted.map_or(wanted, |granted| wanted.min(granted));
            found.push(history.setting(*count, Window::Fixed(window)));
        };
        let each = path.product() / f64::from(*count) / OFFERED;
        if path.window < 2.0 * OFFERED * each {
            push(4.0 * each);
        }
        fits.iter().for_each(|share| push(share * each));
    }
    found
}

/// To a power of two or the middle of two: windows that differ by less are one.
fn round(bytes: f64) -> u64 {
    let exponent = (2.0 * bytes.max(1.0).log2()).round() / 2.0;
    (exponent.exp2() / 1024.0).round() as u64 * 1024
}

fn paced(history: &History, counts: &[StreamCount], path: &Path) -> Vec<Setting> {
    if !history.plan.searches(Axis::Pacing) {
        return Vec::new();
    }
    let counts = counts.iter().filter(|count| count.get() <= 16);
    let one = |count: &StreamCount| Setting {
        pacing: Some(Rate::from_f64(round_rate(
            PACED * path.rate / f64::from(*count),
        ))),
        ..history.setting(*count, Window::Auto)
    };
    counts.map(one).collect()
}

/// To two digits.
fn round_rate(bits: f64) -> f64 {
    let unit = 10_f64.powf(bits.max(1.0).log10().floor() - 1.0);
    (bits / unit).floor() * unit
}

fn controls(history: &History, counts: &[StreamCount]) -> Vec<Setting> {
    let with = |name: &str, count: StreamCount| Setting {
        congestion: Some(name.to_owned()),
        ..history.setting(count, Window::Auto)
    };
    let few = || {
        RATE_STREAMS
            .into_iter()
            .filter_map(|count| StreamCount::new(count).ok())
    };
    let few = || few().filter(|count| counts.contains(count));
    match history.plan.controls() {
        Controls::Kept => Vec::new(),
        Controls::WhereLosing if controls::may_be_tried(history) => {
            few().map(|count| with(controls::BBR, count)).collect()
        }
        Controls::WhereLosing => Vec::new(),
        Controls::All => {
            let others = history.target.congestion.iter().skip(1);
            let each = |name: &String| match name.as_str() {
                controls::BBR => few().map(|count| with(name, count)).collect(),
                _ => counts
                    .iter()
                    .map(|count| with(name, *count))
                    .collect::<Vec<_>>(),
            };
            others.flat_map(each).collect()
        }
    }
}

/// Whether a setting goes by the rate that arrives.
pub(crate) fn goes_by_rate(setting: &Setting) -> bool {
    setting.transport == Transport::Udp || setting.congestion.as_deref() == Some(controls::BBR)
}
