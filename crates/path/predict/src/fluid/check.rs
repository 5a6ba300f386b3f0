//! What the model takes.

use netpath::{CrossTraffic, Extra, Loss, PathSpec};
use units::{Bytes, Rate, Span};

use super::{FlowClass, FluidQuestion};
use crate::PredictError;
use crate::inputs::segment;

/// The most flows of a class: more than any link serves.
pub const FLOWS_MAX: u64 = 100_000_000;

/// The most round trips of a run: with fewer flows followed than that takes, little is left.
const ROUNDS_MAX: u64 = 20_000;
/// The fewest of the longest round trip: before, its flows have hardly begun.
const ROUNDS_MIN: u64 = 10;
/// The fewest of them before anything counts, and after that: each half of the shortest run.
const COUNTED_MIN: u64 = ROUNDS_MIN / 2;
/// The most bytes of an acknowledgement: headers of IPv6 and TCP with what was acknowledged
/// selectively.
const ACKNOWLEDGEMENT_MAX: f64 = 100.0;
/// The most classes, those of cross traffic included.
const CLASSES_MAX: usize = 64;
const MINUTE: Span = Span::from_secs(60);
/// Shorter round trips are those of one host.
const RTT_MIN: Span = Span::from_micros(100);

/// One link each way, nothing on it but streams.
pub(super) fn path(path: &PathSpec) -> Result<(), PredictError> {
    let refused = |field, value| Err(PredictError::NotOneLink { field, value });
    if let Some(Extra { field, value }) = path.extra().or_else(|| path.beyond_formulas()) {
        return refused(field, value);
    }
    let streams = |traffic: &CrossTraffic| matches!(traffic, CrossTraffic::Streams { .. });
    if let Some(other) = path.cross.iter().find(|cross| !streams(&cross.traffic)) {
        return refused("cross", other.traffic.kind().to_owned());
    }
    if path.forward.variation.is_some() {
        return refused("forward.variation", path.forward.rate.to_string());
    }
    if path.hosts.ecn {
        return refused("hosts.ecn", "true".to_owned());
    }
    if matches!(path.forward.loss, Loss::GilbertElliott { .. }) {
        return refused("forward.loss", "in bursts".to_owned());
    }
    way_back(path)
}

/// Acknowledgements are neither lost nor wait.
fn way_back(path: &PathSpec) -> Result<(), PredictError> {
    let refused = |field, value| Err(PredictError::NotOneLink { field, value });
    let back = &path.reverse;
    let most = path.forward.rate.as_f64() * ACKNOWLEDGEMENT_MAX / f64::from(path.hosts.mtu);
    if !back.loss.is_none() {
        refused("reverse.loss", back.loss.mean_rate().to_string())
    } else if back.variation.is_some() {
        refused("reverse.variation", back.rate.to_string())
    } else if back.rate.as_f64() < most {
        let most = Rate::from_f64(most).human();
        refused(
            "reverse.rate",
            format!("{}, below the {most} of acknowledgements", back.rate),
        )
    } else {
        Ok(())
    }
}

/// How long the run is, and what of it does not count, once `classes`, those of cross traffic
/// included, are found in order.
pub(super) fn times(
    question: &FluidQuestion,
    classes: &[FlowClass],
) -> Result<(Span, Span), PredictError> {
    let own = question.path.base_rtt();
    let rtts = || classes.iter().map(|class| class.rtt.unwrap_or(own));
    let (shortest, longest) = (rtts().min().unwrap_or(own), rtts().max().unwrap_or(own));
    let (least, most) = (longest.times(ROUNDS_MIN), shortest.times(ROUNDS_MAX));
    let duration = question.duration.unwrap_or(MINUTE.min(most));
    if classes.len() > CLASSES_MAX {
        let count = classes.len();
        return refused(format!(
            "{count} classes, streams of the path's cross traffic included, are more than \
                {CLASSES_MAX}"
        ));
    }
    if shortest < RTT_MIN {
        return refused(format!("a round trip of {shortest} is below {RTT_MIN}"));
    }
    if duration > most || duration == Span::ZERO {
        return refused(format!(
            "a duration of {duration} is not above 0 and up to {ROUNDS_MAX} of the shortest round \
                trip, {most}"
        ));
    }
    for class in classes {
        check_class(class, segment(&question.path), duration)?;
    }
    if duration < least {
        return refused(format!(
            "a duration of {duration} is below {ROUNDS_MIN} of the longest round trip, {least}"
        ));
    }
    let half = Span::from_nanos(duration.as_nanos() / 2);
    let warmup = question.warmup.unwrap_or(half);
    check_warmup(warmup, duration, longest.times(COUNTED_MIN))?;
    Ok((duration, warmup))
}

fn check_warmup(warmup: Span, duration: Span, least: Span) -> Result<(), PredictError> {
    let left = duration - warmup;
    if left < least {
        return refused(format!(
            "a warm-up of {warmup} leaves {left} of a run of {duration}, below {COUNTED_MIN} of \
                the longest round trip, {least}"
        ));
    }
    if warmup < least {
        return refused(format!(
            "a warm-up of {warmup} is below {COUNTED_MIN} of the longest round trip, {least}"
        ));
    }
    Ok(())
}

fn check_class(class: &FlowClass, segment: Bytes, duration: Span) -> Result<(), PredictError> {
    if !(1..=FLOWS_MAX).contains(&class.flows) {
        return refused(format!(
            "{} flows are not between 1 and {FLOWS_MAX}",
            class.flows
        ));
    }
    if !(0.0..=0.5).contains(&class.loss) {
        return refused(format!("a loss of {} is not between 0 and 0.5", class.loss));
    }
    if let Some(window) = class.window.filter(|window| *window < segment) {
        return refused(format!(
            "a window of {window} is below one segment of {segment}"
        ));
    }
    let stop = class.stop.unwrap_or(duration);
    if class.start >= stop || stop > duration {
        let start = class.start;
        return refused(format!(
            "flows that start at {start} and stop at {stop} do not run within {duration}"
        ));
    }
    Ok(())
}

fn refused<T>(problem: String) -> Result<T, PredictError> {
    Err(PredictError::Class { problem })
}
