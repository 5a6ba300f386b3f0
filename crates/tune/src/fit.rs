//! Windows small enough not to overflow the path's queue.
//!
//! Streams left to grow find the end of a queue only by overflowing it. Where the queue is much
//! shorter than the bandwidth-delay product they then spend their time recovering, and where it is
//! long they keep it full, which the objectives power and gentle mind. Windows that add up to the
//! product do neither: from SLAC to CERN, 8 windows of 64 kB carried 2.8 times as much as 2 of 256
//! kB (Cottrell et al., 2000-2001).

use observe::Window;
use units::Bytes;

use crate::choose::choose;
use crate::climb;
use crate::controls;
use crate::history::{History, main_direction};
use crate::plan::{Axis, Objective};
use crate::strategy::Request;
use crate::tuning::{Purpose, Sample};
use crate::windows::granted_max;

/// Samples of fitted windows at the most.
const TRIES: usize = 3;
/// The smallest window worth asking for: a dozen packets.
const WINDOW_MIN: Bytes = Bytes::from_kib(16);
/// Room for what the kernel adds to the payload, in hundredths of the product.
const ROOM_PERCENT: u64 = 105;
/// The same where no queue is wanted: of the buffer asked for, doubled by the kernel, up to five
/// quarters are offered as window.
const FILL_PERCENT: u64 = 80;
/// The next window is this much smaller when a fitted one still fills the queue, in hundredths.
const SHRINK_PERCENT: u64 = 70;
/// Streams that lose this much, and carry less than this share of what fewer did, overflow the
/// queue themselves: under random loss more streams carry more.
const LOSS_NOTABLE: f64 = 1e-3;
const FALLEN: f64 = 0.9;

/// Windows that add up to what the path holds, at the streams that would be recommended now. bbr
/// does not grow until it fills the queue.
pub(crate) fn fitting(history: &History) -> Option<Request> {
    let tried = history.taken_for(Purpose::Fit);
    let is_bbr = controls::climbing(history).is_some();
    if is_bbr || !history.plan.searches(Axis::Window) || tried.len() >= TRIES {
        return None;
    }
    match tried.last() {
        None => first(history),
        Some(last) => smaller(history, last),
    }
}

fn minds_delay(history: &History) -> bool {
    matches!(
        history.plan.objective,
        Objective::Power | Objective::Gentle { .. }
    )
}

fn first(history: &History) -> Option<Request> {
    let (like, percent, reason) = match minds_delay(history) {
        true => (fewest(history)?, FILL_PERCENT, free_growth(history)?),
        false => (chosen(history)?, ROOM_PERCENT, overflow(history)?),
    };
    let product = history.product()?.times(percent).get() / 100;
    let window = Bytes::new(product.div_ceil(u64::from(like.streams().get())));
    request(history, like, window, reason)
}

fn chosen(history: &History) -> Option<&Sample> {
    history.samples.get(choose(history)?.sample)
}

/// The fewest streams that come close to what any rung carried: more windows make no shorter queue.
fn fewest(history: &History) -> Option<&Sample> {
    let rungs = climb::rungs(history);
    let best = rungs.iter().map(|rung| rung.rate()).max()?.as_f64();
    rungs
        .into_iter()
        .find(|rung| rung.rate().as_f64() >= FALLEN * best)
}

/// Why windows are not left to grow: a queue stood beside some sample, or nothing has been lost
/// yet, so that nothing stops them before a queue does.
fn free_growth(history: &History) -> Option<String> {
    let fewest = fewest(history)?;
    let stands = history
        .samples
        .iter()
        .any(|sample| history.queue_stands(sample));
    let lossless = fewest.retransmitted_share() == Some(0.0);
    let grows = !history.others_queue() && (stands || lossless);
    grows.then(|| "windows that grow freely fill the path's queue".to_owned())
}

/// Why the streams' own growth is taken to lose their packets: more of them carried less.
fn overflow(history: &History) -> Option<String> {
    let rungs = climb::rungs(history);
    let best = rungs.iter().map(|sample| sample.rate()).max()?.as_f64();
    let last = rungs.last()?;
    let lost = last
        .retransmitted_share()
        .filter(|lost| *lost > LOSS_NOTABLE)?;
    let fell = last.rate().as_f64() < FALLEN * best;
    fell.then(|| format!("streams left to grow lose {:.1} % together", lost * 100.0))
}

/// A smaller window yet, where the objective minds the queue that still stands.
fn smaller(history: &History, last: &Sample) -> Option<Request> {
    let Window::Fixed(window) = last.setting.window else {
        return None;
    };
    let stands = minds_delay(history) && waits_too_long(history, last);
    let window = Bytes::new(window.times(SHRINK_PERCENT).get() / 100);
    let reason = "its queue still stands".to_owned();
    stands.then(|| request(history, last, window, reason))?
}

/// Whether its queue is more than the objective wants: the budget of gentle, else any that stands.
fn waits_too_long(history: &History, sample: &Sample) -> bool {
    match history.plan.objective {
        Objective::Gentle { added_rtt_max, .. } => {
            let added = sample.summary.rtt_loaded.zip(history.rtt_unloaded());
            added.is_some_and(|(loaded, idle)| loaded - idle > added_rtt_max)
        }
        _ => history.queue_stands(sample),
    }
}

fn request(history: &History, like: &Sample, window: Bytes, reason: String) -> Option<Request> {
    let granted = granted_max(history.limits());
    let window = granted
        .map_or(window, |granted| window.min(granted))
        .max(WINDOW_MIN);
    let streams = like.streams();
    let fills = main_direction(like)?
        .tcp
        .flight
        .is_none_or(|flight| window < flight.times(8));
    let setting = history.setting(streams, Window::Fixed(window));
    let new = history.of(&setting).is_none() && fills;
    new.then_some(Request {
        setting,
        plan: history.sample_plan()?,
        purpose: Purpose::Fit,
        why: format!(
            "{reason}; {streams} x {} just fill the path",
            window.human()
        ),
    })
}
